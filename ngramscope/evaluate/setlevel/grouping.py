"""Which set a document belongs to: the value of a column, or the period of a date."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.attacks.table import ScoreTable
from ngramscope.errors import UsageError
from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.groups import Ints
from ngramscope.sets.dates import RESOLUTIONS, DateRule, utc_text

__all__ = ["PERIODS", "column_of", "numbers_of", "overlaps", "set_names", "value_names", "values_of"]

PERIODS = {"year": 4, "month": 7, "day": 10}
"""By name of a period of time, how many characters of an ISO date name it."""


def column_of(group_by: str) -> str:
    """The column that `group_by` names: itself, or what stands before ``:month`` and the like."""
    column, colon, period = group_by.rpartition(":")
    return column if colon and period in PERIODS else group_by


def set_names(table: ScoreTable, group_by: str) -> tuple[list[str | None], list[str | None]]:
    """For each document of a table the name of its set, and the reason if it has none.

    Parameters
    ----------
    group_by
        A column; or a column of dates and a period, as ``date:month`` (in UTC).

    Returns
    -------
    list, list
        Names and reasons: ``no_value``, ``coarse_date`` (a year has no month), or why a date says nothing
        (`ngramscope.sets.dates.DateRule.read`).

    Raises
    ------
    UsageError
        There is no such column.
    """
    column = column_of(group_by)
    values = values_of(table, column, "--group-by")
    if column == group_by:
        names = [None if each is None else str(each) for each in values]
        return names, ["no_value" if each is None else None for each in names]
    period = group_by.rpartition(":")[2]
    rule = DateRule(latest="9999-12-31")  # what is the future must not depend on today
    found = [_period(rule, each, period) for each in values]
    return [name for name, _ in found], [reason for _, reason in found]


def values_of(table: ScoreTable, column: str, option: str) -> Sequence[Any]:
    """A column of what is known of the documents.

    Raises
    ------
    UsageError
        There is none of that name.
    """
    known = table.documents.column_names
    if column not in known:
        raise UsageError(f"{option}: no column {column!r}; the table has: {', '.join(known)}")
    values: list[Any] = table.documents[column].to_pylist()
    return values


def numbers_of(table: ScoreTable, column: str, option: str) -> Floats:
    """(N,): a column of numbers that is known of the documents; NaN for null.

    Raises
    ------
    UsageError
        There is none of that name, or it does not hold numbers.
    """
    values = values_of(table, column, option)
    try:
        return np.array([np.nan if each is None else each for each in values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{option}: column {column!r} does not hold numbers") from error


def overlaps(table: ScoreTable) -> list[str]:
    """Columns of overlap with a corpus, without those that are empty, and without those that say why a document has none."""
    names = [
        each for each in table.documents.column_names if each.startswith("overlap_") and not each.startswith("overlap_null_")
    ]
    return [each for each in names if table.documents[each].null_count < len(table.documents)]


def value_names(table: ScoreTable, rows: Ints, by: str | None) -> NDArray[np.str_]:
    """(M,): the value of a column for some documents, as a name; ``all`` without a column, ``no value`` where it has none.

    Raises
    ------
    UsageError
        There is no such column.
    """
    if by is None:
        return np.full(len(rows), "all")
    values = values_of(table, by, "--by")
    return np.array(["no value" if values[row] is None else str(values[row]) for row in rows.tolist()], dtype=np.str_)


def _period(rule: DateRule, date: Any, period: str) -> tuple[str | None, str | None]:
    span = rule.read(date)
    if isinstance(span, str):
        return None, span
    if RESOLUTIONS.index(span.resolution) < RESOLUTIONS.index(period):
        return None, "coarse_date"
    return utc_text(span.start)[: PERIODS[period]], None
