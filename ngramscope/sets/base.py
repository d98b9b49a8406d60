"""Labelled candidates, the conventions they follow, and the file they are kept in.

A candidate set is a JSON Lines file (also ``.gz``, ``.zst``) and beside it ``NAME.meta.json``, its header: by which rules it
was made, from what, what was left out at every step and why, and how members and non-members compare. See docs/sets.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ngramscope.errors import InputError

__all__ = [
    "COLUMNS",
    "MEMBER",
    "NONMEMBER",
    "SET_VERSION",
    "Candidate",
    "header_path",
    "open_header",
    "side",
]

SET_VERSION = 1
"""Version of the candidate set's rows and header."""

MEMBER = 1
"""Label of a text that was in the training data."""

NONMEMBER = 0
"""Label of a text that was not."""

COLUMNS = ("id", "text", "label", "domain", "group", "date", "overlap", "overlap_null", "source", "position")
"""Keys that every row has, in order; what a rule adds follows them."""

_ARTEFACT = "candidate-set"
_SIDES = {MEMBER: "members", NONMEMBER: "nonmembers", None: "unlabelled"}


@dataclass(slots=True)
class Candidate:
    """A text and what is known of it.

    Attributes
    ----------
    id
        As its record had it: a string, a whole number, or None.
    text
        The text that is scored.
    label
        `MEMBER`, `NONMEMBER`, or None where it is not known.
    domain, group
        Part of a corpus; what has to stay together (a book of which there are several windows, an author).
    date
        As the record had it; see `ngramscope.sets.dates`.
    overlap
        For each n the share of n-grams found in the corpus; None where there is none. The header says of what: the whole
        document, or the cut text.
    overlap_null
        For each n without a share, why.
    source, position
        Where the document came from: the name of the file and the 0-based number of the record in it.
    extra
        Further keys: carried along from the record, or added by a rule.
    """

    id: str | int | None
    text: str
    label: int | None = None
    domain: str | None = None
    group: str | None = None
    date: str | int | float | None = None
    overlap: dict[str, float | None] = field(default_factory=dict)
    overlap_null: dict[str, str] = field(default_factory=dict)
    source: str | None = None
    position: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """The candidate as the JSON object that stands in a file."""
        return {**{name: getattr(self, name) for name in COLUMNS}, **self.extra}


def side(label: int | None) -> str:
    """``members``, ``nonmembers`` or ``unlabelled``."""
    return _SIDES[label]


def header_path(path: str | os.PathLike[str]) -> Path:
    """Where the header of the set at `path` is."""
    return Path(f"{os.fspath(path)}.meta.json")


def open_header(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The header of the candidate set at `path`; None if the file is none (documents that no rule has seen).

    Raises
    ------
    InputError
        The header is damaged, or of a version that this release does not know.
    """
    where = header_path(path)
    try:
        header: Mapping[str, Any] = json.loads(where.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{where}: cannot be read as the header of a candidate set: {error}") from error
    if not isinstance(header, dict) or header.get("artefact") != _ARTEFACT:
        return None
    if header.get("format_version") != SET_VERSION:
        raise InputError(
            f"{where}: a candidate set of version {header.get('format_version')}; this ngramscope reads {SET_VERSION}"
        )
    return header
