"""Documents that were published, each with versions that were kept back: what rank tests and paired tests compare."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ngramscope.attacks.reading import AttackScores
from ngramscope.errors import InputError, UsageError

__all__ = ["Families", "Family", "families"]


@dataclass(frozen=True)
class Family:
    """A document and its twins.

    Attributes
    ----------
    name
        The value of the group column.
    document
        Score of the document that was published (label 1).
    twins
        (k,) scores of those that were kept back (label 0), in ascending order; k >= 1.
    """

    name: str
    document: float
    twins: NDArray[np.float64]


@dataclass(frozen=True)
class Families:
    """What can be tested, in order of names, and the records that cannot, counted by reason.

    Attributes
    ----------
    families
        One a document.
    left_out
        Records by reason: ``no_group``, ``no_label``, ``undefined_score``, and of groups that then are no family
        ``no_document``, ``several_documents``, ``no_twin``.
    records
        All that were read: those of `families` and those left out.
    """

    families: tuple[Family, ...]
    left_out: dict[str, int]
    records: int


def families(read: AttackScores, group: str = "group") -> Families:
    """Group the records of a score table: in each group one has label 1, the document, and all others 0, its twins.

    Raises
    ------
    UsageError
        The table has no column `group`.
    InputError
        No group is a family.
    """
    names = read.documents.column_names
    if group not in names:
        raise UsageError(f"{read.source['name']}: no column {group!r} to group by; there are: {', '.join(names)}")
    left_out: Counter[str] = Counter()
    grouped: dict[str, dict[int, list[float]]] = {}
    for name, label, score in zip(read.documents[group].to_pylist(), read.labels.tolist(), read.scores.tolist(), strict=True):
        if name is None:
            left_out["no_group"] += 1
        elif math.isnan(label):
            left_out["no_label"] += 1
        elif math.isnan(score):
            left_out["undefined_score"] += 1
        else:
            grouped.setdefault(str(name), {0: [], 1: []})[int(label)].append(score)
    found = []
    for name, sides in sorted(grouped.items()):
        twins, documents = sides[0], sides[1]
        if len(documents) == 1 and twins:
            found.append(Family(name, documents[0], np.sort(twins)))
        else:
            reason = "no_twin" if not twins else "several_documents" if documents else "no_document"
            left_out[reason] += len(twins) + len(documents)
    if not found:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items())) or "no record"
        raise InputError(
            f"{read.source['name']}: no group of column {group!r} has one record of label 1 and others of label 0 ({listed})"
        )
    return Families(tuple(found), dict(sorted(left_out.items())), len(read.scores))
