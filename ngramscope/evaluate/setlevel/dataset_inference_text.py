"""The report of `dataset_inference` for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ngramscope.evaluate.plain import number, p_value, table
from ngramscope.evaluate.setlevel.inference import TESTS
from ngramscope.sizes import counted

__all__ = ["to_text"]


def to_text(report: Mapping[str, Any]) -> str:
    """Tables in plain text, below what no reader of the p-values may miss."""
    counts = report["counts"]
    lines = [*(f"!! {each}" for each in report["banner"]), *([""] if report["banner"] else [])]
    lines += [f"{counted(counts['suspects'], 'suspect document')}, {counted(counts['held_out'], 'held-out one')}", ""]
    body = []
    for row in report["rows"]:
        mark = " SHIFT" if row["shift_found"] else ""
        body.append(
            [row["suspect"], row["model"], *_cells(row), p_value(row["p_holm"]) + mark, *map(_alarms, row["a_a"].values())]
        )
        body += [[row["suspect"], f"{each['model']} (placebo)", *_cells(each), "", "", ""] for each in row["placebos"]]
    names = ["suspect", "model", "n", "AUC", "t", "p permutation", "p Welch", "p Mann-Whitney", "p (Holm)"]
    lines += table([*names, "A/A held-out", "A/A suspect"], body)
    lines += [
        "p: one-sided, that suspects score higher; Holm's correction is of the permutation test. n: units compared.",
        "A/A: random divisions of one side with a permutation p of at most .05; about 5 % should be. The test says that",
        "scores distinguish the two sides: membership is one reason for that, a shift is another.",
    ]
    shifts = [(row, each) for row in report["rows"] for each in row["shift"]]
    if shifts:
        lines += ["", "what else the two sides differ in"]
        lines += table(
            ["suspect", "what", "test", "effect", "p (Holm)"],
            [
                [row["suspect"], each["name"], each["test"], f"{each['effect']:.4f}", p_value(each["p_holm"])]
                for row, each in shifts
            ],
        )
    return "\n".join(lines)


def _cells(row: Mapping[str, Any]) -> list[str]:
    return [
        f"{row['suspects']}/{row['held_out']}",
        row["reason"] or number(row["auc"], row["interval"]),
        "-" if row["t"] is None else f"{row['t']:.2f}",
        *(p_value(row["p"][name]) for name in TESTS),
    ]


def _alarms(split: Mapping[str, Any]) -> str:
    if split["alarms"] is None:
        return "-"
    found = split["alarms"][TESTS[0]]
    return f"{found['count']} of {found['of']}"
