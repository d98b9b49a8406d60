"""Files of a randomised experiment: what the training run sees, and the key that is kept from it."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import provenance
from ngramscope.errors import InputError
from ngramscope.index.output import TableFile, TableWriter
from ngramscope.sets.base import header_path
from ngramscope.sets.design import Design

__all__ = ["RANDOMIZED_VERSION", "Key", "LineFile", "open_key", "positions_path", "redraw"]

RANDOMIZED_VERSION = 1
"""Version of these files and their headers."""

_KEY = "randomization-key"
Ints = NDArray[np.int64]


class LineFile:
    """Lines, with a header beside them, that appear when whole: ``with LineFile(...) as file: file.write(lines)``.

    Parameters
    ----------
    path
        Where; ends as `ending`, which ``.gz`` or ``.zst`` may follow.
    option
        What messages call it.
    artefact
        Its kind, for the header.

    Raises
    ------
    UsageError, ResourceError
        The name cannot be that of such a file, or it cannot be written.
    """

    def __init__(self, path: Path, option: str, artefact: str, *, ending: str = ".jsonl") -> None:
        self._table: TableFile[bytes] = TableFile(path, {ending: _Bytes}, with_source=False, option=option)
        self._artefact = artefact
        self._sha256 = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Digest of the lines so far, before they are compressed."""
        return self._sha256.hexdigest()

    def __enter__(self) -> LineFile:
        self._table.__enter__()
        return self

    def write(self, lines: Iterable[bytes]) -> None:
        """Append these, each with its line end."""
        data = b"".join(lines)
        self._sha256.update(data)
        self._table.write(data)

    def commit(
        self, facts: Mapping[str, Any], *, settings: Mapping[str, Any] | None = None, inputs: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        """Finish it, with these facts in the header."""
        header = provenance.stamp(self._artefact, version=RANDOMIZED_VERSION, settings=settings or {}, inputs=inputs)
        self._table.commit(json.loads(json.dumps(header | {"sha256": self.sha256} | dict(facts), allow_nan=False)))

    def __exit__(self, *exception: object) -> None:
        self._table.__exit__(*exception)


class _Bytes(TableWriter[bytes]):
    def write(self, table: bytes) -> None:
        self._stream.write(table)

    def close(self, provenance: Mapping[str, Any]) -> None:
        pass


@dataclass(frozen=True, eq=False)
class Key:
    """What was drawn, and from what.

    Attributes
    ----------
    header
        Settings, seed, blocks, arms, and digests of the files that go with it.
    insert_ids
        Opaque ids, as in the files of insertions and of texts held out; one for each unit.
    design
        What it was drawn from.
    arms
        The arm of each unit, shape (units,): draw 0.
    """

    header: dict[str, Any]
    insert_ids: list[str]
    design: Design
    arms: Ints


def positions_path(insertions: Path) -> Path:
    """Where the positions of the lines of `insertions` are."""
    name = insertions.name.removesuffix(".gz").removesuffix(".zst").removesuffix(".jsonl")
    return insertions.with_name(f"{name}.positions.txt")


def open_key(path: Path) -> Key:
    """The key at `path`.

    Raises
    ------
    InputError
        It is no key, is damaged, or is of a version that this release does not know; or its assignment is not what its design
        and seed draw.
    """
    try:
        header = json.loads(header_path(path).read_bytes())
        rows = [json.loads(line) for line in _read(path).splitlines()]
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as the key of a randomised experiment: {error}") from error
    if not isinstance(header, dict) or header.get("artefact") != _KEY:
        raise InputError(f"{path}: not the key of a randomised experiment; ngramscope sets randomize writes one")
    if header["format_version"] != RANDOMIZED_VERSION:
        raise InputError(f"{path}: a key of version {header['format_version']}; this ngramscope reads {RANDOMIZED_VERSION}")
    arms = np.array([row["arm"] for row in rows], dtype=np.int64)
    blocks = np.array([row["block"] for row in rows], dtype=np.int64)
    pairs = None
    if header["settings"]["pairs"] is not None:
        # Twins stand in the order of their rows.
        pair = np.array([row["pair"] for row in rows], dtype=np.int64)
        pairs = np.argsort(pair, kind="stable").reshape(-1, 2)
        blocks = blocks[pairs[:, 0]]
    design = Design(tuple(header["settings"]["copies"]), tuple(header["weights"]), blocks, header["seed"], pairs)
    if not np.array_equal(design.draw(), arms):
        raise InputError(f"{path}: damaged: the arms are not those that its design and seed draw")
    return Key(header, [row["insert_id"] for row in rows], design, arms)


def redraw(key: Key | Path, draws: int, *, first: int = 1) -> Ints:
    """Assignments that might have been: how often each unit is inserted, shape (draws, units).

    Each is drawn from the design of the key as the one that was made, and is as likely; for randomisation inference (Fisher
    1935). Draw 0 is the one that was made; the others begin with number `first`, and equal numbers are equal draws.

    Raises
    ------
    InputError
        See `open_key`.
    """
    key = key if isinstance(key, Key) else open_key(key)
    copies = np.array(key.design.copies, dtype=np.int64)
    drawn = np.empty((draws, len(key.arms)), dtype=np.int64)
    for row in range(draws):
        drawn[row] = copies[key.design.draw(first + row)]
    return drawn


def _read(path: Path) -> bytes:
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".zst":
        import zstandard

        with zstandard.open(path, "rb") as stream:
            data: bytes = stream.read()
        return data
    return path.read_bytes()
