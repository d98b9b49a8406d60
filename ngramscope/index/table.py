"""The overlap table: one row for each document and n, as numpy columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ngramscope._core import OverlapBatch, ScanBatch
from ngramscope.json_texts import parse, without_nan

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["COLUMNS", "EVIDENCE", "OverlapTable"]

COLUMNS = (
    "id",
    "position",
    "source",
    "n",
    "words",
    "ngrams",
    "hits",
    "overlap",
    "overlap_corrected",
    "distinct_ngrams",
    "distinct_hits",
    "distinct_overlap",
    "longest_run",
    "null_reason",
)
"""Names of the columns that every table has, in order (`source` in files only where several inputs were scored)."""

EVIDENCE = (
    "flags",
    "spans",
    "spans_total",
    "matches",
    "twice_hits",
    "twice_overlap",
    "in_corpus",
    "loo_hits",
    "loo_overlap",
    "own_documents",
    "exact_duplicates",
    "top_sources",
    "occurrences",
    "documents",
)
"""Names of the columns that are there if asked for, in order."""

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Objects = NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class OverlapTable:
    """Overlap of documents with an index, one row for each (document, n), documents in input order, n ascending.

    All columns have shape (rows,). Where `null_reason` is set the shares are NaN here and null in Arrow, JSON and Parquet.

    Attributes
    ----------
    id_json
        The document's id as the JSON text it had, digit for digit; None without one.
    position
        0-based number of the record in its source.
    source
        Index into `sources`.
    n
        Length of the n-grams.
    words, ngrams
        Words of the document; its n-grams, occurrences counted (words - n + 1, or 0).
    hits
        How many of the `ngrams` the index has, occurrences counted.
    overlap
        hits / ngrams.
    overlap_corrected
        (overlap - p) / (1 - p) with p the false-positive rate of the index for this n. Not clamped: it may leave [0, 1].
    distinct_ngrams, distinct_hits, distinct_overlap
        The same with each different n-gram of the document counted once.
    longest_run
        Largest number of consecutive n-grams that are all hits.
    null_reason
        Why there is no overlap: ``fewer_than_n_words``, or why the record has no usable text; None where there is one.
    flags
        One '1' (hit) or '0' for each n-gram, if asked for; from an index with two tiers '2' if at least two documents have it.
    spans, spans_total
        If asked for, the first ranges (start, end), in code points, that matched n-grams cover, those that share a word
        joined; and how many ranges there are in all.
    matches
        If asked for, the texts of the first distinct n-grams that are hits.
    twice_hits, twice_overlap
        From an index with two tiers: how many of the `ngrams` at least two documents have, and which share.
    in_corpus
        From an index with two tiers: whether so many of the distinct n-grams are there (`QueryOptions.own_share`) that the
        candidate is taken for a document of the corpus, or a cut of one.
    loo_hits, loo_overlap
        How many of the `ngrams` are in a document that is not the candidate's own, and which share. From a scan; or from an
        index with two tiers, where it is `twice_hits` for a candidate that is `in_corpus` and `hits` for others.
    own_documents, exact_duplicates
        From a scan: documents of the corpus that are the candidate's own, and those of them with exactly its text.
    top_sources
        From a scan: the documents that share most with the candidate, as dicts with ``source``, ``position``, ``line``, ``id``,
        ``shared`` and ``tested`` (distinct n-grams of the candidate that it has, and that count), ``own``, ``duplicate``.
    occurrences, documents
        From a scan, if asked for: for each n-gram how often it occurs in the corpus, and in how many documents.
    fields
        Further keys of the records, as JSON texts, if asked for.
    filter_fpr
        For each n, the rate p of the correction.
    index_is_demo
        The index holds the embedded demonstration corpus; its overlap is no evidence of anything.
    """

    id_json: Objects
    position: Ints
    source: NDArray[np.int32]
    n: NDArray[np.int32]
    words: Ints
    ngrams: Ints
    hits: Ints
    overlap: Floats
    overlap_corrected: Floats
    distinct_ngrams: Ints
    distinct_hits: Ints
    distinct_overlap: Floats
    longest_run: Ints
    null_reason: Objects
    flags: Objects | None
    spans: Objects | None
    spans_total: Ints | None
    matches: Objects | None
    twice_hits: Ints | None
    twice_overlap: Floats | None
    in_corpus: NDArray[np.bool_] | None
    loo_hits: Ints | None
    loo_overlap: Floats | None
    own_documents: Ints | None
    exact_duplicates: Ints | None
    top_sources: Objects | None
    occurrences: Objects | None
    documents: Objects | None
    sources: tuple[str, ...]
    fields: Mapping[str, Objects] = field(default_factory=dict)
    filter_fpr: Mapping[int, float] = field(default_factory=dict)
    index_is_demo: bool = False

    def __len__(self) -> int:
        return len(self.n)

    @property
    def id(self) -> list[Any]:
        """The ids as Python values (str, int of any width, None)."""
        return [None if each is None else parse(each) for each in self.id_json]

    @classmethod
    def from_batch(
        cls,
        batch: OverlapBatch,
        *,
        sources: Sequence[str],
        fields: Sequence[str],
        filter_fpr: Mapping[int, float],
        index_is_demo: bool,
        flags: bool = False,
        spans: bool = False,
        matches: bool = False,
        tiers: int = 1,
        scan: ScanBatch | None = None,
        corpus_sources: Sequence[str] = (),
        counts: bool = False,
    ) -> OverlapTable:
        """Take the columns of a batch of the core and derive the shares."""
        overlap = _share(batch.hits, batch.ngrams)
        rate = np.array([filter_fpr[each] for each in batch.n.tolist()], dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            corrected = np.where(rate < 1, (overlap - rate) / (1 - rate), np.nan)
        twice = batch if tiers == 2 else None
        leave_one_out = scan or twice
        asked = {"flags": flags, "spans": spans, "matches": matches}
        return cls(
            id_json=_objects(batch.id),
            position=batch.position,
            source=batch.source,
            n=batch.n,
            words=batch.words,
            ngrams=batch.ngrams,
            hits=batch.hits,
            overlap=overlap,
            overlap_corrected=corrected,
            distinct_ngrams=batch.distinct_ngrams,
            distinct_hits=batch.distinct_hits,
            distinct_overlap=_share(batch.distinct_hits, batch.distinct_ngrams),
            longest_run=batch.longest_run,
            null_reason=_objects(batch.null_reason),
            spans_total=batch.spans_total if spans else None,
            **{name: _objects(getattr(batch, name)) if given else None for name, given in asked.items()},
            twice_hits=twice and twice.twice_hits,
            twice_overlap=twice and _share(twice.twice_hits, batch.ngrams),
            in_corpus=twice and twice.in_corpus,
            loo_hits=leave_one_out and leave_one_out.loo_hits,
            loo_overlap=leave_one_out and _share(leave_one_out.loo_hits, batch.ngrams),
            own_documents=scan and scan.own_documents,
            exact_duplicates=scan and scan.exact_duplicates,
            top_sources=scan and _objects([[_document(each, corpus_sources) for each in row] for row in scan.sources]),
            occurrences=_objects(scan.occurrences) if scan and counts else None,
            documents=_objects(scan.documents) if scan and counts else None,
            sources=tuple(sources),
            fields={name: _objects(values) for name, values in zip(fields, batch.fields or [[] for _ in fields], strict=True)},
            filter_fpr=dict(filter_fpr),
            index_is_demo=index_is_demo,
        )

    def to_arrow(self, *, with_source: bool = True) -> pa.Table:
        """The table as a ``pyarrow.Table``, null where a share is undefined.

        Ids and fields become strings: a JSON string its content, anything else its JSON text.
        """
        import pyarrow as pa

        undefined = np.array([each is not None for each in self.null_reason], dtype=bool)
        columns: dict[str, Any] = {
            "id": pa.array([plain_text(each) for each in self.id_json], pa.string()),
            "position": self.position,
            "source": pa.array([self.sources[each] for each in self.source], pa.string()),
            "n": self.n,
            "words": self.words,
            "ngrams": self.ngrams,
            "hits": self.hits,
            "overlap": pa.array(self.overlap, mask=undefined),
            "overlap_corrected": pa.array(self.overlap_corrected, mask=undefined | np.isnan(self.overlap_corrected)),
            "distinct_ngrams": self.distinct_ngrams,
            "distinct_hits": self.distinct_hits,
            "distinct_overlap": pa.array(self.distinct_overlap, mask=undefined),
            "longest_run": pa.array(self.longest_run, mask=undefined),
            "null_reason": pa.array(self.null_reason.tolist(), pa.string()),
        }
        if not with_source:
            del columns["source"]
        if self.flags is not None:
            columns["flags"] = pa.array(self.flags.tolist(), pa.string())
        if self.spans is not None:
            bounds = [("start", pa.int64()), ("end", pa.int64())]
            rows = [[{"start": a, "end": b} for a, b in each] for each in self.spans]
            columns["spans"] = pa.array(rows, pa.list_(pa.struct(bounds)))
            columns["spans_total"] = self.spans_total
        if self.matches is not None:
            columns["matches"] = pa.array(self.matches.tolist(), pa.list_(pa.string()))
        for name in (
            "twice_hits",
            "twice_overlap",
            "in_corpus",
            "loo_hits",
            "loo_overlap",
            "own_documents",
            "exact_duplicates",
        ):
            values = getattr(self, name)
            if values is not None:
                columns[name] = pa.array(values, mask=undefined) if name.endswith("overlap") else values
        if self.top_sources is not None:
            kinds = {str: pa.string(), int: pa.int64(), bool: pa.bool_()}
            document = pa.struct([pa.field(name, kinds[kind]) for name, kind in _DOCUMENT.items()])
            columns["top_sources"] = pa.array(self.top_sources.tolist(), pa.list_(document))
        for name in ("occurrences", "documents"):
            if getattr(self, name) is not None:
                columns[name] = pa.array(getattr(self, name).tolist(), pa.list_(pa.int64()))
        for name, values in self.fields.items():
            columns[name] = pa.array([plain_text(each) for each in values], pa.string())
        if self.index_is_demo:
            columns["index_is_demo"] = np.ones(len(self), dtype=bool)
        return pa.table(columns)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a ``pandas.DataFrame``; needs pandas."""
        try:
            import pandas as pd
        except ImportError as error:
            from ngramscope.errors import MissingExtraError

            raise MissingExtraError("pandas", "test", "OverlapTable.to_pandas()") from error
        columns: dict[str, Any] = {name: getattr(self, name) for name in COLUMNS}
        columns["id"] = self.id
        columns["source"] = [self.sources[each] for each in self.source]
        for name in EVIDENCE:
            if getattr(self, name) is not None:
                columns[name] = getattr(self, name)
        columns.update({name: [plain_text(each) for each in values] for name, values in self.fields.items()})
        if self.index_is_demo:
            columns["index_is_demo"] = True
        return pd.DataFrame(columns)


_DOCUMENT = {
    "source": str, "position": int, "line": int, "id": str, "shared": int, "tested": int, "own": bool, "duplicate": bool,
}  # fmt: skip


def _document(found: tuple[Any, ...], sources: Sequence[str]) -> dict[str, Any]:
    source, position, line, doc, *rest = found
    return dict(zip(_DOCUMENT, (sources[source], position, line, plain_text(doc), *rest), strict=True))


def plain_text(value: str | None) -> str | None:
    """A JSON text as the cell of a table without types: the content of a string, else the text itself."""
    if value is not None and value.startswith('"'):
        return str(parse(value))
    text = None if value is None else without_nan(value)
    return None if text == "null" else text


def _share(part: Ints, whole: Ints) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, np.nan)


def _objects(values: Sequence[object]) -> Objects:
    """An array of exactly these objects; numpy would make lists of equal length a matrix."""
    return np.fromiter(values, dtype=object, count=len(values))
