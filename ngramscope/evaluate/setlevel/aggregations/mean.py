"""The mean score."""

from __future__ import annotations

from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.setlevel.aggregations.base import aggregation
from ngramscope.evaluate.setlevel.documents import SetScores

__all__ = ["mean"]


@aggregation("mean", summary="Mean of the documents' scores.", source="Set-MI")
def mean(sets: SetScores) -> Floats:
    """(S,)."""
    return sets.means()
