"""Approximate entropy (Pincus 1991), signal f_ApEn of CAMIA: does what follows a pattern of losses repeat with the pattern?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["approximate_entropies"]

Floats = NDArray[np.float64]
Matches = NDArray[np.bool_]


def approximate_entropies(x: Floats, lengths: Sequence[int], m: int, r: float) -> list[float]:
    """Approximate entropy of the first values of `x`, for several numbers of them.

    Parameters
    ----------
    x
        (n,) finite values.
    lengths
        How many of the first values to take, below 65,536; all where there are fewer.
    m
        Length of the patterns.
    r
        Two values are alike if they differ by at most `r`, two patterns if all their values are.

    Returns
    -------
    list
        Phi(m) - Phi(m + 1) for each length, Phi being the mean logarithm of the share of patterns that are like one, itself
        included; NaN where there are not at least two patterns of m + 1 values.
    """
    lengths = [min(length, len(x)) for length in lengths]
    longest = max(lengths, default=0)
    if longest <= m + 1:
        return [np.nan] * len(lengths)
    alike = _alike(x[:longest], r)
    patterns = _runs(alike, m)
    longer = patterns[:-1, :-1] & alike[m:, m:]
    found = {n: _phi(patterns, n - m + 1) - _phi(longer, n - m) for n in set(lengths) if n > m + 1}
    return [found.get(n, np.nan) for n in lengths]


def _alike(x: Floats, r: float) -> Matches:
    """(n, n): whether x[i] and x[j] differ by at most r. By ranks: 16 bits are compared faster than the 64 of floats."""
    ordered = np.sort(x)
    rank, low = (np.searchsorted(ordered, values).astype(np.uint16) for values in (x, x - r))
    high = np.searchsorted(ordered, x + r, side="right").astype(np.uint16)
    # What lies below `low` wraps around to a large number.
    return np.asarray(rank - low[:, None] < (high - low)[:, None])


def _runs(alike: Matches, m: int) -> Matches:
    """Whether the patterns of `m` values that begin at i and j are alike: of two patterns that overlap or touch."""
    if m == 1:
        return alike
    half = m // 2
    part = _runs(alike, m - half)
    return part[:-half, :-half] & part[half:, half:]


def _phi(matches: Matches, patterns: int) -> float:
    bits = matches[:patterns, :patterns].view(np.uint8)
    # Sums of 255 rows fit in a byte, and adding bytes is several times faster than adding integers.
    blocks = [np.add.reduce(bits[row : row + 255], axis=0, dtype=np.uint8) for row in range(0, patterns, 255)]
    counts = np.sum(blocks, axis=0, dtype=np.int64)
    return float(np.mean(np.log(counts / patterns)))
