"""Thresholds that were set on one set, applied to other documents.

Duan et al. (2024), Table 5: a threshold at 1 % FPR on shifted non-members has another FPR on natural ones. Table 4: the rate
at which members that were edited a little, and so were not trained on, are still flagged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ngramscope.evaluate.auc import Floats

__all__ = ["Share", "flagged_share", "share"]


@dataclass(frozen=True)
class Share:
    """A share of documents, with its Clopper-Pearson interval; None of none.

    Attributes
    ----------
    count, of
        Documents that are so, and all.
    value, low, high
        The share and its interval. The interval takes documents to be independent.
    """

    count: int
    of: int
    value: float | None
    low: float | None
    high: float | None


def share(count: int, of: int, level: float = 0.95) -> Share:
    """`count` of `of`."""
    from scipy.stats import beta

    if not of:
        return Share(0, 0, None, None, None)
    tail = (1 - level) / 2
    low = float(beta.ppf(tail, count, of - count + 1)) if count else 0.0
    high = float(beta.ppf(1 - tail, count + 1, of - count)) if count < of else 1.0
    return Share(count, of, count / of, low, high)


def flagged_share(scores: Floats, threshold: float | None, level: float = 0.95) -> Share:
    """How many documents, shape (N,), a threshold flags; those without a score are left out; None flags nothing."""
    scored = scores[~np.isnan(scores)]
    return share(0 if threshold is None else int((scored >= threshold).sum()), len(scored), level)
