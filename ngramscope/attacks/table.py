"""Scores of candidates by attack: one Parquet table, for the evaluation and for everybody else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import InputError
from ngramscope.index.output import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SCORES_VERSION", "ScoreColumn", "ScoreTable"]

SCORES_VERSION = 1
"""Version of the table's columns and of its metadata."""

_KEY = b"ngramscope"
_SEPARATOR = " @ "


@dataclass(frozen=True)
class ScoreColumn:
    """One attack on one model.

    Attributes
    ----------
    attack
        Name of the attack or signal, with the options that differ from its defaults: ``min-k(k=0.1)``.
    model, role
        The model under attack and what it is to the study: target or placebo.
    scores
        (N,) float64; higher = more likely a member; NaN where undefined.
    reasons
        N codes of why a score is undefined, or None.
    settings
        Every option of the attack, with its value.
    """

    attack: str
    model: str
    role: str
    scores: NDArray[np.float64]
    reasons: list[str | None]
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the column in the file: ``attack @ model``."""
        return f"{self.attack}{_SEPARATOR}{self.model}"


@dataclass(frozen=True)
class ScoreTable:
    """Candidates by attacks.

    Attributes
    ----------
    documents
        A row a candidate: ``id``, ``label``, ``domain``, ``group``, ``date``, ``overlap_N``, further keys of the set. No text.
    columns
        The attacks.
    header
        Provenance: settings, inputs, compat preset, versions (`ngramscope.provenance.stamp`).
    """

    documents: pa.Table
    columns: tuple[ScoreColumn, ...]
    header: Mapping[str, Any]

    @property
    def labels(self) -> NDArray[np.float64]:
        """(N,): 1 member, 0 non-member, NaN not known."""
        return np.asarray(self.documents["label"].to_numpy(), dtype=np.float64)

    def save(self, path: Path) -> None:
        """Write it: documents' columns, a float64 column an attack, null where undefined; reasons and header as metadata."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = self.documents
        described = []
        for each in self.columns:
            undefined = np.isnan(each.scores)
            table = table.append_column(each.name, pa.array(each.scores, pa.float64(), mask=undefined))
            described.append(
                {
                    "column": each.name, "attack": each.attack, "model": each.model, "role": each.role,
                    "settings": dict(each.settings),
                    "undefined": {str(row): each.reasons[row] for row in np.flatnonzero(undefined).tolist()},
                }
            )  # fmt: skip
        header = {**self.header, "columns": described, "documents": self.documents.column_names}
        table = table.replace_schema_metadata({_KEY: json.dumps(header).encode()})
        with whole_file(path) as temporary:
            pq.write_table(table, temporary, compression="zstd")

    @classmethod
    def open(cls, path: Path) -> ScoreTable:
        """Read one.

        Raises
        ------
        InputError
            It is no score table, is damaged, or is of a version that this release does not know.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            # Not `read_table`: it takes a dot in a column's name for a step into a struct.
            table = pq.ParquetFile(path).read()
            header = json.loads((table.schema.metadata or {}).get(_KEY, b"null"))
        except (OSError, ValueError, pa.ArrowException) as error:
            raise InputError(f"{path}: cannot be read as a score table: {error}; ngramscope attack makes one") from error
        if not isinstance(header, dict) or header.get("artefact") != "score-table":
            raise InputError(f"{path}: not a score table; ngramscope attack makes one")
        if header.get("format_version") != SCORES_VERSION:
            raise InputError(f"{path}: version {header.get('format_version')}; this ngramscope reads {SCORES_VERSION}")
        try:
            columns = _columns(table, header.pop("columns"))
            documents = table.select(header.pop("documents"))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{path}: its columns or rows are not those that its header tells of; another program has changed it: give the "
                "table as ngramscope attack writes it, or a CSV file of scores"
            ) from error
        _check_labels(documents, path)
        return cls(documents, columns, header)


def _check_labels(documents: pa.Table, path: Path) -> None:
    """Refuse labels that are neither of a member nor of a non-member: they would count as one of them."""
    if "label" not in documents.column_names:
        raise InputError(f"{path}: no column 'label' (1 member, 0 non-member, null not known); ngramscope attack writes it")
    for row, label in enumerate(documents["label"].to_pylist(), 1):
        if label not in (0, 1, None):
            raise InputError(f"{path}: row {row}: label {label!r}; 1 is a member, 0 a non-member, null not known")


def _columns(table: pa.Table, told: list[Mapping[str, Any]]) -> tuple[ScoreColumn, ...]:
    columns = tuple(_column(table, each) for each in told)
    if len({each.name for each in columns}) < len(columns):
        raise ValueError("a column is there twice")
    return columns


def _column(table: pa.Table, told: Mapping[str, Any]) -> ScoreColumn:
    """A column as the header tells of it; raises `ValueError` where its nulls are in other rows."""
    scores = np.asarray(table[told["column"]].to_numpy(), dtype=np.float64)
    if not all(isinstance(told[each], str) for each in ("attack", "model", "role")):
        raise TypeError(told["column"])
    reasons: list[str | None] = [None] * len(table)
    undefined = {int(row): reason for row, reason in told["undefined"].items()}
    if sorted(undefined) != np.flatnonzero(np.isnan(scores)).tolist():
        raise ValueError(told["column"])
    for row, reason in undefined.items():
        reasons[row] = reason
    return ScoreColumn(told["attack"], told["model"], told["role"], scores, reasons, told["settings"])
