"""The file of neighbours: a row a text of a set, with its digest, and a header beside it. See docs/neighbours.md."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ngramscope.errors import InputError, UsageError
from ngramscope.index.output import TableWriter
from ngramscope.sets.base import Candidate, header_path

__all__ = [
    "ARTEFACT",
    "NEIGHBOURS_VERSION",
    "Finished",
    "Lines",
    "Neighbours",
    "neighbour_row",
    "read_neighbours",
    "text_digest",
]

NEIGHBOURS_VERSION = 1
"""Version of the file's rows and header."""

ARTEFACT = "neighbours"
"""What the header says it belongs to."""

_OURS = b'{"artefact": "neighbours-partial"'


@dataclass(frozen=True)
class Neighbours:
    """Of one text.

    Attributes
    ----------
    texts
        The best first; distinct, and none is the text itself.
    weights
        For each, the sum of the weights of its swaps.
    null_reason
        Why there are none: ``no_token`` that could be replaced, ``no_candidate`` for any; else None.
    """

    texts: list[str]
    weights: list[float]
    null_reason: str | None = None


def text_digest(text: str) -> str:
    """SHA-256 of its UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_neighbours(path: Path, candidates: Iterable[Candidate]) -> Iterator[list[str]]:
    """The neighbours of each of the candidates of a set, in its order.

    Raises
    ------
    InputError
        The file is none of neighbours, is damaged, of an unknown version, or was made of other texts.
    """
    _header(path)
    with path.open("rb") as file:
        for number, (candidate, line) in enumerate(itertools.zip_longest(candidates, file)):
            advice = "ngramscope neighbours SET makes them for this set"
            if candidate is None or line is None:
                raise InputError(
                    f"{path}: neighbours of {'more' if candidate is None else 'fewer'} texts than the set; {advice}"
                )
            row = _parsed(line, f"{path}, line {number + 1}")
            if (row["row"], row["id"], row["sha256"]) != (number, candidate.id, text_digest(candidate.text)):
                raise InputError(f"{path}, line {number + 1}: neighbours of another text than the set has here; {advice}")
            yield row["neighbours"]


def _header(path: Path) -> dict[str, Any]:
    where = header_path(path)
    try:
        header: Any = json.loads(where.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(
            f"{where}: cannot be read as the header of neighbours: {error}; ngramscope neighbours writes it"
        ) from error
    if not isinstance(header, dict) or header.get("artefact") != ARTEFACT:
        raise InputError(f"{where}: not the header of neighbours; ngramscope neighbours writes it")
    if header.get("format_version") != NEIGHBOURS_VERSION:
        raise InputError(f"{where}: version {header.get('format_version')}; this ngramscope reads {NEIGHBOURS_VERSION}")
    return header


def _parsed(line: bytes, place: str) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(line)
        row["row"], row["id"], row["sha256"], row["neighbours"]
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"{place}: damaged; find the neighbours again") from error
    return row


def neighbour_row(row: int, name: str | int | None, digest: str, found: Neighbours) -> dict[str, Any]:
    """The object that stands in the file."""
    return {
        "row": row, "id": name, "sha256": digest, "neighbours": found.texts, "weights": found.weights,
        "null_reason": found.null_reason,
    }  # fmt: skip


class Lines(TableWriter[list[dict[str, Any]]]):
    """One JSON object a row."""

    def write(self, table: list[dict[str, Any]]) -> None:
        """Append these rows."""
        for each in table:
            self._stream.write(_line(each))

    def close(self, provenance: Mapping[str, Any]) -> None:
        """Nothing is left; the header is a file of its own."""


def _line(row: Mapping[str, Any]) -> bytes:
    return (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode()


class Finished:
    """Neighbours that are there already, by text: in the file that is to be replaced, and what was found since, beside it.

    Parameters
    ----------
    out
        The file that is to be written.
    settings
        Neighbours by other ones do not count.
    """

    def __init__(self, out: Path, settings: Mapping[str, Any]) -> None:
        self._out, self._settings = out, json.loads(json.dumps(settings))
        self._path = out.with_name(f"{out.name}.partial")
        self._at: dict[str, tuple[IO[bytes], int]] = {}
        self._files: list[IO[bytes]] = []

    def __enter__(self) -> Finished:
        if self._out.is_file() and self._before() == self._settings:
            self._files.append(self._out.open("rb"))
            self._read(self._files[-1])
        first = _line({"artefact": f"{ARTEFACT}-partial", "format_version": NEIGHBOURS_VERSION, "settings": self._settings})
        self._file = self._path.open("a+b")
        self._files.append(self._file)
        self._file.seek(0)
        before = self._file.readline()
        if before and not before.startswith(_OURS):
            self.__exit__()
            raise UsageError(f"{self._path}: would be replaced, but ngramscope neighbours has not written it; remove it")
        if before != first:
            self._file.truncate(0)
            self._file.write(first)
        self._file.truncate(self._read(self._file))
        return self

    def __exit__(self, *exception: object) -> None:
        for each in self._files:
            each.close()

    def get(self, digest: str) -> Neighbours | None:
        """Of that text."""
        if digest not in self._at:
            return None
        file, at = self._at[digest]
        file.seek(at)
        row = json.loads(file.readline())
        return Neighbours(row["neighbours"], row["weights"], row["null_reason"])

    def add(self, digest: str, found: Neighbours) -> None:
        """Keep them; they are there again after a kill."""
        self._file.seek(0, 2)
        self._at[digest] = self._file, self._file.tell()
        self._file.write(_line(neighbour_row(-1, None, digest, found)))
        self._file.flush()

    def remove(self) -> None:
        """All is in the file."""
        self._path.unlink(missing_ok=True)

    def _before(self) -> Any:
        try:
            return _header(self._out)["settings"]
        except InputError:
            return None

    def _read(self, file: IO[bytes]) -> int:
        """Remember the whole rows from here on; where they end."""
        at = file.tell()
        for line in iter(file.readline, b""):
            try:
                digest = _parsed(line, "")["sha256"]
            except InputError:  # a kill, or a full disk, in the middle of a row
                break
            if not line.endswith(b"\n"):
                break
            self._at[digest] = file, at
            at += len(line)
        return at
