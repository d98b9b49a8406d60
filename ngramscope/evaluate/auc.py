"""The area under the ROC curve, which is the Mann-Whitney statistic over the number of pairs, and the curve itself.

Everywhere in this package: `scores` are finite or NaN, higher = more likely a member, and a document whose score is NaN has no
part in that attack's numbers; `members` says of each document which side it is on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Floats", "Mask", "Roc", "auc", "aucs", "column_aucs", "placements", "roc", "tied_pairs"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def placements(scores: Floats, members: Mask) -> Floats:
    """Of each member the share of non-members below it, of each non-member the share of members above it; ties count half.

    Parameters
    ----------
    scores
        (A, N): a row an attack.
    members
        (N,).

    Returns
    -------
    (A, N)
        NaN where the score is, and everywhere if an attack has no score on one side. The mean over either side is the AUC
        (DeLong et al. 1988: the structural components V10 and V01).
    """
    found = np.full(scores.shape, np.nan)
    for row, values in zip(found, scores, strict=True):
        used = ~np.isnan(values)
        ours, others = used & members, used & ~members
        if ours.any() and others.any():
            row[ours] = _share_below(np.sort(values[others]), values[ours])
            row[others] = 1 - _share_below(np.sort(values[ours]), values[others])
    return found


def aucs(scores: Floats, members: Mask) -> Floats:
    """(A,): chance that a member scores above a non-member, ties counted half; NaN if one side has no score."""
    found = np.full(len(scores), np.nan)
    for number, values in enumerate(scores):
        used = ~np.isnan(values)
        ours, others = values[used & members], values[used & ~members]
        if len(ours) and len(others):
            found[number] = _share_below(np.sort(others), ours).mean()
    return found


def auc(scores: ArrayLike, members: ArrayLike) -> float:
    """The AUC of one attack, shapes (N,); NaN if one side has no score."""
    return float(aucs(np.asarray(scores, dtype=np.float64)[None], np.asarray(members, dtype=np.bool_))[0])


def column_aucs(scores: Floats, members: NDArray[Any]) -> Floats:
    """AUC of each column, ties counted half; NaN where a column of `members` has one side only.

    Parameters
    ----------
    scores
        (N, P), all finite.
    members
        (N, P), or (N, 1) for labels that the columns share.
    """
    from scipy.stats import rankdata

    ranks = rankdata(scores, axis=0)
    ones = members.sum(axis=0)
    zeros = len(members) - ones
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = ((ranks * members).sum(axis=0) - ones * (ones + 1) / 2) / (ones * zeros)
    return found


def tied_pairs(scores: Floats, members: Mask) -> float:
    """The share of pairs of a member and a non-member that score the same; of one attack, shape (N,); NaN without pairs."""
    ours, others = _sides(scores, members)
    if not len(ours) or not len(others):
        return float("nan")
    others.sort()
    equal = np.searchsorted(others, ours, "right") - np.searchsorted(others, ours, "left")
    return float(equal.mean() / len(others))


@dataclass(frozen=True, eq=False)
class Roc:
    """A ROC curve: a point for each score that occurs, and before them the point where nothing is flagged.

    Attributes
    ----------
    fpr, tpr
        Share of non-members and of members that score at least the threshold; they rise.
    thresholds
        Descending; the first is infinite.
    """

    fpr: Floats
    tpr: Floats
    thresholds: Floats


def roc(scores: Floats, members: Mask) -> Roc:
    """All points of the curve of one attack, shape (N,), none left out; at least one score on each side."""
    ours, others = _sides(scores, members)
    thresholds = np.unique(np.concatenate([ours, others]))[::-1]
    flagged = [len(side) - np.searchsorted(np.sort(side), thresholds, "left") for side in (others, ours)]
    fpr, tpr = (np.concatenate([[0.0], each / each[-1]]) for each in flagged)
    return Roc(fpr, tpr, np.concatenate([[np.inf], thresholds]))


def _sides(scores: Floats, members: Mask) -> tuple[Floats, Floats]:
    used = ~np.isnan(scores)
    return scores[used & members], scores[used & ~members]


def _share_below(ordered: Floats, values: Floats) -> Floats:
    below = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    share: Floats = below / (2 * len(ordered))
    return share
