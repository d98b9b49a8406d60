"""Digests of what a study reads: files by content, corpora and weights by names, sizes and times."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path
from typing import Any

from ngramscope.corpus.manifest import file_digests, find_manifest, load_manifest, manifest_and_split
from ngramscope.corpus.remote import is_remote
from ngramscope.errors import InputError, NgramscopeError

__all__ = ["corpus_facts", "file_facts", "index_facts", "model_facts"]

_SMALL = 1 << 24


def file_facts(names: Sequence[str], *, hub: bool = False) -> list[Any]:
    """What decides whether files are still the same: their SHA-256, whatever they are called and wherever they lie.

    Parameters
    ----------
    hub
        A name that is no file is that of a dataset on the hub, which cannot be looked into: the name decides.

    Raises
    ------
    InputError
        One is not there.
    """
    return [fact for name in names for fact in _facts(name, most=None, hub=hub)]


def corpus_facts(names: Sequence[str]) -> list[Any]:
    """The same for a corpus, which may be too large to be read for this: names, sizes and times of its files."""
    return [fact for name in names for fact in _facts(name, most=-1, hub=False)]


def model_facts(name: str, revision: str | None) -> list[Any]:
    """The same for a model: of a folder or file that is here small files by content, large ones by size and time."""
    return [revision, *_facts(str(Path(name).expanduser()) if name.startswith("~") else name, most=_SMALL, hub=True)]


def index_facts(folders: Sequence[str]) -> list[str]:
    """The same for indexes: their ``index.json``, which has digests of all else."""
    for each in folders:
        if not (Path(each) / "index.json").is_file():
            raise InputError(f"{each}: no index here (no index.json in it); ngramscope build-index makes one")
    return [_sha256(Path(each) / "index.json") for each in folders]


def _facts(name: str, *, most: int | None, hub: bool) -> Iterator[Any]:
    files = None if is_remote(name) else list(_files(name))
    if files is None or (not files and hub):
        yield name
        return
    if name == "-":
        raise InputError("-: standard input can be read only once, and a study reads its files again; write it to a file")
    if not files:
        raise InputError(f"{name}: there is no such file or folder")
    for path in files:
        state = path.stat()
        if most is None or state.st_size <= most:
            yield _sha256(path)
        else:
            yield [path.name, state.st_size, state.st_mtime_ns]


def _files(name: str) -> Iterator[Path]:
    manifest = manifest_and_split(name)
    if manifest is not None:
        path = find_manifest(manifest[0])
        yield path
        try:
            sources = load_manifest(path).sources(manifest[1])
        except NgramscopeError:  # of a kind without files; or what reads it says so
            return
        for each in sources:
            yield from () if is_remote(each) else _files(each)
    elif (path := Path(name)).is_dir():
        for folder, folders, files in os.walk(path):
            folders.sort()
            yield from (Path(folder, each) for each in sorted(files))
    elif path.exists():
        yield path
    else:
        # Not `Path.glob`, which takes no absolute pattern.
        yield from filter(Path.is_file, map(Path, sorted(glob(name, recursive=True))))  # noqa: PTH207


def _sha256(path: Path) -> str:
    try:
        return file_digests(path, ("sha256",))["sha256"]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
