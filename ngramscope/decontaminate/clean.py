"""A folder of cleaned copies: each file under its own name, in its own format and compression."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

from ngramscope import _core
from ngramscope.decontaminate.tables import rewrite_table
from ngramscope.errors import InputError, ResourceError, UsageError
from ngramscope.index.output import check_new_folder

__all__ = ["CleanFolder"]

Replacements = dict[int, str | None]
_DESCRIPTION = "decontamination.json"


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
        The folder has something in it, or an input cannot be written again: standard input, an archive, two files of one
        name.
    """

    def __init__(self, folder: Path, sources: tuple[str, ...], paths: tuple[str, ...], *, text_key: str) -> None:
        check_new_folder(folder, "--clean")
        if len(sources) != len(paths):
            raise UsageError(
                "--clean: standard input has no name for its copy, and what is elsewhere is not rewritten; name files"
            )
        self._folder = folder
        self._temporary = folder.absolute().with_name(f".{folder.absolute().name}.{os.getpid()}.tmp")
        self._sources = sources
        self._paths = [Path(each) for each in paths]
        self._names = [_on_disk(source, path) for source, path in zip(sources, self._paths, strict=True)]
        for name, count in Counter(self._names).items():
            if count > 1:
                raise UsageError(f"--clean: {name}: {count} files would have this name; clean them one by one")
            if name.split("/")[0] == _DESCRIPTION:
                raise UsageError(f"--clean: {name}: the description of the cleaned copies has this name; rename the file")
        self._text_key = text_key
        self._containers = [_core.container(each) for each in paths]
        for source, container in zip(sources, self._containers, strict=True):
            if container == "zip":
                raise UsageError(f"--clean: {source} is an archive; unpack it first")
        self._at = -1
        self._stream: IO[bytes] | None = None
        self._replacements: Replacements = {}
        self._rows = 0
        self._damaged: dict[str, str] = {}

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
            self._rows += part.records
            if part.clean is None:
                for position, _, removal, text in part.contaminated:
                    if removal is not None:
                        self._replacements[position] = text

    def commit(self, provenance: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]) -> None:
        """Finish the last file and give the folder its name; `inputs` say which files are known to be damaged.

        Raises
        ------
        InputError
            Another file could not be read again.
        """
        with self._full_disk():
            while self._at < len(self._sources):
                self._next_file()
            known = {each["name"] for each in inputs if "incomplete" in each}
            for source, why in self._damaged.items():
                if source not in known:
                    raise InputError(f"{source}: cannot be read again for its cleaned copy: {why}")
            description = self._temporary / _DESCRIPTION
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
            container = self._containers[self._at]
            damage = rewrite_table(source, target, container, self._text_key, self._replacements, rows=self._rows)
            if damage is not None:
                self._damaged[self._sources[self._at]] = damage
        self._replacements, self._rows = {}, 0
        self._at += 1
        if self._at < len(self._sources) and self._containers[self._at] in _WRITERS:
            self._stream = _WRITERS[self._containers[self._at]](self._target(self._at))

    def _target(self, number: int) -> Path:
        target = self._temporary / self._names[number]
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


def _on_disk(source: str, path: Path) -> str:
    """The name `source` as it is on the disk: what is not UTF-8 of it has been replaced."""
    parts = (*path.parent.resolve().parts, path.name)
    name = "/".join(parts[-1 - source.count("/") :])
    return name if os.fsencode(name).decode(errors="replace") == source else source


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
