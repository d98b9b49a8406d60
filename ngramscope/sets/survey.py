"""A first reading of documents: digests and numbers of each, from which is decided what a sample takes."""

from __future__ import annotations

import json
import os
from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core
from ngramscope.sets.base import MEMBER, Candidate, side
from ngramscope.sets.cut import cut
from ngramscope.sets.duplicates import PERMUTATIONS, Signatures, near_duplicates, signatures
from ngramscope.sets.records import RecordBatch, RecordSource

__all__ = ["EXACT", "NEAR", "NEAR_OF_MEMBER", "OF_MEMBER", "STAYS", "Survey"]

STAYS, EXACT, NEAR, OF_MEMBER, NEAR_OF_MEMBER = range(5)
"""What becomes of a text when duplicates are removed."""

_JSON = json.JSONEncoder(sort_keys=True)  # once: `json.dumps` makes one for every call with options
Integers = NDArray[np.int64]
Batch = TypeVar("Batch")
Found = TypeVar("Found")


class Survey:
    """Digests and numbers of all documents that are long enough; about 600 bytes for each, no texts.

    Parameters
    ----------
    min_words
        Shorter documents are left out.
    max_words
        Texts are compared as they are when cut there; None compares whole documents.
    seed
        Of the digests by which is decided.
    with_signatures
        Also keep MinHash signatures.
    threads
        None takes every core.

    Attributes
    ----------
    labels
        That there are.
    left_out
        By side, documents that have no row, by reason.
    inputs, headers
        Of all sources; of each input also what it was given as.
    """

    def __init__(self, *, min_words: int, max_words: int | None, seed: int, with_signatures: bool, threads: int | None) -> None:
        self._min_words, self._max_words = min_words, max_words
        self._key = seed.to_bytes(8, "little")
        self._with_signatures = with_signatures
        self._threads = threads or os.cpu_count() or 1
        self.labels: set[int] = set()
        self.left_out: dict[str, Counter[str]] = {}
        self.inputs: list[dict[str, Any]] = []
        self.headers: list[dict[str, Any]] = []
        self._domains: dict[str | None, int] = {}
        self._names: dict[str, int] = {}
        self._read = 0
        # Of each row: number of the document in the order of reading, label, domain, name of the file, record in it.
        self._number, self._label, self._domain = array("q"), array("b"), array("i")
        self._name, self._position = array("i"), array("q")
        self._digests = array("Q")  # two of the text, one for what stays, one for what is drawn
        self._signatures = array("I")

    def read(self, source: RecordSource, progress: Callable[[_core.Progress], object] | None = None) -> None:
        """Read all of a source."""
        records = source.open(progress)
        for batch, (rows, digests, signs) in _in_order(self._look, records, self._threads):
            self._count(batch, rows, records.names[batch.source])
            self._digests.frombytes(digests)
            self._signatures.frombytes(signs.tobytes())
        reasons = self.left_out.setdefault(side(source.label), Counter())
        reasons.update(records.left_out())
        given = "candidates" if source.label is None else side(source.label)
        self.inputs += [{**each, "side": given} for each in records.report()["sources"]]
        self.headers += records.headers

    def digests(self, candidate: Candidate) -> tuple[bytes, bytes]:
        """Of the text as it is compared, and, seeded, of that and all else that is known of the document."""
        of_text = blake2b(cut(candidate.text, self._max_words).encode("utf-8"), digest_size=16).digest()
        facts = [candidate.id, candidate.domain, candidate.group, candidate.date, candidate.extra]
        content = of_text + _JSON.encode(facts).encode("ascii")
        return of_text, blake2b(content, digest_size=16, key=self._key).digest()

    @property
    def domains(self) -> list[str | None]:
        """Names, in the order in which they were met; `domain` counts in them."""
        return list(self._domains)

    @property
    def number(self) -> Integers:
        """Of each row, the document's number in the order of reading."""
        return np.asarray(self._number)

    @property
    def member(self) -> NDArray[np.bool_]:
        """Of each row, whether it is a member."""
        member: NDArray[np.bool_] = np.asarray(self._label) == MEMBER
        return member

    @property
    def domain(self) -> NDArray[np.int32]:
        """Of each row, the number of its domain."""
        return np.asarray(self._domain)

    @property
    def draw(self) -> NDArray[np.uint64]:
        """Of each row, a seeded digest.

        What stays of duplicates is decided by another one: else a text with many copies would be drawn more often.
        """
        return np.asarray(self._digests)[3::4]

    def text_digest(self, row: int) -> bytes:
        """The first of `digests`."""
        return self._digests[4 * row : 4 * row + 2].tobytes()

    def without_duplicates(
        self, threshold: float | None, progress: Callable[[int, int], object] | None = None
    ) -> tuple[NDArray[np.int8], int]:
        """For each row what becomes of it, and how many texts were not compared with all that they might be like.

        Members come before the others, then the smaller digest; of what is equal in all, the first by name and place.
        """
        digests = np.asarray(self._digests).reshape(-1, 4)
        member = self.member
        names = np.argsort(np.argsort(np.array(list(self._names), dtype=object)))
        order = np.lexsort((np.asarray(self._position), names[np.asarray(self._name)], digests[:, 2], ~member))
        state = np.full(len(order), STAYS, dtype=np.int8)
        # Stable: among those of one text the order stays.
        by_text = order[np.lexsort((digests[order, 1], digests[order, 0]))]
        again = np.concatenate([[False], (digests[by_text[1:], :2] == digests[by_text[:-1], :2]).all(axis=1)])[: len(order)]
        first = by_text[~again][np.cumsum(~again) - 1]
        state[by_text[again]] = np.where(member[first] & ~member[by_text], OF_MEMBER, EXACT)[again]
        if threshold is None:
            return state, 0
        rows = order[state[order] == STAYS]
        table = np.asarray(self._signatures).reshape(-1, PERMUTATIONS)
        found = near_duplicates(table, rows, int(member[rows].sum()), threshold, progress)
        state[rows[found.of_kept]] = NEAR
        state[rows[found.of_member]] = NEAR_OF_MEMBER
        return state, found.capped

    def _look(self, batch: RecordBatch) -> tuple[list[int], bytes, Signatures]:
        """Of the candidates that are long enough: where they are in the batch, digests, signatures."""
        rows: list[int] = []
        digests: list[bytes] = []
        texts: list[list[str]] = []
        for row, candidate in enumerate(batch.candidates):
            words = candidate.text.split()
            if candidate.label is not None and len(words) >= self._min_words:
                rows.append(row)
                digests += self.digests(candidate)
                texts.append(words[: self._max_words])
        return rows, b"".join(digests), signatures(texts if self._with_signatures else ())

    def _count(self, batch: RecordBatch, rows: list[int], name: str) -> None:
        long_enough = set(rows)
        for row, candidate in enumerate(batch.candidates):
            reasons = self.left_out.setdefault(side(candidate.label), Counter())
            if candidate.label is None:
                reasons["unlabelled"] += 1
                continue
            self.labels.add(candidate.label)
            # Also of what is too short: a domain of which nothing is left has to be told of.
            domain = self._domains.setdefault(candidate.domain or None, len(self._domains))
            if row not in long_enough:
                reasons["too_short"] += 1
                continue
            self._number.append(self._read + row)
            self._label.append(candidate.label)
            self._domain.append(domain)
            self._name.append(self._names.setdefault(name, len(self._names)))
            self._position.append(batch.positions[row])
        self._read += len(batch)


def _in_order(work: Callable[[Batch], Found], batches: Iterable[Batch], threads: int) -> Iterator[tuple[Batch, Found]]:
    """Each batch with what `work` made of it, in order; so many at a time."""
    pool = ThreadPoolExecutor(threads)
    waiting: deque[tuple[Batch, Future[Found]]] = deque()
    try:
        for batch in batches:
            waiting.append((batch, pool.submit(work, batch)))
            if len(waiting) > threads:
                first, found = waiting.popleft()
                yield first, found.result()
        for first, found in waiting:
            yield first, found.result()
    finally:
        # After Ctrl-C, only what is being worked at is waited for.
        pool.shutdown(cancel_futures=True)
