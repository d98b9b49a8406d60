"""The score store: a folder that holds a candidate set's documents and, for every model and pass, its token statistics.

``store.json`` says which set it belongs to; ``documents.parquet`` has a row a candidate, without the text. A pass is a folder:
``pass.json`` (what it is, renamed last: the pass is complete) and ``chunk-NNNNN.arrow`` (Arrow IPC files, each under its
name only when whole). Readers need numpy and pyarrow, no model. See docs/score.md.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import InputError
from ngramscope.models.stats import STATISTICS, TokenStats

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CHUNK", "ROLES", "STORE_VERSION", "ScoreStore", "StoredPass", "chunk_schema", "read_chunks"]

STORE_VERSION = 1
"""Version of the folder, its headers and its columns."""

ROLES = ("target", "reference", "placebo")
"""What a model is to a study: under audit, for calibration, or known to have seen neither side."""

CHUNK = "chunk-{:05d}.arrow"

_SCALAR = "scalar_"


def chunk_schema(statistics: Sequence[str], scalars: Sequence[str] = ()) -> pa.Schema:
    """The columns of a chunk: one row a text, lists for what is per token."""
    import pyarrow as pa

    fields = [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("variant", pa.int32(), nullable=False),
        pa.field("head", pa.list_(pa.int32()), nullable=False),
        pa.field("tokens_total", pa.int64(), nullable=False),
        pa.field("text_bytes", pa.int64(), nullable=False),
        pa.field("zlib_bytes", pa.int64(), nullable=False),
        pa.field("truncated", pa.bool_(), nullable=False),
        pa.field("null_reason", pa.string()),
        *(pa.field(name, pa.list_(pa.from_numpy_dtype(np.dtype(STATISTICS[name]))), nullable=False) for name in statistics),
        *(pa.field(_SCALAR + name, pa.float64()) for name in scalars),
    ]
    return pa.schema(fields)


@dataclass(frozen=True)
class StoredPass:
    """A complete pass in a store.

    Attributes
    ----------
    path
        Its folder.
    header
        ``pass.json``: format version, ``kind`` (plain, lowercase, ...), ``role``, ``model`` (label, revision, digests, dtype,
        ``parameters``, ``tokenizer``), ``settings``, ``counts``, ``statistics``, ``left_out_rows`` (candidates that the pass
        itself used as shots).
    """

    path: Path
    header: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """What was done to the texts: plain, lowercase, repeated, prefix, ..."""
        return str(self.header["kind"])

    @property
    def role(self) -> str:
        """One of `ROLES`."""
        return str(self.header["role"])

    @property
    def model(self) -> str:
        """Name of the model, with its revision if that is not the default."""
        return str(self.header["model"]["label"])

    @property
    def tokenizer(self) -> str | None:
        """Digest of the model's tokenizer; None if it is not known."""
        return cast("str | None", self.header["model"].get("tokenizer", {}).get("digest"))

    @property
    def parameters(self) -> int | None:
        """How many parameters the model has; None if it is not known."""
        return cast("int | None", self.header["model"].get("parameters"))

    @property
    def shots(self) -> frozenset[int]:
        """Rows of the candidates that stand in the prefix of the others."""
        return frozenset(self.header.get("left_out_rows", ()))

    @cached_property
    def stats(self) -> TokenStats:
        """Its token statistics, in order of candidate and variant.

        Raises
        ------
        InputError
            A chunk is missing or damaged.
        """
        paths = [self.path / CHUNK.format(number) for number in range(self.header["chunks"])]
        stats = read_chunks(paths, self.header["chunks_sha256"])
        if len(stats) != self.header["counts"]["texts"]:
            raise InputError(
                f"{self.path}: {len(stats)} texts, but pass.json says {self.header['counts']['texts']}; score again"
            )
        return stats


class ScoreStore:
    """A score store, opened for reading.

    Parameters
    ----------
    path
        Its folder.

    Raises
    ------
    InputError
        It is none, is damaged, or is of a version that this release does not know.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.header = read_header(self.path / "store.json", "score-store")
        self.passes: tuple[StoredPass, ...] = tuple(
            StoredPass(each.parent, read_header(each, "score-pass")) for each in sorted(self.path.glob("*/pass.json"))
        )

    @cached_property
    def documents(self) -> pa.Table:
        """A row a candidate: ``id`` (JSON), ``label``, ``domain``, ``group``, ``date``, ``overlap_N``, the set's other keys."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.read_table(self.path / "documents.parquet")
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{self.path / 'documents.parquet'}: cannot be read: {error}; score the set again") from error

    def __len__(self) -> int:
        return int(self.header["candidates"])

    @property
    def labels(self) -> NDArray[np.float64]:
        """(N,): 1 member, 0 non-member, NaN not known."""
        return np.asarray(self.documents["label"].to_numpy(), dtype=np.float64)

    def find(self, kind: str, *, role: str | None = None, model: str | None = None) -> list[StoredPass]:
        """The passes of that kind, role and model (as `StoredPass.model`), in order of their folders' names."""
        return [each for each in self.passes if each.kind == kind and role in (None, each.role) and model in (None, each.model)]


def read_header(path: Path, artefact: str) -> dict[str, Any]:
    """A header of a store, checked.

    Raises
    ------
    InputError
        It is missing, damaged, something else, or of an unknown version.
    """
    try:
        header = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise InputError(f"{path.parent}: no score store, {path.name} is missing; ngramscope score makes one") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}; score the set again") from error
    if not isinstance(header, dict) or header.get("artefact") != artefact:
        raise InputError(f"{path}: not the header of a {artefact}")
    if header.get("format_version") != STORE_VERSION:
        raise InputError(f"{path}: version {header.get('format_version')}; this ngramscope reads {STORE_VERSION}")
    return header


def read_chunks(paths: Sequence[Path], sha256: Sequence[str]) -> TokenStats:
    """The texts of some chunks with these digests, in order of candidate and variant.

    Raises
    ------
    InputError
        One is missing or damaged; names it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    tables = []
    for path, expected in zip(paths, sha256, strict=True):
        try:
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() != expected:
                raise InputError(f"{path}: is damaged: not the bytes that pass.json tells of; the same command scores it again")
            tables.append(pa.ipc.open_file(pa.BufferReader(data)).read_all())
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{path}: cannot be read: {error}; the same command scores it again") from error
    table = pa.concat_tables(tables)
    order = pc.sort_indices(table, sort_keys=[("row", "ascending"), ("variant", "ascending")])
    table = table.take(order).combine_chunks()

    def numbers(name: str, dtype: Any) -> NDArray[Any]:
        return np.asarray(table[name].to_numpy(), dtype=dtype)

    def lists(name: str) -> tuple[NDArray[np.int64], NDArray[Any]]:
        column = cast("pa.ListArray[Any]", pa.concat_arrays(table[name].chunks))
        offsets = np.asarray(column.offsets, dtype=np.int64)
        return offsets - offsets[0], np.asarray(column.flatten())

    names = [name for name in STATISTICS if name in table.column_names]
    flat = {name: lists(name) for name in names}
    head_offsets, head = lists("head")
    offsets = next(iter(flat.values()))[0] if flat else np.zeros(len(table) + 1, dtype=np.int64)
    return TokenStats(
        rows=numbers("row", np.int64),
        variants=numbers("variant", np.int32),
        offsets=offsets,
        columns={name: values for name, (_, values) in flat.items()},
        head=np.split(head.astype(np.int32), head_offsets[1:-1]) if len(table) else [],
        tokens_total=numbers("tokens_total", np.int64),
        text_bytes=numbers("text_bytes", np.int64),
        zlib_bytes=numbers("zlib_bytes", np.int64),
        truncated=numbers("truncated", np.bool_),
        null_reasons=table["null_reason"].to_pylist(),
        scalars={
            name.removeprefix(_SCALAR): numbers(name, np.float64) for name in table.column_names if name.startswith(_SCALAR)
        },
    )
