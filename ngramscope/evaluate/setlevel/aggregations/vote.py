"""The share of documents above a threshold."""

from __future__ import annotations

import numpy as np

from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.setlevel.aggregations.base import Known, aggregation
from ngramscope.evaluate.setlevel.documents import SetScores

__all__ = ["best_threshold", "vote"]


@aggregation(
    "vote",
    summary="Share of documents that score at least a threshold, which is learned on other sets.",
    source="Document level of Meeus et al. 2024 (SoK), there with the threshold of best accuracy",
    learns=True,
)
def vote(sets: SetScores, known: Known) -> Floats:
    """(S,)."""
    return sets.means((sets.scores >= best_threshold(known)).astype(np.float64))


def best_threshold(known: Known) -> float:
    """The score of largest TPR less FPR; of several the highest."""
    candidates = np.unique(np.concatenate([known.members, known.nonmembers]))
    tpr, fpr = (1 - np.searchsorted(np.sort(each), candidates) / len(each) for each in (known.members, known.nonmembers))
    gain = tpr - fpr
    return float(candidates[np.flatnonzero(gain >= gain.max() - 1e-12)[-1]])
