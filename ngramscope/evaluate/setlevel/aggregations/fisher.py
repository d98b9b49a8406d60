"""Fisher's combination."""

from __future__ import annotations

import numpy as np

from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.setlevel.aggregations.base import Known, aggregation
from ngramscope.evaluate.setlevel.aggregations.null_p import null_p
from ngramscope.evaluate.setlevel.documents import SetScores

__all__ = ["fisher"]


@aggregation(
    "fisher",
    summary="Fisher's combination of p-values against documents of other, non-member sets.",
    source="Fisher 1932; its chi-squared law as a normal deviate by Wilson and Hilferty 1931",
    learns=True,
)
def fisher(sets: SetScores, known: Known) -> Floats:
    """(S,): as a normal deviate, so that sets of different size compare, and no tail underflows."""
    freedom = 2 * np.where(sets.counts > 0, sets.counts, np.nan)
    ratio = -2 * sets.sums(np.log(null_p(sets.scores, known.nonmembers))) / freedom
    found: Floats = (np.cbrt(ratio) - 1 + 2 / (9 * freedom)) / np.sqrt(2 / (9 * freedom))
    return found
