"""Tables (Parquet, Arrow) written again without some rows, and with other texts in some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscope.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["rewrite_table"]


def rewrite_table(source: Path, target: Path, container: str, text_key: str, replacements: Mapping[int, str | None]) -> None:
    """Write the rows of `source` to `target`: row by number, those that map to None left out, those that map to a text with it.

    Schema, metadata and row groups stay; of Parquet also the compression of each column.

    Parameters
    ----------
    container
        ``parquet``, ``arrow file`` or ``arrow stream``.
    text_key
        Column of the text; dots step into structs unless a column has the literal name.
    """
    if container == "parquet":
        _rewrite_parquet(source, target, text_key, replacements)
    else:
        _rewrite_arrow(source, target, container == "arrow stream", text_key, replacements)


def _rewrite_parquet(source: Path, target: Path, text_key: str, replacements: Mapping[int, str | None]) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetFile(source) as file, pq.ParquetWriter(target, file.schema_arrow, **_parquet_settings(file)) as writer:
        groups = (file.read_row_group(number) for number in range(file.num_row_groups))
        for table in _changed(groups, text_key, replacements):
            writer.write_table(table, row_group_size=max(1, len(table)))


def _rewrite_arrow(source: Path, target: Path, streamed: bool, text_key: str, replacements: Mapping[int, str | None]) -> None:
    import pyarrow as pa
    import pyarrow.ipc as ipc

    with pa.memory_map(str(source)) as file, pa.OSFile(str(target), "wb") as sink:
        if streamed:
            stream = ipc.open_stream(file)
            schema, batches = stream.schema, (each for each in stream)
        else:
            table_file = ipc.open_file(file)
            schema = table_file.schema
            batches = (table_file.get_batch(number) for number in range(table_file.num_record_batches))
        tables = (pa.Table.from_batches([each]) for each in batches)
        with (ipc.new_stream if streamed else ipc.new_file)(sink, schema) as writer:
            for table in _changed(tables, text_key, replacements):
                writer.write_table(table)


def _parquet_settings(file: Any) -> dict[str, Any]:
    metadata = file.metadata
    if metadata.num_row_groups == 0:
        return {}
    columns = [metadata.row_group(0).column(number) for number in range(metadata.num_columns)]
    return {"compression": {each.path_in_schema: each.compression for each in columns}}


def _changed(tables: Iterator[pa.Table], text_key: str, replacements: Mapping[int, str | None]) -> Iterator[pa.Table]:
    start = 0
    for table in tables:
        rows = range(start, start + len(table))
        start += len(table)
        mine = {row - rows.start: replacements[row] for row in replacements.keys() & set(rows)} if replacements else {}
        texts = {row: text for row, text in mine.items() if text is not None}
        if texts:
            table = _with_texts(table, _path(table, text_key), texts)
        if len(texts) < len(mine):
            dropped = mine.keys() - texts.keys()
            table = table.filter([row not in dropped for row in range(len(table))])
        yield table


def _path(table: pa.Table, text_key: str) -> list[str]:
    if text_key in table.column_names:
        return [text_key]
    return text_key.split(".")


def _with_texts(table: pa.Table, path: list[str], texts: Mapping[int, str]) -> pa.Table:
    at = table.column_names.index(path[0])
    column = table.column(at)
    array = column.combine_chunks()
    return table.set_column(at, table.schema.field(at), _replaced(array, path[1:], texts))


def _replaced(array: Any, path: list[str], texts: Mapping[int, str]) -> Any:
    import pyarrow as pa

    if path:
        children = array.flatten()
        at = [each.name for each in array.type].index(path[0])
        children[at] = _replaced(children[at], path[1:], texts)
        return pa.StructArray.from_arrays(children, fields=list(array.type), mask=array.is_null())
    binary = pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type)
    values: list[Any] = array.to_pylist()
    for row, text in texts.items():
        values[row] = text.encode() if binary else text
    try:
        return pa.array(values, type=array.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise InputError(f"a text column of type {array.type} cannot be written again: {error}") from error
