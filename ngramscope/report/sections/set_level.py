"""Sets of documents instead of single ones."""

from __future__ import annotations

from typing import Any

from ngramscope.report.charts import axes_of, legend, spans
from ngramscope.report.html import INK
from ngramscope.report.looks import COLOURS, MARKERS
from ngramscope.report.parts import Chart, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View
from ngramscope.report.words import because, counted

__all__ = ["set_level"]

_CURVES = {
    "documents_a_set": ("documents a set", True),
    "share_of_labels_mixed": ("share of a set's documents that are of the other side", False),
    "document_length": ("mean length of the documents", False),
}
_LINES = 6


@section("set-level", "Whole sets of documents", place=130)
def set_level(view: View) -> Section:
    """Set-MI: AUCs of sets, and curves over their size, purity and length."""
    report = view.results.setmi
    if report is None:
        return Section(missing="Sets of documents were not evaluated (the table [setmi] of a study, or ngramscope setmi).")
    sets = report["counts"]["sets"]
    by = report["settings"]["group_by"]
    lead = [
        f"Documents are put together by {by}: {counted(sets['members'], 'set')} of members, "
        f"{counted(sets['nonmembers'], 'set')} "
        "of non-members. Sets, not documents, are what is counted.",
        *(f"{each[0].upper()}{each[1:]}." for each in report["warnings"][:5]),
    ]
    charts: list[Chart | Table] = []
    for name, (label, logarithmic) in _CURVES.items():
        lines = [(row, row["curves"][name]) for row in report["rows"] if row["curves"] and row["curves"].get(name)]
        lines = [(row, points) for row, points in lines if any(each["auc"] is not None for each in points)]
        lines.sort(key=lambda each: -(each[0]["auc"] or 0))
        if lines:
            charts.append(_curve(view, name, label, logarithmic, lines[:_LINES]))
    return Section(lead, [*charts, _table(view, report["rows"])])


def _curve(view: View, name: str, label: str, logarithmic: bool, lines: list[Any]) -> Chart:
    figure, axes = axes_of(xlabel=label, ylabel="AUC of sets")
    axes.axhline(0.5, color=INK, linewidth=0.8)
    for number, (row, points) in enumerate(lines):
        known = [each for each in points if each["auc"] is not None]
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        at = [each["at"] for each in known]
        axes.plot(at, [each["auc"] for each in known], marker=marker, color=colour, markersize=4, linewidth=1.4,
                  label=f"{row['attack']}, {row['aggregation']}")  # fmt: skip
        if len(lines) <= 3:
            axes.fill_between(at, *spans([each["interval"] for each in known]), color=colour, alpha=0.1, linewidth=0)
    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    legend(figure, axes)
    alt = f"AUC of sets against {label}: {', '.join(row['attack'] for row, _ in lines)}"
    return Chart(view.named(f"set-level-{name.replace('_', '-')}"), figure, alt, f"AUC of sets against {label}.")


def _table(view: View, rows: list[Any]) -> Table:
    cells = []
    for row in rows:
        shuffled = row["regrouped"] or {}
        blind = max((each for each in row["blind"] if each["auc"] is not None), key=lambda each: each["auc"], default=None)
        cells.append([
            row["attack"], row["model"], row["aggregation"], row["n1"], row["n0"], Number.of(row["auc"], row["interval"]),
            row["p"], row["p_holm"], Number.of(row["document_auc"], row["document_interval"]),
            None if blind is None else Number.of(blind["auc"], blind["interval"]),
            Number.of(shuffled.get("auc"), shuffled.get("interval")), because(row["reason"]),
        ])  # fmt: skip
    columns = heads(
        "attack",
        "model",
        "aggregation",
        "member sets:count",
        "non-member sets:count",
        "AUC of sets:auc",
        "p:p",
        "p (Holm):p",
        "AUC of documents:auc",
        "best blind:auc",
        "randomly regrouped:auc",
        "note",
    )
    return Table(view.named("set-level"), "Attacks on whole sets.", columns, cells)
