"""What a comparison of two sides holds of each: numbers of every text, and some texts; ordered by content alone."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from ngramscope.sets.base import Candidate
from ngramscope.sets.dates import decimal_year, middle
from ngramscope.sets.overlaps import Measurement
from ngramscope.sets.writer import Counts

__all__ = ["Collector", "Side"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Side:
    """The texts of one side; arrays have shape (texts,).

    Attributes
    ----------
    overlaps
        For each n, with NaN where there is none.
    nulls
        For each n, how many have none, by reason.
    words
        White-space words.
    years
        Dates as years with a fraction; NaN where there is none that can be read.
    undated
        How many have none, by reason.
    groups
        Number of the text's group, -1 for texts that stand alone.
    group_names
        Of all groups.
    keys
        Digests of the texts alone.
    sample
        The first texts, cut.
    counts
        Of the records.
    """

    overlaps: dict[int, Floats]
    nulls: dict[int, Counter[str]]
    words: Floats
    years: Floats
    undated: Counter[str]
    groups: Ints
    group_names: set[str]
    keys: NDArray[np.uint64]
    sample: list[str]
    counts: Counts

    def __len__(self) -> int:
        return len(self.words)


class Collector:
    """Collects a side.

    Parameters
    ----------
    n
        The lengths that were measured.
    leave_one_out
        Take the leave-one-out overlap.
    seed
        Of the order of the texts, and so of the sample.
    texts
        How many to keep.
    words
        White-space words of each that are kept.
    """

    def __init__(self, n: Sequence[int], *, leave_one_out: bool, seed: int, texts: int, words: int) -> None:
        self._leave_one_out = leave_one_out
        self._seed = seed.to_bytes(16, "little", signed=True)
        self._texts, self._cut = texts, words
        self._overlaps = {each: array("d") for each in n}
        self._nulls: dict[int, Counter[str]] = {each: Counter() for each in n}
        self._words, self._years = array("d"), array("d")
        self._undated: Counter[str] = Counter()
        self._groups = array("q")
        self._names: dict[str, int] = {}
        self._keys, self._places = array("Q"), array("Q")
        self._kept: list[tuple[int, int, str]] = []
        self._bound = 1 << 64
        self.counts = Counts()

    def add(self, candidate: Candidate, measured: Measurement, row: int) -> None:
        """Take `candidate`, whose overlaps are in `row`."""
        self.counts.used += 1
        for n, each in measured.items():
            share = float((each.loo if self._leave_one_out and each.loo is not None else each.overlap)[row])
            self._overlaps[n].append(share)
            if share != share:
                self._nulls[n][each.null_reason[row] or "no_overlap"] += 1
        words = candidate.text.split()
        self._words.append(len(words))
        moment = middle(candidate.extra.get("date_utc") or candidate.date)
        self._years.append(np.nan if isinstance(moment, str) else decimal_year(moment))
        if isinstance(moment, str):
            self._undated[moment] += 1
        group = candidate.group
        self._groups.append(-1 if group is None else self._names.setdefault(group, len(self._names)))
        text = candidate.text.encode("utf-8", "surrogatepass")
        self._keys.append(_digest(text))
        # By content, not by place: the order of files and records has no say in what chance does.
        place = _digest(json.dumps([candidate.id, candidate.date, group]).encode() + b"\0" + text, self._seed)
        if place < self._bound:
            self._kept.append((place, len(self._places), " ".join(words[: self._cut])))
            if len(self._kept) > 2 * self._texts:
                self._keep_first()
                self._bound = self._kept[-1][0] if self._kept else 0
        self._places.append(place)

    def side(self) -> Side:
        """What was collected."""
        places = np.asarray(self._places, dtype=np.uint64)
        order = np.argsort(places, kind="stable")
        self._keep_first()
        return Side(
            {n: np.asarray(values, dtype=np.float64)[order] for n, values in self._overlaps.items()},
            self._nulls,
            np.asarray(self._words, dtype=np.float64)[order],
            np.asarray(self._years, dtype=np.float64)[order],
            self._undated,
            _by_appearance(np.asarray(self._groups, dtype=np.int64)[order]),
            set(self._names),
            np.asarray(self._keys, dtype=np.uint64)[order],
            [text for _, _, text in self._kept],
            self.counts,
        )

    def _keep_first(self) -> None:
        self._kept = sorted(self._kept)[: self._texts]


def _digest(data: bytes, key: bytes = b"") -> int:
    return int.from_bytes(blake2b(data, digest_size=8, key=key).digest(), "little")


def _by_appearance(groups: Ints) -> Ints:
    """The same groups, numbered as they come."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return np.where(groups < 0, -1, rank[inverse.reshape(len(groups))])
