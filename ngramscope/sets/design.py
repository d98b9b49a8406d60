"""Who is inserted how often: blocked random assignment that can be drawn again.

Every unit has the same chance of each arm, its share, whatever its block; and the counts of the arms, in each block and over
all, are within one of what the shares say. Both at once is unbiased controlled rounding (Cox 1987, A constructive procedure
for unbiased controlled rounding, Journal of the American Statistical Association 82).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import UsageError

__all__ = ["Chance", "Design", "arm_weights", "controlled_rounding"]

Ints = NDArray[np.int64]


class Chance:
    """Random numbers of which each pair of a seed and a purpose has its own.

    From the raw output of numpy's Philox generator, which no release of numpy changes; what is made of raw output is.
    """

    def __init__(self, seed: int, *purpose: int) -> None:
        self._bits = np.random.Philox(np.random.SeedSequence(seed, spawn_key=purpose))

    def raw(self, count: int) -> NDArray[np.uint64]:
        """Whole numbers below 2^64, shape (count,)."""
        numbers: NDArray[np.uint64] = self._bits.random_raw(count)
        return numbers

    def below(self, bound: int) -> int:
        """One whole number below `bound`, which is small beside 2^64."""
        return int(self._bits.random_raw()) % bound


@dataclass(frozen=True, eq=False)
class Design:
    """How units are assigned to arms.

    Parameters
    ----------
    copies
        How often each arm is inserted, shape (arms,); with pairs, arm 0 is that of the twins held out.
    weights
        Shares of the arms as whole numbers (see `arm_weights`); with pairs, of the arms but 0.
    blocks
        Number of each unit's block, or of each pair's; shape (units,) or (pairs,).
    seed
        A whole number.
    pairs
        Unit numbers of the twins, shape (pairs, 2): one of each pair is held out. None without pairs.
    """

    copies: tuple[int, ...]
    weights: tuple[int, ...]
    blocks: Ints
    seed: int
    pairs: Ints | None = None

    def draw(self, number: int = 0) -> Ints:
        """The arm of each unit, shape (units,), in draw `number`; equal numbers give equal draws.

        Draw 0 is the assignment that is made, all others are what might have been, each as likely.
        """
        chance = Chance(self.seed, 0, number)
        arms = self._arms(chance)
        if self.pairs is None:
            return arms
        drawn = np.zeros(self.pairs.size, dtype=np.int64)
        # The high bit: all bits are as good as each other, and this one needs no mask.
        inserted = (chance.raw(len(self.pairs)) >> np.uint64(63)).astype(np.int64)
        drawn[self.pairs[np.arange(len(self.pairs)), inserted]] = 1 + arms
        return drawn

    def _arms(self, chance: Chance) -> Ints:
        sizes = np.bincount(self.blocks)
        counts = controlled_rounding(sizes, self.weights, chance)
        order = np.lexsort((chance.raw(len(self.blocks)), self.blocks))
        arms = np.empty(len(self.blocks), dtype=np.int64)
        arms[order] = np.repeat(np.tile(np.arange(len(self.weights)), len(sizes)), counts.ravel())
        return arms


def arm_weights(shares: Sequence[str | float | int], arms: int) -> tuple[int, ...]:
    """Shares as whole numbers without a common divisor; none given are equal shares.

    Raises
    ------
    UsageError
        Not as many as arms, or one that is no positive number.
    """
    if not shares:
        return (1,) * arms
    if len(shares) != arms:
        raise UsageError(f"--shares: {len(shares)} shares for {arms} arms; give one for each")
    try:
        exact = [Fraction(str(each)) for each in shares]
    except (ValueError, ZeroDivisionError) as error:
        raise UsageError(f"--shares: {', '.join(map(str, shares))}: not numbers; write .5,.1,.1 or 5,1,1") from error
    if min(exact) <= 0:
        raise UsageError("--shares: every arm needs a share above 0; leave arms that get none out of --copies")
    common = math.lcm(*(each.denominator for each in exact))
    whole = [int(each * common) for each in exact]
    divisor = math.gcd(*whole)
    weights = tuple(each // divisor for each in whole)
    if sum(weights) > 1_000_000:
        raise UsageError(f"--shares: {', '.join(map(str, shares))}: too fine; give shares of whole millionths")
    return weights


def controlled_rounding(sizes: Ints, weights: Sequence[int], chance: Chance) -> Ints:
    """How many units of each block go to each arm, shape (blocks, arms).

    Each number, and each column's sum, is its expectation rounded up or down, and is its expectation on average; each row's
    sum is the block's size.
    """
    total = sum(weights)
    exact = np.outer(sizes, np.array(weights, dtype=np.int64))
    counts, parts = np.divmod(exact, total)
    # A last row takes up what the columns' sums have over whole numbers; it is thrown away in the end.
    over = (-parts.sum(axis=0)) % total
    table: list[list[int]] = [*parts.tolist(), over.tolist()]
    rounded = [[0] * len(weights) for _ in table]
    unfinished: list[int] = []
    for row in range(len(table)):
        unfinished.append(row)
        while cycle := _cycle(table, unfinished):
            _round(table, rounded, cycle, total, chance)
        unfinished = [each for each in unfinished if any(table[each])]
    result: Ints = counts + np.array(rounded[:-1], dtype=np.int64)
    return result


def _cycle(table: Sequence[Sequence[int]], rows: Sequence[int]) -> list[tuple[int, int, int]]:
    """A closed walk over cells that are no whole numbers yet, by turns along a row and a column.

    For each row the arm at which it is entered and the one at which it is left. Empty if there is none; then fewer such rows
    than arms are left.
    """
    cells = {row: {arm for arm, part in enumerate(table[row]) if part} for row in rows}
    while True:  # what ends blind lies on no closed walk
        often = Counter(arm for arms in cells.values() for arm in arms)
        left = {row: kept for row, arms in cells.items() if len(kept := {arm for arm in arms if often[arm] > 1}) > 1}
        if left == cells:
            break
        cells = left
    if not cells:
        return []
    walk, entered = [min(cells)], [-1]
    while True:
        leave = min(cells[walk[-1]] - {entered[-1]})
        row = next(row for row, arms in cells.items() if leave in arms and row != walk[-1])
        if row not in walk:
            walk.append(row)
            entered.append(leave)
            continue
        first = walk.index(row)
        if entered[first + 1] == leave:  # three rows at one arm: the walk closes without the first
            first += 1
        entered[first] = leave
        return list(zip(walk[first:], entered[first:], [*entered[first + 1 :], leave], strict=True))


def _round(
    table: list[list[int]], rounded: list[list[int]], cycle: Sequence[tuple[int, int, int]], total: int, chance: Chance
) -> None:
    """Move as much as can be from cell to cell of a closed walk, either way, so that each cell keeps its expectation."""
    parts = [(table[row][entered], table[row][left]) for row, entered, left in cycle]
    up = min(min(total - entered, left) for entered, left in parts)
    down = min(min(entered, total - left) for entered, left in parts)
    move = up if chance.below(up + down) < down else -down
    for row, entered, left in cycle:
        for arm, change in ((entered, move), (left, -move)):
            over, table[row][arm] = divmod(table[row][arm] + change, total)
            rounded[row][arm] += over
