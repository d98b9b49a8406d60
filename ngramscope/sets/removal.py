"""What a filter did to a set: distributions before and after, and whether words tell what it kept from what it removed.

Duan et al. 2024 (appendix B.3) found that decontamination by itself shifted the non-members of a domain; a filter that removes
much makes a set of other texts than it was given.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.sets.balance import moments
from ngramscope.sets.base import Candidate
from ngramscope.sets.classifier import MAX_TEXTS, two_sample_test

__all__ = ["BINS", "FilterShift", "histogram"]

BINS = 20
"""Bins of the histograms, each [a, b) but the last, which holds 1 too."""

_WORDS = 200
_CHARACTERS = 10_000


def histogram(shares: NDArray[np.float64]) -> list[int]:
    """Counts of `shares` (n,) in `BINS` bins of equal width from 0 to 1."""
    # Quotients: a multiple of 0.05 that was added up is not always the number that a share of that size is.
    counts: list[int] = np.histogram(shares, np.arange(BINS + 1) / BINS)[0].tolist()
    return counts


class FilterShift:
    """Collects what a filter judged on one side of a set; holds some numbers for each candidate, and few texts.

    Parameters
    ----------
    seed
        Chooses the texts of the classifier test: those with the smallest digests, so that their order has no say.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._shares: dict[str, dict[bool, array[float]]] = {}
        self._texts: dict[bool, _Sample] = {kept: _Sample(seed) for kept in (True, False)}
        self._judged = {True: 0, False: 0}

    @property
    def share_removed(self) -> float | None:
        """Of the candidates that could be judged; None if there were none."""
        judged = sum(self._judged.values())
        return self._judged[False] / judged if judged else None

    def add(self, candidate: Candidate, shares: Mapping[str, float], *, kept: bool, judged: bool) -> None:
        """Count one more.

        Parameters
        ----------
        candidate
            As it was read.
        shares
            Its overlaps, by a name for each way to measure them; NaN where there is none.
        kept
            Whether it goes on.
        judged
            Whether the limit decided that: False for candidates that have no overlap, or are not filtered.
        """
        for name, share in shares.items():
            if share == share:
                self._shares.setdefault(name, {True: array("d"), False: array("d")})[kept].append(share)
        if judged:
            self._judged[kept] += 1
            self._texts[kept].add(candidate)

    def to_dict(self, *, permutations: int) -> dict[str, Any]:
        """For the header; `permutations` of the classifier test, see `two_sample_test`."""
        kept, removed = self._texts[True], self._texts[False]
        test = two_sample_test(
            kept.texts(), removed.texts(),
            groups=(kept.groups(), removed.groups()), permutations=permutations, seed=self._seed,
        )  # fmt: skip
        return {
            "judged": sum(self._judged.values()),
            "removed": self._judged[False],
            "share_removed": self.share_removed,
            "distributions": {
                name: {"before": _distribution(np.concatenate([each[True], each[False]])), "after": _distribution(each[True])}
                for name, each in self._shares.items()
            },
            "kept_against_removed": test.to_dict(),
        }


class _Sample:
    """The beginnings of the `MAX_TEXTS` texts with the smallest keyed digests."""

    def __init__(self, seed: int) -> None:
        self._key = str(seed).encode()
        self._heap: list[tuple[int, str, str]] = []  # the largest digest first

    def add(self, candidate: Candidate) -> None:
        content = json.dumps([candidate.id, candidate.text]).encode()
        digest = -int.from_bytes(hashlib.blake2b(content, key=self._key, digest_size=8).digest(), "big")
        full = len(self._heap) == MAX_TEXTS
        if full and digest < self._heap[0][0]:
            return
        # Scripts without spaces have long words.
        text = " ".join(candidate.text[:_CHARACTERS].split(None, _WORDS)[:_WORDS])
        (heapq.heappushpop if full else heapq.heappush)(self._heap, (digest, text, candidate.group or ""))

    def texts(self) -> list[str]:
        return [text for _, text, _ in sorted(self._heap)]

    def groups(self) -> list[str | None]:
        return [group or None for _, _, group in sorted(self._heap)]


def _distribution(shares: Any) -> dict[str, Any]:
    values = np.sort(np.asarray(shares, dtype=np.float64))  # so that sums do not depend on the order
    return {**moments(values), "histogram": histogram(values)}
