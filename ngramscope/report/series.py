"""Series of a study: model sizes, training steps, and sets that follow each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ngramscope.report.charts import axes_of, legend, spans, tag
from ngramscope.report.html import INK
from ngramscope.report.parts import Chart, Column, Number, Section, Table
from ngramscope.report.results import StudyResults
from ngramscope.report.view import View
from ngramscope.report.words import because, moment

__all__ = ["series"]

_AXES = {"parameters": ("parameters of the model", True), "step": ("training step of the model", False)}


def series(results: StudyResults, views: Sequence[View]) -> Section | None:
    """AUC against size, step and set; nothing if the study has one model and one set."""
    if len(views) < 2 and len({model for view in views for model in view.targets}) < 2:
        return None
    charts: list[Chart | Table] = []
    known = {each["label"]: each for each in results.models if each.get("role", "target") == "target"}
    for view in views:
        for key, (label, logarithmic) in _AXES.items():
            points = sorted((known[m][key], m) for m in view.targets if m in known and known[m].get(key) is not None)
            points = _one_other(points, known, "step" if key == "parameters" else "parameters")
            if len({at for at, _ in points}) > 1:
                charts.append(_chart(view, f"series-{key}", label, [(at, view, model) for at, model in points], logarithmic))
    charts += _sets(results, views)
    rows = [
        [view.results.name, None if view.results.at is None else moment(view.results.at), row["attack"], row["model"],
         row["role"],
         row["n1"], row["n0"], Number.of(row["auc"], row["interval"]), because(row["reason"])]
        for view in views for row in view.rows
    ]  # fmt: skip
    columns = [Column("set"), Column(results.series or "place"), Column("attack"), Column("model"), Column("role"),
               Column("members", "count"), Column("non-members", "count"), Column("AUC", "auc"), Column("note")]  # fmt: skip
    if not rows:
        return None
    lead = [] if charts else ["The study says no sizes, steps or places of its models and sets, so there are no curves."]
    return Section(lead, [*charts, Table("series", "All attacks, models and sets.", columns, rows, folded=True)])


def _one_other(points: Sequence[tuple[Any, str]], known: Any, other: str) -> list[tuple[Any, str]]:
    """Where models differ in the other thing too, those with the largest value of it that several have."""
    values = [known[model].get(other) for _, model in points]
    counts = {value: len({at for (at, _), mine in zip(points, values, strict=True) if mine == value}) for value in values}
    several = [value for value, count in counts.items() if count > 1]
    if not several:
        return []
    best = max(several, key=lambda value: (counts[value], -1 if value is None else value))
    return [point for point, value in zip(points, values, strict=True) if value == best]


def _sets(results: StudyResults, views: Sequence[View]) -> Iterator[Chart]:
    placed = [(view.results.at, view) for view in views if view.results.at is not None and view.targets]
    if results.series is None or len({at for at, _ in placed}) < 2:
        return
    numbers = all(isinstance(at, int | float) for at, _ in placed)
    placed.sort(key=lambda each: each[0] if numbers else str(each[0]))
    model = placed[0][1].targets[0]
    yield _chart(placed[0][1], "series-sets", results.series, [(at, view, model) for at, view in placed], False)


def _chart(first: View, name: str, label: str, points: Sequence[tuple[Any, View, str]], logarithmic: bool) -> Chart:
    figure, axes = axes_of(xlabel=label, ylabel="AUC")
    axes.axhline(0.5, color=INK, linewidth=0.8)
    numbers = all(isinstance(at, int | float) for at, _, _ in points)
    names = [moment(at) for at, _, _ in points]
    told = []
    for attack in first.shown(points[-1][2]) or first.shown(points[0][2]):
        found = [(at, view.row(attack, model)) for at, view, model in points]
        known = [
            (at if numbers else names.index(moment(at)), row) for at, row in found if row is not None and row["auc"] is not None
        ]
        if not known:
            continue
        colour, marker = first.style(attack)
        places = [place for place, _ in known]
        (line,) = axes.plot(places, [row["auc"] for _, row in known], marker=marker, color=colour, linewidth=1.4, markersize=4,
                            label=attack)  # fmt: skip
        band = axes.fill_between(places, *spans([row["interval"] for _, row in known]), color=colour, alpha=0.1, linewidth=0)
        for artist in (line, band):
            tag(artist, first.number(attack))
        told.append(f"{attack} " + ", ".join(f"{row['auc']:.3f}" for _, row in known))
    if logarithmic:
        axes.set_xscale("log")
    if numbers and logarithmic:
        axes.set_xticks(
            [at for at, _, _ in points], [f"{at / 1e9:g} B" if at >= 1e9 else f"{at / 1e6:.4g} M" for at, _, _ in points]
        )
        axes.minorticks_off()
    elif not numbers:
        axes.set_xticks(range(len(names)), names)
    legend(figure, axes)
    what = f"AUC against {label}" + (f", set {first.results.name}" if first.prefix and name != "series-sets" else "")
    named = name if name == "series-sets" else first.named(name)
    return Chart(named, figure, f"{what}; {'; '.join(told)}", f"{what}; bands: intervals.")
