"""Download the files of a manifest: with resume, digests, and a lock manifest that says what came.

A file is written as ``NAME.part``, with what is known of its source in ``NAME.part.json``, and gets its name when it is whole
and its digests are right. What was interrupted goes on there in the next run, if the source is still the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from ngramscope import _core
from ngramscope.corpus import remote
from ngramscope.corpus.lock import lock_path, read_lock, write_lock
from ngramscope.corpus.manifest import HASHES, CorpusManifest, ManifestFile, file_digests, is_below
from ngramscope.corpus.remote import is_remote, public_name
from ngramscope.errors import InputError, ResourceError, UsageError
from ngramscope.index.output import write_whole
from ngramscope.progress import Step

__all__ = ["Fetched", "fetch"]

_CHUNK = 1 << 20


class Download(Protocol):
    """A source that can be taken up at any place: `HttpFile`, `StoredFile`."""

    name: str
    size: int | None
    ranges: bool
    version: str | None

    def chunks(self, start: int = 0) -> Iterator[bytes]:
        """The bytes from `start` on."""


@dataclass(frozen=True)
class Fetched:
    """One file of the manifest.

    Attributes
    ----------
    status
        ``fetched``, ``resumed`` (in part from an earlier run) or ``present``.
    file
        What is known of it now, digests of its bytes included.
    """

    status: str
    file: ManifestFile


def fetch(
    manifest: CorpusManifest,
    out: Path,
    *,
    split: str | None = None,
    progress: Callable[[Step], None] | None = None,
) -> list[Fetched]:
    """Download the files of `manifest`, or of one split, into the folder `out`; files that are there and right are left alone.

    ``out/NAME.lock.toml`` is a manifest of all that has come so far, with sizes and digests: a corpus for ``build-index``, and
    what ``manifest check`` compares with. It is written after every file.

    Raises
    ------
    UsageError
        A split that there is not, or a source that is no file.
    InputError
        A file cannot be had, or is not what was published (nothing is left under its name); names its URL.
    ResourceError
        It cannot be written.
    """
    chosen = manifest.choose(split)
    lock = read_lock(manifest, out)
    done = []
    for wanted, download in _downloads(manifest, chosen):
        if not is_below(wanted.path):
            raise InputError(f"{wanted.url}: would be written to {wanted.path!r}, which is not below {out}")
        if out / wanted.path == lock_path(manifest, out):
            raise InputError(f"{wanted.url}: would be written to {wanted.path!r}, which is the name of the lock")
        target = out / wanted.path
        known = lock.get(wanted.path, wanted)
        found = _present(wanted, known, target)
        if found is None:
            found = _get(wanted, download(), target, progress)
        done.append(found)
        lock[wanted.path] = found.file
        write_lock(manifest, out, lock)
    if not done:
        raise UsageError(f"{manifest.path}: no file of it has a URL, so there is nothing to fetch")
    return done


def _downloads(manifest: CorpusManifest, split: str | None) -> Iterator[tuple[ManifestFile, Callable[[], Download]]]:
    """Each file that is wanted, and what finds its source, which may take a request."""
    files, others = manifest.resolved(split)
    for file in files:
        url = manifest.url(file)
        if url is not None:
            yield replace(file, url=public_name(url)), lambda url=url: _only(url)  # type: ignore[misc]
    for each in filter(is_remote, others):
        for source in remote.find(each):
            if not hasattr(source, "chunks"):
                raise UsageError(f"{source.name}: comes record by record, not as a file; give it to build-index as it is")
            path = source.below if split is None else f"{split}/{source.below}"
            yield ManifestFile(path=path, url=source.name, split=split), lambda source=source: source  # type: ignore[misc]


def _only(url: str) -> Any:
    sources = remote.find(url)
    if len(sources) != 1:
        raise InputError(f"{public_name(url)}: is not one file but {len(sources)}; list each in the manifest")
    return sources[0]


def _present(wanted: ManifestFile, known: ManifestFile, target: Path) -> Fetched | None:
    """The file if it is there already.

    Raises
    ------
    InputError
        There is another file of that name.
    """
    if not target.exists():
        return None
    if not target.is_file():
        raise InputError(f"{target}: is there already, but is no file; move it away and fetch again")
    file = _measured(wanted, target, target.stat().st_size, file_digests(target, HASHES))
    expected = known.hashes | wanted.hashes
    if known.bytes not in (None, file.bytes) or any(file.hashes.get(name) != digest for name, digest in expected.items()):
        raise InputError(f"{target}: is there already, but is not what it should be; move it away and fetch again")
    return Fetched("present", file)


def _get(wanted: ManifestFile, source: Download, target: Path, progress: Callable[[Step], None] | None) -> Fetched:
    part = target.with_name(f"{target.name}.part")
    notes = target.with_name(f"{target.name}.part.json")
    with _explained(source.name, part):
        target.parent.mkdir(parents=True, exist_ok=True)
        start, digests = _download(wanted, source, part, notes, progress)
        wrong = _wrong(wanted, part, digests)
        file = _measured(wanted, part, part.stat().st_size, digests)
        if wrong is None:
            part.replace(target)
        else:
            part.unlink()
        notes.unlink()
    if wrong is not None:
        raise InputError(f"{source.name}: {wrong}; nothing of it was kept")
    return Fetched("resumed" if start else "fetched", file)


def _download(
    wanted: ManifestFile, source: Download, part: Path, notes: Path, progress: Callable[[Step], None] | None
) -> tuple[int, dict[str, str]]:
    """Bring all bytes into `part`; returns how many were there from an earlier run, and the digests of all."""
    if hasattr(source, "check"):
        source.check()  # a stored file's version
    start = _resumable(source, part, notes)
    write_whole(notes, json.dumps({"name": source.name, "bytes": source.size, "version": source.version}))
    digests = _write(source, part, start, progress)
    if start and _wrong(wanted, part, digests):
        start = 0  # its beginning is of an earlier run; perhaps that was damaged since
        digests = _write(source, part, start, progress)
    return start, digests


@contextmanager
def _explained(name: str, part: Path) -> Iterator[None]:
    """Adds which source it was to what it raises, which only says why, and which file cannot be written."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: cannot be read: {error}") from error
    except ResourceError:
        raise
    except OSError as error:
        raise ResourceError(f"{error.filename or part}: cannot be written: {error.strerror or error}") from error


def _resumable(source: Download, part: Path, notes: Path) -> int:
    """How many bytes of an earlier run can be kept: none of another version, or where nothing tells the version."""
    try:
        before = json.loads(notes.read_text(encoding="utf-8"))
        have = part.stat().st_size
    except (OSError, ValueError):
        return 0
    same = before == {"name": source.name, "bytes": source.size, "version": source.version}
    if not same or source.version is None or not source.ranges or (source.size is not None and have > source.size):
        return 0
    return have


def _write(source: Download, part: Path, start: int, progress: Callable[[Step], None] | None) -> dict[str, str]:
    """Write the bytes from `start` on behind those that are there; returns the digests of all."""
    hashes = {name: hashlib.new(name, usedforsecurity=False) for name in HASHES}
    began = time.monotonic()
    with part.open("r+b" if start else "wb") as file:
        at = 0
        while at < start and (chunk := file.read(min(_CHUNK, start - at))):
            at += len(chunk)
            for each in hashes.values():
                each.update(chunk)
        file.truncate(at)
        chunks = iter(()) if at == source.size else source.chunks(at)
        for chunk in chunks:
            file.write(chunk)
            at += len(chunk)
            for each in hashes.values():
                each.update(chunk)
            if progress is not None:
                progress(Step("fetch", bytes_done=at, bytes_total=source.size or 0, seconds=time.monotonic() - began))
        file.flush()
        os.fsync(file.fileno())
    return {name: each.hexdigest() for name, each in hashes.items()}


def _wrong(wanted: ManifestFile, part: Path, digests: dict[str, str]) -> str | None:
    """What is not as it was published."""
    size = part.stat().st_size
    if wanted.bytes not in (None, size):
        return f"it has {size:,} bytes, but {wanted.bytes:,} were published"
    for name, expected in wanted.hashes.items():
        found = _core.digest(part) if name == "blake3" else digests[name]
        if found != expected:
            return f"its {name} is {found}, but {expected} was published"
    return None


def _measured(wanted: ManifestFile, path: Path, size: int, digests: dict[str, str]) -> ManifestFile:
    """`wanted` with what its bytes are."""
    kind = "published" if wanted.hashes else "computed"
    md5 = digests["md5"] if wanted.md5 else None
    return replace(wanted, bytes=size, sha256=digests["sha256"], md5=md5, blake3=_core.digest(path), digest=kind)
