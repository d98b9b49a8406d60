"""Distributions of scores: members, non-members, modified members."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.splits import seed_of
from ngramscope.report.charts import axes_of, bins_for, legend
from ngramscope.report.looks import MEMBERS, MODIFIED, NONMEMBERS
from ngramscope.report.parts import Chart, Section
from ngramscope.report.registry import section
from ngramscope.report.view import View

__all__ = ["distributions"]

_MODELS = 2


@section("distributions", "Scores of the two sides", place=70)
def distributions(view: View) -> Section:
    """A figure an attack, of those that figures show."""
    charts = [each for model in view.targets[:_MODELS] for each in _charts(view, model)]
    if not charts:
        return Section(missing="There are no scores of both sides, so there is no distribution to show.")
    lead = []
    if view.results.modified is None:
        lead.append("No edited members were scored.")
    if len(view.targets) > _MODELS:
        lead.append(f"Of {len(view.targets)} target models the first {_MODELS}.")
    return Section(lead, charts)


def _charts(view: View, model: str) -> Iterator[Chart]:
    for number, attack in enumerate(view.shown(model)):
        sides = view.sides(attack, model)
        if sides is None:
            continue
        curves = [("members", MEMBERS, "-", sides[0]), ("non-members", NONMEMBERS, "--", sides[1])]
        modified = _modified(view, attack, model)
        if modified is not None:
            curves.append(("modified members", MODIFIED, ":", modified))
        values = np.concatenate([each[-1] for each in curves])
        # A few far out would leave one bin for all others; they are put into the outermost bins.
        low, high = np.quantile(values, [0.002, 0.998])
        if not low < high:
            low, high = float(values.min()) - 0.5, float(values.max()) + 0.5
        edges = np.linspace(low, high, bins_for(min(map(len, sides))) + 1)
        figure, axes = axes_of(xlabel=f"score of {attack} (higher: more likely a member)", ylabel="share of documents")
        for name, colour, line, scores in curves:
            heights = np.histogram(np.clip(scores, low, high), edges)[0] / len(scores)
            axes.stairs(heights, edges, fill=True, color=colour, alpha=0.13)
            axes.stairs(heights, edges, color=colour, linewidth=1.5, linestyle=line, label=f"{name} ({len(scores):,})")
        axes.set_ylim(bottom=0)
        axes.locator_params(axis="x", nbins=6)
        legend(figure, axes)
        medians = ", ".join(f"{name} {np.median(scores):.3g}" for name, _, _, scores in curves)
        file = view.named(f"scores-{view.targets.index(model) + 1}-{number + 1}")
        caption = f"{attack} on {model}; the outermost bars hold what lies beyond."
        yield Chart(file, figure, f"Distribution of {attack} on {model}; medians: {medians}", caption)


def _modified(view: View, attack: str, model: str) -> Floats | None:
    if view.results.modified is None:
        return None
    for column in view.results.modified.columns:
        if (seed_of(column.attack)[0], column.model) == (attack, model):
            known = column.scores[np.isfinite(column.scores)]
            return known if len(known) else None
    return None
