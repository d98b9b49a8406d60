"""Texts from a Python iterator to the core, through an operating-system pipe: JSON Lines, in bounded memory."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

from ngramscope.errors import UsageError

__all__ = ["Feeder"]

_FLUSH = 1 << 18


class Feeder:
    """Writes texts to a pipe on a thread of its own; the core reads `fileno`.

    The iterator therefore runs on that thread. If it raises, the pipe is deliberately NOT closed before `close`: an end
    of file would let the core take half a corpus for a whole one. The caller asks `check` now and then.

    Parameters
    ----------
    texts
        A ``str``, a list of ints (word mode ``ids``) or a mapping (a whole record) each.
    text_key, id_key
        Keys of the record made of a ``str``; its id is its position.
    """

    def __init__(self, texts: Iterable[Any], *, text_key: str, id_key: str) -> None:
        self._texts = texts
        self._text_key = text_key
        self._id_key = id_key
        self._error: BaseException | None = None
        self._read, self._write = os.pipe()
        self._thread = threading.Thread(target=self._run, name="ngramscope-feeder", daemon=True)

    @property
    def fileno(self) -> int:
        """Descriptor to read from; it belongs to the feeder."""
        return self._read

    def __enter__(self) -> Feeder:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        # Without a reader a blocked write ends with EPIPE, and the thread with it. A thread that hangs inside the caller's
        # iterator cannot be ended; it is a daemon and stops at its next write.
        os.close(self._read)
        self._thread.join(timeout=1.0 if error is not None else None)
        if self._error is not None and not self._thread.is_alive():
            os.close(self._write)

    def check(self) -> None:
        """Raise what the iterator raised."""
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            self._feed()
        except BrokenPipeError:
            os.close(self._write)
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread by `check`
            self._error = error
        else:
            os.close(self._write)

    def _feed(self) -> None:
        buffer = bytearray()
        for position, text in enumerate(self._texts):
            record = dict(text) if isinstance(text, Mapping) else {self._id_key: position, self._text_key: text}
            # ASCII with escapes: a lone surrogate, which UTF-8 cannot hold, then follows the reader's documented rule.
            try:
                buffer += json.dumps(record).encode("ascii")
            except (TypeError, ValueError) as error:
                raise UsageError(f"texts: text {position} cannot be a record: {error}; give strings or plain dicts") from error
            buffer += b"\n"
            if len(buffer) >= _FLUSH:
                self._send(buffer)
        self._send(buffer)

    def _send(self, buffer: bytearray) -> None:
        with memoryview(buffer) as view:
            sent = 0
            while sent < len(view):
                sent += os.write(self._write, view[sent:])
        buffer.clear()
