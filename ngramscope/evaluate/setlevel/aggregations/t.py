"""Welch's t against known non-members."""

from __future__ import annotations

import numpy as np

from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.setlevel.aggregations.base import Known, aggregation
from ngramscope.evaluate.setlevel.documents import SetScores

__all__ = ["t"]


@aggregation(
    "t",
    summary="Welch's t statistic against documents of other, non-member sets.",
    source="Puerto et al. 2024 (Scaling Up Membership Inference), collection level",
    learns=True,
)
def t(sets: SetScores, known: Known) -> Floats:
    """(S,); NaN for a set of one document, and where neither side varies."""
    others = known.nonmembers
    counts, means = sets.counts.astype(np.float64), sets.means()
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = sets.sums((sets.scores - means[sets.set_of]) ** 2) / (counts - 1) / counts
        error = np.sqrt(spread + (others.var(ddof=1) / len(others) if len(others) > 1 else np.nan))
        found: Floats = np.where(error > 0, (means - others.mean()) / error, np.nan)
    return found
