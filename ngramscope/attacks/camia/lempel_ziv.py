"""Lempel-Ziv complexity, signal f_LZ of CAMIA: how many phrases a text's losses need once they are put in a few bins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ngramscope.attacks.camia.signals import Convention

__all__ = ["lempel_ziv", "lz78_phrases", "lzw_phrases", "symbols"]

Floats = NDArray[np.float64]

_FINE_BINS = 99


def lempel_ziv(x: Floats, bins: int, convention: Convention) -> float:
    """Number of LZW phrases of the binned losses; in the code the LZ78 phrases of a binning of its own, over their number.

    Parameters
    ----------
    x
        (n,) log-probabilities.
    bins
        Of equal width, between the lowest and the highest.
    """
    if not len(x):
        return np.nan
    sequence = symbols(x, bins, convention).tolist()
    return lz78_phrases(sequence) / len(x) if convention == "code" else float(lzw_phrases(sequence))


def symbols(x: Floats, bins: int, convention: Convention) -> NDArray[np.int64]:
    """(n,): number of each value's bin, from 0.

    The code bins twice: into 99 bins between the lowest log-probability and 0, and the numbers of these between their lowest
    and highest, each bin with its upper edge.
    """
    if convention == "code":
        fine = np.digitize(x, np.linspace(x.min(), 0, _FINE_BINS + 1), right=True)
        edges = np.linspace(fine.min(), fine.max(), bins + 1)[1:]
        return np.asarray(np.searchsorted(edges, fine), dtype=np.int64)
    low, width = -x.max(), x.max() - x.min()
    return np.asarray(np.minimum((-x - low) / (width or 1) * bins, bins - 1), dtype=np.int64)


def lz78_phrases(sequence: list[int]) -> int:
    """Phrases of the LZ78 parse (Ziv and Lempel 1978) that were not there before; what is left at the end is none."""
    phrases: dict[tuple[int, int], int] = {}
    phrase = 0
    for symbol in sequence:
        known = phrases.get((phrase, symbol))
        if known is None:
            phrases[phrase, symbol] = len(phrases) + 1
        phrase = known or 0
    return len(phrases)


def lzw_phrases(sequence: list[int]) -> int:
    """Phrases of the LZW parse (Welch 1984), whose dictionary begins with the single symbols: codes that are written."""
    phrases: dict[tuple[int, int], int] = {}
    phrase = -1 - sequence[0]
    for symbol in sequence[1:]:
        known = phrases.get((phrase, symbol))
        if known is None:
            phrases[phrase, symbol] = len(phrases)
            phrase = -1 - symbol
        else:
            phrase = known
    return len(phrases) + 1
