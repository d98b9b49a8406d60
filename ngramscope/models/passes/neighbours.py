"""Texts like the candidates, from files or from the set's own column."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ngramscope.errors import InputError, UsageError
from ngramscope.models.passes.base import PassTexts, Variant, pass_kind
from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._peek import open_stream, readable

__all__ = ["neighbours"]

_COLUMN = "neighbors"
_KEYS = ("neighbours", "neighbors")


@pass_kind(
    "neighbours",
    summary="Neighbours of each text: slightly changed copies from a file, or the set's column neighbors.",
    source="Mattern et al. 2023; MIMIR's files",
    options={
        "neighbours": "Pass neighbours: a JSON Lines file of objects with id or row, and neighbours, a list of texts; or of "
        "such lists only, one a candidate (MIMIR). Repeatable: lists of several files follow one another. Default: the "
        "column neighbors of the set.",
    },
)
def neighbours(candidates: Sequence[Candidate], *, neighbours: tuple[str, ...] = ()) -> PassTexts:
    """Any number of variants of each candidate; texts equal to the candidate's own are left out."""
    found = _from_files(candidates, neighbours) if neighbours else _from_column(candidates)
    texts = []
    same = without = 0
    for row, each in enumerate(candidates):
        others = [text for text in found.get(row, ()) if text != each.text]
        same += len(found.get(row, ())) - len(others)
        without += not others
        texts += [Variant(row, number, text) for number, text in enumerate(others)]
    counts = {"candidates_without_neighbours": without, "same_as_candidate": same}
    return PassTexts(texts, counts={reason: count for reason, count in counts.items() if count})


def _from_column(candidates: Sequence[Candidate]) -> dict[int, list[str]]:
    found = {row: each.extra[_COLUMN] for row, each in enumerate(candidates) if each.extra.get(_COLUMN) is not None}
    if not found:
        raise UsageError(
            f"--pass neighbours: the set has no column {_COLUMN}; make a file with "
            "ngramscope neighbours, and give it with --neighbours FILE"
        )
    for row, texts in found.items():
        if not _are_texts(texts):
            raise InputError(f"candidate {row} (id {candidates[row].id!r}): {_COLUMN} is no list of texts")
    return found


def _from_files(candidates: Sequence[Candidate], names: Sequence[str]) -> dict[int, list[str]]:
    rows: dict[Any, list[int]] = {}
    for row, each in enumerate(candidates):
        rows.setdefault(each.id, []).append(row)
    found: dict[int, list[str]] = {}
    lists = 0
    for name in names:
        for line, value in _lines(Path(name)):
            where = f"{name}, line {line}"
            if isinstance(value, dict):
                row = _row(value, rows, len(candidates), where)
                if value.get("sha256") not in (None, hashlib.sha256(candidates[row].text.encode()).hexdigest()):
                    raise InputError(f"{where}: made of another text than candidate {row} has; make neighbours of this set")
                texts: Any = next((value[key] for key in _KEYS if key in value), None)
            else:
                row, texts = lists, _flat(value)
                lists += 1
            if not _are_texts(texts):
                raise InputError(
                    f"{where}: no list of texts; an object with id or row and neighbours, or a list of texts alone"
                )
            found.setdefault(row, []).extend(texts)
    if lists not in (0, len(candidates)):
        raise InputError(
            f"{names[-1]}: {lists:,} lists of neighbours in all for {len(candidates):,} candidates; lists without an "
            "id go with the candidates in their order"
        )
    return found


def _row(value: dict[str, Any], rows: dict[Any, list[int]], candidates: int, where: str) -> int:
    if "row" in value:
        row = value["row"]
        if isinstance(row, bool) or not isinstance(row, int) or not 0 <= row < candidates:
            raise InputError(f"{where}: row {row!r} is no candidate; there are {candidates:,}, from 0")
        return row
    if value.get("id") is None:
        raise InputError(f"{where}: neither id nor row; whose neighbours are they?")
    known = rows.get(value["id"]) if isinstance(value["id"], str | int) else None
    if known is None or len(known) > 1:
        what = "no candidate has that id" if known is None else f"{len(known)} candidates have that id; give row, from 0"
        raise InputError(f"{where}: id {value['id']!r}: {what}")
    return known[0]


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    with readable(str(path)), open_stream(path) as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                yield number, json.loads(line.removeprefix(b"\xef\xbb\xbf"))
            except ValueError as error:
                raise InputError(f"{path}, line {number}: the line is not JSON: {error}") from error


def _flat(value: Any) -> Any:
    """A document in one piece may stand in a list of its own."""
    return value[0] if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) else value


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
