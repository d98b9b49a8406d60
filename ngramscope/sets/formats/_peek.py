"""The first record of a file: by it formats are told apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from ngramscope.errors import InputError, NgramscopeError

__all__ = ["Peek", "open_stream", "peek", "readable"]

_LINE = 1 << 28
_PARQUET, _ARROW_FILE, _ARROW_STREAM = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Peek:
    """What a file begins with.

    Attributes
    ----------
    kind
        ``objects`` (JSON Lines), ``table`` (Parquet, Arrow), ``csv``, ``strings`` or ``lists`` (such a JSON value a line),
        ``array`` (one JSON array), ``text``, ``empty`` or ``other``.
    row
        The first record: of ``objects``, ``table`` and ``csv``, of the latter only keys.
    """

    kind: str
    row: dict[str, Any] = field(default_factory=dict)

    @property
    def has_rows(self) -> bool:
        """Records with keys."""
        return self.kind in ("objects", "table", "csv")

    def has(self, *keys: str) -> bool:
        """Whether the first record has all of these."""
        return self.has_rows and all(each in self.row for each in keys)

    def describe(self) -> str:
        """For messages."""
        return f"{self.kind} with the keys {', '.join(self.row)}" if self.row else self.kind


def peek(path: Path, shown: str) -> Peek:
    """Look at the file at `path`.

    Raises
    ------
    InputError
        It cannot be read; names it.
    """
    with readable(shown):
        with path.open("rb") as file:
            magic = file.read(6)
        if magic.startswith((_PARQUET, _ARROW_FILE, _ARROW_STREAM)):
            return Peek("table", _table_row(path, magic))
        name = path.name.lower()
        ending = next((each for each in (".csv", ".tsv", ".txt", ".jsonl", ".json") if f"{each}." in f"{name}."), "")
        if ending in (".csv", ".tsv"):
            from ngramscope.sets.formats._csv import header

            return Peek("csv", dict.fromkeys(header(path, shown)))
        if ending == ".txt":
            return Peek("text")
        with open_stream(path) as stream:
            return _json(stream.readline(_LINE).removeprefix(_BOM).strip(), stream, whole=ending == ".json")


def _json(line: bytes, stream: IO[bytes], *, whole: bool) -> Peek:
    while not line:
        rest = stream.readline(_LINE)
        if not rest:
            return Peek("empty")
        line = rest.strip()
    if whole and line.startswith(b"["):
        return Peek("array")  # perhaps all of it is this line
    try:
        value = json.loads(line)
    except ValueError:
        return Peek("array" if line.startswith(b"[") else "other")
    if isinstance(value, dict):
        return Peek("objects", value)
    if isinstance(value, list):
        return Peek("lists")
    return Peek("strings" if isinstance(value, str) else "other")


def _table_row(path: Path, magic: bytes) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.ipc as ipc
    import pyarrow.parquet as pq

    if magic.startswith(_PARQUET):
        with pq.ParquetFile(path) as file:
            names, batches = file.schema_arrow.names, file.iter_batches(batch_size=1)
            return cast("dict[str, Any]", next((each.to_pylist()[0] for each in batches if len(each)), dict.fromkeys(names)))
    with pa.OSFile(str(path), "rb") as source:
        reader = ipc.open_file(source) if magic.startswith(_ARROW_FILE) else ipc.open_stream(source)
        batches = _batches(reader)
        row = next((each.slice(0, 1).to_pylist()[0] for each in batches if len(each)), dict.fromkeys(reader.schema.names))
        return cast("dict[str, Any]", row)


def _batches(reader: Any) -> Iterator[Any]:
    if hasattr(reader, "num_record_batches"):
        yield from (reader.get_batch(number) for number in range(reader.num_record_batches))
    else:
        yield from reader


def open_stream(path: Path) -> IO[bytes]:
    """The bytes of a file, decompressed; its first bytes say how."""
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"\x1f\x8b"):
        import gzip

        return cast("IO[bytes]", gzip.open(path))
    if magic.startswith(b"BZh"):
        import bz2

        return bz2.open(path)
    if magic.startswith(b"\xfd7zXZ"):
        import lzma

        return lzma.open(path)
    if magic.startswith(b"\x28\xb5\x2f\xfd"):
        import io

        import zstandard

        reader = zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True, closefd=True)
        return io.BufferedReader(cast("io.RawIOBase", reader))
    return path.open("rb")


@contextmanager
def readable(shown: str) -> Iterator[None]:
    """Turns what reading raises, each library its own, into an `InputError` that names the file."""
    try:
        yield
    except NgramscopeError:
        raise
    except Exception as error:
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InputError(f"{shown}: cannot be read: {text}") from error
