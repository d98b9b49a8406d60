"""What is randomised: candidates with different texts, matched in pairs on request, put into blocks."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core
from ngramscope.sets.base import Candidate
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.spool import Spool
from ngramscope.sets.writer import Counts

__all__ = ["Units"]

Ints = NDArray[np.int64]
Progress = Callable[[_core.Progress], object]


class Units:
    """Candidates with different texts, in an order that only their texts decide.

    Texts are kept on disk until the block is left.

    Parameters
    ----------
    source
        Where they come from; it is read once.
    folder
        Where there is room for a temporary copy.
    pairs
        Key of what twins have in common; ``group`` is that of the group. Only exact pairs are kept.
    corpus
        Candidates that are among its documents are left out.
    progress
        Called now and then, on the calling thread.

    Attributes
    ----------
    headers
        Of the candidate sets that were read.
    sources
        Names, sizes and digests of the inputs.
    corpus
        The reader's report on the corpus; None without one.
    partial
        Whether a bad record or file was left out, as was allowed.
    counts
        What was used and left out.
    words
        White-space words of each unit, shape (units,).
    pairs
        Numbers of the twins, shape (pairs, 2); None unless asked for.
    """

    def __init__(
        self,
        source: RecordSource,
        folder: Path,
        *,
        pairs: str | None = None,
        corpus: RecordSource | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.counts = Counts()
        self.corpus: dict[str, Any] | None = None
        self.pairs: Ints | None = None
        self._spool = Spool(folder)
        try:
            self._read(source, pairs, progress)
            if corpus is not None:
                self._leave_out_found(corpus, progress)
            if pairs is not None:
                self._match()
        except BaseException:
            self._spool.close()
            raise
        self.counts.used = len(self)

    def __enter__(self) -> Units:
        return self

    def __exit__(self, *exception: object) -> None:
        self._spool.close()

    def __len__(self) -> int:
        return len(self._digests)

    def insert_id(self, unit: int) -> str:
        """A name that tells no more than the text does: its digest."""
        return self._digests[unit].hex()

    def text(self, unit: int) -> bytes:
        """The text, as JSON."""
        return self._spool.text(int(self._numbers[unit]))

    def candidate(self, unit: int) -> Candidate:
        """The candidate, as it was read."""
        return self._spool.candidate(int(self._numbers[unit]))

    def blocks(self, by: Collection[str], length_bins: int) -> tuple[Ints, list[dict[str, Any]]]:
        """The block of each unit, or of each pair; and what the blocks are.

        Parameters
        ----------
        by
            ``domain``, ``length``: within a domain, or over all, `length_bins` parts of equally many by words.
        """
        words = self.words if self.pairs is None else self.words[self.pairs].sum(axis=1)
        domains = self._domains if "domain" in by else [""] * len(self)
        if self.pairs is not None:
            domains = [" + ".join(sorted({domains[one], domains[other]})) for one, other in self.pairs.tolist()]
        names = sorted(set(domains))
        codes = {name: code for code, name in enumerate(names)}
        domain = np.array([codes[name] for name in domains], dtype=np.int64)
        part = np.zeros(len(words), dtype=np.int64)
        if "length" in by:
            sizes = np.bincount(domain, minlength=len(names))
            order = np.lexsort((words, domain))
            rank = np.arange(len(words)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            part[order] = rank * length_bins // np.repeat(sizes, sizes)
        parts, block = np.unique(domain * length_bins + part, return_inverse=True)
        described: list[dict[str, Any]] = []
        for number, code in enumerate(parts.tolist()):
            inside = words[block == number]
            one: dict[str, Any] = {"size": len(inside)}
            if "domain" in by:
                one["domain"] = names[code // length_bins]
            if "length" in by:
                one["words"] = [int(inside.min()), int(inside.max())]
            described.append(one)
        return block.astype(np.int64), described

    def _read(self, source: RecordSource, pairs: str | None, progress: Progress | None) -> None:
        keys = Keys() if source.keys is None else source.keys
        if pairs is not None and pairs != "group" and pairs not in keys.fields:
            source = replace(source, keys=replace(keys, fields=(*keys.fields, pairs)))
        records = source.open(progress)
        chosen: dict[bytes, int] = {}
        ranks, words = array("Q"), array("q")
        domains: list[str] = []
        shared: dict[str, str] = {}  # one string for each domain
        twins: list[str | None] = []
        for batch in records:
            for number, candidate in enumerate(batch.candidates, start=len(self._spool)):
                digest = _digest(candidate.text)
                # Of several with one text the same is taken in whatever order they come.
                ranks.append(int.from_bytes(blake2b(repr(candidate.row()).encode(), digest_size=8).digest(), "big"))
                words.append(len(candidate.text.split()))
                domain = candidate.domain or ""
                domains.append(shared.setdefault(domain, domain))
                twins.append(None if pairs is None else _value(candidate, pairs))
                other = chosen.setdefault(digest, number)
                if other != number:
                    self.counts.left_out["exact_duplicate"] += 1
                    if ranks[number] < ranks[other]:
                        chosen[digest] = number
            self._spool.add(batch.candidates)
        self.headers = records.headers
        report = records.report()
        self.sources = report["sources"]
        self.partial = bool(report["bad_records"] or report["bad_files"])
        self.counts.left_out.update(records.left_out())
        self._digests = sorted(chosen)
        self._numbers = np.array([chosen[each] for each in self._digests], dtype=np.int64)
        self.words = np.array(words, dtype=np.int64)[self._numbers]
        self._domains = [domains[number] for number in self._numbers.tolist()]
        self._twins = [twins[number] for number in self._numbers.tolist()]

    def _leave_out_found(self, corpus: RecordSource, progress: Progress | None) -> None:
        records = corpus.open(progress)
        units = {digest: unit for unit, digest in enumerate(self._digests)}
        found = (units.get(_digest(each.text)) for each in records.candidates())
        self._leave_out({unit: "in_the_corpus" for unit in found if unit is not None})
        self.corpus = records.report()
        self.partial |= bool(self.corpus["bad_records"] or self.corpus["bad_files"])

    def _match(self) -> None:
        reasons = {1: "no_twin"}
        self._leave_out(
            {
                unit: "no_pair" if value is None else reasons.get(len(units), "more_than_two_twins")
                for value, units in self._alike().items()
                for unit in units
                if value is None or len(units) != 2
            }
        )
        self.pairs = np.array(list(self._alike().values()), dtype=np.int64).reshape(-1, 2)

    def _alike(self) -> dict[str | None, list[int]]:
        alike: dict[str | None, list[int]] = {}
        for unit, value in enumerate(self._twins):
            alike.setdefault(value, []).append(unit)
        return alike

    def _leave_out(self, reasons: Mapping[int, str]) -> None:
        self.counts.left_out.update(Counter(reasons.values()))
        kept = [unit for unit in range(len(self)) if unit not in reasons]
        self._digests = [self._digests[unit] for unit in kept]
        self._domains = [self._domains[unit] for unit in kept]
        self._twins = [self._twins[unit] for unit in kept]
        self._numbers, self.words = self._numbers[kept], self.words[kept]


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def _value(candidate: Candidate, key: str) -> str | None:
    value = candidate.group if key == "group" else candidate.extra.get(key)
    return None if value is None else json.dumps(value, sort_keys=True)
