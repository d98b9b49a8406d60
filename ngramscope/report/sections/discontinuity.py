"""Jumps at a cutoff."""

from __future__ import annotations

from ngramscope.report.parts import Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View
from ngramscope.report.words import because

__all__ = ["discontinuity"]


@section("discontinuity", "Jumps at the cutoff", place=135)
def discontinuity(view: View) -> Section | None:
    """Regression discontinuity at the model's cutoff; nothing if it was not asked for."""
    report = view.results.rdd
    if report is None:
        return None
    cells = []
    for row in report["rows"]:
        at = row["at_cutoff"]
        ends = None if at.get("interval") is None else tuple(at["interval"])
        cells.append([row["kind"], row["name"], row.get("model") or "", Number.of(at["jump"], ends), at["p"], at.get("p_holm"),
                      because(at["reason"])])  # fmt: skip
    columns = heads("kind", "what", "model", "jump:difference", "p:p", "p (Holm):p", "note")
    lead = [f"{each[0].upper()}{each[1:]}." for each in report["warnings"][:5]]
    return Section(lead, [Table(view.named("discontinuity"), "Jumps at the cutoff.", columns, cells)])
