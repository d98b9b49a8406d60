"""Scores of documents that no model has a say in, beside which an attack's are read."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.folds import FOLD
from ngramscope.errors import InputError
from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.prepare import Prepared, prepare
from ngramscope.evaluate.setlevel.grouping import numbers_of

__all__ = ["blind_scores", "divided_sets"]


def blind_scores(
    table: ScoreTable, data: Prepared, names: Sequence[str] = (), other: ScoreTable | None = None
) -> dict[str, Floats]:
    """By name, (N,) blind scores of the documents of `data`; NaN where there is none.

    Parameters
    ----------
    names
        Columns of `table`: what is known of its documents, or attacks.
    other
        A table of blind scores of the same documents, matched by id; all its columns are taken.

    Raises
    ------
    UsageError
        No such column, or one that has no numbers.
    InputError
        The other table has none of the documents.
    """
    found = {}
    for name in names:
        values = next((each.scores for each in table.columns if name in (each.attack, each.name)), None)
        found[name] = (numbers_of(table, name, "--blind") if values is None else values)[data.rows]
    if other is not None:
        theirs = prepare(other, None)
        rows = _rows(data, theirs)
        for column, scores in zip(theirs.columns, theirs.scores, strict=True):
            found[column.name] = np.where(rows >= 0, scores[rows], np.nan)
    return found


def divided_sets(data: Prepared, set_of: Ints, other: ScoreTable) -> int | None:
    """How many sets have documents in several folds of the blind scores, which then know the set; None if folds are not said.

    Parameters
    ----------
    set_of
        (N,): for each document of `data` the number of its set, -1 without one.
    """
    if FOLD not in other.documents.column_names:
        return None
    theirs = prepare(other, None)
    rows = _rows(data, theirs)
    folds = numbers_of(other, FOLD, FOLD)[theirs.rows][rows]
    known = (rows >= 0) & (set_of >= 0) & ~np.isnan(folds)
    pairs = np.unique(np.stack([set_of[known], folds[known]]), axis=1)
    return int(np.count_nonzero(np.unique(pairs[0], return_counts=True)[1] > 1))


def _rows(data: Prepared, theirs: Prepared) -> Ints:
    """(N,): where each document of `data` is in another table; -1 if it is not there."""
    place = {key: row for row, key in enumerate(theirs.keys) if key is not None}
    rows = np.array([_row(place, key) for key in data.keys], dtype=np.int64)
    if (rows < 0).all():
        raise InputError("--blind-scores: the table has none of the documents (they are matched by id and label)")
    return rows


def _row(place: Mapping[Hashable, int], key: Hashable | None) -> int:
    """An id is JSON text in a score table, and itself in a CSV file."""
    if not isinstance(key, tuple):
        return -1
    name, *rest = key
    return next((place[each] for each in ((name, *rest), (json.dumps(name, ensure_ascii=False), *rest)) if each in place), -1)
