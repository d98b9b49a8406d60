"""Per-document p-values against a pool of known non-members, and the share of false discoveries among those that are flagged.

Conformal p-values: Vovk et al. 2005. With a shared pool they depend on each other so that the procedure of Benjamini and
Hochberg (1995) keeps its level (Bates et al., Testing for outliers with conformal p-values, Annals of Statistics 2023, theorem
2).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import UsageError

__all__ = ["benjamini_hochberg", "conformal_p"]

Floats = NDArray[np.float64]


def conformal_p(pool: Floats, scores: Floats) -> Floats:
    """(1 + number of the pool's scores that are at least as high) / (m + 1).

    Valid, P(p <= a) <= a for a non-member, if it and the pool are exchangeable: drawn alike, and none used to build the attack.

    Parameters
    ----------
    pool
        (m,) scores of known non-members; NaN does not count.
    scores
        (N,) scores of others; NaN gives NaN.

    Raises
    ------
    UsageError
        The pool is empty.
    """
    known = np.sort(pool[~np.isnan(pool)])
    if not len(known):
        raise UsageError("the pool has no non-member with a score")
    above = len(known) - np.searchsorted(known, scores, side="left")
    return np.where(np.isnan(scores), np.nan, (1 + above) / (len(known) + 1))


def benjamini_hochberg(p: Floats) -> Floats:
    """(N,): adjusted p-values; flagging those that are at most a keeps the expected share of false flags at a or below.

    NaN stays NaN and does not count as a test.
    """
    from scipy.stats import false_discovery_control

    out = np.full(len(p), np.nan)
    defined = ~np.isnan(p)
    if defined.any():
        out[defined] = false_discovery_control(p[defined])
    return out
