"""The slow oracle: overlap by its definition, on strings, without hashes or keys.

Words come from the caller (white-space words by `whitespace_words`, or the bounds that the tokeniser gives), so that this
file says nothing of words and everything of n-grams. `Numbering` is the same oracle for corpora of millions of words: it
numbers distinct n-grams exactly, by numbering pairs of numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Gram = tuple[str, ...]

# Unicode's property White_Space. Python's str.split also splits at U+001C to U+001F, which do not have it.
_WORD = re.compile("[^\t\n\x0b\x0c\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")


def whitespace_words(text: str) -> list[str]:
    """The words of `text` between white space."""
    return _WORD.findall(text)


def first_words(text: str, count: int) -> str:
    """`text` up to the end of its white-space word number `count`."""
    ends = [found.end() for found in _WORD.finditer(text)][:count]
    return text[: ends[-1]] if ends else ""


def ngrams(words: Sequence[str], n: int) -> list[Gram]:
    """The n-grams of one document, in order."""
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def known_ngrams(documents: Iterable[Sequence[str]], n: int) -> set[Gram]:
    """The n-grams of a corpus; none reaches over the end of a document."""
    return {gram for words in documents for gram in ngrams(words, n)}


@dataclass(frozen=True)
class Overlap:
    """The overlap of one document with a set of n-grams."""

    words: int
    flags: str
    distinct_ngrams: int
    distinct_hits: int
    matches: list[Gram]

    @property
    def ngrams(self) -> int:
        return len(self.flags)

    @property
    def hits(self) -> int:
        return self.flags.count("1")

    @property
    def longest_run(self) -> int:
        return max(map(len, self.flags.split("0")))

    @property
    def overlap(self) -> float:
        return self.hits / self.ngrams if self.ngrams else math.nan

    @property
    def distinct_overlap(self) -> float:
        return self.distinct_hits / self.distinct_ngrams if self.distinct_ngrams else math.nan


def overlap(words: Sequence[str], known: set[Gram], n: int, max_ngrams: int | None = None) -> Overlap:
    """The overlap of a document with the n-grams `known`."""
    grams = ngrams(words, n)[:max_ngrams]
    matches = list(dict.fromkeys(gram for gram in grams if gram in known))
    return Overlap(
        words=len(words),
        flags="".join("1" if gram in known else "0" for gram in grams),
        distinct_ngrams=len(set(grams)),
        distinct_hits=len(matches),
        matches=matches,
    )


def spans(bounds: Sequence[tuple[int, int]], flags: str, n: int) -> list[tuple[int, int]]:
    """The ranges that hits cover; `bounds` are those of the words. Hits that share a word make one range."""
    covered = [False] * len(bounds)
    joined = [False] * len(bounds)  # to the word before, by a hit that covers both
    for start, flag in enumerate(flags):
        if flag == "1":
            for word in range(start, start + n):
                joined[word] |= word > start
                covered[word] = True
    ranges: list[tuple[int, int]] = []
    for word, (start, end) in enumerate(bounds):
        if covered[word]:
            ranges[-1:] = [(ranges[-1][0], end)] if joined[word] else [*ranges[-1:], (start, end)]
    return ranges


def corrected(share: float, rates: Iterable[float]) -> float:
    """`share` without the false hits of filters of these rates that are asked together."""
    rate = 1 - math.prod(1 - each for each in rates)
    return (share - rate) / (1 - rate)


class Numbering:
    """Numbers for words and n-grams of many documents, equal exactly where the words are equal as strings."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def words(self, words: Iterable[str]) -> NDArray[np.int64]:
        """The numbers of words, shape (words,)."""
        numbers = self._numbers
        return np.fromiter((numbers.setdefault(word, len(numbers)) for word in words), dtype=np.int64)

    @staticmethod
    def ngrams(documents: Sequence[NDArray[np.int64]], n: int) -> list[NDArray[np.int64]]:
        """The numbers of the n-grams of each document, shape (max(0, words - n + 1),) each.

        They mean something within one call only.
        """
        lengths = np.array([len(each) for each in documents], dtype=np.int64)
        numbers = np.concatenate([*documents, np.empty(0, np.int64)])
        # At a place: the n-gram that starts there, whatever document it runs into; those are thrown away at the end.
        powers = {1: numbers}
        size = 1
        while size * 2 <= n:
            powers[size * 2] = _pair(powers[size], powers[size], size)
            size *= 2
        # Two windows may lie over each other: n words are told by their first `size` and their last `size`.
        whole = powers[size] if size == n else _pair(powers[size], powers[size], n - size)
        starts = (np.cumsum(lengths) - lengths).tolist()
        counts = np.maximum(0, lengths - n + 1).tolist()
        return [whole[start : start + count] for start, count in zip(starts, counts, strict=True)]


def _pair(left: NDArray[np.int64], right: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
    """Numbers of the pairs (left[i], right[i + shift]); places without a partner get numbers of no meaning."""
    size = max(0, len(left) - shift)
    pairs = left[:size] << 32 | right[shift : shift + size]
    numbers = np.zeros(len(left), dtype=np.int64)
    numbers[:size] = np.unique(pairs, return_inverse=True)[1]
    return numbers


def blocked_rate(load: float, k: int, block_bits: int = 512) -> float:
    """False-positive rate of blocks that hold `load` keys on average, by the exact distribution of set bits.

    The engine's formula uses mean and variance of the set bits; here every number of set bits has its probability.
    """
    bits = np.arange(block_bits + 1)
    found = (bits / block_bits) ** k
    state = np.zeros(block_bits + 1)
    state[0] = 1.0
    rate = 0.0
    for keys in range(int(load + 14 * math.sqrt(load)) + 40):
        weight = math.exp(keys * math.log(load) - load - math.lgamma(keys + 1))
        rate += weight * float(state @ found)
        for _ in range(k):
            moved = state * (1 - bits / block_bits)
            state = state - moved
            state[1:] += moved[:-1]
    return rate
