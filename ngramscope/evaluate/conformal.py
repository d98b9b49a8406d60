"""A table of per-document p-values: the candidates of a score table against a pool of known non-members."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.conformal import benjamini_hochberg, conformal_p
from ngramscope.attacks.reading import AttackScores
from ngramscope.errors import InputError, UsageError
from ngramscope.index.output import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CONFORMAL_VERSION", "ConformalTable", "conformal"]

CONFORMAL_VERSION = 1
"""Version of the table's columns and of its metadata."""


@dataclass(frozen=True)
class ConformalTable:
    """p-values of documents.

    Attributes
    ----------
    table
        A row a tested candidate: the documents' columns, ``score``, ``p``, ``p_adjusted`` and ``flagged``; null without a
        score.
    header
        Provenance, ``resolution`` 1 / (m + 1), ``counts``.
    """

    table: pa.Table
    header: dict[str, Any]

    def save(self, path: Path) -> None:
        """Write it as Parquet, the header as metadata under the key ``ngramscope``."""
        import pyarrow.parquet as pq

        with whole_file(path) as temporary:
            pq.write_table(self.table.replace_schema_metadata({b"ngramscope": json.dumps(self.header).encode()}), temporary)


def conformal(read: AttackScores, pool: AttackScores | None = None, *, alpha: float = 0.05) -> ConformalTable:
    """Test each candidate against known non-members.

    Parameters
    ----------
    read
        Scores of the candidates. Without a pool of its own, those of label 0 are the pool and the others are tested.
    pool
        Scores of the same attack on the same model; its records of label 0 are the pool. All records of `read` are tested.
    alpha
        Share of false discoveries, in expectation, among those that are flagged.

    Raises
    ------
    UsageError
        An option has no possible value, or the pool is of another attack or model, or has no non-member with a score.
    InputError
        A record is tested against itself, or none is left to test.
    """
    import pyarrow as pa

    if not 0 < alpha < 1:
        raise UsageError(f"--alpha: {alpha!r} is not possible; a share between 0 and 1")
    source = read if pool is None else pool
    if (source.attack, source.model, dict(source.settings)) != (read.attack, read.model, dict(read.settings)):
        raise UsageError(
            f"--pool: {source.source['name']} has {source.attack} on {source.model} {dict(source.settings)}, but "
            f"{read.attack} on {read.model} {dict(read.settings)} is tested; score both alike"
        )
    known = source.scores[source.labels == 0]
    tested = np.flatnonzero(read.labels != 0) if pool is None else np.arange(len(read.scores))
    if not len(tested):
        raise InputError(f"{read.source['name']}: all records are of label 0, so none is left to test; give them as --pool")
    documents = read.documents.take(tested)
    if pool is not None:
        both = set(documents["id"].to_pylist()) & set(pool.documents["id"].to_pylist())
        if both:
            listed = min(map(str, both))
            raise InputError(f"--pool: {len(both)} ids are also among the candidates, as {listed}; remove them there")
    scores = read.scores[tested]
    p = conformal_p(known, scores)
    adjusted = benjamini_hochberg(p)
    undefined = np.isnan(p)
    table = documents
    for name, values in (("score", scores), ("p", p), ("p_adjusted", adjusted)):
        table = table.append_column(name, pa.array(values, pa.float64(), mask=undefined))
    table = table.append_column("flagged", pa.array(adjusted <= alpha, pa.bool_(), mask=undefined))
    m = int(np.sum(~np.isnan(known)))
    settings = {"attack": read.attack, "model": read.model, "options": dict(read.settings), "alpha": alpha}
    inputs = [read.source] if pool is None else [read.source, pool.source]
    counts = {
        "records": len(read.scores) + (0 if pool is None else len(pool.scores)),
        "pool": m,
        "pool_undefined": len(known) - m,
        "pool_other_labels": 0 if pool is None else len(pool.scores) - len(known),
        "tested": int(np.sum(~undefined)),
        "tested_undefined": int(np.sum(undefined)),
        "flagged": int(np.sum(adjusted <= alpha)),
    }
    return ConformalTable(
        table,
        {
            **provenance.stamp("conformal-table", version=CONFORMAL_VERSION, settings=settings, inputs=inputs),
            "resolution": 1 / (m + 1),
            "counts": counts,
        },
    )
