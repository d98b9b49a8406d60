"""Figures; matplotlib is loaded only when one is drawn."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import MissingExtraError, ResourceError, UsageError
from ngramscope.index.output import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "Series", "check", "overlap_histogram", "save"]

FORMATS = (".png", ".svg", ".pdf")
Series = tuple[str, NDArray[np.float64]]
_BINS = 50


def check(path: Path, option: str = "--plot") -> None:
    """Refuse, before anything is computed, a figure that could not be drawn.

    Raises
    ------
    UsageError
        An unknown ending or a folder that is not there.
    MissingExtraError
        matplotlib is not installed.
    """
    if path.suffix not in FORMATS:
        raise UsageError(f"{option}: {path}: the ending says no known format; known: {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise UsageError(f"{option}: {path}: there is no folder {path.parent}")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot", option)


def overlap_histogram(path: Path, panels: Sequence[tuple[int, Sequence[Series]]], *, note: str) -> None:
    """Draw the share of documents by overlap: a panel for each n, the inputs overlaid.

    Parameters
    ----------
    path
        Its ending chooses the format; the file appears under its name when whole.
    panels
        n and, for each input, its name and the overlaps of its documents, shape (scored,).
    note
        Printed under the axes; tells of the index.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.2 * len(panels) + 0.4), layout="constrained")
    edges = np.linspace(0, 1, _BINS + 1)
    for axes, (n, series) in zip(figure.subplots(len(panels), squeeze=False)[:, 0], panels, strict=True):
        for name, values in series:
            # Shares, not counts: inputs of different sizes stay comparable.
            weights = np.full(len(values), 1 / max(1, len(values)))
            label = f"{name} ({len(values):,} documents)"
            axes.hist(values, bins=edges, weights=weights, histtype="stepfilled", alpha=0.45, label=label)
        axes.set_xlim(0, 1)
        axes.set_xlabel(f"overlap (hits / {n}-grams of the document)")
        axes.set_ylabel("share of documents")
        axes.legend(fontsize="small")
    figure.supxlabel(note, fontsize="x-small")
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write a figure; it appears under its name when whole.

    Raises
    ------
    ResourceError
        The disk does not take it.
    """
    import matplotlib as mpl

    try:
        # No date and no random ids inside: the same table gives the same file.
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix)
        hashsalt = mpl.rc_context({"svg.hashsalt": "ngramscope"})
        with whole_file(path) as temporary, hashsalt, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # letters that the font lacks, long names: the figure is no worse for being told
            figure.savefig(temporary, format=path.suffix[1:], dpi=150, metadata=metadata)
    except OSError as error:
        raise ResourceError(f"{path}: cannot write the figure: {error.strerror or error}") from error
