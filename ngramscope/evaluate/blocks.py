"""Attacks that are evaluated on the same documents: all of them, or those that learned attacks did not learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.delong import Measured, Part, measure, standard_error
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.missing import usable
from ngramscope.evaluate.prepare import Prepared
from ngramscope.evaluate.splits import Family, families

__all__ = ["ALL", "HELD_OUT", "Block", "Entry", "blocks"]

ALL, HELD_OUT = "all", "held-out"


@dataclass(frozen=True)
class Entry:
    """An attack of a block; learned ones without their seed."""

    attack: str
    model: str
    role: str


@dataclass(frozen=True, eq=False)
class Block:
    """Some attacks, measured.

    Attributes
    ----------
    split, seeds
        `ALL` or `HELD_OUT`, and of which splits.
    entries
        A attacks.
    parts
        The whole, or the splits; A x N scores each, as evaluated.
    sizes
        (A, 2): members and non-members that are used; of splits the fewest; of attacks without numbers those with a score.
    empty
        For each attack why it has no numbers, or None.
    undefined
        For each attack the undefined scores by reason; of splits the sums.
    measured
        AUCs and influences.
    """

    split: str
    seeds: tuple[int, ...]
    entries: tuple[Entry, ...]
    parts: tuple[Part, ...]
    sizes: Ints
    empty: tuple[str | None, ...]
    undefined: tuple[Mapping[str, int], ...]
    measured: Measured

    def error(self, contrast: Floats, members: Mask, unit: Ints | None) -> float:
        """Standard error of ``contrast @ AUCs``, shape (A,)."""
        chosen = contrast != 0
        moved = contrast[chosen] @ self.measured.moved[chosen]
        return standard_error(moved, self.measured.used[chosen].any(axis=0), members, unit)


def blocks(data: Prepared, rule: str) -> list[Block]:
    """All attacks that learn nothing; then, for each choice of splits, these again beside the attacks that learned there."""
    plain, learned = families(data.names)
    entries = [Entry(data.columns[each].attack, data.columns[each].model, data.columns[each].role) for each in plain]
    found = [_block(data, rule, ALL, (), entries, [plain])] if plain else []
    for seeds in dict.fromkeys(each.seeds for each in learned):
        mine = [each for each in learned if each.seeds == seeds]
        more = [Entry(each.attack, each.model, data.columns[each.columns[0][1]].role) for each in mine]
        chosen = [[*plain, *(_of_seed(each, seed) for each in mine)] for seed in seeds]
        found.append(_block(data, rule, HELD_OUT, seeds, [*entries, *more], chosen))
    return found


def _block(
    data: Prepared, rule: str, split: str, seeds: tuple[int, ...], entries: Sequence[Entry], chosen: Sequence[Sequence[int]]
) -> Block:
    parts, undefined = [], [Counter[str]() for _ in entries]
    empty: list[str | None] = [None] * len(entries)
    sizes = np.full((len(entries), 2), np.iinfo(np.int64).max)
    for columns in chosen:
        found = usable(data.scores[list(columns)], data.members, [data.reasons[each] for each in columns], rule)
        parts.append(Part(found.scores))
        kept = [~np.isnan(found.scores) & side for side in (data.members, ~data.members)]
        here = np.stack([each.sum(axis=1) for each in kept], axis=1)
        sizes = np.minimum(sizes, np.where([[each is None] for each in found.empty], here, found.sizes))
        empty = [before or now for before, now in zip(empty, found.empty, strict=True)]
        for total, counts in zip(undefined, found.undefined, strict=True):
            total.update(counts)
    measured = measure(parts, data.members)
    return Block(split, seeds, tuple(entries), tuple(parts), sizes, tuple(empty), tuple(map(dict, undefined)), measured)


def _of_seed(family: Family, seed: int) -> int:
    return next(number for each, number in family.columns if each == seed)
