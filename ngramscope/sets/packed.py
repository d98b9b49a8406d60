"""Rows of token ids in the order of training: raw files as Megatron's, joined byte by byte, or arrays of numpy.

Only the bytes of the rows that are asked for are read, so that files of hundreds of gigabytes are no matter.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.checks import check_choice, check_integer, check_optional
from ngramscope.errors import InputError, UsageError

__all__ = ["DTYPES", "PackedRows"]

DTYPES = ("uint16", "uint32", "int32", "int64")
"""Types of token ids in raw files, little-endian."""

_SHARD = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<last>\d{5})\.bin")


@dataclass
class _Part:
    path: Path
    start: int  # of its data, in the data of all
    size: int  # of its data, in bytes
    offset: int  # of its data, in the file
    read: int = 0
    sha256: Any = field(default_factory=hashlib.sha256)


class PackedRows:
    """Rows of equally many token ids.

    Parameters
    ----------
    paths
        One raw file; the parts of one, named ``...-00000-of-00020.bin``, in any order; other raw files, in order; or ``.npy``
        files of shape (rows, `row_tokens`), in order.
    row_tokens
        Token ids of a row.
    dtype
        Of raw files; arrays know theirs.
    shard_bytes
        Size of every part but the last, where some parts are not there; rows in parts that are there can be read.

    Attributes
    ----------
    dtype
        Type of the token ids in the files.
    rows
        How many rows there are, as far as the last part that is there reaches.

    Raises
    ------
    UsageError
        Files that do not belong together; parts that are missing without `shard_bytes`.
    InputError
        A file that cannot be read, has another shape, or is cut off (names file and byte).
    """

    def __init__(
        self, paths: Sequence[Path], *, row_tokens: int = 2049, dtype: str = "uint16", shard_bytes: int | None = None
    ) -> None:
        check_integer("--row-tokens", row_tokens, 1, 1 << 31)
        check_choice("--dtype", dtype, DTYPES)
        check_optional("--shard-bytes", shard_bytes, 1, 1 << 62)
        if not paths:
            raise UsageError("no file of tokens was given")
        arrays = [path.suffix == ".npy" for path in paths]
        if any(arrays) and not all(arrays):
            raise UsageError(f"{paths[arrays.index(False)]}: no .npy file, but others are; give one kind")
        self.row_tokens = row_tokens
        self.shard_bytes = shard_bytes
        self.dtype = np.dtype(dtype).newbyteorder("<")
        self._parts = self._arrays(paths) if all(arrays) else _raw(paths, shard_bytes)
        self.row_bytes = row_tokens * self.dtype.itemsize
        last = self._parts[-1]
        end = last.start + last.size
        self.rows = end // self.row_bytes
        if end % self.row_bytes and _is_last(last.path):
            raise InputError(
                f"{last.path}: ends at byte {last.size:,}, {end % self.row_bytes:,} bytes into a row of {self.row_bytes:,}; it "
                "is cut off, or --row-tokens or --dtype is not that of the file"
            )

    def read(self, start: int, stop: int) -> NDArray[np.int64]:
        """Token ids of rows `start` to `stop` (excluded), shape (stop - start, row_tokens).

        Raises
        ------
        InputError
            They are not all there (names file and byte).
        """
        at, end = start * self.row_bytes, stop * self.row_bytes
        data = b""
        for part in self._parts:
            begin, until = max(at, part.start), min(end, part.start + part.size)
            if begin < until and begin == at:
                data += _read(part, begin - part.start, until - begin)
                at = until
        if at < end:
            before = next((part for part in reversed(self._parts) if part.start < at), None)
            where = f"{self._parts[0].path}: begins at" if before is None else f"{before.path}: ends at"
            there = self._parts[0].start if before is None else before.start + before.size
            raise InputError(
                f"{where} byte {there:,} of the joined data, and rows {start:,} to {stop - 1:,} are bytes "
                f"{start * self.row_bytes:,} to {end:,} of it; give the files that hold them"
            )
        return np.frombuffer(data, dtype=self.dtype).reshape(-1, self.row_tokens).astype(np.int64)

    def name(self, row: int) -> str:
        """Name of the file that `row` begins in."""
        return next(part.path.name for part in reversed(self._parts) if part.start <= row * self.row_bytes)

    def inputs(self) -> list[dict[str, Any]]:
        """Of each file that was read from: name, size, how many bytes were read, and their SHA-256 in the order of reading."""
        return [
            {
                "name": part.path.name,
                "bytes": part.offset + part.size,
                "bytes_read": part.read,
                "sha256_of_read": part.sha256.hexdigest(),
            }
            for part in self._parts
            if part.read
        ]

    def _arrays(self, paths: Sequence[Path]) -> list[_Part]:
        parts: list[_Part] = []
        start = 0
        for path in paths:
            try:
                array = np.load(path, mmap_mode="r", allow_pickle=False)
            except (OSError, ValueError, EOFError) as error:
                size = f" (it ends at byte {path.stat().st_size:,})" if path.is_file() else ""
                raise InputError(f"{path}: cannot be read as an array of numpy: {error}{size}") from error
            rows = array.ndim == 2 and array.shape[1] == self.row_tokens
            if not rows or array.dtype.kind not in "ui" or not array.flags.c_contiguous:
                raise InputError(
                    f"{path}: {array.dtype} of shape {array.shape}; rows of {self.row_tokens:,} whole numbers are asked for "
                    "(--row-tokens)"
                )
            if parts and array.dtype != self.dtype:
                raise InputError(f"{path}: {array.dtype}, but {parts[0].path} is {self.dtype}; give files of one type")
            self.dtype = array.dtype
            parts.append(_Part(path, start, array.nbytes, array.offset))
            start += array.nbytes
        return parts


def _raw(paths: Sequence[Path], shard_bytes: int | None) -> list[_Part]:
    matches = [_SHARD.fullmatch(str(path)) for path in paths]
    sizes = []
    for path in paths:
        try:
            sizes.append(path.stat().st_size)
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    names = {(match["stem"], match["last"]) if match else None for match in matches}
    if names == {None}:
        if shard_bytes is not None:
            raise UsageError("--shard-bytes: only for parts named ...-00000-of-00020.bin")
        starts = np.cumsum([0, *sizes[:-1]]).tolist()
        return [_Part(path, start, size, 0) for path, start, size in zip(paths, starts, sizes, strict=True)]
    if len(names) > 1:
        raise UsageError(f"{paths[0]}, {paths[-1]}: not parts of one file; give those of one")
    found = sorted(zip((int(match["number"]) for match in matches if match), sizes, paths, strict=True))
    numbers = [number for number, _, _ in found]
    twice = next((each for each, other in pairwise(numbers) if each == other), None)
    if twice is not None:
        raise UsageError(f"{found[numbers.index(twice)][2]}: part {twice} is given twice")
    missing = sorted(set(range(numbers[-1])) - set(numbers))
    if missing and shard_bytes is None:
        raise UsageError(
            f"{found[0][2]}: part {missing[0]} is missing; give it, or with --shard-bytes the size of every part but the last"
        )
    size_of_part = max(sizes) if shard_bytes is None else shard_bytes
    for number, size, path in found:
        if (number < numbers[-1] and size != size_of_part) or size > size_of_part:
            raise InputError(
                f"{path}: ends at byte {size:,}, and every part but the last has {size_of_part:,} bytes: it is cut off, or not "
                "a part of this file"
            )
    return [_Part(path, number * size_of_part, size, 0) for number, size, path in found]


def _is_last(path: Path) -> bool:
    """Whether no part follows, as far as the name tells: parts are numbered up to the last, or to the one before."""
    match = _SHARD.fullmatch(str(path))
    return match is None or int(match["number"]) == int(match["last"])


def _read(part: _Part, start: int, size: int) -> bytes:
    try:
        with part.path.open("rb") as file:
            file.seek(part.offset + start)
            data = file.read(size)
    except OSError as error:
        raise InputError(f"{part.path}: cannot be read: {error.strerror}") from error
    if len(data) < size:
        raise InputError(f"{part.path}: ends at byte {part.offset + start + len(data):,}; it was longer when it was opened")
    part.read += size
    part.sha256.update(data)
    return data
