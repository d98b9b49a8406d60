"""The options of building and querying: one place for names, defaults and ranges, for the API and the command line.

Messages spell an option as the command line does (``--filter-fpr``); its keyword has underscores (``filter_fpr``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ngramscope._core import (
    FILTER_KINDS,
    MAX_COLUMN_CHUNK,
    MAX_N,
    MAX_RECORD_SIZE,
    MAX_SHARDS,
    MAX_WINDOW_LOG,
    NORMALIZATIONS,
    WORD_MODES,
)
from ngramscope.checks import MAX_COUNT as _MAX_COUNT
from ngramscope.checks import check_choice as _choice
from ngramscope.checks import check_integer as _integer
from ngramscope.checks import check_optional as _optional
from ngramscope.checks import check_switch as _switch
from ngramscope.errors import UsageError
from ngramscope.sizes import parse_size

__all__ = [
    "DEFAULT_INDEX",
    "DOMAIN",
    "ENGINES",
    "INDEX_VARIABLE",
    "BuildOptions",
    "MergeOptions",
    "QueryOptions",
    "ReadOptions",
    "ScanOptions",
    "WordRule",
    "default_index",
    "index_folder",
    "lengths",
]

DEFAULT_INDEX = "ngramscope-index"
DOMAIN = "domain"
"""Column of what `ReadOptions.domain_key` names."""
INDEX_VARIABLE = "NGRAMSCOPE_INDEX"
ENGINES = ("threads", "ray")
"""Who does the work of a build."""


def default_index() -> Path:
    """Where an index goes to and is looked for when no place is named: ``NGRAMSCOPE_INDEX``, else ``./ngramscope-index``."""
    return Path(os.environ.get(INDEX_VARIABLE) or DEFAULT_INDEX)


def index_folder(out: str | os.PathLike[str] | None) -> Path:
    """Where an index goes that is told to go to `out`."""
    if out is not None and not os.fspath(out):
        raise UsageError("--out: '' is not possible; name a folder")
    return default_index() if out is None else Path(out)


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How files are read.

    Parameters
    ----------
    text_key, id_key
        Keys of the text and the id in a record; dots step into nested objects (``meta.text``).
    include, exclude
        Globs over file names inside folders.
    text_lines
        Plain-text files hold one document a line instead of one a file.
    max_record_size
        Bytes; longer records count as unusable, they are never cut.
    max_window_log
        Largest zstd window accepted, as a power of two.
    max_column_chunk
        Bytes; the largest Parquet column chunk accepted, uncompressed.
    max_bad_records, max_bad_files
        How many unusable records and files may be left out before it is an error; 0 is strict.
    fields
        Further keys to carry along.
    domain_key
        Key of the part of a corpus that a record is from, to carry along as ``domain``; for the Pile ``meta.pile_set_name``.
    """

    text_key: str = "text"
    id_key: str = "id"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    text_lines: bool = False
    max_record_size: int | str = MAX_RECORD_SIZE
    max_window_log: int = MAX_WINDOW_LOG
    max_column_chunk: int | str = MAX_COLUMN_CHUNK
    max_bad_records: int = 0
    max_bad_files: int = 0
    fields: tuple[str, ...] = ()
    domain_key: str | None = None

    def carried(self) -> tuple[ReadOptions, tuple[str, ...]]:
        """Options whose `fields` are all keys to carry along, for the core, and the names of their columns."""
        if self.domain_key is None:
            return self, self.fields
        return replace(self, fields=(*self.fields, self.domain_key), domain_key=None), (*self.fields, DOMAIN)

    def __post_init__(self) -> None:
        if self.domain_key is not None and (not self.domain_key or DOMAIN in self.fields):
            why = "name the key that holds the domain" if not self.domain_key else f"--field {DOMAIN} has that column already"
            raise UsageError(f"--domain-key: {self.domain_key!r} is not possible; {why}")
        if not self.text_key:
            raise UsageError("--text-key: '' is not possible; name the key that holds the text")
        if not self.id_key:
            raise UsageError("--id-key: '' is not possible; name the key that holds the id")
        _settle(self, "max_record_size", parse_size(self.max_record_size, option="--max-record-size"))
        _switch("--text-lines", self.text_lines)
        _integer("--max-window-log", self.max_window_log, 10, 31)
        _settle(self, "max_column_chunk", parse_size(self.max_column_chunk, option="--max-column-chunk"))
        _integer("--max-bad-records", self.max_bad_records, 0, _MAX_COUNT)
        _integer("--max-bad-files", self.max_bad_files, 0, _MAX_COUNT)


@dataclass(frozen=True, kw_only=True)
class WordRule:
    """What a word is; stored in every index.

    Parameters
    ----------
    words
        ``uax29``, ``whitespace``, ``gpt3`` or ``ids``; see docs/words.md.
    normalize
        Unicode normalisation before words are cut: ``none``, ``nfc`` or ``nfkc``.
    lowercase
        Lower-case after normalisation.
    """

    words: str = "uax29"
    normalize: str = "none"
    lowercase: bool = False

    @classmethod
    def of(cls, **values: Any) -> WordRule:
        """The rule of those `values` that are given (not None)."""
        return cls(**{name: value for name, value in values.items() if value is not None})

    def __post_init__(self) -> None:
        _choice("--words", self.words, WORD_MODES)
        _choice("--normalize", self.normalize, NORMALIZATIONS)
        _switch("--lowercase", self.lowercase)


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """Everything about a build but its sources.

    Parameters
    ----------
    n
        Lengths of the n-grams, in words; one filter each.
    filter
        ``blocked`` (Bloom) or ``exact``.
    filter_fpr
        Target false-positive rate of the filter, above 0 and below 1.
    expected_ngrams
        Distinct n-grams to size the filter for; None counts them in a first pass.
    shards
        Files per n; None lets the size decide.
    tiers
        1: which n-grams there are. 2: also which at least two documents have, for leave-one-out overlap; twice the size.
    threads
        None takes every core.
    memory
        Bytes of filter kept in memory at a time; None takes most of what is free. More passes, same index.
    force
        Replace an index that is there already.
    accept_overfull
        Keep a filter whose rate came out above 1.05 times the target.
    name
        Name of the corpus, kept in the index.
    spool
        Keep a compressed temporary copy of sources that can be read only once.
    plan, like
        Take the geometry from a plan file, or from an index, so that the result can be merged with others that did.
    part
        (i, k) or ``"i/k"``: index only every k-th file in the order of names, beginning with number i.
    engine
        ``threads`` (of this process), or ``ray``: tasks of a Ray cluster, see `ngramscope.distributed.ray`; then `threads`
        and `memory` are those of one task.
    ray_address
        The cluster; None starts one on this machine, or takes the one that the process is connected to.
    ray_parts
        Parts of the corpus, one task each; None makes as many as run at once: one a machine, or more with fewer `threads`.
    scratch
        Folder for the filters of the parts that every machine of the cluster sees; None takes the one that holds the index.
    resume
        Keep what has been done in ``OUT.partial`` until the index is complete, and go on from there; see docs/resume.md.
    verify_inputs
        With `resume`: compare what had been read of the inputs by digest too, not only by size and modification time.
    """

    read: ReadOptions
    rule: WordRule
    n: tuple[int, ...] = (7,)
    filter: str = "blocked"
    filter_fpr: float = 0.005
    expected_ngrams: int | None = None
    shards: int | None = None
    tiers: int = 1
    threads: int | None = None
    memory: int | str | None = None
    force: bool = False
    accept_overfull: bool = False
    name: str | None = None
    spool: bool = False
    demo: bool = False
    plan: str | os.PathLike[str] | None = None
    like: str | os.PathLike[str] | None = None
    part: tuple[int, int] | str | None = None
    engine: str = "threads"
    ray_address: str | None = None
    ray_parts: int | None = None
    scratch: str | os.PathLike[str] | None = None
    resume: bool = False
    verify_inputs: bool = False

    def __post_init__(self) -> None:
        _settle(self, "n", lengths(self.n))
        _choice("--engine", self.engine, ENGINES)
        _optional("--ray-parts", self.ray_parts, 1, 1 << 20)
        for option in ("ray_address", "ray_parts", "scratch"):
            if self.engine != "ray" and getattr(self, option) is not None:
                raise UsageError(f"--{option.replace('_', '-')}: is for --engine ray; give that too, or leave it out")
        if self.plan is not None and self.like is not None:
            raise UsageError("--plan, --like: give one of them")
        if self.part is not None:
            _settle(self, "part", _part(self.part))
        if not self.n:
            raise UsageError("--n: no length given; give at least one, as --n 7")
        _choice("--filter", self.filter, FILTER_KINDS)
        rate = self.filter_fpr
        if isinstance(rate, bool) or not isinstance(rate, float | int) or not (0 < rate < 1):  # NaN is refused here too
            raise UsageError(f"--filter-fpr: {rate!r} is not possible; a rate above 0 and below 1, as 0.005")
        _settle(self, "filter_fpr", float(rate))
        _optional("--expected-ngrams", self.expected_ngrams, 1, _MAX_COUNT)
        _optional("--shards", self.shards, 1, MAX_SHARDS)
        _integer("--tiers", self.tiers, 1, 2)
        _optional("--threads", self.threads, 1, 4096)
        for option in ("force", "accept_overfull", "spool", "demo", "resume", "verify_inputs"):
            _switch(f"--{option.replace('_', '-')}", getattr(self, option))
        if self.verify_inputs and not self.resume:
            raise UsageError("--verify-inputs: it goes with --resume; a build from the start reads all inputs anyway")
        if self.resume and self.engine == "ray":
            raise UsageError("--engine ray, --resume: on Ray, lost workers are replaced and no state is kept; give one of them")
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise UsageError(f"--name: {self.name!r} is not possible; a string with something in it")
        if self.memory is not None:
            _settle(self, "memory", parse_size(self.memory, option="--memory"))


@dataclass(frozen=True, kw_only=True)
class MergeOptions:
    """How indexes are merged.

    Parameters
    ----------
    threads, memory, force, accept_overfull
        See `BuildOptions`.
    name
        Name of the merged corpus; None keeps that of the parts, if they agree.
    incomplete
        Only some of the parts of a corpus are there; the result is to be merged with others.
    """

    threads: int | None = None
    memory: int | str | None = None
    force: bool = False
    accept_overfull: bool = False
    name: str | None = None
    incomplete: bool = False

    def __post_init__(self) -> None:
        _optional("--threads", self.threads, 1, 4096)
        _switch("--force", self.force)
        _switch("--accept-overfull", self.accept_overfull)
        if self.memory is not None:
            _settle(self, "memory", parse_size(self.memory, option="--memory"))


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """How candidates are scored.

    Parameters
    ----------
    n
        Lengths to score; empty takes all of the index.
    max_words
        Score only the text up to the end of its N-th white-space word.
    max_ngrams
        Score only the first N n-grams.
    flags
        Also the string of 0 and 1, one for each n-gram; with two tiers 2 where at least two documents have it.
    spans
        Also the matched character ranges, in code points.
    max_spans
        How many ranges at most, for each row; the table also says how many there are.
    matches
        Also the texts of the first N distinct n-grams that are hits.
    own_share
        For leave-one-out: a document of a scanned corpus with this share of a candidate's distinct n-grams is the candidate's
        own; a candidate that has this share of them in an index of two tiers is taken for a document of its corpus.
    threads
        None takes every core.
    """

    n: tuple[int, ...] = ()
    max_words: int | None = None
    max_ngrams: int | None = None
    flags: bool = False
    spans: bool = False
    max_spans: int = 1000
    matches: int = 0
    own_share: float = 0.9
    threads: int | None = None

    def __post_init__(self) -> None:
        _settle(self, "n", lengths(self.n))
        _optional("--max-words", self.max_words, 1, _MAX_COUNT)
        _optional("--max-ngrams", self.max_ngrams, 1, _MAX_COUNT)
        _switch("--flags", self.flags)
        _switch("--spans", self.spans)
        _integer("--max-spans", self.max_spans, 1, 1 << 31)
        _integer("--matches", self.matches, 0, 1 << 31)
        share = self.own_share
        if isinstance(share, bool) or not isinstance(share, float | int) or not (0 < share <= 1):
            raise UsageError(f"--own-share: {share!r} is not possible; a share above 0 and at most 1, as 0.9")
        _settle(self, "own_share", float(share))
        _optional("--threads", self.threads, 1, 4096)


@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """How a scan tells a candidate's own documents (see `QueryOptions.own_share`), and what it lists.

    Parameters
    ----------
    own_cap
        n-grams that more candidates than this share do not count in that test, unless a candidate has no others.
    top_sources
        How many documents to list for each candidate.
    counts
        Also the number of occurrences and of documents of every n-gram.
    """

    own_cap: int = 64
    top_sources: int = 3
    counts: bool = False

    def __post_init__(self) -> None:
        _integer("--own-cap", self.own_cap, 1, 1 << 31)
        _integer("--top-sources", self.top_sources, 0, 1000)


def _settle(options: object, name: str, value: object) -> None:
    """Set a field of a frozen dataclass while it is being made."""
    object.__setattr__(options, name, value)


def lengths(n: int | Iterable[int]) -> tuple[int, ...]:
    """Lengths n in ascending order, each once."""
    given = tuple(n) if isinstance(n, Iterable) else (n,)
    for each in given:
        _integer("--n", each, 1, MAX_N)
    return tuple(sorted({int(each) for each in given}))


def _part(value: Any) -> tuple[int, int]:
    parts = value.split("/") if isinstance(value, str) else value
    try:
        part, of = (int(each) for each in parts)
    except (TypeError, ValueError):
        raise UsageError(f"--part: {value!r} is not possible; write i/k, as 1/16") from None
    if not 1 <= part <= of < 1 << 32:
        raise UsageError(f"--part: {value!r} is not possible; i/k with i from 1 to k")
    return part, of
