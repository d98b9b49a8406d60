"""Sources that are no files here: names with a scheme, as ``https://...``, ``s3://...`` or ``hf://...``.

The core asks `find` for every such name, and each `RemoteSource` for its bytes: as a stream, or at any place where that is
possible. Whatever waits for a network does so on a thread of its own (`Transfer`), so that Ctrl-C is heard.
"""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from ngramscope.errors import InputError, UsageError

__all__ = [
    "CHUNK",
    "ChangedError",
    "RemoteSource",
    "Transfer",
    "common_folder",
    "find",
    "is_remote",
    "public_name",
    "read_lines",
]

CHUNK = 1 << 20
"""Bytes that are handed on at a time."""
_AHEAD = 4
_LISTED = ("http", "https")
_HUB_FILES = "hf://datasets/"  # a path in a repository, as fsspec writes it; else the name of a dataset


class ChangedError(InputError):
    """The source is no longer what it was when it was found; the core ends with its advice for changed files."""


class RemoteSource(Protocol):
    """What the core needs of one source."""

    @property
    def name(self) -> str:
        """Name in messages and reports; no credentials."""

    @property
    def below(self) -> str:
        """Path below what it was found by, which ``--include`` and ``--exclude`` are compared with."""

    @property
    def size(self) -> int | None:
        """Bytes; None if that is not known."""

    @property
    def ranges(self) -> bool:
        """Whether `part` works."""

    def stream(self) -> Transfer:
        """All bytes. It fails if fewer come than there should be."""

    def part(self, offset: int, length: int) -> Transfer:
        """`length` bytes from `offset` on, neither more nor fewer."""


class Transfer:
    """Runs an iterator of bytes on a thread of its own, a few chunks ahead of who takes them."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._ready: queue.Queue[bytes | BaseException] = queue.Queue(_AHEAD)
        self._closed = threading.Event()
        # A daemon: one that hangs in a network must not keep the program from ending.
        threading.Thread(target=self._run, name="ngramscope-transfer", daemon=True).start()

    def next(self, wait: float) -> bytes | None:
        """The next chunk, empty at the end; None if there is none yet after `wait` seconds."""
        try:
            chunk = self._ready.get(timeout=wait)
        except queue.Empty:
            return None
        if isinstance(chunk, BaseException):
            raise chunk
        return chunk

    def close(self) -> None:
        """Nobody takes any more."""
        self._closed.set()

    def _run(self) -> None:
        try:
            for chunk in self._chunks:
                if chunk and not self._put(chunk):
                    return
        except BaseException as error:  # noqa: BLE001 - raised again where the chunks are taken
            self._put(error)
        else:
            self._put(b"")

    def _put(self, chunk: bytes | BaseException) -> bool:
        while not self._closed.is_set():
            try:
                self._ready.put(chunk, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False


def is_remote(name: str) -> bool:
    """Whether `name` has a scheme."""
    return "://" in name


def find(name: str) -> Sequence[RemoteSource]:
    """The sources that `name` stands for, sorted by name; several for a folder, a pattern or a dataset.

    Raises
    ------
    UsageError
        A scheme or a name that cannot be.
    InputError
        It is not there, cannot be reached, or may not be read.
    MissingExtraError
        The package for this scheme is not installed.
    """
    scheme = name.partition("://")[0].lower()
    if not scheme or not name.partition("://")[2]:
        raise UsageError(f"{name}: not a name of anything; write it as https://host/path, s3://bucket/path or hf://dataset")
    if scheme == "file":
        raise UsageError(f"{name}: a file of this machine; give its path")
    if scheme == "hf" and not name.startswith(_HUB_FILES):
        from ngramscope.corpus import hub

        return hub.find(name)
    if scheme in _LISTED:
        from ngramscope.corpus.http import HttpFile

        return [HttpFile.find(name)]
    from ngramscope.corpus import storage

    return storage.find(name)


def public_name(url: str) -> str:
    """`url` without what may be secret: user, password, query (signatures) and fragment. A name of a file stays as it is.

    Raises
    ------
    UsageError
        It cannot be taken apart.
    """
    if not is_remote(url):
        return url
    try:
        parts = urlsplit(url)
    except ValueError as error:
        shown = re.split("[?#]", re.sub("//[^/]*@", "//", url))[0]
        raise UsageError(f"{shown}: not an address that can be: {error}") from error
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def read_lines(name: str) -> list[str]:
    """The lines of a small text that `name` stands for, without empty ones.

    Raises
    ------
    InputError
        It cannot be had, or is no text; names it.
    """
    text = b""
    for source in find(name):
        if not hasattr(source, "chunks"):
            raise InputError(f"{source.name}: is no file, so it is no list of URLs")
        try:
            text += b"".join(source.chunks())
        except InputError as error:
            raise InputError(f"{source.name}: cannot be read: {error}") from error
    try:
        return text.decode("utf-8").split()
    except UnicodeDecodeError as error:
        raise InputError(f"{public_name(name)}: is no list of URLs: not UTF-8 at byte {error.start + 1}") from error


def common_folder(names: list[str]) -> str:
    """The deepest folder that holds all, with the slash behind it."""
    common = ""
    for level in zip(*(each.split("/")[:-1] for each in names), strict=False):
        if len(set(level)) > 1:
            break
        common += f"{level[0]}/"
    return common
