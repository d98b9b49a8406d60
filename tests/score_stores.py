"""Score stores and token statistics from plain lists; no model, and nothing here knows an answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ngramscope import provenance
from ngramscope.attacks.base import Inputs
from ngramscope.models.stats import STATISTICS
from ngramscope.models.store import CHUNK, STORE_VERSION, ScoreStore, chunk_schema

__all__ = ["Pass", "inputs_of", "write_store"]


@dataclass
class Pass:
    """A pass to write: lists with an entry a text, in order of candidate and variant.

    Attributes
    ----------
    columns
        By name of `STATISTICS`, the values of each text's scored tokens; those of one name have the lengths of those of another.
    kind, role, label, tokenizer, parameters, shot_rows, settings
        What ``pass.json`` says.
    rows
        Candidate of each text; default 0, 1, ... A candidate that comes again is its next variant.
    scalars
        By name, a value a text.
    text_bytes, zlib_bytes, head, tokens_total, truncated, null_reasons
        Default: 4 bytes a token, 20 bytes; the token 0; head and tokens; False; ``one_token`` where there is no token.
    """

    columns: Mapping[str, Sequence[Sequence[float]]]
    kind: str = "plain"
    role: str = "target"
    label: str = "target-model"
    tokenizer: str | None = "tokenizer-a"
    parameters: int | None = 1000
    shot_rows: Sequence[int] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[int] | None = None
    scalars: Mapping[str, Sequence[float]] = field(default_factory=dict)
    text_bytes: Sequence[int] | None = None
    zlib_bytes: Sequence[int] | None = None
    head: Sequence[Sequence[int]] | None = None
    tokens_total: Sequence[int] | None = None
    truncated: Sequence[bool] | None = None
    null_reasons: Sequence[str | None] | None = None

    def table(self) -> pa.Table:
        """The texts as a chunk holds them."""
        texts = len(next(iter({**self.columns, **self.scalars}.values())))
        lengths = [len(each) for each in next(iter(self.columns.values()), [[1]] * texts)]
        rows = list(range(texts)) if self.rows is None else list(self.rows)
        head = [[0]] * texts if self.head is None else self.head
        totals = [length + len(first) for length, first in zip(lengths, head, strict=True)]
        columns: dict[str, Any] = {
            "row": rows,
            "variant": [rows[:number].count(row) for number, row in enumerate(rows)],
            "head": head,
            "tokens_total": totals if self.tokens_total is None else self.tokens_total,
            "text_bytes": [4 * length for length in lengths] if self.text_bytes is None else self.text_bytes,
            "zlib_bytes": [20] * texts if self.zlib_bytes is None else self.zlib_bytes,
            "truncated": [False] * texts if self.truncated is None else self.truncated,
            "null_reason": [None if n else "one_token" for n in lengths] if self.null_reasons is None else self.null_reasons,
            **{name: [np.asarray(each, STATISTICS[name]) for each in values] for name, values in self.columns.items()},
            **{f"scalar_{name}": values for name, values in self.scalars.items()},
        }
        return pa.table(columns, schema=chunk_schema(list(self.columns), list(self.scalars)))


def write_store(
    folder: Path, passes: Sequence[Pass], *, labels: Sequence[int | None] | None = None, chunks: int = 1, **documents: Any
) -> ScoreStore:
    """Write a store and open it; `documents` are further columns of the documents.

    Parameters
    ----------
    labels
        1, 0 or None a candidate; default: 1 and 0 in turn.
    chunks
        Files that each pass is divided into.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables = [each.table() for each in passes]
    candidates = 1 + max(max(table["row"].to_pylist(), default=-1) for table in tables)
    known = [(row + 1) % 2 for row in range(candidates)] if labels is None else list(labels)
    stamp = provenance.stamp("score-store", version=STORE_VERSION, settings={}, inputs=[])
    (folder / "store.json").write_text(json.dumps({**stamp, "candidates": candidates}))
    ids = [json.dumps(f"c{row}") for row in range(candidates)]
    pq.write_table(pa.table({"id": ids, "label": pa.array(known, pa.int8()), **documents}), folder / "documents.parquet")
    for number, (each, table) in enumerate(zip(passes, tables, strict=True)):
        place = folder / f"{each.role}-{each.label.replace('/', '_')}-{each.kind}-{number}"
        place.mkdir()
        size = -(-len(table) // chunks) or 1
        sums = []
        for chunk in range(chunks):
            with pa.OSFile(str(place / CHUNK.format(chunk)), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table.slice(chunk * size, size))
            sums.append(hashlib.sha256((place / CHUNK.format(chunk)).read_bytes()).hexdigest())
        header = {
            **provenance.stamp("score-pass", version=STORE_VERSION, settings=each.settings, inputs=[]),
            "kind": each.kind,
            "role": each.role,
            "model": {"label": each.label, "tokenizer": {"digest": each.tokenizer}, "parameters": each.parameters},
            "left_out_rows": list(each.shot_rows),
            "counts": {"texts": len(table)},
            "chunks": chunks,
            "chunks_sha256": sums,
            "statistics": list(each.columns),
        }
        (place / "pass.json").write_text(json.dumps(header))
    return ScoreStore(folder)


def inputs_of(folder: Path, *passes: Pass, **options: Any) -> Inputs:
    """What an attack on the first pass's model is given; `options` are those of `Inputs`."""
    return Inputs(write_store(folder, passes), passes[0].label, **options)
