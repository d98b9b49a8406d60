"""Suspect data sets against held-out documents of their kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ngramscope.evaluate.setlevel.inference import TESTS
from ngramscope.report.parts import Cell, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View
from ngramscope.report.words import because, counted

__all__ = ["inference"]


@section("dataset-inference", "A suspect data set", place=132)
def inference(view: View) -> Section | None:
    """Dataset inference: the test, the same on placebo models, A/A splits, and what else tells the sides apart."""
    report = view.results.dataset_inference
    if report is None:
        return None
    counts = report["counts"]
    lead = [
        f"{counted(counts['suspects'], 'suspect document')} (members) against {counted(counts['held_out'], 'held-out one')} by "
        "all attacks at once, learned on one half of the documents and tested on the other.",
        *(f"{each[0].upper()}{each[1:]}." for each in report["warnings"][:5]),
    ]
    cells: list[list[Cell]] = []
    for row in report["rows"]:
        splits = [_alarms(row["a_a"][side]) for side in ("held_out", "suspect")]
        cells.append([row["suspect"], row["model"], "target", *_tested(row), row["p_holm"], *splits, because(row["reason"])])
        cells += [
            [row["suspect"], each["model"], "placebo", *_tested(each), None, None, None, because(each["reason"])]
            for each in row["placebos"]
        ]
    columns = heads(
        "suspect", "model", "role", "suspects:count", "held-out:count", "AUC:auc", "p, permutation:p", "p, Welch:p",
        "p, Mann-Whitney:p", "p (Holm):p", "A/A held-out", "A/A suspect", "note",
    )  # fmt: skip
    notes = [
        "p: one-sided, that suspects score higher; Holm's correction is of the permutation test.",
        "A/A: random divisions of one side that have p ≤ .05; about 5 % should.",
    ]
    tables = [Table(view.named("dataset-inference"), "Suspect and held-out documents.", columns, cells, notes)]
    shifts = [
        [row["suspect"], row["model"], each["name"], each["test"], each["effect"], each["p_holm"]]
        for row in report["rows"]
        for each in row["shift"]
    ]
    if shifts:
        columns = heads("suspect", "model", "what", "test", "effect:number", "p (Holm):p")
        tables.append(Table(view.named("dataset-inference-shift"), "What else the two sides differ in.", columns, shifts))
    return Section(lead, tables)


def _tested(row: Mapping[str, Any]) -> list[Cell]:
    return [row["suspects"], row["held_out"], Number.of(row["auc"], row["interval"]), *(row["p"][name] for name in TESTS)]


def _alarms(split: Mapping[str, Any]) -> str | None:
    if split["alarms"] is None:
        return None
    found = split["alarms"][TESTS[0]]
    return f"{found['count']} of {found['of']}"
