"""Scores to evaluate: a score table, or a CSV file of scores that were made elsewhere."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.errors import InputError, UsageError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["DOCUMENT_COLUMNS", "read_csv", "read_scores"]

DOCUMENT_COLUMNS = ("id", "label", "domain", "group", "date", "text", "insert_id")
"""Columns of a CSV file that are no attacks."""

_LABELS = {"1": 1, "0": 0, "1.0": 1, "0.0": 0, "": None}
_SEPARATOR = " @ "


def read_scores(path: Path, columns: Sequence[str] = ()) -> ScoreTable:
    """Read what the ending of the name says: ``.csv``, or anything else as a score table.

    Raises
    ------
    InputError
        It cannot be read, or has no attack; see `ScoreTable.open` and `read_csv`.
    """
    table = read_csv(path, columns) if path.suffix == ".csv" else ScoreTable.open(path)
    if not table.columns:
        raise InputError(
            f"{path}: no attack in it, only columns of documents; ngramscope attack makes a score table, in a CSV file every "
            "other column is an attack"
        )
    return table


def read_csv(path: Path, columns: Sequence[str] = ()) -> ScoreTable:
    """A CSV file with a header line, a column ``label`` (1 member, 0 non-member, empty) and a column an attack.

    Every other column is an attack, but for `DOCUMENT_COLUMNS`, names that begin with ``overlap_``, and `columns`. Its name may
    say the model, as ``loss @ MODEL``. A cell is a number, ``inf``, or ``nan`` or empty for undefined; higher = member.

    Raises
    ------
    InputError
        Names the line.
    UsageError
        A column of `columns` that is not there.
    """
    import pyarrow as pa

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            header = next(reader, [])
            lines = [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV: {error}") from error
    if "label" not in header:
        there = ", ".join(header) or "nothing"
        raise InputError(f"{path}: no column 'label' (1 member, 0 non-member); the first line has: {there}")
    nameless = next((at for at, each in enumerate(header, 1) if not each.strip()), None)
    if nameless is not None:
        raise InputError(f"{path}: line 1: column {nameless} has no name; give it one")
    if len(set(header)) < len(header):
        raise InputError(f"{path}: line 1: a column is there twice; give each a name of its own")
    for name in columns:
        if name not in header:
            raise UsageError(f"--by or --group: no column {name!r}; {path} has: {', '.join(header)}")
    for number, row in lines:
        if len(row) != len(header):
            raise InputError(f"{path}: line {number}: {len(row)} values for {len(header)} columns")
    cells = {name: [(number, row[at].strip()) for number, row in lines] for at, name in enumerate(header)}
    known = [each for each in header if each in DOCUMENT_COLUMNS or each in columns or each.startswith("overlap_")]
    documents = {name: _documents(name, cells[name], path) for name in known}
    attacks = [_attack(name, cells[name], path) for name in header if name not in known]
    stamp = provenance.stamp("score-table", version=SCORES_VERSION, settings={"from": "csv"}, inputs=[])
    return ScoreTable(pa.table(documents), tuple(attacks), stamp)


def _documents(name: str, cells: Sequence[tuple[int, str]], path: Path) -> pa.Array[Any]:
    import pyarrow as pa

    if name == "label":
        for number, each in cells:
            if each not in _LABELS:
                raise InputError(f"{path}: line {number}: label {each!r}; 1 is a member, 0 a non-member, empty not known")
        return pa.array([_LABELS[each] for _, each in cells], pa.int64())
    texts = [each or None for _, each in cells]
    if name not in DOCUMENT_COLUMNS:
        try:
            return pa.array([None if each is None else float(each) for each in texts], pa.float64())
        except ValueError:
            pass
    return pa.array(texts, pa.string())


def _attack(name: str, cells: Sequence[tuple[int, str]], path: Path) -> ScoreColumn:
    scores, reasons = np.full(len(cells), np.nan), [None] * len(cells)
    codes: list[str | None] = list(reasons)
    for row, (number, each) in enumerate(cells):
        try:
            scores[row] = float(each) if each else np.nan
        except ValueError as error:
            raise InputError(
                f"{path}: line {number}: {name} is {each!r}, no number; name a column that is no attack (evaluate: --by), or "
                "leave it out"
            ) from error
        if np.isnan(scores[row]):
            codes[row] = "nan" if each else "missing"
    attack, _, model = name.partition(_SEPARATOR)
    return ScoreColumn(attack, model or "model", "target", scores, codes)
