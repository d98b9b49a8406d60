"""Overlap of both sides with the training corpus, and of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ngramscope.report import validation
from ngramscope.report.charts import axes_of, bins_for, legend
from ngramscope.report.html import INK
from ngramscope.report.looks import MEMBERS, NONMEMBERS, REFERENCE
from ngramscope.report.parts import Chart, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View

__all__ = ["overlap"]

_MOST = 4
_DASHES = {MEMBERS: "-", NONMEMBERS: "--", REFERENCE: ":"}

Curve = tuple[str, str, Sequence[float], Sequence[float], int]


@section("overlap", "Overlap with the training corpus", place=20)
def overlap(view: View) -> Section:
    """Histograms of members (leave-one-out), non-members and the reference; the verdict of the validation."""
    charts = [_chart(view, n, curves) for n, curves in _measured(view).items()][:_MOST]
    lead, parts = [], list[Chart | Table](charts)
    report = view.results.validation
    if report is not None:
        lead.append(f"Are the non-members like the reference? {_TITLES[report['verdict']]}. {validation.sentence(report)}")
        parts.append(_shifts(view, report))
    if not parts:
        return Section(missing="Overlap with a training corpus was not measured: no index and no corpus was named.")
    if report is None:
        lead.append("The non-members were not validated against a sample of the corpus.")
    return Section(lead, parts)


_TITLES = {
    "representative": "Yes",
    "shifted_lower": "No, they overlap less",
    "shifted_higher": "No, they overlap more",
    "cannot_tell": "That cannot be told",
}


def _measured(view: View) -> dict[int, list[Curve]]:
    """By n the curves: name, colour, heights, edges, number of documents."""
    found: dict[int, list[Curve]] = {}
    scores, data = view.results.scores, view.data
    if scores is not None and data is not None:
        names = scores.documents.column_names
        for n in sorted(int(each.removeprefix("overlap_")) for each in names if each.removeprefix("overlap_").isdigit()):
            plain, loo = (_column(scores, name, data) for name in (f"overlap_{n}", f"overlap_loo_{n}"))
            members = loo[data.members]
            kind = "members, leave-one-out"
            if np.isnan(members).all():
                members, kind = plain[data.members], "members, own n-grams included"
            curves = [(kind, MEMBERS, members), ("non-members", NONMEMBERS, plain[~data.members])]
            found[n] = [each for name, colour, values in curves for each in _histogram(name, colour, values)]
    for quantity in (view.results.validation or {}).get("quantities", ()):
        n, bins = quantity["n"], quantity["histogram"]
        if n is None or not bins:
            continue
        # Where the scores tell nothing of this length, the validation tells of the non-members.
        sides = [] if found.get(n) else [("non-members", NONMEMBERS, "candidates")]
        for name, colour, side in [*sides, ("reference", REFERENCE, "reference")]:
            if total := quantity[side]["n"]:
                heights = np.array(bins[side]) / total / np.diff(bins["edges"])
                found.setdefault(n, []).append((name, colour, heights.tolist(), bins["edges"], total))
    return {n: curves for n, curves in found.items() if curves}


def _column(scores: Any, name: str, data: Any) -> Any:
    if name not in scores.documents.column_names:
        return np.full(len(data.rows), np.nan)
    values = [np.nan if each is None else float(each) for each in scores.documents[name].to_pylist()]
    return np.array(values, dtype=np.float64)[data.rows]


def _histogram(name: str, colour: str, values: Any) -> Iterator[Curve]:
    known = values[np.isfinite(values)]
    if len(known):
        edges = np.linspace(0, 1, bins_for(len(known)) + 1)
        heights = np.histogram(np.clip(known, 0, 1), edges)[0] / len(known) / np.diff(edges)
        yield name, colour, heights.tolist(), edges.tolist(), len(known)


def _chart(view: View, n: int, curves: list[Curve]) -> Chart:
    figure, axes = axes_of(xlabel=f"overlap: share of the document's {n}-grams that the corpus has", ylabel="density")
    for name, colour, heights, edges, total in curves:
        line = _DASHES[colour]
        axes.stairs(heights, edges, fill=True, color=colour, alpha=0.15)
        axes.stairs(heights, edges, color=colour, linewidth=1.5, linestyle=line, label=f"{name} ({total:,})")
    axes.set_xlim(0, 1)
    axes.set_ylim(bottom=0)
    axes.yaxis.label.set_color(INK)
    legend(figure, axes, columns=1)
    alt = f"Histograms of the overlap of {n}-grams: {', '.join(f'{name}, {total:,} documents' for name, *_, total in curves)}"
    return Chart(view.named(f"overlap-{n}"), figure, alt, f"Overlap of {n}-grams; each histogram has the area 1.")


def _shifts(view: View, report: Any) -> Table:
    rows: list[list[Any]] = []
    for each in report["quantities"]:
        statistics = each["statistics"]
        shift = None if statistics is None else statistics["mean_shift"]
        number = None if shift is None else Number(shift["value"], *shift["interval"])
        p = None if shift is None else shift.get("p_holm", shift.get("p"))
        sides = [each[side]["mean"] for side in ("candidates", "reference")]
        rows.append([each["name"].replace("_", " "), *sides, number, p])
    columns = heads("quantity", "candidates:number", "reference:number", "difference:difference", "p:p")
    return Table(view.named("validation"), "Validation: the non-members beside the reference.", columns, rows)
