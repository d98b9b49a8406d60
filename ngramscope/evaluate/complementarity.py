"""Members that one attack finds and another misses (CAMIA, Fig. 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask

__all__ = ["Pair", "complementarity", "found"]


@dataclass(frozen=True)
class Pair:
    """Two attacks, by number, each at its own threshold.

    Attributes
    ----------
    both, first_only, second_only, neither
        Members that are found by whom; of those that both attacks have a score for.
    """

    first: int
    second: int
    both: int
    first_only: int
    second_only: int
    neither: int


def found(scores: Floats, thresholds: Sequence[float | None]) -> Mask:
    """(A, N): documents that each attack flags; none where it has no score or no threshold."""
    limits = np.array([np.inf if each is None else each for each in thresholds])
    return np.asarray(scores >= limits[:, None])  # NaN is not


def complementarity(scores: Floats, members: Mask, thresholds: Sequence[float | None]) -> list[Pair]:
    """Every pair of attacks, (A, N) scores; 0 < 1."""
    ours = scores[:, members]
    flags, scored = found(ours, thresholds), ~np.isnan(ours)
    pairs = []
    for first in range(len(scores)):
        for second in range(first + 1, len(scores)):
            both = scored[first] & scored[second]
            one, other = flags[first, both], flags[second, both]
            counts = [int(each.sum()) for each in (one & other, one & ~other, ~one & other, ~one & ~other)]
            pairs.append(Pair(first, second, *counts))
    return pairs
