"""The share of members that an attack finds at a low false positive rate.

A threshold is a score that occurs; a document is flagged if it scores at least that. Public implementations differ in which
point of the ROC curve "TPR at FPR f" is:

- ``le``: the last with FPR <= f (CAMIA, Min-K%++, Fast-MIA). The default: some threshold attains it.
- ``lt``: the last with FPR < f (MIMIR, Min-K%, ReCaLL).
- ``interp``: on the straight line between two points, which no threshold attains (Blind-MIA).
- ``nearest``: the one whose FPR is nearest to f, the first of two; it may exceed f (SoK, WBC).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ngramscope.errors import UsageError
from ngramscope.evaluate.auc import Floats, Mask, Roc, roc

__all__ = ["FPRS", "RELIABLE", "RULES", "TprAtFpr", "check_rates", "resolves", "tpr_at_fpr", "tprs"]

RULES = ("le", "lt", "interp", "nearest")
"""Which point of the curve is meant; the first is the default."""

FPRS = (0.001, 0.01, 0.05, 0.1)
"""The usual rates."""

RELIABLE = 10
"""A TPR is called unreliable if one side has fewer documents than this over FPR: its interval then covers too little."""


@dataclass(frozen=True)
class TprAtFpr:
    """A true positive rate at a false positive rate.

    Attributes
    ----------
    target
        The rate asked for.
    tpr
        None if n0 x target < 1: no number of false positives but 0 is that few.
    point_tpr
        The TPR of the chosen point whatever n0 is.
    attained_fpr, threshold
        Of the chosen point; None where it has none (``interp``; nothing is flagged).
    n0
        Non-members: FPRs are multiples of 1 / n0.
    unreliable
        min(n1, n0) x target < `RELIABLE`.
    """

    target: float
    tpr: float | None
    point_tpr: float
    attained_fpr: float | None
    threshold: float | None
    n0: int
    unreliable: bool


def check_rates(fprs: Sequence[float], rule: str) -> None:
    """Refuse rates outside (0, 1) and unknown rules.

    Raises
    ------
    UsageError
        Names the option.
    """
    if not fprs or not all(0 < each < 1 for each in fprs):
        raise UsageError("--fpr: rates lie between 0 and 1, both not included")
    if rule not in RULES:
        raise UsageError(f"--tpr-rule: no rule {rule!r}; known: {', '.join(RULES)}")


def tprs(scores: Floats, members: Mask, fprs: Sequence[float] = FPRS, rule: str = RULES[0]) -> list[TprAtFpr]:
    """At each rate, of one attack, shape (N,); at least one score on each side."""
    curve = roc(scores, members)
    n1, n0 = (int(np.count_nonzero(~np.isnan(scores) & side)) for side in (members, ~members))
    return [tpr_at_fpr(curve, each, (n1, n0), rule) for each in fprs]


def tpr_at_fpr(curve: Roc, target: float, sizes: tuple[int, int], rule: str = RULES[0]) -> TprAtFpr:
    """At one rate, on a curve that `roc` has made of so many members and non-members."""
    n0 = sizes[1]
    if rule == "interp":
        tpr = float(np.interp(target, curve.fpr, curve.tpr))
        attained = threshold = None
    else:
        if rule == "nearest":
            point = int(np.argmin(np.abs(curve.fpr - target)))
        else:
            point = int(np.searchsorted(curve.fpr, target, "right" if rule == "le" else "left")) - 1
        tpr, attained = float(curve.tpr[point]), float(curve.fpr[point])
        threshold = float(curve.thresholds[point]) if point else None
    shown = tpr if resolves(n0, target) else None
    return TprAtFpr(target, shown, tpr, attained, threshold, n0, not resolves(min(sizes), target, RELIABLE))


def resolves(size: int, target: float, expected: int = 1) -> bool:
    """Whether `size` documents are enough for so many to be expected at a rate of `target`."""
    return size * target >= expected * (1 - 1e-9)  # such a product may come out a little too small
