"""The figure of AUC against overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscope.evaluate.curves import BOTH, NONMEMBERS, AucAt
from ngramscope.evaluate.lines import BLIND
from ngramscope.evaluate.overlap_section import OVERLAP_ALONE, OverlapSection
from ngramscope.report.figures import save
from ngramscope.report.looks import Look, looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["auc_curves"]

_DASHES: Mapping[str, Sequence[Any]] = {
    "target": ("-", "-.", (0, (7, 1, 1, 1, 1, 1))),
    "placebo": ("--", (0, (2, 2)), (0, (6, 4))),
    BLIND: (":", "-."),
}
_TITLES = {
    NONMEMBERS: "non-members with at most so much overlap,\nall members",
    BOTH: "members and non-members\nwith at most so much overlap",
}
_BANDS = 6
_BLACK = "#000000"


def auc_curves(path: Path, sections: Sequence[OverlapSection]) -> None:
    """Draw both curves of every attack, a row of panels for each length of n-grams, with counts of documents below.

    The first target is solid, further ones are broken by dots, placebos dashed; an attack has one colour and marker on all
    models; what sees no model is black: the ceiling dotted, overlap alone
    dashed and dotted. Bands are intervals; with many attacks they are left out.

    Parameters
    ----------
    path
        Its ending chooses the format (`figures.FORMATS`); the file appears under its name when whole.

    Raises
    ------
    ResourceError
        The disk does not take it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.4 * len(sections)), layout="constrained")
    for part, section in zip(figure.subfigures(len(sections), 1, squeeze=False)[:, 0], sections, strict=True):
        look = looks([each.attack for each in section.curves if each.role != BLIND])
        axes = part.subplots(2, 2, sharex=True, sharey="row", gridspec_kw={"height_ratios": [4, 1]})
        for column, restricted in enumerate((NONMEMBERS, BOTH)):
            rows = [each for each in section.curves if each.restricted == restricted]
            above, below = axes[0][column], axes[1][column]
            above.set_title(_TITLES[restricted], fontsize="medium")
            below.set_xlabel(f"largest overlap ({section.n}-grams)")
            if not rows:
                reason = (section.reason or "").replace("_", " ")
                above.text(0.5, 0.5, f"not known:\n{reason}", ha="center", va="center", transform=above.transAxes)
                continue
            _lines(above, rows, look)
            _counts(below, rows)
        axes[0][0].set_ylabel("AUC")
        axes[1][0].set_ylabel("documents")
        handles, labels = axes[0][0].get_legend_handles_labels()
        part.legend(handles, labels, loc="outside right upper", fontsize="small")
    save(figure, path)


def _lines(axes: Axes, rows: Sequence[AucAt], look: Mapping[str, Look]) -> None:
    axes.axhline(0.5, color="0.6", linewidth=0.8)
    names = list(dict.fromkeys((each.attack, each.model, each.role) for each in rows))
    models = {role: list(dict.fromkeys(model for _, model, of in names if of == role)) for *_, role in names}
    for attack, model, role in names:
        dashes = _DASHES.get(role, _DASHES["target"])
        place = attack == OVERLAP_ALONE if role == BLIND else models[role].index(model)
        dash = dashes[place % len(dashes)]
        points = [each for each in rows if (each.attack, each.model) == (attack, model)]
        at = [each.at_most or 0.0 for each in points]
        colour, marker = look.get(attack, (_BLACK, ""))
        label = attack if role == BLIND else f"{attack} @ {model}"
        # What has no number leaves a gap.
        values = [float("nan") if each.auc is None else each.auc for each in points]
        axes.plot(at, values, linestyle=dash, color=colour, marker=marker, markersize=3, linewidth=1.2, label=label)
        if len(names) <= _BANDS:
            low, high = ([each.interval[side] if each.interval else float("nan") for each in points] for side in (0, 1))
            axes.fill_between(at, low, high, color=colour, alpha=0.12, linewidth=0)


def _counts(axes: Axes, rows: Sequence[AucAt]) -> None:
    first = [each for each in rows if (each.attack, each.model) == (rows[0].attack, rows[0].model)]
    at = [each.at_most or 0.0 for each in first]
    axes.step(at, [each.n1 for each in first], where="post", color="0.2", linewidth=1.2, label="members")
    axes.step(at, [each.n0 for each in first], "--", where="post", color="0.2", linewidth=1.2, label="non-members")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="x-small")
