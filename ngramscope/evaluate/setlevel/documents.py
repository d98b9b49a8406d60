"""Documents' scores, set by set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.groups import Ints

__all__ = ["SetScores", "by_set"]


@dataclass(frozen=True, eq=False)
class SetScores:
    """Scores of the documents of S sets.

    Attributes
    ----------
    scores
        (N,) finite; higher = more likely a member; those of set i are ``scores[offsets[i]:offsets[i + 1]]``.
    offsets
        (S + 1,). A set may have no document.
    """

    scores: Floats
    offsets: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def counts(self) -> Ints:
        """(S,): documents of each set."""
        return np.diff(self.offsets)

    @cached_property
    def set_of(self) -> Ints:
        """(N,): number of each document's set."""
        return np.repeat(np.arange(len(self)), self.counts)

    def means(self, values: Floats | None = None) -> Floats:
        """(S,): mean over each set of its scores, or of other `values` (N,); NaN for a set without documents."""
        return self.sums(values) / np.where(self.counts > 0, self.counts, np.nan)

    def sums(self, values: Floats | None = None) -> Floats:
        """(S,): sum over each set of its scores, or of other `values` (N,)."""
        found: Floats = np.bincount(self.set_of, self.scores if values is None else values, len(self)).astype(np.float64)
        return found

    def each(self, function: Callable[[Floats], float]) -> Floats:
        """(S,): `function` of each set's scores; NaN for a set without documents."""
        parts = np.split(self.scores, self.offsets[1:-1])
        return np.array([function(part) if len(part) else np.nan for part in parts], dtype=np.float64)

    def take(self, sets: Ints) -> SetScores:
        """Some of the sets, in the order given."""
        counts = self.counts[sets]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        rows = np.repeat(self.offsets[sets] - offsets[:-1], counts) + np.arange(offsets[-1])
        return SetScores(self.scores[rows], offsets)


def by_set(scores: Sequence[Floats]) -> SetScores:
    """Of each set's scores, S arrays."""
    lengths = [len(each) for each in scores]
    flat = np.concatenate([np.zeros(0), *scores])
    return SetScores(flat, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
