"""Parquet and Arrow tables with any columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ngramscope.index.output import TableFile, TableWriter
from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._plain import PlainFormat
from ngramscope.sets.formats.base import SetToExport, SetWriter
from ngramscope.sets.records import RecordSource

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["FORMAT"]

_INT64 = range(-(1 << 63), 1 << 63)


class Parquet(PlainFormat):
    """Written: Parquet, zstd, each column of one type.

    Whole numbers, numbers, true and false, strings, or lists of strings. A column whose values are of several kinds, or of
    others, has strings, and what is no string is a JSON text.
    """

    name = "parquet"
    layout = "Parquet or Arrow (also as `datasets` saves it): --text-key, --label-key and so on name the columns"
    kind = "table"

    def writer(self, out: Path, source: SetToExport) -> SetWriter:
        """Reads the set once to find the types."""
        types: dict[str, set[str]] = {name: set() for name in self.columns(source)}
        for each in RecordSource((source.path,)).open().candidates():
            for name, value in self.row(each, source).items():
                if value is not None:
                    types[name].add(_kind(value))
        kinds = {name: _common(found) for name, found in types.items()}
        return TableFile(out, {".parquet": _parquet_rows(self, source, kinds)}, with_source=False)


def _parquet_rows(form: PlainFormat, source: SetToExport, kinds: Mapping[str, str]) -> type[TableWriter[list[Candidate]]]:
    class ParquetRows(TableWriter[list[Candidate]]):
        def __init__(self, stream: IO[bytes], *, with_source: bool) -> None:
            super().__init__(stream, with_source=with_source)
            import pyarrow.parquet as pq

            self._schema = _schema(kinds)
            self._writer = pq.ParquetWriter(stream, self._schema, compression="zstd")

        def write(self, table: list[Candidate]) -> None:
            import pyarrow as pa

            rows = [form.row(each, source) for each in table]
            columns = [_column([row[name] for row in rows], kind) for name, kind in kinds.items()]
            if rows:
                self._writer.write_table(
                    pa.Table.from_arrays(
                        [pa.array(*each) for each in zip(columns, self._schema.types, strict=True)], schema=self._schema
                    )
                )

        def close(self, provenance: Mapping[str, Any]) -> None:
            self._writer.add_key_value_metadata({"ngramscope": json.dumps(provenance)})
            self._writer.close()

        def abandon(self) -> None:
            self._writer.close()

    return ParquetRows


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if value in _INT64 else "other"
    if isinstance(value, list):
        return "strings" if all(isinstance(each, str) for each in value) else "other"
    return "float" if isinstance(value, float) else "string" if isinstance(value, str) else "other"


def _common(kinds: Iterable[str]) -> str:
    found = set(kinds)
    if found == {"int", "float"}:
        return "float"
    return found.pop() if len(found) == 1 and "other" not in found else "string"


def _schema(kinds: Mapping[str, str]) -> pa.Schema:
    import pyarrow as pa

    types: dict[str, pa.DataType] = {
        "bool": pa.bool_(),
        "int": pa.int64(),
        "float": pa.float64(),
        "string": pa.string(),
        "strings": pa.list_(pa.string()),
    }
    return pa.schema([(name, types[kind]) for name, kind in kinds.items()])


def _column(values: list[Any], kind: str) -> list[Any]:
    if kind != "string":
        return values
    return [each if each is None or isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in values]


FORMAT = Parquet()
