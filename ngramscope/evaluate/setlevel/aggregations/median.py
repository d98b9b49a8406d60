"""The median score."""

from __future__ import annotations

import numpy as np

from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.setlevel.aggregations.base import aggregation
from ngramscope.evaluate.setlevel.documents import SetScores

__all__ = ["median"]


@aggregation("median", summary="Median of the documents' scores.", source="Set-MI")
def median(sets: SetScores) -> Floats:
    """(S,)."""
    return sets.each(lambda scores: float(np.median(scores)))
