"""Figures of a report: drawn once, shown on the page as SVG, kept as SVG and PDF."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscope.index.output import write_whole
from ngramscope.report import html
from ngramscope.report.html import INK, TAG
from ngramscope.report.parts import Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SIZE", "axes_of", "bins_for", "legend", "panels_of", "rate_ticks", "save_chart", "spans", "tag"]

SIZE = (4.4, 3.3)
"""Inches: small, so that letters are large where a telephone's width is all there is."""

_FONT = 9


def axes_of(*, size: tuple[float, float] = SIZE, xlabel: str = "", ylabel: str = "") -> tuple[Figure, Axes]:
    """A figure with one panel."""
    figure, (axes,) = panels_of((1,), size=size, xlabel=xlabel, ylabels=(ylabel,))
    return figure, axes


def panels_of(
    heights: Sequence[float], *, size: tuple[float, float], xlabel: str, ylabels: Sequence[str]
) -> tuple[Figure, list[Axes]]:
    """A figure with panels of these relative heights above each other, which share the horizontal axis."""
    from matplotlib.figure import Figure as NewFigure

    figure = NewFigure(figsize=size, layout="constrained")
    ratios = {"height_ratios": list(heights)}
    panels: list[Axes] = list(figure.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw=ratios)[:, 0])
    for axes, label in zip(panels, ylabels, strict=True):
        axes.tick_params(colors=INK, labelsize=_FONT)
        for spine in axes.spines.values():
            spine.set_color(INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylabel(label, color=INK, fontsize=_FONT)
        axes.set_axisbelow(True)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    panels[-1].set_xlabel(xlabel, color=INK, fontsize=_FONT)
    return figure, panels


def legend(figure: Figure, *panels: Axes, columns: int = 2) -> None:
    """What is what, below the panels; the figure becomes higher by it."""
    handles: list[Any] = []
    labels: list[str] = []
    for each in panels:
        more, called = each.get_legend_handles_labels()
        handles.extend(more)
        labels.extend(str(name) for name in called)
    if not handles:
        return
    longest = max(map(len, labels))
    columns = 1 if longest > 30 else min(columns, len(labels))
    rows = -(-len(labels) // columns)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + 0.18 * rows)
    figure.legend(
        handles, [each if len(each) < 60 else f"{each[:57]}..." for each in labels], loc="outside lower center", ncols=columns,
        fontsize=8, frameon=False, labelcolor=INK, handlelength=2.2, columnspacing=1.2,
    )  # fmt: skip


def bins_for(documents: int) -> int:
    """How many bins a histogram of so many documents has."""
    return min(40, max(8, round(1.5 * math.sqrt(documents))))


def rate_ticks(axes: Axes, low: float) -> None:
    """Both axes as rates on a logarithmic scale from `low` to 1."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
        axis.set_minor_formatter(lambda *_: "")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(low, 1)
    axes.set_ylim(low, 1)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
        axis.set_minor_formatter(lambda *_: "")


def tag(artist: Any, number: int) -> None:
    """Let the page know that this is of attack `number`; negative: of none."""
    if number >= 0:
        artist.set_gid(f"{TAG}-{number}")


def save_chart(chart: Chart, folder: Path, formats: Sequence[str]) -> str:
    """Write a file a format, as ``NAME.pdf``; returns the drawing as part of a page (`html.inline`)."""
    import matplotlib as mpl

    drawn = html.drawing(chart.figure, name=chart.name)
    # As it was laid out for the page: laying out is what takes the time.
    chart.figure.set_layout_engine("none")
    for kind in formats:
        path = folder / f"{chart.name}.{kind}"
        if kind == "svg":
            write_whole(path, html.on_white(drawn))
            continue
        metadata = {"CreationDate": None} if kind == "pdf" else None
        with mpl.rc_context({"pdf.fonttype": 42}), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # letters that the font lacks
            chart.figure.savefig(path, format=kind, dpi=200, metadata=metadata)
    return html.inline(drawn, alt=chart.alt, name=chart.name)


def spans(values: Sequence[tuple[float, float] | None]) -> tuple[list[float], list[float]]:
    """Lower and upper ends; NaN, which leaves a gap, where there is none."""
    nan = float("nan")
    return [each[0] if each else nan for each in values], [each[1] if each else nan for each in values]
