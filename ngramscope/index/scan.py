"""Exact overlap without an index: the candidates' n-grams are held in memory and the corpus streams by once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ngramscope import _core
from ngramscope.corpus.sources import corpus_sources
from ngramscope.errors import UsageError
from ngramscope.index.build import PathLike, ProgressCallback
from ngramscope.index.options import DOMAIN, QueryOptions, ReadOptions, ScanOptions, WordRule
from ngramscope.index.table import OverlapTable

if TYPE_CHECKING:
    from ngramscope.index.open import Index

__all__ = ["Scan"]

_ROWS = 4096


class Scan(Iterator[OverlapTable]):
    """The exact overlap of candidates with a corpus, counted in one pass over the corpus; iterate for the tables.

    Every number is exact but for collisions of 64-bit keys. Memory depends on the candidates only. Beside the columns of every
    overlap table there are those of leave-one-out: a document does not count as evidence for itself, see
    `OverlapTable.loo_hits`.

    Parameters
    ----------
    candidates, corpus
        Files, folders, globs, names with a scheme, or one manifest each.
    rule, query, scan
        Words; lengths n and what to compute; the test for own documents.
    read, corpus_read
        How to read the candidates and the corpus; None takes the defaults, or for the corpus what holds for the candidates.
    index
        Look only for n-grams that this index has; all others are absent for certain, since a filter loses none. The scan then
        removes the index's false hits. The word rule and, unless asked otherwise, the lengths are the index's.
    progress
        Called now and then, on the calling thread.

    Raises
    ------
    UsageError, InputError
        An option or file that cannot be used.
    """

    def __init__(
        self,
        candidates: PathLike | Sequence[PathLike],
        corpus: PathLike | Sequence[PathLike],
        *,
        rule: WordRule | None = None,
        query: QueryOptions | None = None,
        scan: ScanOptions | None = None,
        read: ReadOptions | None = None,
        corpus_read: ReadOptions | None = None,
        index: Index | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        if index is not None:
            if rule is not None and rule != index.rule:
                raise UsageError("rule: a scan after an index follows the index's word rule; leave it out")
            rule = index.rule
        self.rule = WordRule() if rule is None else rule
        query = QueryOptions() if query is None else query
        if not query.n and index is None:
            query = QueryOptions(**{**vars(query), "n": (7,)})
        self.n = query.n if index is None or query.n else index.n
        self._demo = index is not None and index.is_demo
        self._query = query
        self._options = ScanOptions() if scan is None else scan
        read = ReadOptions() if read is None else read
        if corpus_read is None:
            corpus_read = ReadOptions(**{**vars(read), "fields": (), "domain_key": None})
        candidates, read = corpus_sources(_paths(candidates), read)
        read, self._fields = read.carried()
        corpus, corpus_read = corpus_sources(_paths(corpus), corpus_read)
        if not candidates or not corpus:
            raise UsageError(f"{'candidates' if not candidates else '--scan'}: no file given")
        if "-" in candidates and "-" in corpus:
            raise UsageError("standard input (-) is named for the candidates and for the corpus; it can be read once")
        self._core = _core.Scan(
            candidates,
            corpus,
            read,
            corpus_read,
            self.rule,
            query,
            self._options,
            None if index is None else index._core,
            progress,
        )
        self._next = 0

    @property
    def has_domains(self) -> bool:
        """Whether candidates carry the domain that they are from."""
        return DOMAIN in self._fields

    @property
    def filter_fpr(self) -> dict[int, float]:
        """For each n, the rate at which an absent n-gram counts as found: none."""
        return dict.fromkeys(self.n, 0.0)

    def settings(self) -> dict[str, Any]:
        """What decided the numbers, for provenance."""
        return {"words": vars(self.rule), **vars(self._options)}

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the candidates' files."""
        return tuple(self._core.sources)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the candidates' files."""
        return tuple(map(os.fspath, self._core.paths))

    def __len__(self) -> int:
        """How many candidates there are, usable or not."""
        return len(self._core)

    def __next__(self) -> OverlapTable:
        if self._next >= len(self):
            raise StopIteration
        table = self.table(self._next, self._next + _ROWS)
        self._next += _ROWS
        return table

    def table(self, start: int = 0, end: int | None = None) -> OverlapTable:
        """Rows of the candidates from `start` up to `end`, one for each n."""
        batch, scan = self._core.rows(start, len(self) if end is None else end)
        return OverlapTable.from_batch(
            batch,
            sources=self.sources,
            fields=self._fields,
            filter_fpr=self.filter_fpr,
            index_is_demo=self._demo,
            flags=self._query.flags,
            spans=self._query.spans,
            matches=self._query.matches > 0,
            scan=scan,
            corpus_sources=self._core.corpus_sources,
            counts=self._options.counts,
        )

    def empty(self) -> OverlapTable:
        """A table without rows but with all columns."""
        return self.table(0, 0)

    def report(self) -> dict[str, Any]:
        """What was read of the candidates and left out."""
        report: dict[str, Any] = json.loads(self._core.reports()[0])
        return report

    def corpus_report(self) -> dict[str, Any]:
        """What was read of the corpus and left out."""
        report: dict[str, Any] = json.loads(self._core.reports()[1])
        return report


def _paths(paths: PathLike | Sequence[PathLike]) -> list[str]:
    return [os.fspath(each) for each in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
