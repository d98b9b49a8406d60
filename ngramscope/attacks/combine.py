"""Combining several p-values into one number.

Fisher (1932), Pearson (1933), Edgington (1972), Mudholkar and George (1979), Stouffer (1949), Cauchy (Liu and Xie 2020). The
combined p-values hold for independent p-values only (Cauchy's, approximately, for any). Signals of one text are dependent:
there the mean of the terms is a score, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

__all__ = ["METHODS", "combined_p", "mean_term", "terms"]

Floats = NDArray[np.float64]


def _stouffer(p: Floats) -> Floats:
    from scipy.special import ndtri

    return -np.asarray(ndtri(p), dtype=np.float64)


METHODS: Mapping[str, Callable[[Floats], Floats]] = MappingProxyType(
    {
        "edgington": np.negative,
        "fisher": lambda p: -2 * np.log(p),
        "pearson": lambda p: 2 * np.log1p(-p),
        "george": lambda p: np.log1p(-p) - np.log(p),
        "stouffer": _stouffer,
        "cauchy": lambda p: np.tan((0.5 - p) * np.pi),
    }
)
"""By name, the term of a p-value in the method's statistic; higher = more evidence against the null hypothesis."""


def terms(method: str, p: Floats) -> Floats:
    """The terms of p-values that lie between 0 and 1, both excluded; NaN stays NaN."""
    return np.asarray(METHODS[method](p), dtype=np.float64)


def mean_term(method: str, p: Floats) -> Floats:
    """(N,): mean over `p` (K, N) of the terms that are defined; NaN if none is. It ranks as the statistic does."""
    values = terms(method, p)
    counts = np.sum(~np.isnan(values), axis=0)
    out: Floats = np.divide(np.nansum(values, axis=0), counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    return out


def combined_p(method: str, p: Floats) -> Floats:
    """(N,): the combined p-value of independent p-values `p` (K, N), as the method defines it; NaN where all are."""
    from scipy import stats

    k = np.sum(~np.isnan(p), axis=0).astype(np.float64)
    k[k == 0] = np.nan
    total = np.nansum(terms(method, p), axis=0)
    if method == "edgington":
        return np.array([np.nan if np.isnan(n) else irwin_hall(-each, int(n)) for each, n in zip(total, k, strict=True)])
    if method == "fisher":
        return np.asarray(stats.chi2.sf(total, 2 * k))
    if method == "pearson":
        return np.asarray(stats.chi2.cdf(-total, 2 * k))
    if method == "george":
        # A t distribution that fits the first four moments.
        freedom = 5 * k + 4
        scale = np.sqrt(3 / k) / np.pi * np.sqrt(freedom / (freedom - 2))
        return np.asarray(stats.t.sf(total * scale, freedom))
    if method == "stouffer":
        return np.asarray(stats.norm.sf(total / np.sqrt(k)))
    return np.asarray(stats.cauchy.sf(total / k))


def irwin_hall(total: float, k: int) -> float:
    """Probability that the sum of `k` uniform numbers is at most `total`; in fractions, as its terms cancel."""
    exact = Fraction(total)
    parts = ((-1) ** number * math.comb(k, number) * (exact - number) ** k for number in range(min(math.floor(total), k) + 1))
    return float(sum(parts, Fraction(0)) / math.factorial(k))
