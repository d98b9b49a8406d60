"""The set that is scored: its candidates in memory, its digests, and the table of them that a store keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ngramscope.sets.base import Candidate, side
from ngramscope.sets.covariates import LOO_COLUMN
from ngramscope.sets.records import RecordSource

if TYPE_CHECKING:
    import pyarrow as pa

    from ngramscope import _core

__all__ = ["ScoredSet", "document_table", "read_set"]


@dataclass(frozen=True)
class ScoredSet:
    """Candidates, or plain documents, in the order of the input.

    Attributes
    ----------
    candidates
        All of them, with their texts.
    headers
        Of the candidate sets; empty if the inputs were documents.
    report
        Of the reader: what was read, and left out by reason.
    """

    candidates: list[Candidate]
    headers: tuple[dict[str, Any], ...]
    report: dict[str, Any]

    def __len__(self) -> int:
        return len(self.candidates)

    def texts_sha256(self) -> str:
        """Digest of ids and texts in order: what decides whether scores are of this set."""
        digest = hashlib.sha256()
        for each in self.candidates:
            digest.update(json.dumps((each.id, each.text)).encode())
        return digest.hexdigest()

    def sha256(self) -> str:
        """Digest of all that is known of the candidates, where they were found left out."""
        digest = hashlib.sha256()
        for each in self.candidates:
            row = {**each.row(), "source": None, "position": None}
            digest.update(json.dumps(row, sort_keys=True).encode())
        return digest.hexdigest()

    def counts(self) -> dict[str, Any]:
        """Records that were read, candidates by side, and what was left out by reason."""
        sides = [side(each.label) for each in self.candidates]
        return {
            "records": len(self) + sum(self.report["unusable"].values()),
            "candidates": len(self),
            **{name: sides.count(name) for name in ("members", "nonmembers", "unlabelled")},
            "unusable": {reason: count for reason, count in self.report["unusable"].items() if count},
        }


def read_set(source: RecordSource, progress: Callable[[_core.Progress], object] | None = None) -> ScoredSet:
    """Read the whole set.

    Raises
    ------
    UsageError, InputError
        See `RecordSource`.
    """
    records = source.open(progress)
    return ScoredSet(list(records.candidates()), records.headers, records.report())


def document_table(candidates: Sequence[Candidate]) -> pa.Table:
    """A row a candidate, without the text.

    ``id`` is JSON text (a number stays apart from a string); ``date`` is text; ``overlap_N`` and ``overlap_null_N`` are the
    share for each n and why there is none, ``overlap_loo_N`` is leave-one-out overlap where the set has it. Further keys that
    hold only numbers, strings or truth values keep their type, of lists and objects the column is left out, mixed ones become
    JSON text.
    """
    import pyarrow as pa

    columns: dict[str, pa.Array[Any]] = {
        "id": pa.array([json.dumps(each.id, ensure_ascii=False) for each in candidates], pa.string()),
        "label": pa.array([each.label for each in candidates], pa.int8()),
        "domain": pa.array([each.domain for each in candidates], pa.string()),
        "group": pa.array([each.group for each in candidates], pa.string()),
        "date": pa.array([None if each.date is None else str(each.date) for each in candidates], pa.string()),
        "source": pa.array([each.source for each in candidates], pa.string()),
        "position": pa.array([each.position for each in candidates], pa.int64()),
    }
    for n in sorted({n for each in candidates for n in (*each.overlap, *each.overlap_null)}, key=lambda n: (len(n), n)):
        columns[f"overlap_{n}"] = pa.array([each.overlap.get(n) for each in candidates], pa.float64())
        columns[f"overlap_null_{n}"] = pa.array([each.overlap_null.get(n) for each in candidates], pa.string())
        # Members are compared with non-members by it alone: their own n-grams are in the corpus.
        loo = [found.get(n) if isinstance(found := each.extra.get(LOO_COLUMN), dict) else None for each in candidates]
        if any(each is not None for each in loo):
            columns[f"{LOO_COLUMN}_{n}"] = pa.array(loo, pa.float64())
    for key in dict.fromkeys(key for each in candidates for key in each.extra):
        values = [each.extra.get(key) for each in candidates]
        if key not in columns and not any(isinstance(each, list | dict) for each in values):
            columns[key] = _column(values)
    return pa.table(columns)


def _column(values: list[Any]) -> pa.Array[Any]:
    import pyarrow as pa

    kinds = {type(each) for each in values if each is not None}
    if kinds <= {int, float} and all(abs(each) < 1 << 63 for each in values if isinstance(each, int)):
        return pa.array(values, pa.int64() if kinds <= {int} else pa.float64())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {str}:
        return pa.array(values, pa.string())
    return pa.array([None if each is None else json.dumps(each, ensure_ascii=False) for each in values], pa.string())
