"""A score table as sets of documents: which sets are in or out, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ngramscope.attacks.table import ScoreTable
from ngramscope.errors import InputError
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.prepare import Prepared, prepare
from ngramscope.evaluate.setlevel.documents import SetScores, by_set
from ngramscope.evaluate.setlevel.grouping import set_names
from ngramscope.sizes import format_reasons

__all__ = ["Collected", "collect"]


@dataclass(frozen=True, eq=False)
class Collected:
    """Labelled documents in their sets.

    Attributes
    ----------
    data
        The documents, in an order that does not depend on that of the file.
    names
        Of the S sets, ascending.
    members
        (S,).
    set_of
        (N,): for each document of `data` the number of its set; -1: it is in none, or in one that is left out.
    left_out
        Documents of the table by reason.
    mixed
        Sets that are left out since they hold documents of both sides, or too many of them.
    """

    data: Prepared
    names: tuple[str, ...]
    members: Mask
    set_of: Ints
    left_out: dict[str, int]
    mixed: tuple[str, ...]

    def sets(self, scores: Floats) -> SetScores:
        """Of (N,) scores; documents whose score is not finite have no part."""
        used = np.isfinite(scores) & (self.set_of >= 0)
        rows = np.flatnonzero(used)
        rows = rows[np.argsort(self.set_of[rows], kind="stable")]
        counts = np.bincount(self.set_of[rows], minlength=len(self.names))
        return by_set(np.split(scores[rows], np.cumsum(counts)[:-1]))


def collect(table: ScoreTable, group_by: str, purity: float = 1.0) -> Collected:
    """Put labelled documents into sets.

    Parameters
    ----------
    group_by
        See `grouping.set_names`.
    purity
        Share of a set's documents that have its label, at least; its label is that of the more.

    Raises
    ------
    UsageError
        There is no such column.
    InputError
        No set is left.
    """
    data = prepare(table, None)
    names, reasons = set_names(table, group_by)
    left_out: Counter[str] = Counter({"no_label": data.unlabelled} if data.unlabelled else {})
    here = [names[row] for row in data.rows.tolist()]
    left_out.update(reason for row in data.rows.tolist() if (reason := reasons[row]) is not None)
    shares = _shares(here, data.members)
    kept = sorted(name for name, (ours, all_) in shares.items() if max(ours, all_ - ours) >= purity * all_ and 2 * ours != all_)
    place = {name: number for number, name in enumerate(kept)}
    set_of = np.array([-1 if name is None else place.get(name, -1) for name in here], dtype=np.int64)
    mixed = tuple(sorted(set(shares) - set(kept)))
    if mixed:
        left_out["mixed_set"] = sum(shares[name][1] for name in mixed)
    if not kept:
        raise InputError(
            f"--group-by {group_by}: no set of one label ({len(mixed)} are mixed; left out: {format_reasons(left_out)})"
        )
    members = np.array([2 * shares[name][0] > shares[name][1] for name in kept], dtype=np.bool_)
    return Collected(data, tuple(kept), members, set_of, dict(sorted(left_out.items())), mixed)


def _shares(names: Sequence[str | None], members: Mask) -> dict[str, tuple[int, int]]:
    """By set, how many members and how many documents it has."""
    all_: Counter[str] = Counter()
    ours: Counter[str] = Counter()
    for name, member in zip(names, members.tolist(), strict=True):
        if name is not None:
            all_[name] += 1
            ours[name] += member
    return {name: (ours[name], count) for name, count in all_.items()}
