"""Writing a score store: its documents, and passes chunk by chunk, so that what was finished outlives a kill.

A pass is written into a folder that is named by a digest of everything that decides its content. A chunk says in its schema
metadata of which texts it is; the same command finds it again, and any other command does not. ``pass.json`` comes last.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscope import provenance
from ngramscope.errors import InputError, ResourceError, UsageError
from ngramscope.index.output import whole_file, write_whole
from ngramscope.models.documents import ScoredSet, document_table
from ngramscope.models.store import CHUNK, STORE_VERSION, read_header

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PassFolder", "digest", "open_store", "pass_name", "write_chunk"]

_KEY = b"ngramscope"
_SLUG = re.compile(r"[^A-Za-z0-9_-]+")
_SLUG_LENGTH = 60

logger = logging.getLogger("ngramscope")


def digest(value: Any) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def pass_name(model: str, kind: str, sha256: str) -> str:
    """Name of a pass's folder: ``MODEL-SLUG.KIND.DIGEST8``."""
    slug = _SLUG.sub("-", model).strip("-")[-_SLUG_LENGTH:] or "model"
    return f"{slug}.{kind}.{sha256[:8]}"


def open_store(folder: Path, scored: ScoredSet, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Make the store of a set, or go on with it; returns ``store.json``.

    The same texts with other labels, dates or overlaps are the same set: ``documents.parquet`` is written anew.

    Raises
    ------
    UsageError
        The folder is no store but not empty either, or the store of another set.
    ResourceError
        It cannot be written.
    """
    path = folder / "store.json"
    texts, everything = scored.texts_sha256(), scored.sha256()
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out: {folder} is a file; name a folder")
    if path.exists():
        header = read_header(path, "score-store")
        if header["set"]["texts_sha256"] != texts:
            raise UsageError(
                f"--out: {folder} is the store of another set: {header['candidates']:,} candidates with the digest "
                f"{header['set']['texts_sha256'][:8]}, not {len(scored):,} with {texts[:8]}; name another folder"
            )
        if header["set"]["sha256"] == everything and (folder / "documents.parquet").exists():
            return header
        logger.warning("%s: the texts are the same, what is known of them is not; documents.parquet is written anew", folder)
    elif folder.exists() and any(folder.iterdir()):
        raise UsageError(f"--out: {folder} is not empty, and no score store; name a new folder, or that of a store")
    header = provenance.stamp("score-store", version=STORE_VERSION, settings=settings, inputs=scored.report["sources"])
    header |= {
        "candidates": len(scored),
        "set": {
            "texts_sha256": texts,
            "sha256": everything,
            "counts": scored.counts(),
            "history": [step for each in scored.headers for step in each.get("history", ())],
        },
    }
    with _writing(folder):
        import pyarrow.parquet as pq

        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / "documents.parquet") as temporary:
            pq.write_table(document_table(scored.candidates), temporary, compression="zstd")
        write_whole(path, _json(header))
    return header


class PassFolder:
    """The folder of one pass while it is written.

    Parameters
    ----------
    path
        Made if it is not there.
    keys
        For each chunk, a digest of its texts.

    Attributes
    ----------
    header
        ``pass.json``, if it is there already; else empty.
    """

    def __init__(self, path: Path, keys: list[str]) -> None:
        self.path = path
        self.keys = keys
        with _writing(path):
            path.mkdir(exist_ok=True)
        self.header = _header(path)

    def missing(self) -> list[int]:
        """Numbers of the chunks that are not there yet, or damaged: these go, and with them ``pass.json``."""
        found = []
        for number, path in enumerate(self._paths(self.path)):
            # What comes meanwhile is another process's, and whole.
            there = path.exists()
            if not there or self._sound(path, number, self.header) is None:
                found.append(number)
                with _writing(path):
                    (self.path / "pass.json").unlink(missing_ok=True)
                    if there:
                        path.unlink(missing_ok=True)
        if found:
            self.header = {}
        return found

    def take(self, other: Path) -> None:
        """Copy what is not here yet from the same pass under another role, if that is complete."""
        header = _header(other)
        for number, (path, theirs) in enumerate(zip(self._paths(self.path), self._paths(other), strict=True)):
            data = None if path.exists() or not header else self._sound(theirs, number, header)
            if data is not None:
                with _writing(path), whole_file(path) as temporary:
                    temporary.write_bytes(data)

    def tables(self) -> Iterator[tuple[pa.Table, dict[str, Any]]]:
        """The rows of every chunk, and what `write_chunk` was told of it.

        Raises
        ------
        InputError
            One is missing or damaged.
        """
        for number, path in enumerate(self._paths(self.path)):
            data = self._sound(path, number, {})
            if data is None:
                raise InputError(f"{path}: is missing or damaged; the same command scores it again")
            yield _read(data)

    def finish(self, header: Mapping[str, Any]) -> dict[str, Any]:
        """Write ``pass.json``, and return it: from now on there is a pass. What dead writers have left goes.

        Raises
        ------
        ResourceError
            It cannot be written.
        """
        paths = self._paths(self.path)
        with _writing(self.path):
            for each in self.path.iterdir():
                if each not in (*paths, self.path / "pass.json"):
                    each.unlink()
            sums = [hashlib.sha256(each.read_bytes()).hexdigest() for each in paths]
            whole = {**header, "chunks": len(paths), "chunks_sha256": sums}
            write_whole(self.path / "pass.json", _json(whole))
        return whole

    def _paths(self, folder: Path) -> list[Path]:
        return [folder / CHUNK.format(number) for number in range(len(self.keys))]

    def _sound(self, path: Path, number: int, header: Mapping[str, Any]) -> bytes | None:
        """The bytes of a chunk, if it is whole, of these texts, and what `header` tells of it, if that is not empty."""
        import pyarrow as pa

        try:
            data = path.read_bytes()
            _, facts = _read(data)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, pa.ArrowException):
            facts = {}
        if not facts or (header and header["chunks_sha256"][number] != hashlib.sha256(data).hexdigest()):
            logger.warning("%s: is damaged", path)
            return None
        return data if facts["texts_sha256"] == self.keys[number] else None


def write_chunk(folder: Path, number: int, key: str, table: pa.Table, facts: Mapping[str, Any]) -> None:
    """Write a chunk so that it appears under its name only when whole.

    Parameters
    ----------
    key
        Digest of its texts.
    facts
        What else is to be known of it when the pass is finished.

    Raises
    ------
    ResourceError
        It cannot be written.
    """
    import pyarrow as pa

    path = folder / CHUNK.format(number)
    table = table.replace_schema_metadata({_KEY: json.dumps({**facts, "texts_sha256": key}).encode()})
    with _writing(path), whole_file(path) as temporary, temporary.open("wb") as file:
        with pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
            writer.write_table(table)
        file.flush()
        os.fsync(file.fileno())


def _read(data: bytes) -> tuple[pa.Table, dict[str, Any]]:
    import pyarrow as pa

    table = pa.ipc.open_file(pa.BufferReader(data)).read_all()
    facts: dict[str, Any] = json.loads((table.schema.metadata or {})[_KEY])
    return table, facts


def _header(folder: Path) -> dict[str, Any]:
    """``pass.json``; empty if there is none that can be used."""
    try:
        return read_header(folder / "pass.json", "score-pass")
    except InputError:
        return {}


def _json(header: Mapping[str, Any]) -> str:
    return json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except (UsageError, InputError):
        raise
    except OSError as error:
        raise ResourceError(f"{path}: cannot be written: {error.strerror or error}; what was finished is kept") from error
