"""Overlap of candidates with a training corpus, from an index, an exact scan, or flags that the records have."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core
from ngramscope.checks import check_optional, check_switch
from ngramscope.errors import InputError, MismatchError, UsageError
from ngramscope.index.open import Index
from ngramscope.index.options import QueryOptions, ScanOptions, WordRule, lengths
from ngramscope.index.scan import Scan
from ngramscope.index.summary import index_facts, index_warnings
from ngramscope.index.table import OverlapTable
from ngramscope.sets.base import Candidate
from ngramscope.sets.records import Keys, RecordBatch, Records, RecordSource

__all__ = ["Measured", "Measurement", "OverlapOptions", "Overlaps", "refuse_demo"]

Floats = NDArray[np.float64]
PathLike = str | os.PathLike[str]
Progress = Callable[[_core.Progress], None]

NO_FLAGS = "no_flags"
"""Null reason of a record without flags."""


@dataclass(frozen=True)
class Measured:
    """Overlap of some candidates, for one n; all columns have shape (candidates,).

    Attributes
    ----------
    overlap
        Share of the n-grams that are in the corpus; NaN where there is none.
    first
        The same of the first `OverlapOptions.first` n-grams; None if not asked for.
    loo
        Leave-one-out overlap: a document does not count as evidence for itself; None where that cannot be told.
    loo_first
        The same of the first `OverlapOptions.first` n-grams; only an index of two tiers can tell.
    ngrams
        How many n-grams there are.
    null_reason
        Why there is no overlap; None where there is.
    spans
        For each candidate the ranges (start, end) of its text, in code points, whose n-grams are found; None if not asked for.
    """

    overlap: Floats
    first: Floats | None
    loo: Floats | None
    loo_first: Floats | None
    ngrams: NDArray[np.int64]
    null_reason: list[str | None]
    spans: list[list[tuple[int, int]]] | None = None


Measurement = dict[int, Measured]
"""By n."""


@dataclass(frozen=True, kw_only=True)
class OverlapOptions:
    """Where overlaps come from; exactly one of `indexes`, `scan` and `flags`.

    Parameters
    ----------
    indexes
        Folders of indexes; an n-gram counts as found if any of them has it.
    scan
        A corpus, to be read once: exact, with leave-one-out overlap.
    flags
        Keys of the records that hold a flag for each n-gram (a list of booleans, or a string of 0 and 1, or 2 for those of two
        documents); several are OR-ed, as those of several Bloom filters are. They are flags of one n.
    n
        Lengths; empty takes those of the index, or 7.
    first
        Also the overlap of the first so many n-grams.
    spans
        Also where the n-grams are that are found; flags do not tell.
    rule
        What a word is; an index with another rule is refused.
    own_share, own_cap
        See `QueryOptions` and `ScanOptions`.
    accept_demo
        Take an index of the embedded demonstration corpus, which says nothing about any model.
    threads
        None takes every core.
    """

    indexes: tuple[PathLike, ...] = ()
    scan: tuple[PathLike, ...] = ()
    flags: tuple[str, ...] = ()
    n: tuple[int, ...] = ()
    first: int | None = None
    spans: bool = False
    rule: WordRule | None = None
    own_share: float = QueryOptions.own_share
    own_cap: int = ScanOptions.own_cap
    accept_demo: bool = False
    threads: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", lengths(self.n))
        given = [name for name in ("index", "scan", "flags") if getattr(self, "indexes" if name == "index" else name)]
        if len(given) != 1:
            said = "none" if not given else " and ".join(f"--{name}" for name in given)
            raise UsageError(f"overlap comes from --index, --scan or --flags; {said} was given, give one")
        if self.rule is not None and self.flags:
            raise UsageError("--words, --normalize, --lowercase: flags were made by a rule of their own; leave them out")
        if self.flags and len(self.n) > 1:
            raise UsageError("--flags: they are flags of one length; give one --n")
        check_optional("--first", self.first, 1, 1 << 62)
        check_switch("--accept-demo", self.accept_demo)


def open_index(options: OverlapOptions) -> Index:
    """The indexes that overlaps come from.

    Raises
    ------
    UsageError
        An index of the demonstration corpus, without `accept_demo`.
    IndexFormatError, MismatchError
        One that is not there or damaged, or was built with another rule, or without one of the lengths.
    """
    index = Index.open(options.indexes)
    refuse_demo(index, accept=options.accept_demo)
    if options.rule is not None:
        index.check_rule(**asdict(options.rule))
    for n in options.n:
        if n not in index.n:
            there = ", ".join(map(str, index.n))
            raise MismatchError(f"{', '.join(map(str, index.paths))}: n = {n} was asked for, but the index has n = {there}")
    return index


class Overlaps(Iterator[tuple[RecordBatch, Measurement]]):
    """One pass over candidates together with their overlaps, batch by batch, in input order.

    Parameters
    ----------
    source
        The candidates.
    options
        Where their overlaps come from.
    progress
        Called now and then, on the calling thread.

    Attributes
    ----------
    records
        The pass; its report is there after the last batch.
    n
        The lengths that are measured.
    warnings
        What the user should know of the indexes.

    Raises
    ------
    UsageError
        An index of the demonstration corpus, without `accept_demo`; a scan for candidates from standard input.
    InputError, MismatchError
        A file or length that cannot be used; flags that are none (names file and record).
    """

    def __init__(self, source: RecordSource, options: OverlapOptions, progress: Progress | None = None) -> None:
        self._prepare(source, options, progress)
        if options.scan:
            _scan([self], progress)

    @classmethod
    def together(
        cls, sources: Sequence[RecordSource], options: OverlapOptions, progress: Progress | None = None
    ) -> list[Overlaps]:
        """One pass over each of `sources`, in order, but over a scanned corpus one for all: the same test for own documents.

        Raises
        ------
        UsageError
            A scan of sources that are not read alike, or that have a file in common.
        """
        sides = []
        for source in sources:
            side = cls.__new__(cls)
            side._prepare(source, options, progress)
            sides.append(side)
        if options.scan:
            _scan(sides, progress)
        return sides

    def _prepare(self, source: RecordSource, options: OverlapOptions, progress: Progress | None) -> None:
        """All but the scan."""
        self.options = options
        self.source = source
        self.warnings: list[str] = []
        self._index: Index | None = None
        self._scan: _ScanRows | None = None
        if options.indexes:
            self._index = open_index(options)
            self.n = options.n or self._index.n
            # What is wrong with other lengths of the index is of no interest here.
            self.warnings = index_warnings(
                {**each, "sets": [keys for keys in each["sets"] if keys["n"] in self.n]} for each in self._index.manifests
            )
        else:
            self.n = options.n or (7,)
        if options.flags:
            keys = Keys() if source.keys is None else source.keys
            source = replace(source, keys=replace(keys, fields=(*keys.fields, *options.flags)))
        self._flagged = not options.flags
        if options.scan and "-" in source.paths:
            raise UsageError("--scan: reads the candidates twice; standard input (-) can be read once, name a file")
        self.records: Records = source.open(progress if not options.scan else None)

    def __next__(self) -> tuple[RecordBatch, Measurement]:
        try:
            batch = next(self.records)
        except StopIteration:
            self._check_flags()
            raise
        if self._scan is not None:
            return batch, self._scan.rows(batch)
        if self._index is not None:
            return batch, self._by_index(batch, self._index)
        return batch, {self.n[0]: self._by_flags(batch)}

    def partial(self) -> bool:
        """Whether records or files, of the candidates or of a scanned corpus, were left out. After the last batch."""
        reports = [self.records.report(), *(() if self._scan is None else (self._scan.corpus_report(),))]
        return any(each["bad_records"] or each["bad_files"] for each in reports)

    def facts(self) -> dict[str, Any]:
        """For each n, how it was measured: for the header of a set. After the last batch."""
        options = self.options
        facts: dict[str, Any] = {
            "by": "index" if self._index else "scan" if options.scan else "flags",
            "of": "flagged_text" if options.flags else _text_measured(self.records.headers),
            "first": options.first,
        }
        if self._index is not None:
            facts["own_share"] = options.own_share
            facts["indexes"] = [
                {
                    **index_facts(each),
                    "ngrams": {str(keys["n"]): keys["occurrences"] for keys in each["sets"]},
                    "inputs": each["sources"],
                }
                for each in self._index.manifests
            ]
        elif self._scan is not None:
            facts["own_share"] = options.own_share
            facts["scan"] = self._scan.settings()
        else:
            facts["flags"] = list(options.flags)
        rates = self._index.filter_fpr if self._index is not None else {}
        return {str(n): {**facts, "filter_fpr": rates.get(n, None if options.flags else 0.0)} for n in self.n}

    def _by_index(self, batch: RecordBatch, index: Index) -> Measurement:
        options = self.options
        table = index.overlap(
            [each.text for each in batch.candidates],
            n=self.n,
            flags=options.first is not None,
            spans=options.spans,
            own_share=options.own_share,
            threads=options.threads,
        )
        return _measurement(table, self.n, options.first, np.arange(len(batch)))

    def _by_flags(self, batch: RecordBatch) -> Measured:
        name = self.records.names[batch.source]
        columns = [_take_flags(batch, key, name) for key in self.options.flags]
        first = self.options.first
        hits, first_hits, counts, first_counts = [], [], [], []
        reasons: list[str | None] = []
        for row in range(len(batch)):
            given = [flags for column in columns if (flags := column[row]) is not None]
            if len({len(each) for each in given}) > 1:
                raise InputError(
                    f"{name}, record {batch.positions[row] + 1}: {', '.join(self.options.flags)} have "
                    f"{', '.join(f'{len(each):,}' for each in given)} flags; they must be of the same n-grams"
                )
            flags = np.logical_or.reduce(given) if given else np.empty(0, dtype=bool)
            hits.append(int(np.count_nonzero(flags)))
            counts.append(len(flags))
            first_hits.append(int(np.count_nonzero(flags[:first])))
            first_counts.append(len(flags[:first]))
            reasons.append(None if len(flags) else "fewer_than_n_words" if given else NO_FLAGS)
            self._flagged = self._flagged or bool(given)
        firsts = None if first is None else _shares(first_hits, first_counts)
        return Measured(_shares(hits, counts), firsts, None, None, np.array(counts, dtype=np.int64), reasons)

    def _check_flags(self) -> None:
        if not self._flagged and self.records.report()["documents"]:
            raise InputError(
                f"{self.records.names[0]}: no record has flags under {', '.join(self.options.flags)}; name with --flags the "
                "keys that hold them (of a set: columns that were carried along with --field)"
            )


def refuse_demo(index: Index, *, accept: bool) -> None:
    """Refuse an index of the demonstration corpus, unless told to take it."""
    if index.is_demo and not accept:
        raise UsageError(
            f"{index.paths[0]}: holds the embedded demonstration corpus; overlap with it says nothing about any model. "
            "Build an index of the training corpus, or give --accept-demo to try the command out"
        )


class _ScanRows:
    """Rows of a finished scan for a second pass over those of its candidates whose files begin at `starts`."""

    def __init__(self, scan: Scan, n: tuple[int, ...], first: int | None, starts: Sequence[int]) -> None:
        self._scan, self._n, self._first, self._starts = scan, n, first, starts

    def rows(self, batch: RecordBatch) -> Measurement:
        """Of the candidates of `batch`."""
        start = self._starts[batch.source]
        table = self._scan.table(start + batch.positions[0], start + batch.positions[-1] + 1)
        return _measurement(table, self._n, self._first, np.array(batch.positions) - batch.positions[0])

    def settings(self) -> dict[str, Any]:
        return {**self._scan.settings(), "corpus": self.corpus_report()["sources"]}

    def corpus_report(self) -> dict[str, Any]:
        return self._scan.corpus_report()


def _text_measured(headers: Sequence[Mapping[str, Any]]) -> str:
    """What the texts of these sets are: whole documents, or what a step of their histories cut out of them."""
    cuts = ("max_words", "window_words", "length")
    cut = [any(step["settings"].get(each) for step in header["history"] for each in cuts) for header in headers]
    return "document" if not any(cut) else "cut_text" if all(cut) else "document_or_cut_text"


def _scan(sides: Sequence[Overlaps], progress: Progress | None) -> None:
    """Read the corpus once for all candidates of `sides`."""
    first = sides[0]
    options, source = first.options, first.source
    read = replace(first.records.read, fields=())
    if any(replace(each.records.read, fields=()) != read for each in sides):
        raise UsageError("--scan: holds the texts of all files together, so they must have text and id under the same keys")
    scan = Scan(
        [path for side in sides for path in side.source.paths],
        options.scan,
        rule=options.rule,
        query=QueryOptions(
            n=first.n,
            flags=options.first is not None,
            spans=options.spans,
            own_share=options.own_share,
            threads=options.threads,
        ),
        scan=ScanOptions(own_cap=options.own_cap, top_sources=0),
        read=read,
        corpus_read=replace(source.read, fields=(), domain_key=None) if source.read is not None else None,
        progress=progress,
    )
    # Every record has rows, also one without text, which is no candidate.
    counts = [each["records"] for each in scan.report()["sources"]]
    files = [len(side.records.names) for side in sides]
    if sum(files) != len(counts):
        raise UsageError("a file of the candidates is named for both sides; leave it out on one")
    starts = [0, *itertools.accumulate(counts)]
    for side, number in zip(sides, itertools.accumulate([0, *files]), strict=False):
        side._scan = _ScanRows(scan, first.n, options.first, starts[number:])
        side.warnings += scan.warnings


def _measurement(table: OverlapTable, ns: Sequence[int], first: int | None, documents: NDArray[np.int64]) -> Measurement:
    """The rows of a table, n by n; of these `documents`, by their number in it."""
    measured: Measurement = {}
    for number, n in enumerate(ns):
        rows = documents * len(ns) + number
        firsts = loo_firsts = None
        if first is not None and table.flags is not None:
            # In an index of two tiers a flag may be 2; what is not 0 is a hit.
            heads = [(flags or "")[:first] for flags in table.flags[rows]]
            sizes = [len(head) for head in heads]
            hits = [len(head) - head.count("0") for head in heads]
            firsts = _shares(hits, sizes)
            if table.in_corpus is not None:
                # As for the whole: what a document of the corpus has itself is evidence only if a second one has it.
                own = table.in_corpus[rows].tolist()
                pairs = zip(heads, hits, own, strict=True)
                loo_firsts = _shares([head.count("2") if mine else others for head, others, mine in pairs], sizes)
        measured[n] = Measured(
            table.overlap[rows],
            firsts,
            None if table.loo_overlap is None else table.loo_overlap[rows],
            loo_firsts,
            table.ngrams[rows],
            table.null_reason[rows].tolist(),
            None if table.spans is None else [table.spans[row] for row in rows.tolist()],
        )
    return measured


def _shares(hits: Sequence[int], sizes: Sequence[int]) -> Floats:
    """Quotients, correctly rounded, so that 40 of 200 is what 0.2 is; NaN for 0 of 0."""
    with np.errstate(invalid="ignore"):
        shares: Floats = np.array(hits, dtype=np.float64) / np.array(sizes, dtype=np.float64)
    return shares


def _take_flags(batch: RecordBatch, key: str, name: str) -> list[NDArray[np.bool_] | None]:
    """The flags under `key`, taken out of the candidates: they are longer than the texts."""
    return [_flags(each, key, name, position) for each, position in zip(batch.candidates, batch.positions, strict=True)]


def _flags(candidate: Candidate, key: str, name: str, position: int) -> NDArray[np.bool_] | None:
    value = candidate.extra.pop(key, None)
    if value is None:
        return None
    if isinstance(value, str) and not value.strip("012"):
        flags: NDArray[np.bool_] = np.frombuffer(value.encode("ascii"), dtype=np.uint8) != ord("0")
        return flags
    if isinstance(value, list) and all(each is True or each is False or each in (0, 1) for each in value):
        return np.array(value, dtype=bool)
    raise InputError(f"{name}, record {position + 1}: {key} holds no flags; a list of true and false, or a string of 0 and 1")
