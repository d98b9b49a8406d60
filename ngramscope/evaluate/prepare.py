"""A score table as arrays: labelled documents in an order that does not depend on that of the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ngramscope.attacks.table import ScoreColumn, ScoreTable
from ngramscope.errors import UsageError
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.groups import Ints, units

__all__ = ["Prepared", "align", "prepare"]


@dataclass(frozen=True, eq=False)
class Prepared:
    """What is evaluated.

    Attributes
    ----------
    columns
        Attacks.
    scores
        (A, N): NaN for null.
    reasons
        For each attack N reasons of nulls, or None.
    members
        (N,).
    groups
        (N,): None for a document that stands alone; None if no document has a group.
    keys
        (N,): what a document is in other tables: id, side, and how often both came before. None without an id.
    rows
        (N,): rows of the table.
    unlabelled
        Documents of the table that are left out.
    """

    columns: tuple[ScoreColumn, ...]
    scores: Floats
    reasons: tuple[Sequence[str | None], ...]
    members: Mask
    groups: Sequence[Hashable | None] | None
    keys: Sequence[Hashable | None]
    rows: Ints
    unlabelled: int

    @property
    def unit(self) -> Ints | None:
        """Numbers of units, as `groups.units` gives them; None without groups."""
        return None if self.groups is None else units(self.groups)

    @property
    def names(self) -> list[tuple[str, str]]:
        """Attack and model of each column."""
        return [(each.attack, each.model) for each in self.columns]


def prepare(table: ScoreTable, group: str | None = "group") -> Prepared:
    """Take a table's labelled documents.

    Parameters
    ----------
    group
        Column of what belongs together; None: nothing does.

    Raises
    ------
    UsageError
        Another column than ``group`` that the table lacks.
    """
    labels = table.labels
    rows = np.flatnonzero(~np.isnan(labels))
    scores = np.array([each.scores[rows] for each in table.columns], dtype=np.float64).reshape(len(table.columns), len(rows))
    ids = [None if each in (None, "null") else str(each) for each in _column(table, "id", rows)]
    # By id; documents of one id, or none, by their scores.
    order = np.lexsort([*scores[::-1], labels[rows], np.array([each or "" for each in ids], dtype=np.str_)])
    rows, scores = rows[order], scores[:, order]
    members = labels[rows] == 1
    groups = _groups(table, group, rows)
    seen: Counter[Hashable] = Counter()
    keys: list[Hashable | None] = []
    for name, member in zip([ids[each] for each in order], members.tolist(), strict=True):
        key = None if name is None else (name, member, seen[name, member])
        seen[name, member] += 1
        keys.append(key)
    reasons = tuple([each.reasons[row] for row in rows.tolist()] for each in table.columns)
    return Prepared(table.columns, scores, reasons, members, groups, keys, rows, len(labels) - len(rows))


def align(first: Prepared, second: Prepared, scores: tuple[Floats, Floats]) -> tuple[Floats, Floats, Mask, Ints | None]:
    """Scores of the same A attacks on two tables' documents, over the documents of both.

    Parameters
    ----------
    scores
        (A, N) of the first, (A, N') of the second.

    Returns
    -------
    scores, scores, members, unit
        (A, M) twice, NaN for documents that only the other has; (M,); (M,) or None.
    """
    place = {key: number for number, key in enumerate(first.keys) if key is not None}
    total = len(first.keys)
    where = []
    for key in second.keys:
        known = None if key is None else place.get(key)
        where.append(total if known is None else known)
        total += known is None
    found = [np.full((len(scores[0]), total), np.nan) for _ in range(2)]
    found[0][:, : len(first.keys)], found[1][:, where] = scores
    members = np.zeros(total, dtype=np.bool_)
    members[: len(first.keys)] = first.members
    members[where] = second.members
    if first.groups is None and second.groups is None:
        return found[0], found[1], members, None
    groups: list[Hashable | None] = [None] * total
    for row, group in enumerate(first.groups or ()):
        groups[row] = group
    for row, group in zip(where, second.groups or (), strict=False):
        groups[row] = group if groups[row] is None else groups[row]
    return found[0], found[1], members, units(groups)


def _column(table: ScoreTable, name: str, rows: Ints) -> list[Any]:
    if name not in table.documents.column_names:
        return [None] * len(rows)
    values = table.documents[name].to_pylist()
    return [values[row] for row in rows.tolist()]


def _groups(table: ScoreTable, group: str | None, rows: Ints) -> list[Hashable | None] | None:
    if group is None:
        return None
    if group not in table.documents.column_names:
        if group == "group":
            return None
        raise UsageError(f"--group: no column {group!r}; the table has: {', '.join(table.documents.column_names)}")
    values = [str(each) if isinstance(each, list | dict) else each for each in _column(table, group, rows)]
    return values if any(each is not None for each in values) else None
