"""Overlap of the documents of a score table with the training corpus, and whether that of members can be compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ngramscope.attacks.table import ScoreTable
from ngramscope.errors import UsageError
from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.prepare import Prepared
from ngramscope.sets.covariates import LOO_COLUMN, MEMBER_OVERLAPS

__all__ = ["NO_LOO", "NO_OVERLAP", "DocumentOverlap", "document_overlap", "lengths"]

NO_LOO = "no_leave_one_out_overlap_of_members"
"""Members have no leave-one-out overlap: their own n-grams are in the corpus, so theirs says nothing beside non-members'."""

NO_OVERLAP = "no_overlap"
"""No document of a side has an overlap."""

_NAME = re.compile(r"overlap_(\d+)")
_N = 7


@dataclass(frozen=True, eq=False)
class DocumentOverlap:
    """Overlap of the N documents that are evaluated, for one n.

    Attributes
    ----------
    n
        Length of the n-grams.
    plain
        (N,): as measured; NaN where there is none.
    alike
        (N,): what compares both sides: a document is no evidence for itself. None if that cannot be told.
    reason
        Why there is no `alike`: `NO_LOO` or `NO_OVERLAP`.
    """

    n: int
    plain: Floats
    alike: Floats | None
    reason: str | None


def lengths(table: ScoreTable, asked: Sequence[int] = ()) -> tuple[int, ...]:
    """The lengths of n-grams to be looked at: those asked for; else 7, or if there is no 7 all that the table has.

    Raises
    ------
    UsageError
        One that the table lacks.
    """
    there = sorted(int(found[1]) for name in table.documents.column_names if (found := _NAME.fullmatch(name)))
    for n in asked:
        if n not in there:
            known = ", ".join(map(str, there)) or "none"
            raise UsageError(
                f"--overlap {n}: the table has no column overlap_{n} (lengths there: {known}); measure the set's overlap "
                "(ngramscope sets ... --index or --scan) and score it again"
            )
    return tuple(dict.fromkeys(asked)) or ((_N,) if _N in there else tuple(there))


def document_overlap(table: ScoreTable, data: Prepared, n: int, of_members: str = MEMBER_OVERLAPS[0]) -> DocumentOverlap:
    """Read it from columns ``overlap_N`` and ``overlap_loo_N``.

    Parameters
    ----------
    of_members
        ``loo``: the leave-one-out overlap where there is one, for members never another; a non-member without one has no
        document of its own in the corpus, so its plain overlap stands for it. ``plain``: the plain one for all, which is right
        where the corpus that was measured against holds no document of the members.
    """
    plain = _column(table, f"overlap_{n}", data)
    if of_members == "plain":
        alike = plain
    else:
        loo = _column(table, f"{LOO_COLUMN}_{n}", data)
        if np.isnan(loo[data.members]).all():
            return DocumentOverlap(n, plain, None, NO_LOO if not np.isnan(plain[data.members]).all() else NO_OVERLAP)
        alike = np.where(np.isnan(loo) & ~data.members, plain, loo)
    if any(np.isnan(alike[side]).all() for side in (data.members, ~data.members)):
        return DocumentOverlap(n, plain, None, NO_OVERLAP)
    return DocumentOverlap(n, plain, alike, None)


def _column(table: ScoreTable, name: str, data: Prepared) -> Floats:
    if name not in table.documents.column_names:
        return np.full(len(data.rows), np.nan)
    try:
        values = np.array([np.nan if each is None else float(each) for each in table.documents[name].to_pylist()])
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"column {name} of the table holds something else than numbers; names that begin with overlap_ are of overlap: "
            "measure it again, or call the column otherwise"
        ) from error
    shares: Floats = values[data.rows]
    return np.where(np.isfinite(shares), shares, np.nan)
