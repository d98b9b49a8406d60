"""Tables (Parquet, Arrow) written again without some rows, and with other texts in some."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscope.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["rewrite_table"]


def rewrite_table(
    source: Path, target: Path, container: str, text_key: str, replacements: Mapping[int, str | None], *, rows: int
) -> str | None:
    """Write the first `rows` rows of `source` to `target`: those that map to None left out, those that map to a text with it.

    Schema, metadata and row groups stay; of Parquet also the compression of each column.

    Parameters
    ----------
    container
        ``parquet``, ``arrow file`` or ``arrow stream``.
    text_key
        Column of the text; dots step into structs unless a column has the literal name.

    Returns
    -------
    str or None
        Why not all of them could be read; the rows before, if any, are written.

    Raises
    ------
    InputError
        A column has a type that cannot be written.
    """
    import pyarrow as pa

    def change(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        return _changed(_readable(tables, rows), text_key, replacements)

    try:
        if container == "parquet":
            _rewrite_parquet(source, target, change)
        else:
            _rewrite_arrow(source, target, container == "arrow stream", change)
    except _DamagedError as error:
        return str(error)
    except (InputError, pa.ArrowException) as error:
        raise InputError(f"{source}: cannot be written again: {error}") from error
    return None


Change = Callable[[Iterator["pa.Table"]], Iterator["pa.Table"]]


class _DamagedError(Exception):
    pass


@contextmanager
def _reading() -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise _DamagedError(" ".join(str(error).split())) from error


def _readable(tables: Iterator[pa.Table], rows: int) -> Iterator[pa.Table]:
    """The tables up to row `rows`: what is behind, in a damaged file, was not judged."""
    while rows > 0:
        with _reading():
            table = next(tables, None)
        if table is None:
            return
        yield table.slice(0, rows)
        rows -= len(table)


def _rewrite_parquet(source: Path, target: Path, change: Change) -> None:
    import pyarrow.parquet as pq

    with _reading():
        file = pq.ParquetFile(source)
    with file, pq.ParquetWriter(target, file.schema_arrow, **_parquet_settings(file)) as writer:
        for table in change(file.read_row_group(number) for number in range(file.num_row_groups)):
            writer.write_table(table, row_group_size=max(1, len(table)))


def _rewrite_arrow(source: Path, target: Path, streamed: bool, change: Change) -> None:
    import pyarrow as pa
    import pyarrow.ipc as ipc

    with pa.memory_map(str(source)) as file:
        with _reading():
            reader: Any = ipc.open_stream(file) if streamed else ipc.open_file(file)
        batches = iter(reader) if streamed else (reader.get_batch(number) for number in range(reader.num_record_batches))
        tables = (pa.Table.from_batches([each]) for each in batches)
        with (
            pa.OSFile(str(target), "wb") as sink,
            (ipc.new_stream if streamed else ipc.new_file)(sink, reader.schema) as writer,
        ):
            for table in change(tables):
                writer.write_table(table)


def _parquet_settings(file: Any) -> dict[str, Any]:
    metadata = file.metadata
    if metadata.num_row_groups == 0:
        return {}
    columns = [metadata.row_group(0).column(number) for number in range(metadata.num_columns)]
    named = {"UNCOMPRESSED": "NONE"}  # what is read and what is written have two names
    return {"compression": {each.path_in_schema: named.get(each.compression, each.compression) for each in columns}}


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
            table = _without(table, sorted(mine.keys() - texts.keys()))
        yield table


def _without(table: pa.Table, dropped: Sequence[int]) -> pa.Table:
    import pyarrow as pa

    gone = set(dropped)
    try:
        return table.filter([row not in gone for row in range(len(table))])
    except pa.ArrowNotImplementedError:  # some types have no such kernel; slices are by value for all
        ends = [*dropped, len(table)]
        starts = [0, *(row + 1 for row in dropped)]
        return pa.concat_tables([table.slice(start, end - start) for start, end in zip(starts, ends, strict=True)])


def _path(table: pa.Table, text_key: str) -> list[str]:
    if text_key in table.column_names:
        return [text_key]
    return text_key.split(".")


def _with_texts(table: pa.Table, path: list[str], texts: Mapping[int, str]) -> pa.Table:
    import pyarrow as pa

    at = table.column_names.index(path[0])
    column = table.column(at)
    try:
        return table.set_column(at, table.schema.field(at), _replaced(column.combine_chunks(), path[1:], texts))
    except pa.ArrowException as error:
        raise InputError(f"column {'.'.join(path)} of type {column.type}: {error}") from error


def _replaced(array: Any, path: list[str], texts: Mapping[int, str]) -> Any:
    import pyarrow as pa

    if path:
        children = array.flatten()
        at = [each.name for each in array.type].index(path[0])
        children[at] = _replaced(children[at], path[1:], texts)
        return pa.StructArray.from_arrays(children, fields=list(array.type), mask=array.is_null())
    binary = str(array.type).endswith(("binary", "binary_view"))  # of pyarrow 15 there is no test for views
    values: list[Any] = array.to_pylist()
    for row, text in texts.items():
        values[row] = text.encode() if binary else text
    return pa.array(values, type=array.type)
