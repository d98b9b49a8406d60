"""Rows of a decontamination to files. The core makes them as JSON Lines; tables are made of those."""

from __future__ import annotations

import io
import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import IO, TYPE_CHECKING, Any

from ngramscope.index.output import TableWriter
from ngramscope.json_texts import parse

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ROW_VERSION", "ROW_WRITERS", "LineWriter"]

ROW_VERSION = 1
"""Version of the columns and their meaning."""

_COLUMNS = {
    "id": str,
    "position": int,
    "source": str,
    "line": int,
    "n": int,
    "words": int,
    "ngrams": int,
    "hits": int,
    "overlap": float,
    "longest_run": int,
    "units": int,
    "contaminated_units": int,
    "contaminated": bool,
    "rule": str,
    "removal": str,
    "removed_characters": int,
    "near_score": float,
    "near_item": str,
    "null_reason": str,
    "evidence": str,
    "evidence_total": int,
}


def _schema(names: Iterable[str]) -> pa.Schema:
    import pyarrow as pa

    types: Mapping[type, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    # What is not a column of ours is a field of the records.
    return pa.schema([pa.field(name, types[_COLUMNS.get(name, str)]) for name in names])


class LineWriter(TableWriter[bytes]):
    """JSON Lines, as they are."""

    def write(self, table: bytes) -> None:
        """Append rows."""
        self._stream.write(table)

    def close(self, provenance: Mapping[str, Any]) -> None:
        """Nothing is left to write."""


class _FlatWriter(TableWriter[bytes]):
    """Rows of flat JSON as tables: ids, fields and lists are JSON texts."""

    def __init__(self, stream: IO[bytes], *, with_source: bool) -> None:
        super().__init__(stream, with_source=with_source)
        self._writer: Any = None

    def write(self, table: bytes) -> None:
        """Append rows."""
        import pyarrow as pa
        import pyarrow.json as pj

        if not table:
            return
        names = list(json.loads(table[: table.index(b"\n")]))
        options = pj.ParseOptions(explicit_schema=_schema(names), unexpected_field_behavior="error")
        # A row with much evidence may be longer than a block.
        reading = pj.ReadOptions(block_size=max(1 << 20, len(table)))
        try:
            rows = pj.read_json(io.BytesIO(table), read_options=reading, parse_options=options)
        except pa.ArrowInvalid:  # an id or field with half a surrogate pair
            lines = (json.dumps(parse(line.decode()), ensure_ascii=False) for line in table.split(b"\n") if line)
            rows = pj.read_json(io.BytesIO("\n".join(lines).encode()), read_options=reading, parse_options=options)
        self._append(rows.select(names))

    @abstractmethod
    def _append(self, table: pa.Table) -> None:
        """Append rows to the file, after its head if they are the first."""

    def close(self, provenance: Mapping[str, Any]) -> None:  # noqa: ARG002 - kept beside the file unless a format holds it
        """Write the head of a table that has no rows."""
        if self._writer is None:
            self._append(_schema(name for name in _COLUMNS if name != "source" or self._with_source).empty_table())


class _CsvWriter(_FlatWriter):
    """Comma-separated, a header line, LF; what is undefined is an empty cell."""

    def _append(self, table: pa.Table) -> None:
        import pyarrow.csv as pc

        options = pc.WriteOptions(include_header=self._writer is None, quoting_style="needed")
        self._writer = pc
        pc.write_csv(table, self._stream, options)


class _ParquetWriter(_FlatWriter):
    """Parquet, zstd-compressed."""

    def _append(self, table: pa.Table) -> None:
        import pyarrow.parquet as pq

        if self._writer is None:
            self._writer = pq.ParquetWriter(self._stream, table.schema, compression="zstd")
        self._writer.write_table(table)

    def close(self, provenance: Mapping[str, Any]) -> None:
        """Write the footer with the provenance."""
        super().close(provenance)
        self._writer.add_key_value_metadata({"ngramscope": json.dumps(provenance)})
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer, which would write to a closed stream when it is collected."""
        if self._writer is not None:
            self._writer.close()


ROW_WRITERS: Mapping[str, type[TableWriter[bytes]]] = {".jsonl": LineWriter, ".csv": _CsvWriter, ".parquet": _ParquetWriter}
