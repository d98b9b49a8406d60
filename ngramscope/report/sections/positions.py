"""Mean loss by token position (CAMIA, Figure 3)."""

from __future__ import annotations

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.models.stats import TokenStats
from ngramscope.report.charts import axes_of, legend
from ngramscope.report.looks import MEMBERS, NONMEMBERS
from ngramscope.report.parts import Chart, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View

__all__ = ["positions"]

_POINTS = 40
_LEAST = 10
_TARGETS = 2


@section("positions", "Loss along the text", place=80)
def positions(view: View) -> Section:
    """Of members and non-members, on the first targets and a placebo."""
    store = view.results.store
    labels = np.zeros(0) if store is None else store.labels
    sides = {"members": labels == 1, "non-members": labels == 0}
    passes = [*list(view.stored("plain", "target"))[:_TARGETS], *list(view.stored("plain", "placebo"))[:1]]
    charts: list[Chart | Table] = []
    rows: list[list[float | str | int]] = []
    for stored in passes:
        curves = {name: by_position(stored.stats, chosen) for name, chosen in sides.items()}
        if any(len(at) < 2 for at, _, _ in curves.values()):
            continue
        figure, axes = axes_of(xlabel="token position", ylabel="mean loss, nats")
        for (name, (at, mean, error)), colour, line in zip(curves.items(), (MEMBERS, NONMEMBERS), ("-", "--"), strict=True):
            axes.plot(at, mean, line, color=colour, linewidth=1.5, label=name)
            axes.fill_between(at, mean - 1.96 * error, mean + 1.96 * error, color=colour, alpha=0.13, linewidth=0)
            rows += [[stored.model, name, float(a), float(m)] for a, m in zip(at, mean, strict=True)]
        legend(figure, axes)
        told = "; ".join(f"{name} {mean[0]:.2f} to {mean[-1]:.2f}" for name, (_, mean, _) in curves.items())
        file = view.named(f"positions-{len(charts) + 1}")
        caption = f"Mean loss by token position on {stored.model} ({stored.role}); bands: 1.96 standard errors over documents."
        charts.append(Chart(file, figure, f"Mean loss by token position on {stored.model}: {told}", caption))
    if not charts:
        return Section(missing="The losses of single tokens are not at hand, or too few documents have them.")
    columns = heads("model", "side", "mean position:number", "mean loss:number")
    charts.append(Table(view.named("positions"), "Mean loss by token position.", columns, rows, folded=True))
    return Section([], charts)


def by_position(stats: TokenStats, chosen: Mask) -> tuple[Floats, Floats, Floats]:
    """Mean positions (from 1), mean losses and their standard errors over documents, in ranges of positions.

    Ranges have about equal widths; a range has a mean if at least ten texts reach it.

    Parameters
    ----------
    chosen
        (N,): candidates that count.
    """
    lengths = np.where(chosen[stats.rows], stats.lengths, 0)
    ordered = np.sort(lengths)
    longest = int(ordered[-_LEAST]) if len(ordered) >= _LEAST else 0
    edges = np.unique(np.linspace(0, longest, _POINTS + 1).astype(np.int64))
    texts = np.repeat(np.arange(len(stats)), stats.lengths)
    place = np.arange(len(texts)) - np.repeat(stats.offsets[:-1], stats.lengths)
    loss = -stats["log_prob"].astype(np.float64)
    ranges = max(0, len(edges) - 1)
    there = (lengths[texts] > 0) & (place < longest) & np.isfinite(loss)
    cell = texts[there] * ranges + np.searchsorted(edges, place[there], "right") - 1
    counts, sums, places = (
        np.bincount(cell, weights, minlength=len(stats) * ranges).reshape(len(stats), ranges)
        for weights in (None, loss[there], place[there])
    )
    found = []
    for number in range(ranges):
        texts_there = counts[:, number] > 0
        means = sums[texts_there, number] / counts[texts_there, number]
        if len(means) >= _LEAST:
            middle = 1 + places[:, number].sum() / counts[:, number].sum()
            found.append((middle, means.mean(), means.std(ddof=1) / np.sqrt(len(means))))
    at, mean, error = (np.array([each[column] for each in found]) for column in range(3))
    return at, mean, error
