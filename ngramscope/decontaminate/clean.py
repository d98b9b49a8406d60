"""A folder of cleaned copies: each file under its own name, in its own format and compression."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, cast

from ngramscope import _core
from ngramscope.decontaminate.tables import rewrite_table
from ngramscope.errors import ResourceError, UsageError

__all__ = ["CleanFolder"]

Replacements = dict[int, str | None]


class CleanFolder:
    """Cleaned copies of files, in a folder that appears under its name when all are whole.

    Parameters
    ----------
    folder
        A new or empty folder.
    sources, paths
        Names of the files, which they keep inside the folder, and where they are.
    text_key
        Column of the text, for tables.

    Raises
    ------
    UsageError
        The folder has something in it, or an input cannot be written again: standard input, an archive.
    """

    def __init__(self, folder: Path, sources: tuple[str, ...], paths: tuple[str, ...], *, text_key: str) -> None:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"--clean: {folder} is not empty; name a new or empty folder")
        if not folder.absolute().parent.is_dir():
            raise UsageError(f"--clean: {folder}: there is no folder {folder.absolute().parent}")
        if len(sources) != len(paths):
            raise UsageError(
                "--clean: standard input has no name for its copy, and what is elsewhere is not rewritten; name files"
            )
        self._folder = folder
        self._temporary = folder.absolute().with_name(f".{folder.absolute().name}.{os.getpid()}.tmp")
        self._sources = sources
        self._paths = [Path(each) for each in paths]
        self._text_key = text_key
        self._containers = [_core.container(each) for each in paths]
        for source, container in zip(sources, self._containers, strict=True):
            if container == "zip":
                raise UsageError(f"--clean: {source} is an archive; unpack it first")
        self._at = -1
        self._stream: IO[bytes] | None = None
        self._replacements: Replacements = {}

    def __enter__(self) -> CleanFolder:
        with self._full_disk():
            self._temporary.mkdir()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._stream is not None:
            self._stream.close()
        shutil.rmtree(self._temporary, ignore_errors=True)

    def write(self, part: _core.DecontaminatedPart) -> None:
        """Add what is left of a part."""
        with self._full_disk():
            while self._at < part.source:
                self._next_file()
            if part.clean is not None and self._stream is not None:
                self._stream.write(part.clean)
            if part.clean is None:
                for position, _, removal, text in part.contaminated:
                    if removal is not None:
                        self._replacements[position] = text

    def commit(self, provenance: Mapping[str, Any]) -> None:
        """Finish the last file and give the folder its name."""
        with self._full_disk():
            while self._at < len(self._sources):
                self._next_file()
            description = self._temporary / "decontamination.json"
            description.write_text(json.dumps(provenance, indent=2) + "\n", encoding="utf-8")
            if self._folder.exists():
                self._folder.rmdir()
            self._temporary.rename(self._folder)

    def _next_file(self) -> None:
        """Finish the file at hand and begin the next."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
        elif 0 <= self._at < len(self._sources):
            source, target = self._paths[self._at], self._target(self._at)
            rewrite_table(source, target, self._containers[self._at], self._text_key, self._replacements)
        self._replacements = {}
        self._at += 1
        if self._at < len(self._sources) and self._containers[self._at] in _WRITERS:
            self._stream = _WRITERS[self._containers[self._at]](self._target(self._at))

    def _target(self, number: int) -> Path:
        target = self._temporary / self._sources[number]
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def _full_disk(self) -> _Writing:
        return _Writing(self._folder)


class _Writing:
    """Says of a failed write which result it was for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise ResourceError(
                f"{self._folder}: cannot write the cleaned copies: {error.strerror or error}; nothing was left under that name"
            ) from error


def _zstd(path: Path) -> IO[bytes]:
    import zstandard

    return cast("IO[bytes]", zstandard.ZstdCompressor().stream_writer(path.open("wb"), closefd=True))


def _gzip(path: Path) -> IO[bytes]:
    # No time and no name inside: the same input gives the same bytes.
    return cast("IO[bytes]", _Gzip(path))


class _Gzip(gzip.GzipFile):
    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        super().__init__(filename="", mode="wb", fileobj=self._file, mtime=0, compresslevel=6)

    def close(self) -> None:
        super().close()
        self._file.close()


_WRITERS: Mapping[str, Callable[[Path], IO[bytes]]] = {
    "plain": lambda path: path.open("wb"),
    "gzip": _gzip,
    "zstd": _zstd,
    "bzip2": lambda path: cast("IO[bytes]", bz2.BZ2File(path, "wb")),
    "xz": lambda path: cast("IO[bytes]", lzma.LZMAFile(path, "wb")),  # noqa: SIM115 - closed by the folder
}
"""By what `_core.container` says; anything else is a table."""
