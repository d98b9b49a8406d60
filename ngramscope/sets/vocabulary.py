"""Do two sides use their words equally often, and which words most unequally?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscope.sets.shift import relabelled, two_samples

__all__ = ["VocabularyShift", "vocabulary_shift"]

Floats = NDArray[np.float64]

_WORDS = re.compile(r"\w+")
_LISTED = 10


@dataclass(frozen=True)
class VocabularyShift:
    """Result of `vocabulary_shift`.

    Attributes
    ----------
    distance
        Jensen-Shannon distance (base 2) of the two distributions of words: 0 if they agree, 1 if they share no word. None where
        a side has no word.
    p
        Share of the permutations of the sides (and the given ones) with at least this distance.
    chance
        The distance that 5 % of the permutations reach: two halves of one set are never at 0.
    more_in_first, more_in_second
        The words that add most to the distance: ``word``, and how often it is among 1,000 words of ``first`` and ``second``.
    permutations
        As given.
    """

    distance: float | None
    p: float | None
    chance: float | None
    more_in_first: list[dict[str, Any]]
    more_in_second: list[dict[str, Any]]
    permutations: int

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def vocabulary_shift(
    first: Sequence[str],
    second: Sequence[str],
    *,
    groups: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
    permutations: int = 999,
    random: np.random.Generator,
) -> VocabularyShift:
    """Compare the distributions of (lower-case) words of two sets of texts.

    Parameters
    ----------
    first, second
        Texts.
    groups
        See `ngramscope.sets.shift.two_samples`.
    permutations
        Of the sides.
    random
        Deals them out.
    """
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import CountVectorizer

    samples = two_samples(np.zeros(len(first)), np.zeros(len(second)), groups)
    vectors = CountVectorizer(tokenizer=_WORDS.findall, token_pattern=None)
    try:
        texts = vectors.fit_transform([*first, *second])
    except ValueError:  # no word at all
        return VocabularyShift(None, None, None, [], [], permutations)
    shape = (len(samples.first), len(samples.unit))
    units = csr_array((np.ones(shape[1]), (samples.unit, np.arange(shape[1]))), shape=shape) @ texts
    total = np.asarray(units.sum(axis=0), dtype=np.float64).ravel()

    def sides(labels: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        ones = (units.T @ labels.T.astype(np.float64)).T
        return _shares(ones), _shares(total - ones)

    one, other = (each[0] for each in sides(samples.first[None, :]))
    if not one.any() or not other.any():
        return VocabularyShift(None, None, None, [], [], permutations)
    terms = _terms(one, other)
    distance = float(np.sqrt(terms.sum()))
    permuted = np.concatenate(
        [np.sqrt(_terms(*sides(labels)).sum(axis=1)) for labels in relabelled(samples, permutations, random, width=len(total))]
    )
    words = vectors.get_feature_names_out()
    return VocabularyShift(
        distance,
        float((1 + np.count_nonzero(permuted >= distance - 1e-12)) / (1 + permutations)),
        float(np.quantile(permuted, 0.95)),
        _listed(words, np.where(one > other, terms, 0), one, other),
        _listed(words, np.where(one < other, terms, 0), one, other),
        permutations,
    )


def _shares(counts: Floats) -> Floats:
    shares: Floats = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))  # a side may get texts without a word
    return shares


def _terms(one: Floats, other: Floats) -> Floats:
    """What each word adds to the Jensen-Shannon divergence, in bits."""
    middle = (one + other) / 2
    terms: Floats = (_information(one, middle) + _information(other, middle)) / 2
    return np.maximum(terms, 0.0)


def _information(share: Floats, middle: Floats) -> Floats:
    found = np.zeros_like(share)
    there = share > 0
    found[there] = share[there] * np.log2(share[there] / middle[there])
    return found


def _listed(words: NDArray[np.object_], terms: Floats, one: Floats, other: Floats) -> list[dict[str, Any]]:
    order = np.argsort(-terms, kind="stable")[:_LISTED]
    return [
        {"word": str(words[row]), "first": 1000 * float(one[row]), "second": 1000 * float(other[row])}
        for row in order
        if terms[row] > 0
    ]
