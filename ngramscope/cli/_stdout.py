"""Standard output as bytes."""

from __future__ import annotations

import io
import os
import sys
from typing import IO, cast

__all__ = ["standard_output"]


class _Unbuffered(io.RawIOBase):
    """Writes everything or raises.

    `sys.stdout.buffer` will not do: without buffering (``python -u``) it drops the rest of a write that the system took only
    in part, and with buffering its last flush would wait, after Ctrl-C, for a reader that does not read.
    """

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        with memoryview(data) as view:
            sent = 0
            while sent < len(view):
                sent += os.write(sys.stdout.fileno(), view[sent:])
            return sent


def standard_output() -> IO[bytes]:
    """Where a table goes that has no file."""
    sys.stdout.flush()
    return cast("IO[bytes]", _Unbuffered())
