"""The report of `contamination` for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ngramscope.evaluate.plain import difference, number, p_value, share, table
from ngramscope.sizes import counted

__all__ = ["to_text"]

_NAMES = ("benchmark", "attack", "model")


def to_text(report: Mapping[str, Any]) -> str:
    """Tables in plain text."""
    counts, rows = report["counts"], report["rows"]
    lines = [f"{counted(counts['benchmark'], 'item')} of benchmarks, {counted(counts['fresh'], 'fresh or rephrased one')}", ""]
    lines += table(
        [*_NAMES, "n1/n0", "AUC", "p", "p (Holm)", "placebo", "- placebo"],
        [
            [
                row["benchmark"], row["attack"], row["model"], f"{row['n1']}/{row['n0']}",
                row["reason"] or number(row["auc"], row["interval"]), p_value(row["p"]), p_value(row["p_holm"]),
                "; ".join(number(each["auc"], each["interval"]) for each in row["placebos"]) or "-",
                "; ".join(difference(each["difference"]) for each in row["placebos"]) or "-",
            ]
            for row in rows
        ],
    )  # fmt: skip
    paired = [row for row in rows if row["paired"] is not None]
    if paired:
        lines += ["", "each item less its rephrased versions"]
        lines += table(
            [*_NAMES, "items", "difference", "p", "p (Holm)", "above all versions", "by chance", "- placebo"],
            [
                [
                    row["benchmark"], row["attack"], row["model"], str(each["items"]),
                    each["reason"] or number(each["difference"], each["interval"]), p_value(each["p"]),
                    p_value(row["p_paired_holm"]), *_above(each),
                    "; ".join(number(at["difference"]["difference"], at["difference"]["interval"]) for at in each["placebos"])
                    or "-",
                ]
                for row in paired
                for each in [row["paired"]]
            ],
        )  # fmt: skip
    lines.append(
        "AUC above .5: scores distinguish benchmark items from fresh ones; training on them is one reason, a shift another"
    )
    return "\n".join(lines)


def _above(each: Mapping[str, Any]) -> tuple[str, str]:
    if each["above_all"] is None:
        return "-", "-"
    found = each["above_all"]
    return share(found["value"], (found["low"], found["high"])), share(each["above_all_by_chance"])
