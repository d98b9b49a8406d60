"""The compiled core of ngramscope."""

import os
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from ngramscope.decontaminate.rules import DecontaminationRules
from ngramscope.index.options import BuildOptions, MergeOptions, QueryOptions, ReadOptions, ScanOptions, WordRule

__all__ = [
    "CUTS",
    "FILTER_KINDS",
    "FORMAT_VERSION",
    "MAX_COLUMN_CHUNK",
    "MAX_N",
    "MAX_RECORD_SIZE",
    "MAX_SHARDS",
    "MAX_WINDOW_LOG",
    "NORMALIZATIONS",
    "REMOVALS",
    "UNITS",
    "WORD_MODES",
    "DecontaminatedPart",
    "Decontamination",
    "DocumentBatch",
    "Documents",
    "Index",
    "OverlapBatch",
    "OverlapStream",
    "Progress",
    "Scan",
    "ScanBatch",
    "__version__",
    "build",
    "check_output",
    "container",
    "count",
    "digest",
    "find",
    "insertion_rate",
    "layout",
    "logit_statistics",
    "merge",
    "plan",
    "plan_sized",
    "sample",
    "unfinished",
    "words",
]

__version__: str
FORMAT_VERSION: int
"""Version of the index format that is written and read."""
WORD_MODES: tuple[str, ...]
"""Names of the word modes."""
NORMALIZATIONS: tuple[str, ...]
"""Names of the Unicode normalisations."""
FILTER_KINDS: tuple[str, ...]
"""Names of the kinds of set."""
UNITS: tuple[str, ...]
CUTS: tuple[str, ...]
REMOVALS: tuple[str, ...]
MAX_N: int
"""Largest n-gram length."""
MAX_SHARDS: int
"""Most files of one n."""
MAX_RECORD_SIZE: int
"""Default limit of a record, bytes."""
MAX_WINDOW_LOG: int
"""Default limit of a zstd window, as a power of two."""
MAX_COLUMN_CHUNK: int
"""Default limit of a Parquet column chunk, bytes."""

@final
class Progress:
    """Where long work stands."""

    @property
    def phase(self) -> str:
        """``choose``, ``sample``, ``count``, ``insert``, ``write``, ``sync``, ``verify``, ``score`` or ``arrange``."""
    @property
    def pass_number(self) -> int:
        """Reading pass, from 1."""
    @property
    def passes(self) -> int:
        """Inserting passes."""
    @property
    def documents(self) -> int:
        """Documents of this pass so far."""
    @property
    def bytes_done(self) -> int:
        """Bytes done in this phase."""
    @property
    def bytes_total(self) -> int:
        """Bytes of this phase in all; 0 when not known."""
    @property
    def ngrams(self) -> int:
        """n-gram occurrences of this pass so far."""
    @property
    def fill(self) -> float | None:
        """Share of the filter's bits set, at most."""
    @property
    def seconds(self) -> float:
        """Seconds since this phase began."""

@final
class OverlapBatch:
    """Rows of an overlap table, one for each document and n; every column has shape (rows,)."""

    @property
    def id(self) -> list[str | None]:
        """The ids as JSON texts."""
    @property
    def position(self) -> NDArray[np.int64]:
        """Number of the record in its source, from 0."""
    @property
    def source(self) -> NDArray[np.int32]:
        """Number of the source."""
    @property
    def n(self) -> NDArray[np.int32]:
        """n-gram length."""
    @property
    def words(self) -> NDArray[np.int64]:
        """Words of the document."""
    @property
    def ngrams(self) -> NDArray[np.int64]:
        """n-gram occurrences."""
    @property
    def hits(self) -> NDArray[np.int64]:
        """Occurrences found."""
    @property
    def distinct_ngrams(self) -> NDArray[np.int64]:
        """Distinct n-grams."""
    @property
    def distinct_hits(self) -> NDArray[np.int64]:
        """Distinct n-grams found."""
    @property
    def longest_run(self) -> NDArray[np.int64]:
        """Most consecutive occurrences found."""
    @property
    def null_reason(self) -> list[str | None]:
        """Why there is no overlap."""
    @property
    def twice_hits(self) -> NDArray[np.int64]:
        """Occurrences of n-grams that at least two documents have (two tiers)."""
    @property
    def in_corpus(self) -> NDArray[np.bool_]:
        """Taken for a document of the corpus (two tiers)."""
    @property
    def loo_hits(self) -> NDArray[np.int64]:
        """Occurrences of n-grams that another document has (two tiers)."""
    @property
    def flags(self) -> list[str | None]:
        """A 0 or 1 for each occurrence, or with two tiers a 2, if asked for."""
    @property
    def spans(self) -> list[list[tuple[int, int]]]:
        """Covered ranges of code points, if asked for."""
    @property
    def spans_total(self) -> NDArray[np.int64]:
        """How many ranges there are in all, if asked for."""
    @property
    def matches(self) -> list[list[str]]:
        """Texts of distinct n-grams found, if asked for."""
    @property
    def fields(self) -> list[list[str | None]]:
        """Further fields as JSON texts: for each field a column."""

@final
class OverlapStream:
    """One pass over candidate files: an iterator of batches, then a report."""

    @property
    def sources(self) -> list[str]:
        """Names of the inputs."""
    @property
    def paths(self) -> list[str]:
        """Paths of the inputs that are files."""
    def __iter__(self) -> OverlapStream: ...
    def __next__(self) -> OverlapBatch: ...
    def report(self) -> str:
        """What was read and left out, as JSON."""

@final
class Index:
    """One or several index folders, mapped."""

    def __new__(cls, paths: Sequence[str | os.PathLike[str]], load: bool) -> Index: ...
    @property
    def manifests(self) -> list[str]:
        """The manifests as JSON, in the order of the paths."""
    @property
    def folders(self) -> list[str]:
        """The folders of these manifests."""
    @property
    def tiers(self) -> int:
        """Tiers that all of the indexes have."""
    def distinct(self, n: int) -> float | None:
        """Estimated number of distinct n-grams of length `n` that the indexes have together; None when that cannot be told."""
    def overlap(self, texts: Sequence[str | None], options: QueryOptions) -> OverlapBatch:
        """Rows for `texts`; None has no overlap."""
    def overlap_files(
        self,
        paths: Sequence[str],
        read: ReadOptions,
        options: QueryOptions,
        progress: Callable[[Progress], object] | None = None,
        stream: tuple[int, str] | None = None,
    ) -> OverlapStream:
        """Rows for the records of files, batch by batch."""
    def verify(self, progress: Callable[[Progress], object] | None = None) -> str:
        """Compares all bytes with their checksums; returns what was read as JSON."""

@final
class ScanBatch:
    """Columns of a scan beside those of an overlap table."""

    @property
    def loo_hits(self) -> NDArray[np.int64]:
        """Occurrences whose n-gram is in a document that is not the candidate's own."""
    @property
    def own_documents(self) -> NDArray[np.int64]:
        """Documents of the candidate's own."""
    @property
    def exact_duplicates(self) -> NDArray[np.int64]:
        """Those with exactly its text."""
    @property
    def sources(self) -> list[list[tuple[int, int, int, str | None, int, int, bool, bool]]]:
        """Documents that share most: (source, position, line, id, shared, tested, own, duplicate) each."""
    @property
    def occurrences(self) -> list[list[int]]:
        """For each occurrence how often its n-gram occurs in the corpus, if asked for."""
    @property
    def documents(self) -> list[list[int]]:
        """For each occurrence in how many documents, if asked for."""

@final
class Scan:
    """A finished scan: rows of the candidates, batch by batch."""

    def __new__(
        cls,
        candidates: Sequence[str],
        corpus: Sequence[str],
        read: ReadOptions,
        corpus_read: ReadOptions,
        rule: WordRule,
        query: QueryOptions,
        scan: ScanOptions,
        index: Index | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> Scan: ...
    @property
    def sources(self) -> list[str]:
        """Names of the candidates' files."""
    @property
    def paths(self) -> list[str]:
        """Their paths."""
    @property
    def corpus_sources(self) -> list[str]:
        """Names of the corpus's files."""
    def __len__(self) -> int:
        """How many candidates there are, usable or not."""
    def batch_end(self, start: int) -> int:
        """Where the batch of candidates ends that begins with number `start`."""
    def rows(self, start: int, end: int) -> tuple[OverlapBatch, ScanBatch]:
        """Rows of candidates `start` to `end`, one for each n."""
    def reports(self) -> tuple[str, str]:
        """What was read of the candidates and of the corpus, as JSON."""

@final
class DecontaminatedPart:
    """A block of texts, judged."""

    @property
    def source(self) -> int:
        """Number of the source."""
    @property
    def rows(self) -> bytes:
        """The rows as JSON Lines."""
    @property
    def clean(self) -> bytes | None:
        """The records written out again, if asked for and not rows of a table."""
    @property
    def contaminated(self) -> list[tuple[int, str, str | None, str | None]]:
        """Of each contaminated record: position, rule, removal, the new text of a cut row of a table."""
    @property
    def records(self) -> int:
        """How many records."""
    @property
    def unjudged(self) -> list[str]:
        """Why some of them cannot be judged, for each."""
    @property
    def removed(self) -> int:
        """Code points removed."""

@final
class Decontamination:
    """One pass over texts: an iterator of parts, then a report."""

    def __new__(
        cls,
        texts: Sequence[str],
        read: ReadOptions,
        rules: DecontaminationRules,
        rule: WordRule,
        *,
        remove: str,
        evidence: int,
        all_rows: bool,
        clean: bool,
        threads: int | None = None,
        reference: Sequence[str] | None = None,
        reference_read: ReadOptions | None = None,
        index: Index | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> Decontamination: ...
    @property
    def sources(self) -> list[str]:
        """Names of the texts' sources."""
    @property
    def paths(self) -> list[str]:
        """Paths of those that are files."""
    @property
    def reference_sources(self) -> list[str]:
        """Names of the reference's sources."""
    @property
    def reference_report(self) -> str:
        """What was read of the reference, as JSON; null for an index."""
    @property
    def unprotected(self) -> list[tuple[int, int, str | None, int, str]]:
        """Items of the reference that protect nothing: source, line, id, words, reason."""
    def next_parts(self, flat: bool) -> list[DecontaminatedPart] | None:
        """The next parts, their rows with ids and evidence as JSON texts if `flat`; None at the end."""
    def report(self) -> str:
        """What was read of the texts, as JSON."""

def container(path: str) -> str:
    """What a file has to be written back as: parquet, arrow file, arrow stream, zip, the name of a compression, or plain."""

def build(
    paths: Sequence[str],
    out: str | os.PathLike[str],
    options: BuildOptions,
    *,
    progress: Callable[[Progress], object] | None = None,
    stream: tuple[int, str] | None = None,
) -> str:
    """Builds an index of `paths` and `stream` in the folder `out`; returns the summary as JSON."""

def plan(paths: Sequence[str], options: BuildOptions, *, progress: Callable[[Progress], object] | None = None) -> str:
    """Counts the n-grams of `paths` and chooses the geometry of their index; returns it with what it takes as JSON."""

def plan_sized(options: BuildOptions, ngrams: Sequence[tuple[float, int]]) -> str:
    """Chooses the geometry for given numbers of n-grams, one for each n: (predicted, to size for); returns it as JSON."""

def sample(
    paths: Sequence[str],
    size: int | float,
    seed: int,
    options: BuildOptions,
    *,
    progress: Callable[[Progress], object] | None = None,
) -> str | None:
    """Counts a sample of so many bytes, or such a share, of `paths`; returns what it had as JSON.

    None where there is no more than that, and for standard input.
    """

def insertion_rate(options: BuildOptions) -> float:
    """n-gram occurrences that this machine inserts in a second with these options, measured in about a second."""

def merge(
    parts: Sequence[str],
    out: str | os.PathLike[str],
    options: MergeOptions,
    *,
    progress: Callable[[Progress], object] | None = None,
) -> str:
    """Merges the indexes in the folders `parts` into one in the folder `out`; returns the summary as JSON."""

@final
class DocumentBatch:
    """Documents with text that stand together in a source; every column has shape (documents,)."""

    @property
    def text(self) -> list[str]:
        """The texts."""
    @property
    def id(self) -> list[str | None]:
        """The ids as JSON texts."""
    @property
    def position(self) -> list[int]:
        """Number of the record in its source, from 0; every record counts, usable or not."""
    @property
    def line(self) -> list[int]:
        """Line (table row) in its source, from 1."""
    @property
    def source(self) -> int:
        """Number of the source."""
    @property
    def fields(self) -> list[list[str | None]]:
        """Further fields as JSON texts: for each field a column."""

@final
class Documents:
    """One pass over a corpus: an iterator of batches of documents, then a report."""

    def __new__(
        cls, paths: Sequence[str], read: ReadOptions, progress: Callable[[Progress], object] | None = None
    ) -> Documents: ...
    @property
    def sources(self) -> list[str]:
        """Names of the sources."""
    def __iter__(self) -> Documents: ...
    def __next__(self) -> DocumentBatch: ...
    def report(self) -> str:
        """What was read and left out, as JSON."""

def digest(path: str | os.PathLike[str], *, progress: Callable[[Progress], object] | None = None) -> str:
    """BLAKE3 digest of the bytes of a file, in hexadecimal."""

def find(
    paths: Sequence[str], read: ReadOptions, *, progress: Callable[[Progress], object] | None = None
) -> list[tuple[str, int]]:
    """Names and sizes of the files that are found under `paths`."""

def check_output(out: str | os.PathLike[str], force: bool) -> list[str]:
    """Raises when no index can be built in the folder `out`; returns what the user should know of it."""

def count(paths: Sequence[str], options: BuildOptions, *, progress: Callable[[Progress], object] | None = None) -> list[bytes]:
    """Sketches the distinct n-grams of `paths`, or of the part that the options name; returns the registers for each n."""

def layout(counts: Sequence[Sequence[bytes]], options: BuildOptions) -> str:
    """The content of a plan file for a corpus of whose parts `count` has given the registers."""

def unfinished(out: str | os.PathLike[str]) -> str | None:
    """The folder of the unfinished build of `out`, if there is one that ``--resume`` continues."""

def words(text: str, rule: WordRule) -> list[tuple[int, int]]:
    """Bounds of the words of `text`, in code points."""

def logit_statistics(logits: NDArray[np.float32], targets: NDArray[np.int64], threads: int) -> dict[str, NDArray[Any]]:
    """Statistics of each row's token under the distribution that its logits describe.

    Of `logits` (T, V) and `targets` (T,): log_prob, mu, sigma, top1_log_prob, logsumexp, float32, and rank, int32, (T,) each.
    """
