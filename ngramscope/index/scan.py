"""Exact overlap without an index: the candidates' n-grams are held in memory and the corpus streams by once."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ngramscope import _core
from ngramscope.corpus.sources import corpus_sources
from ngramscope.errors import MismatchError, UsageError
from ngramscope.index.build import PathLike, ProgressCallback
from ngramscope.index.options import DOMAIN, QueryOptions, ReadOptions, ScanOptions, WordRule
from ngramscope.index.table import OverlapTable
from ngramscope.sizes import counted

if TYPE_CHECKING:
    from ngramscope.index.open import Index

__all__ = ["IndexFiles", "Scan"]


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
        removes the index's false hits. The word rule and, unless asked otherwise, the lengths are the index's. `corpus` has to
        be the corpus of the index: see `index_files`.
    progress
        Called now and then, on the calling thread.

    Raises
    ------
    UsageError, InputError
        An option or file that cannot be used.
    MismatchError
        None of the files of `index` is in `corpus`, so that every hit would be taken for false.
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
        self.index_files = None if index is None else _compare(index.manifests, self.corpus_report()["sources"])
        """How the files of the corpus compare with those of the index, by content; None without an index."""

    @property
    def warnings(self) -> list[str]:
        """What a reader of any of the numbers has to know."""
        empty = "the scanned corpus is EMPTY: it holds no document, so every overlap with it is 0"
        return [
            *([] if self.corpus_report()["documents"] else [empty]),
            *([] if self.index_files is None else self.index_files.warnings()),
        ]

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
        files = {} if self.index_files is None else {"index_files": vars(self.index_files)}
        return {"words": vars(self.rule), **vars(self._options), **files}

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
        start, self._next = self._next, self._core.batch_end(self._next)
        return self.table(start, self._next)

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


@dataclass(frozen=True)
class IndexFiles:
    """How the files of a scanned corpus compare with those of the index whose hits it verifies; names and order do not matter.

    Attributes
    ----------
    files
        How many files the index was built from.
    not_scanned
        How many of them were not scanned: true hits from these may have been removed.
    first_not_scanned
        The first of them by name.
    not_indexed
        How many files were scanned that the index was not built from.
    """

    files: int
    not_scanned: int
    first_not_scanned: str | None
    not_indexed: int

    def warnings(self) -> list[str]:
        """What does not agree, in words."""
        found = []
        if self.not_scanned:
            found.append(
                f"--verify-hits: {self.not_scanned:,} of {counted(self.files, 'file')} of the index not scanned (the first by "
                f"name: {self.first_not_scanned}), so true hits may have been removed; name the whole corpus of the index"
            )
        if self.not_indexed:
            found.append(f"--verify-hits: the index was not built from {counted(self.not_indexed, 'file')} of those scanned")
        return found


def _compare(manifests: Iterable[Mapping[str, Any]], scanned: Iterable[Mapping[str, Any]]) -> IndexFiles:
    def content(source: Mapping[str, Any]) -> object:
        # A file that could not be read to its end has no digest.
        return source["blake3"] or (source["name"], source["bytes"])

    indexed: Counter[object] = Counter()
    names: dict[object, str] = {}
    for manifest in manifests:
        indexed |= Counter(map(content, manifest["sources"]))  # several indexes may have a file in common
        names.update((content(source), source["name"]) for source in manifest["sources"])
    read = Counter(map(content, scanned))
    missing = indexed - read
    files = IndexFiles(
        indexed.total(), missing.total(), min((names[each] for each in missing), default=None), (read - indexed).total()
    )
    if files.files and files.not_scanned == files.files:
        raise MismatchError(
            f"--verify-hits: none of the {counted(files.files, 'file')} of the index was scanned (the first by name: "
            f"{files.first_not_scanned}), so every hit would be removed; name the corpus that the index was built from"
        )
    return files


def _paths(paths: PathLike | Sequence[PathLike]) -> list[str]:
    return [os.fspath(each) for each in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
