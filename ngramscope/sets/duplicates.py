"""Near-duplicates by MinHash (Broder 1997) over word 5-grams, as in Lee et al. 2022 (ACL), section 4.2.

The signatures are those of `rensa`. Which texts are compared is found by bands of the signature (locality-sensitive hashing).
There is one band more than the values in which two signatures of a near-duplicate may differ, so that such a pair agrees in a
whole band: nothing that the signatures show is missed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_COMPARED", "PERMUTATIONS", "SHINGLE_WORDS", "NearDuplicates", "near_duplicates", "signatures"]

PERMUTATIONS = 128
"""Values of a signature."""

SHINGLE_WORDS = 5
"""Words of a shingle; a text with fewer is one shingle."""

MAX_COMPARED = 100
"""Most earlier texts with the same band that a text is compared with: boilerplate must not make the search quadratic."""

_SEED = 0  # the same for every sample: which texts are alike is not a matter of chance
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_SHOW_EVERY = 4096

Signatures = NDArray[np.uint32]


def signatures(texts: Sequence[Sequence[str]]) -> Signatures:
    """MinHash signatures of texts, given as words: shape (texts, `PERMUTATIONS`)."""
    from rensa import RMinHash

    if not texts:
        return np.empty((0, PERMUTATIONS), dtype=np.uint32)
    # Absent words of short texts hash to zero.
    hashes = [each + [0] * (SHINGLE_WORDS - len(each)) for each in RMinHash.hash_token_sets(texts)]
    ends = np.cumsum([len(each) for each in hashes])
    words = np.fromiter(itertools.chain.from_iterable(hashes), dtype=np.uint64, count=ends[-1])
    size = len(words) - SHINGLE_WORDS + 1
    shingles = np.zeros(size, dtype=np.uint64)
    for place in range(SHINGLE_WORDS):
        shingles = _mix(shingles * _FACTOR + words[place : place + size])
    # Those that begin at the last words of a text reach into the next.
    crossing = (ends[:-1, None] - np.arange(1, SHINGLE_WORDS)).ravel()
    starts = np.concatenate([[0], ends - np.arange(1, len(texts) + 1) * (SHINGLE_WORDS - 1)])
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(
        np.delete(shingles, crossing), starts.astype(np.uint64), PERMUTATIONS, _SEED
    )
    return np.array(matrix.to_rows(), dtype=np.uint32)


@dataclass(frozen=True)
class NearDuplicates:
    """Result of `near_duplicates`; columns have shape (texts,), in the order of precedence.

    Attributes
    ----------
    of_member
        A text that is no member, like a member's text.
    of_kept
        Any other text like one before it that stays.
    capped
        How many texts shared a band with so many earlier ones that they may not have been compared with all.
    """

    of_member: NDArray[np.bool_]
    of_kept: NDArray[np.bool_]
    capped: int


def near_duplicates(
    table: Signatures,
    rows: NDArray[np.int64],
    members: int,
    threshold: float,
    progress: Callable[[int, int], object] | None = None,
) -> NearDuplicates:
    """Find the texts that go, so that no two of those that stay are near-duplicates.

    One by one in the order of precedence, a text goes if its estimated Jaccard similarity with one that stays is at least
    `threshold`; a text of a non-member also if it is so similar to that of any member, whether that one stays or not.

    Parameters
    ----------
    table
        Signatures, shape (any, `PERMUTATIONS`).
    rows
        Rows of `table` in the order of precedence, members first.
    members
        How many of `rows` are members.
    threshold
        Least share of equal values in two signatures of near-duplicates.
    progress
        Called with the number of texts that are done, and of all.
    """
    if progress is not None:
        progress(0, len(rows))
    need = math.ceil(threshold * PERMUTATIONS - 1e-9)
    buckets, slots_needed = _buckets(table, rows, bands=PERMUTATIONS - need + 1)
    # The slots of a bucket, from its number on, take the texts that later ones are compared with.
    slots = np.zeros(slots_needed, dtype=buckets.dtype)
    used = np.zeros(slots_needed, dtype=np.int16)
    of_member, of_kept = np.zeros(len(rows), dtype=np.bool_), np.zeros(len(rows), dtype=np.bool_)
    capped = 0

    def add(row: int, mine: NDArray[np.int64]) -> None:
        free = mine[used[mine] < MAX_COMPARED]
        slots[free + used[free]] = row
        used[free] += 1

    shared = np.flatnonzero((buckets >= 0).any(axis=1))
    first_nonmember = int(np.searchsorted(shared, members))
    for done, row in enumerate(shared.tolist()):
        if progress is not None and done % _SHOW_EVERY == _SHOW_EVERY - 1:
            progress(row, len(rows))
        if done == first_nonmember:
            # From here on members that went count as well: their texts were in the training data all the same.
            for gone in np.flatnonzero(of_kept).tolist():
                add(gone, buckets[gone][buckets[gone] >= 0])
        mine = buckets[row][buckets[row] >= 0]
        counts = used[mine]
        capped += int(counts.max() == MAX_COMPARED)
        filled = counts > 0
        if filled.any():
            parts = [slots[start : start + count] for start, count in zip(mine[filled], counts[filled], strict=True)]
            earlier = np.unique(np.concatenate(parts))
            alike = earlier[(table[rows[earlier]] == table[rows[row]]).sum(axis=1) >= need]
            if len(alike):
                (of_member if row >= members > alike[0] else of_kept)[row] = True
                continue
        add(row, mine)
    return NearDuplicates(of_member, of_kept, capped)


def _buckets(table: Signatures, rows: NDArray[np.int64], bands: int) -> tuple[NDArray[np.int64], int]:
    """For each row and band the bucket of the rows that agree in it, -1 where there is no other; and the buckets' rows in all.

    A bucket's number is the number of rows in the buckets before it, so that it can own as many slots as it has rows.
    """
    buckets: NDArray[np.int64] = np.full((len(rows), bands), -1, dtype=np.int32 if len(rows) * bands < 1 << 31 else np.int64)
    total = 0
    for band, columns in enumerate(np.array_split(np.arange(PERMUTATIONS), bands) if len(rows) else ()):
        keys = np.zeros(len(rows), dtype=np.uint64)
        for column in columns:
            keys = _mix(keys * _FACTOR + table[rows, column])
        order = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.concatenate([[True], np.diff(keys[order]) != 0]))
        counts = np.diff(starts, append=len(rows))
        bucket_starts = total + np.cumsum(np.where(counts > 1, counts, 0)) - counts
        buckets[order, band] = np.repeat(np.where(counts > 1, bucket_starts, -1), counts)
        total += int(counts[counts > 1].sum())
    return buckets, total


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64 (Steele et al. 2014): every bit depends on every bit."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
