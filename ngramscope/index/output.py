"""Overlap tables to files: JSON Lines, CSV and Parquet, chosen by the ending of the name.

A file appears under its name only when it is whole. Its provenance (settings, inputs with digests) goes into the schema
metadata of Parquet, key ``ngramscope``, and beside the other formats as ``NAME.meta.json``.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar, cast

from ngramscope.errors import ResourceError, UsageError
from ngramscope.index.table import COLUMNS, EVIDENCE, OverlapTable, plain_text
from ngramscope.json_texts import without_nan

if TYPE_CHECKING:
    import pyarrow.parquet as pq

__all__ = [
    "OVERLAP_WRITERS",
    "TABLE_VERSION",
    "CsvWriter",
    "JsonLinesWriter",
    "ParquetWriter",
    "TableFile",
    "TableWriter",
    "check_fields",
    "check_new_folder",
    "check_place",
    "whole_file",
    "write_whole",
]

TABLE_VERSION = 1
"""Version of the overlap table's columns and their meaning."""

_COMPRESSED = (".gz", ".zst")

Rows = TypeVar("Rows")
"""What a writer is given: some rows of a table."""


class TableWriter(ABC, Generic[Rows]):
    """Writes tables, one after the other, to one binary stream."""

    def __init__(self, stream: IO[bytes], *, with_source: bool) -> None:
        self._stream = stream
        self._with_source = with_source

    @abstractmethod
    def write(self, table: Rows) -> None:
        """Append the rows of `table`."""

    @abstractmethod
    def close(self, provenance: Mapping[str, Any]) -> None:
        """Write what is left; the stream stays open."""

    def abandon(self) -> None:
        """Let go of the stream, which is still open: the file is removed. After `close` nothing happens."""


class JsonLinesWriter(TableWriter[OverlapTable]):
    """One JSON object a row; ids and fields keep the JSON text they had, digit for digit."""

    def write(self, table: OverlapTable) -> None:
        """Append the rows of `table`."""
        names = [json.dumps(each, ensure_ascii=False) for each in table.sources]
        extra = [(json.dumps(name, ensure_ascii=False), values) for name, values in table.fields.items()]
        evidence = [(name, _cells(table, name)) for name in EVIDENCE if getattr(table, name) is not None]
        columns = zip(*(_cells(table, name) for name in COLUMNS), strict=True)
        lines = []
        for row, (doc, position, source, n, words, ngrams, hits, overlap, corrected, *rest) in enumerate(columns):
            distinct_ngrams, distinct_hits, distinct_overlap, longest_run, reason = rest
            parts = [f'{{"id": {_json(doc)}, "position": {position}']
            if self._with_source:
                parts.append(f'"source": {names[source]}')
            null = reason is not None
            parts.append(
                f'"n": {n}, "words": {words}, "ngrams": {ngrams}, "hits": {hits}, '
                f'"overlap": {_share(overlap)}, "overlap_corrected": {_share(corrected)}, '
                f'"distinct_ngrams": {distinct_ngrams}, "distinct_hits": {distinct_hits}, '
                f'"distinct_overlap": {_share(distinct_overlap)}, "longest_run": {"null" if null else longest_run}, '
                f'"null_reason": {_quoted(reason)}'
            )
            parts.extend(f'"{name}": {json.dumps(values[row], ensure_ascii=False)}' for name, values in evidence)
            parts.extend(f"{name}: {_json(values[row])}" for name, values in extra)
            if table.index_is_demo:
                parts.append('"index_is_demo": true')
            lines.append(", ".join(parts))
        if lines:
            # A matched text may hold half a surrogate pair only if its record did; the core has replaced it by then.
            self._stream.write(("}\n".join(lines) + "}\n").encode("utf-8"))

    def close(self, provenance: Mapping[str, Any]) -> None:
        """Nothing is left to write."""


class CsvWriter(TableWriter[OverlapTable]):
    """Comma-separated, a header line, LF; an undefined share is an empty cell, lists are JSON texts."""

    def __init__(self, stream: IO[bytes], *, with_source: bool) -> None:
        super().__init__(stream, with_source=with_source)
        self._text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
        self._csv = csv.writer(self._text, lineterminator="\n")
        self._header = False

    def write(self, table: OverlapTable) -> None:
        """Append the rows of `table`, after the header if they are the first."""
        columns: dict[str, list[Any]] = {name: _cells(table, name) for name in COLUMNS}
        columns["id"] = [plain_text(each) for each in table.id_json]
        columns["source"] = [table.sources[each] for each in columns["source"]]
        if not self._with_source:
            del columns["source"]
        columns["longest_run"] = [
            run if reason is None else None for run, reason in zip(columns["longest_run"], columns["null_reason"], strict=True)
        ]
        for name in EVIDENCE:
            if getattr(table, name) is not None:
                columns[name] = [_cell(each) for each in _cells(table, name)]
        columns.update({name: [plain_text(each) for each in values] for name, values in table.fields.items()})
        if table.index_is_demo:
            columns["index_is_demo"] = ["true"] * len(table)
        if not self._header:
            self._csv.writerow(columns)
            self._header = True
        self._csv.writerows(zip(*columns.values(), strict=True))

    def close(self, provenance: Mapping[str, Any]) -> None:  # noqa: ARG002 - kept beside the file
        """Let go of the stream."""
        self._text.detach()


class ParquetWriter(TableWriter[OverlapTable]):
    """Parquet, zstd-compressed, a row group a table."""

    def __init__(self, stream: IO[bytes], *, with_source: bool) -> None:
        super().__init__(stream, with_source=with_source)
        self._writer: pq.ParquetWriter | None = None

    def write(self, table: OverlapTable) -> None:
        """Append the rows of `table`."""
        import pyarrow.parquet as pq

        arrow = table.to_arrow(with_source=self._with_source)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._stream, arrow.schema, compression="zstd")
        self._writer.write_table(arrow)

    def close(self, provenance: Mapping[str, Any]) -> None:
        """Write the footer with the provenance."""
        if self._writer is not None:
            self._writer.add_key_value_metadata({"ngramscope": json.dumps(provenance)})
            self._writer.close()

    def abandon(self) -> None:
        """Close the writer, which would write to a closed stream when it is collected."""
        if self._writer is not None:
            self._writer.close()


OVERLAP_WRITERS: Mapping[str, type[TableWriter[OverlapTable]]] = {
    ".jsonl": JsonLinesWriter,
    ".csv": CsvWriter,
    ".parquet": ParquetWriter,
}


class TableFile(Generic[Rows]):
    """A table file that appears under its name when whole: ``with TableFile(path, ...) as file: file.write(...)``.

    Leaving the block without `commit` removes what was written.

    Parameters
    ----------
    path
        Its ending chooses the format: ``.jsonl``, ``.csv``, ``.parquet``; the first two also with ``.gz`` or ``.zst``.
    writers
        By such endings.
    option
        What messages call it.
    """

    def __init__(
        self, path: Path, writers: Mapping[str, type[TableWriter[Rows]]], *, with_source: bool, option: str = "--out"
    ) -> None:
        if not path.name:
            raise UsageError(f"{option}: '' is not possible; name a file")
        compression = path.suffix if path.suffix in _COMPRESSED else ""
        ending = Path(path.stem).suffix if compression else path.suffix
        writer = writers.get(ending)
        if writer is None or (compression and ending == ".parquet"):
            raise UsageError(
                f"{option}: {path}: the ending says no known format; known: {', '.join(writers)} "
                f"(.jsonl and .csv also followed by {' or '.join(_COMPRESSED)})"
            )
        if not path.parent.is_dir():
            raise UsageError(f"{option}: {path}: there is no folder {path.parent}")
        self.path = path
        self.sidecar = None if ending == ".parquet" else path.with_name(path.name + ".meta.json")
        for each in self.names:
            check_place(each, option)
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._writer_type = writer
        self._compression = compression
        self._with_source = with_source

    @property
    def names(self) -> tuple[Path, ...]:
        """The files that `commit` brings about."""
        return (self.path,) if self.sidecar is None else (self.path, self.sidecar)

    def __enter__(self) -> TableFile[Rows]:
        with self._full_disk():
            self._file: IO[bytes] = self._temporary.open("wb")
        self._stream = _compress(self._file, self._compression)
        self._writer = self._writer_type(self._stream, with_source=self._with_source)
        return self

    def write(self, table: Rows) -> None:
        """Append the rows of `table`."""
        with self._full_disk():
            self._writer.write(table)

    def commit(self, provenance: Mapping[str, Any]) -> None:
        """Finish the file and give it its name, after its ``.meta.json`` if the format cannot hold the provenance."""
        with self._full_disk():
            self._writer.close(provenance)
            if self._stream is not self._file:
                self._stream.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            if self.sidecar is not None:
                write_whole(self.sidecar, json.dumps(provenance, indent=2) + "\n")
            self._temporary.replace(self.path)

    def __exit__(self, *exception: object) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._writer.abandon()
        with contextlib.suppress(OSError, ValueError):
            self._file.close()
        self._temporary.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _full_disk(self) -> Any:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise ResourceError(
                f"{self.path}: cannot write the table: {error.strerror or error}; nothing was left under that name"
            ) from error


def write_whole(path: Path, text: str) -> None:
    """Write a small text file so that it appears under its name only when whole."""
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name to write to; at the end of the block the file gets the name `path`, after an exception it is removed.

    Raises
    ------
    UsageError
        See `check_place`.
    """
    check_place(path, "output")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def check_place(path: Path, option: str) -> None:
    """Refuse to put a file in place of what is none, as a device or a pipe: renaming would replace it.

    Raises
    ------
    UsageError
        Names `option` and `path`.
    """
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "no regular file but a device, a pipe or a socket"
        raise UsageError(f"{option}: {path} is {what}; choose another name")


def check_new_folder(folder: Path, option: str) -> None:
    """Refuse a folder that cannot be put in place when whole: only a new one, or an empty one that a rename can replace.

    Raises
    ------
    UsageError
        Names `option` and `folder`.
    """
    if folder.is_symlink() or folder.name == ".." or (folder.exists() and folder.samefile(Path.cwd())) or folder.is_mount():
        raise UsageError(f"{option}: {folder} is a link, a mount point or the current folder; name a new folder")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{option}: {folder} is not empty; name a new or empty folder")
    if not folder.absolute().parent.is_dir():
        raise UsageError(f"{option}: {folder}: there is no folder {folder.absolute().parent}")


def check_fields(fields: Sequence[str]) -> None:
    """Refuse further fields that would hide a column of the table."""
    taken = {*COLUMNS, *EVIDENCE, "index_is_demo"}
    for name in fields:
        if not name:
            raise UsageError("--field: '' is not possible; name a key of the records")
        if name in taken:
            raise UsageError(f"--field: {name!r} is a column of the table already; ids come with every row")
    if len(set(fields)) != len(fields):
        raise UsageError(f"--field: {next(each for each in fields if fields.count(each) > 1)!r} is given twice")


def _compress(file: IO[bytes], compression: str) -> IO[bytes]:
    if compression == ".gz":
        # No time and no name inside: the same table gives the same bytes.
        return cast("IO[bytes]", gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0))
    if compression == ".zst":
        import zstandard

        return cast("IO[bytes]", zstandard.ZstdCompressor().stream_writer(file, closefd=False))
    return file


def _cells(table: OverlapTable, name: str) -> list[Any]:
    """The values of a column; undefined shares are None."""
    values = table.id_json if name == "id" else getattr(table, name)
    cells = cast("list[Any]", values.tolist())
    return [None if each != each else each for each in cells] if values.dtype.kind == "f" else cells


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def _json(text: str | None) -> str:
    """A JSON text of the input, digit for digit, but without Python's NaN and Infinity, which are not JSON."""
    return "null" if text is None else without_nan(text)


def _quoted(code: str | None) -> str:
    """A reason's code, which is plain letters; `json.dumps` would take a fifth of the time of writing a table."""
    return "null" if code is None else f'"{code}"'


def _share(value: float | None) -> str:
    return "null" if value is None else repr(value)
