"""Stouffer's combination."""

from __future__ import annotations

import numpy as np

from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.setlevel.aggregations.base import Known, aggregation
from ngramscope.evaluate.setlevel.aggregations.null_p import null_p
from ngramscope.evaluate.setlevel.documents import SetScores

__all__ = ["stouffer"]


@aggregation(
    "stouffer",
    summary="Stouffer's combination of p-values against documents of other, non-member sets.",
    source="Stouffer et al. 1949",
    learns=True,
)
def stouffer(sets: SetScores, known: Known) -> Floats:
    """(S,): sum of the normal deviates over the root of their number."""
    from scipy.special import ndtri

    deviates = -np.asarray(ndtri(null_p(sets.scores, known.nonmembers)), dtype=np.float64)
    found: Floats = sets.sums(deviates) / np.sqrt(np.where(sets.counts > 0, sets.counts, np.nan))
    return found
