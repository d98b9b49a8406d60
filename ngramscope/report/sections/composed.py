"""Attacks that are composed of signals: their weights, and how much they need to learn from (CAMIA, Figures 10 and 11)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ngramscope.attacks.base import Inputs, MissingPassError
from ngramscope.attacks.camia.features import GROUPS, SIGNALS
from ngramscope.attacks.camia.learned import weights
from ngramscope.evaluate.splits import seed_of
from ngramscope.report.charts import axes_of, legend, spans, tag
from ngramscope.report.html import INK
from ngramscope.report.looks import MEMBERS, NONMEMBERS
from ngramscope.report.parts import Chart, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View

__all__ = ["composed"]

_SIGNALS = 20


@section("composed", "Composed attacks", place=85)
def composed(view: View) -> Section:
    """Weights of signals; AUC against the share that is learned from."""
    learned = [row for row in view.rows if row["attack"].startswith("camia-") and row["role"] == "target"]
    if not learned:
        return Section(missing="No attack that is composed of several signals was evaluated.")
    parts: list[Chart | Table] = []
    lead = []
    model = view.targets[0]
    known = _weights(view, model) if any(row["attack"].startswith("camia-lr") for row in learned) else None
    if known is None:
        lead.append("There is no learned regression, or its signals are not at hand, so there are no weights to show.")
    else:
        parts += [_weight_chart(view, model, known), _weight_table(view, model, known)]
    shares = _shares(view)
    if shares:
        parts.append(_share_chart(view, shares))
    else:
        lead.append("The attacks learned from one share of the documents only, so there is no curve over that share.")
    return Section(lead, parts)


def _weights(view: View, model: str) -> Any:
    """(splits, signals), None if they cannot be learned anew."""
    if view.results.store is None or view.results.scores is None:
        return None
    columns = [
        each
        for each in view.results.scores.columns
        if each.attack.split("@")[0].split("(")[0] == "camia-lr" and each.model == model
    ]
    if not columns:
        return None
    # Of one choice of options.
    columns = [each for each in columns if each.settings == columns[0].settings]
    seed = min(number for each in columns if (number := seed_of(each.attack)[1]) is not None)
    settings = {name: columns[0].settings[name] for name in ("convention", "share", "splits") if name in columns[0].settings}
    try:
        return weights(Inputs(view.results.store, model, seed=seed), **settings)
    except MissingPassError:
        return None


def _order(known: Any) -> list[int]:
    mean = known.mean(axis=0)
    return [int(each) for each in np.argsort(-np.abs(mean), kind="stable") if mean[each] != 0]


def _weight_chart(view: View, model: str, known: Any) -> Chart:
    order = _order(known)[:_SIGNALS]
    mean, low, high = known.mean(axis=0)[order], known.min(axis=0)[order], known.max(axis=0)[order]
    figure, axes = axes_of(size=(4.8, 1.0 + 0.21 * len(order)), xlabel="weight of the standardised signal")
    axes.grid(visible=False)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.barh(range(len(order)), mean, color=[MEMBERS if each > 0 else NONMEMBERS for each in mean], alpha=0.75)
    axes.hlines(range(len(order)), low, high, color=INK, linewidth=1)
    axes.set_yticks(range(len(order)), [SIGNALS[each].name for each in order])
    axes.set_ylim(len(order) - 0.5, -0.5)
    told = "; ".join(f"{SIGNALS[each].name} {value:+.2f}" for each, value in zip(order, mean, strict=True))
    caption = f"camia-lr on {model}: the {len(order)} largest weights, means and ranges over {len(known)} splits."
    return Chart(view.named("weights"), figure, f"Weights of signals: {told}", caption)


def _weight_table(view: View, model: str, known: Any) -> Table:
    rows: list[list[Any]] = [
        [SIGNALS[each].name, SIGNALS[each].group,
         Number(float(known[:, each].mean()), float(known[:, each].min()), float(known[:, each].max()))]
        for each in _order(known)
    ]  # fmt: skip
    totals = {group: float(np.abs(known[:, [each.group == group for each in SIGNALS]]).sum(axis=1).mean()) for group in GROUPS}
    by_group = [f"{group} {total:.2f}" for group, total in sorted(totals.items(), key=lambda each: -each[1])]
    notes = ["Brackets: least and largest of the splits.", f"Sum of absolute weights by group: {', '.join(by_group)}."]
    columns = heads("signal", "group", "weight:difference")
    return Table(view.named("weights"), f"Weights of camia-lr on {model}.", columns, rows, notes, folded=True)


def _shares(view: View) -> dict[str, list[tuple[float, Any]]]:
    """By attack the shares that it learned from, with the rows; of attacks that have several."""
    if view.results.scores is None:
        return {}
    found: dict[str, dict[float, Any]] = {}
    for column in view.results.scores.columns:
        name = seed_of(column.attack)[0]
        row = view.row(name, column.model)
        if "share" in column.settings and row is not None and row["auc"] is not None and column.model == view.targets[0]:
            found.setdefault(name.split("(")[0], {})[float(column.settings["share"])] = row
    return {name: sorted(rows.items()) for name, rows in found.items() if len(rows) > 1}


def _share_chart(view: View, shares: dict[str, list[tuple[float, Any]]]) -> Chart:
    figure, axes = axes_of(xlabel="share of the documents that is learned from", ylabel="AUC on the others")
    axes.axhline(0.5, color=INK, linewidth=0.8)
    for name, points in shares.items():
        colour, marker = view.style(points[0][1]["attack"])
        at = [share for share, _ in points]
        (line,) = axes.plot(at, [row["auc"] for _, row in points], marker=marker, color=colour, linewidth=1.4, label=name)
        band = axes.fill_between(at, *spans([row["interval"] for _, row in points]), color=colour, alpha=0.1, linewidth=0)
        for artist in (line, band):
            tag(artist, view.number(points[0][1]["attack"]))
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    legend(figure, axes)
    told = "; ".join(f"{name}: " + ", ".join(f"{row['auc']:.3f} at {100 * share:g} %" for share, row in points)
                     for name, points in shares.items())  # fmt: skip
    return Chart(view.named("attack-set-share"), figure, f"AUC against the share learned from: {told}",
                 f"AUC against the share of the documents that the attack learned from, on {view.targets[0]}.")  # fmt: skip
