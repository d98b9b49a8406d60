"""ROC curves, linear and logarithmic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.report.charts import axes_of, legend, rate_ticks, tag
from ngramscope.report.html import INK
from ngramscope.report.parts import Chart, Section
from ngramscope.report.registry import section
from ngramscope.report.view import View

__all__ = ["roc"]

_LINEAR = np.linspace(0, 1, 201)
_MODELS = 3


@section("roc", "ROC curves", place=60)
def roc(view: View) -> Section:
    """Of the attacks that figures show, a pair of figures a target model."""
    charts = [each for model in view.targets[:_MODELS] for each in _charts(view, model)]
    if not charts:
        return Section(missing="There are no scores of both sides, so there is no ROC curve.")
    lead = []
    if len(view.targets) > _MODELS:
        lead.append(f"Of {len(view.targets)} target models the first {_MODELS}; the table of attacks has all.")
    return Section(lead, charts)


def _charts(view: View, model: str) -> list[Chart]:
    curves = [(attack, view.parts(attack, model)) for attack in view.shown(model)]
    curves = [(attack, parts) for attack, parts in curves if parts]
    if not curves:
        return []
    nonmembers = max(int((np.isfinite(part) & ~view.members).sum()) for _, parts in curves for part in parts)
    low = max(1e-4, 10 ** np.floor(np.log10(1 / max(2, nonmembers))))
    charts = []
    for name, grid in (("linear", _LINEAR), ("log", np.geomspace(low, 1, 200))):
        figure, axes = axes_of(size=(4.0, 3.7), xlabel="false positive rate", ylabel="true positive rate")
        axes.plot(grid, grid, color=INK, linewidth=0.7)
        for attack, parts in curves:
            colour, marker = view.style(attack)
            row = view.row(attack, model)
            label = attack if row is None or row["auc"] is None else f"{attack} {row['auc']:.3f}"
            (line,) = axes.plot(grid, mean_rate(parts, view.members, grid), color=colour, linewidth=1.5, label=label,
                                marker=marker, markevery=(0.05, 0.2), markersize=4)  # fmt: skip
            tag(line, view.number(attack))
        if name == "log":
            rate_ticks(axes, float(low))
        else:
            axes.set_xlim(0, 1)
            axes.set_ylim(0, 1)
        legend(figure, axes)
        scale = "on logarithmic scales: the left end is what counts for single documents" if name == "log" else "linear"
        alt = f"ROC curves on {model}, {name}: {', '.join(attack for attack, _ in curves)}"
        file = view.named(f"roc-{name}-{view.targets.index(model) + 1}")
        charts.append(Chart(file, figure, alt, f"ROC on {model}, {scale}; with AUCs."))
    return charts


def mean_rate(parts: Sequence[Floats], members: Mask, grid: Floats) -> Floats:
    """(G,): the highest TPR of a threshold whose FPR is at most that of the grid; the mean over splits of a learned attack."""
    rates = []
    for scores in parts:
        known = np.isfinite(scores)
        ours, theirs = np.sort(scores[known & members]), np.sort(scores[known & ~members])
        if not len(ours) or not len(theirs):
            continue
        at = np.unique(scores[known])
        tpr = 1 - np.searchsorted(ours, at, "left") / len(ours)
        fpr = 1 - np.searchsorted(theirs, at, "left") / len(theirs)
        # Both fall along `at`: turned round, the last threshold with an FPR not above.
        place = np.searchsorted(fpr[::-1], grid + 1e-12, "right")
        rates.append(np.append(0.0, tpr[::-1])[place])
    found: Floats = np.mean(rates, axis=0)
    return found
