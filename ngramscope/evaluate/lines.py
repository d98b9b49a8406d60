"""What is read at every threshold of overlap: each attack, each placebo, the blind ceiling, overlap alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.blocks import Block
from ngramscope.evaluate.delong import Part, measure, standard_error
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.strata import Strata, pooled_parts

__all__ = ["BLIND", "LEAST", "NO_MODEL", "Line", "Reading", "lines_of", "read", "read_within", "too_few"]

BLIND, NO_MODEL = "blind", "no model"
"""Role and model of what sees no model."""

LEAST = 10
"""Documents that each side needs for a number; for an interval see `delong.LEAST_GROUPS`."""


@dataclass(frozen=True, eq=False)
class Line:
    """Scores of N documents by one attack on one model.

    Attributes
    ----------
    attack, model, role, split
        As in `report.AttackRow`; the role may also be `BLIND`.
    parts
        Scores, shape (1, N) each: one part, or the splits of a learned attack, or the folds of a blind baseline.
    refit
        For what learns from the very documents that it is evaluated on: parts that it makes anew of the documents of a mask,
        shape (N,), or of some of them. None: the same scores whatever documents are asked for.
    """

    attack: str
    model: str
    role: str
    split: str
    parts: tuple[Part, ...]
    refit: Callable[[Mask], Sequence[Part]] | None = None

    @property
    def fixed(self) -> Line:
        """The same line with the scores that it has, whatever documents are asked for."""
        return replace(self, refit=None)

    @property
    def scored(self) -> Mask:
        """(N,): documents with a score in some part."""
        known: Mask = np.logical_or.reduce([~np.isnan(part.scores[0]) for part in self.parts])
        return known


@dataclass(frozen=True, eq=False)
class Reading:
    """An AUC, and what moves it.

    Attributes
    ----------
    auc
        The AUC.
    moved
        (N,): influence of each document on it, as `delong.Measured.moved`.
    used
        (N,): the documents it comes from.
    """

    auc: float
    moved: Floats
    used: Mask

    def error(self, members: Mask, unit: Ints | None) -> float:
        """Standard error."""
        return standard_error(self.moved, self.used, members, unit)

    def less(self, other: Reading, members: Mask, unit: Ints | None) -> tuple[float, float]:
        """The AUC less another one of the same documents, and the standard error of that difference."""
        return self.auc - other.auc, standard_error(self.moved - other.moved, self.used | other.used, members, unit)


def lines_of(blocks: Sequence[Block]) -> list[Line]:
    """The attacks of some blocks that have numbers; of attacks that learned nothing the first row only."""
    found: dict[tuple[str, str], Line] = {}
    for block in blocks:
        for number, entry in enumerate(block.entries):
            if block.empty[number] is None and not np.isnan(block.measured.auc[number]):
                parts = tuple(replace(part, scores=part.scores[[number]]) for part in block.parts)
                line = Line(entry.attack, entry.model, entry.role, block.split, parts)
                found.setdefault((entry.attack, entry.model), line)
    return list(found.values())


def read(line: Line, members: Mask, kept: Mask | None = None) -> Reading | None:
    """The AUC of a line among the documents `kept`, shape (N,); None if no part has both sides."""
    parts = line.parts
    if kept is not None:
        made = line.parts if line.refit is None else line.refit(kept)
        parts = tuple(replace(part, scores=np.where(kept, part.scores, np.nan)) for part in made)
    return _mean([part for part in parts if _both(part, members)], members)


def read_within(line: Line, members: Mask, strata: Strata) -> Reading | None:
    """The AUC of pairs within strata only, as `strata.pooled_parts` has it; None if no stratum has both sides."""
    parts = []
    for part in line.parts:
        inside = replace(strata, number=np.where(np.isnan(part.scores[0]), -1, strata.number))
        found = pooled_parts(part.scores, members, inside)
        parts += [replace(each, weight=each.weight * part.weight) for each in found]
    return _mean(parts, members)


def too_few(used: Mask, members: Mask) -> str | None:
    """A reason, if a side has fewer than `LEAST` documents."""
    for name, side in (("members", members), ("nonmembers", ~members)):
        if int((used & side).sum()) < LEAST:
            return f"too_few_{name}"
    return None


def _both(part: Part, members: Mask) -> bool:
    known = ~np.isnan(part.scores[0])
    return bool((known & members).any() and (known & ~members).any())


def _mean(parts: Sequence[Part], members: Mask) -> Reading | None:
    if not parts:
        return None
    found = measure(parts, members)
    return Reading(float(found.auc[0]), found.moved[0], found.used[0])
