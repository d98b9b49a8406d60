"""Pairs of attacks: differences of their AUCs, and members that only one of them finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ngramscope.report.charts import axes_of
from ngramscope.report.html import INK
from ngramscope.report.parts import Chart, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View

__all__ = ["pairs"]

_MOST = 10

Value = Callable[[Any, bool], float | None]


@section("pairs", "Attacks beside each other", place=50)
def pairs(view: View) -> Section:
    """Paired-difference matrix; complementarity at a false positive rate."""
    rows = view.evaluation.get("pairs", ())
    if not rows:
        several = len([row for row in view.rows if row["role"] == "target" and row["auc"] is not None]) > 1
        return Section(
            missing="Pairs of attacks were not compared (evaluate --pairs, or in study.toml pairs = true under [evaluation])."
            if several
            else "There is only one attack, so there are no pairs to compare."
        )
    rate = 100 * rows[0]["at_fpr"]
    charts = [each for model in view.targets for each in _charts(view, model, rows)]
    lead = [
        f"A member counts as found by an attack if it is flagged at {rate:g} % FPR; what only one attack finds, another misses."
    ]
    return Section(lead, [*charts, _table(view, rows, rate)])


def _charts(view: View, model: str, rows: list[Any]) -> Iterator[Chart]:
    names = [f"{attack} @ {model}" for attack in view.shown(model, _MOST)]
    short = [name.removesuffix(f" @ {model}") for name in names]
    known = {(row["first"], row["second"]): row for row in rows}
    if len([key for key in known if set(key) <= set(names)]) == 0:
        return
    number = view.targets.index(model) + 1

    def difference(row: Any, turned: bool) -> float | None:
        value = row["difference"]["difference"]
        return None if value is None else -value if turned else value

    def only(row: Any, turned: bool) -> float | None:
        members = row["both"] + row["first_only"] + row["second_only"] + row["neither"]
        return row["second_only" if turned else "first_only"] / members if members else None

    rate = 100 * rows[0]["at_fpr"]
    yield _matrix(
        view.named(f"differences-{number}"), names, short, known, difference, "PuOr_r", True,
        f"AUC of the row less AUC of the column, on {model}; * p < .05 after Holm's correction for all pairs.",
    )  # fmt: skip
    yield _matrix(
        view.named(f"complementarity-{number}"), names, short, known, only, "Purples", False,
        f"Per cent of members that the row finds at {rate:g} % FPR and the column misses, on {model}.",
    )  # fmt: skip


def _matrix(
    name: str, names: list[str], short: list[str], known: Any, value: Value, colours: str, signed: bool, caption: str
) -> Chart:
    size = len(names)
    cells = np.full((size, size), np.nan)
    stars = np.zeros((size, size), dtype=bool)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            row, turned = known.get((first, second)), False
            if row is None:
                row, turned = known.get((second, first)), True
            found = None if row is None or i == j else value(row, turned)
            if found is not None:
                cells[i, j] = found
                p = row["difference"]["p_holm"]
                stars[i, j] = signed and p is not None and p < 0.05
    reach = float(np.nanmax(np.abs(cells))) or 1.0
    side = max(3.4, 1.6 + 0.42 * size)
    figure, axes = axes_of(size=(side, side - 0.4))
    axes.grid(visible=False)
    # Rectangles, no picture: the page takes no pictures, and files stay sharp.
    axes.pcolormesh(
        cells, cmap=colours, vmin=-reach * 1.6 if signed else 0, vmax=reach * 1.6, edgecolors="#ffffff", linewidth=1
    )
    axes.invert_yaxis()
    middles = np.arange(size) + 0.5
    for i, j in zip(*np.nonzero(np.isfinite(cells)), strict=True):
        text = f"{round(cells[i, j], 2) + 0.0:+.2f}".replace("0.", ".") if signed else f"{100 * cells[i, j]:.1f}"
        axes.text(
            middles[j], middles[i], text + ("*" if stars[i, j] else ""), ha="center", va="center", fontsize=7.5, color="#000000"
        )
    axes.set_xticks(middles, short, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(middles, short)
    axes.tick_params(colors=INK, labelsize=8)
    return Chart(name, figure, f"{caption} The table has all numbers.", caption)


def _table(view: View, rows: list[Any], rate: float) -> Table:
    cells = [
        [row["first"], row["second"], Number.difference(row["difference"]), row["difference"]["p"], row["difference"]["p_holm"],
         row["both"], row["first_only"], row["second_only"], row["neither"]]
        for row in rows
    ]  # fmt: skip
    columns = heads(
        "first",
        "second",
        "AUC difference:difference",
        "p:p",
        "p (Holm):p",
        "found by both:count",
        "first only:count",
        "second only:count",
        "neither:count",
    )
    return Table(view.named("pairs"), f"Pairs of attacks; members found at {rate:g} % FPR.", columns, cells, folded=True)
