"""The mean without the extremes."""

from __future__ import annotations

import numpy as np

from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.setlevel.aggregations.base import aggregation
from ngramscope.evaluate.setlevel.documents import SetScores

__all__ = ["TRIM", "trimmed"]

TRIM = 0.1
"""Share of a set's documents that is left out at either end, rounded down."""


@aggregation("trimmed", summary="Mean without the lowest and highest tenth.", source="Tukey; Set-MI")
def trimmed(sets: SetScores) -> Floats:
    """(S,)."""
    return sets.each(_trimmed_mean)


def _trimmed_mean(scores: Floats) -> float:
    # scipy's trim_mean gives the same, and checks its arguments fifty times as long.
    cut = int(TRIM * len(scores))
    return float(np.sort(scores)[cut : len(scores) - cut].mean())
