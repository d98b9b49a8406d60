"""p-values of documents against those of sets that are known non-members."""

from __future__ import annotations

import numpy as np

from ngramscope.evaluate.auc import Floats

__all__ = ["null_p"]


def null_p(scores: Floats, nonmembers: Floats) -> Floats:
    """(N,): the share of non-members (M,) that score higher, ties counted half; never 0 and never 1."""
    ordered = np.sort(nonmembers)
    above = 2 * len(ordered) - np.searchsorted(ordered, scores, "left") - np.searchsorted(ordered, scores, "right")
    found: Floats = (above + 1) / (2 * len(ordered) + 2)
    return found
