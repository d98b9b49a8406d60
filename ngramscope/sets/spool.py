"""Candidates on disk, to be taken in any order: a set of a million is not held in memory."""

from __future__ import annotations

import json
import os
import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from ngramscope.errors import ResourceError
from ngramscope.sets.base import COLUMNS, Candidate

__all__ = ["Spool"]


class Spool:
    """A temporary file of candidates, without a name, that is gone when closed.

    Parameters
    ----------
    folder
        Where there is room for it.

    Raises
    ------
    ResourceError
        It cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise self._full(error) from error
        self._starts, self._middles, self._ends = array("q"), array("q"), array("q")
        self._at = 0

    def close(self) -> None:
        """Let go of it."""
        self._file.close()

    def __len__(self) -> int:
        return len(self._starts)

    def add(self, candidates: Sequence[Candidate]) -> None:
        """Append these."""
        parts: list[bytes] = []
        for each in candidates:
            row = each.row()
            text = json.dumps(row.pop("text"), ensure_ascii=False).encode()
            rest = json.dumps(row, ensure_ascii=False).encode()
            self._starts.append(self._at)
            self._middles.append(self._at + len(text))
            self._at += len(text) + len(rest)
            self._ends.append(self._at)
            parts += (text, rest)
        try:
            self._file.write(b"".join(parts))
            self._file.flush()
        except OSError as error:
            raise self._full(error) from error

    def text(self, number: int) -> bytes:
        """The text of a candidate, as JSON."""
        return self._read(self._starts[number], self._middles[number])

    def candidate(self, number: int) -> Candidate:
        """One candidate, as it was added."""
        row = json.loads(self._read(self._middles[number], self._ends[number]))
        known = {name: row.pop(name) for name in COLUMNS if name in row}
        return Candidate(text=json.loads(self.text(number)), **known, extra=row)

    def _read(self, start: int, end: int) -> bytes:
        # Not mapped: the pages of a map would count as memory of this process.
        return os.pread(self._file.fileno(), end - start, start)

    def _full(self, error: OSError) -> ResourceError:
        return ResourceError(f"{self._folder}: cannot write a temporary copy of the candidates: {error.strerror or error}")
