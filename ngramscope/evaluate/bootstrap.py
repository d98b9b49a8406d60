"""What AUCs and TPRs would have been with other documents of the same kind: a stratified bootstrap, all attacks at once.

Units (groups, or documents that stand alone) are drawn with replacement, as many as there are, apart from one another for those
that have members only, non-members only, and both. All attacks see the same draws, so differences have paired intervals.

Nothing is sorted anew: each attack's order is found once. In that order a resample is a vector of weights, the ROC curve its
running sums, the AUC a dot product and a threshold a binary search. Resamples lie side by side in memory, so each of
these steps works on a row of them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.delong import Part
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.tpr import FPRS, RULES

__all__ = ["Resampled", "bootstrap", "draws", "percentiles"]

_SIDE_BY_SIDE = 32
_ROUNDING = 1e-12
_CELLS = 1 << 23
"""Weights in memory at once; fewer resamples side by side for more documents than this allows."""


@dataclass(frozen=True, eq=False)
class Resampled:
    """Numbers of B resamples.

    Attributes
    ----------
    auc
        (A, B); NaN where one side has no score.
    tpr
        (A, F, B), at F false positive rates.
    cut
        (A, F, B): a document is flagged if it scores more than this; of the last part where there are several.
        NaN for the rule ``interp``, for which there is none.
    """

    auc: Floats
    tpr: Floats
    cut: Floats


def bootstrap(
    parts: Sequence[Part],
    members: Mask,
    unit: Ints | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
    fprs: Sequence[float] = FPRS,
    rule: str = RULES[0],
    progress: Callable[[int], None] | None = None,
) -> Resampled:
    """Resample documents and compute each attack's AUC and TPRs, averaged over the parts.

    Parameters
    ----------
    parts
        Scores; see `delong.Part`. N documents in each.
    members
        (N,).
    unit
        (N,) numbers of units (`groups.units`); None: each document stands alone.
    progress
        Is called with the number of resamples done so far.

    Returns
    -------
    Resampled
        The same for the same seed, whatever the number of threads.
    """
    attacks = len(parts[0].scores)
    total = sum(part.weight for part in parts)
    orders = [[_Order(values, members) for values in part.scores] for part in parts]
    found = Resampled(
        np.zeros((attacks, resamples)), np.zeros((attacks, len(fprs), resamples)), np.zeros((attacks, len(fprs), resamples))
    )
    done = 0
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        for start, weights in draws(members, unit, resamples, seed):
            block = slice(start, start + weights.shape[1])

            def one(number: int, weights: Floats = weights, block: slice = block) -> None:
                for part, order in zip(parts, orders, strict=True):
                    auc, tpr, cut = order[number].evaluate(weights, fprs, rule)
                    found.auc[number, block] += part.weight / total * auc
                    found.tpr[number, :, block] += part.weight / total * tpr
                    found.cut[number, :, block] = cut

            list(pool.map(one, range(attacks)))
            done += weights.shape[1]
            if progress is not None:
                progress(done)
    return found


def draws(members: Mask, unit: Ints | None, resamples: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """How often each document is drawn: pairs of the first resample's number and weights, shape (N, some)."""
    numbers = np.arange(len(members)) if unit is None else unit
    count = int(numbers.max(initial=-1)) + 1
    has = [np.bincount(numbers[side], minlength=count) > 0 for side in (members, ~members)]
    kinds = [np.flatnonzero(each) for each in (has[0] & ~has[1], has[1] & ~has[0], has[0] & has[1])]
    width = max(1, min(_SIDE_BY_SIDE, _CELLS // max(1, len(members))))
    starts = range(0, resamples, width)
    for start, sequence in zip(starts, np.random.SeedSequence(seed).spawn(len(starts)), strict=True):
        random = np.random.default_rng(sequence)
        some = min(width, resamples - start)
        drawn = np.zeros((count, some))
        for kind in filter(len, kinds):
            chosen = random.integers(0, len(kind), (some, len(kind))) + len(kind) * np.arange(some)[:, None]
            drawn[kind] = np.bincount(chosen.ravel(), minlength=some * len(kind)).reshape(some, len(kind)).T
        yield start, drawn[numbers] if unit is not None else drawn


def percentiles(values: Floats, level: float = 0.95, units: int | None = None) -> tuple[Floats, Floats]:
    """The interval that holds the middle share `level` of resamples; of values (..., B), two arrays of shape (...).

    Resamples of n `units` spread too little, by a factor of sqrt(1 - 1/n), and with tails that are too light: a larger share is
    taken that makes up for it (the expanded percentile interval; Hesterberg, The American Statistician 69, 2015).
    """
    tail = (1 - level) / 2
    if units is not None:
        from scipy.stats import norm, t

        tail = float(norm.cdf(math.sqrt(units / (units - 1)) * t.ppf(tail, units - 1)))
    low, high = np.quantile(values, [tail, 1 - tail], axis=-1)
    return low, high


class _Order:
    """Members and non-members of one attack from the highest score down, and where the ones stand among the others."""

    def __init__(self, scores: Floats, members: Mask) -> None:
        used = ~np.isnan(scores)
        self._ours, self._others = (_descending(scores, used & side) for side in (members, ~members))
        values, ours = -scores[self._others], -scores[self._ours]
        # Non-members that score the same are one step of the curve.
        self._last = np.flatnonzero(np.append(np.diff(values) > 0, True)) if len(values) else np.zeros(0, np.int64)
        steps = values[self._last]
        self._cuts = np.append(-steps, -np.inf)
        self._above = np.searchsorted(ours, steps, "left")
        self._reached = np.searchsorted(ours, steps, "right")
        self._untied = np.array_equal(self._above, self._reached)

    def evaluate(self, weights: Floats, fprs: Sequence[float], rule: str) -> tuple[Floats, Floats, Floats]:
        """AUC (B,), TPRs and cuts (F, B) under weights (N, B)."""
        width = weights.shape[1]
        if not len(self._ours) or not len(self._others):
            nothing = np.full((len(fprs), width), np.nan)
            return nothing[0], nothing, nothing
        found = np.empty((len(self._ours) + 1, width))
        found[0] = 0.0
        np.cumsum(weights[self._ours], axis=0, out=found[1:])
        drawn = weights[self._others]
        if len(self._last) < len(drawn):
            drawn = np.add.reduceat(drawn, np.append(0, self._last[:-1] + 1), axis=0)
        pairs = np.einsum("ij,ij->j", drawn, found[self._above])
        if not self._untied:
            pairs = (pairs + np.einsum("ij,ij->j", drawn, found[self._reached])) / 2
        false = np.cumsum(drawn, axis=0, out=drawn)
        n1, n0 = found[-1], false[-1]
        with np.errstate(invalid="ignore", divide="ignore"):  # a resample may have none of a part's documents
            tpr, cut = self._tprs(found, false, np.asarray(fprs)[:, None] * np.ones(width), rule)
            return pairs / (n1 * n0), tpr / n1, cut

    def _tprs(self, found: Floats, false: Floats, targets: Floats, rule: str) -> tuple[Floats, Floats]:
        """Members found, and cuts, both (F, B); see `tpr` for the rules."""
        n0 = false[-1]
        if rule == "lt":
            step = _count(false, np.ceil(targets * n0 * (1 - _ROUNDING)) - 1)
            return _pick(found, self._above, step), self._cuts[step]
        step = _count(false, np.floor(targets * n0 * (1 + _ROUNDING)))  # the first that is not taken
        tpr = _pick(found, self._above, step)
        if rule == "le":
            return tpr, self._cuts[step]
        before = np.where(step > 0, _at(false, step - 1), 0.0) / n0
        after = _at(false, step) / n0
        if rule == "interp":
            along = np.where(after > before, (targets - before) / (after - before), 0.0)
            return tpr + np.clip(along, 0, 1) * (_pick(found, self._reached, step) - tpr), np.full(tpr.shape, np.nan)
        # The first point with the nearest FPR: its last step has only just been taken, or there is none.
        further = (after - targets < targets - before) & (step < len(false))
        last = np.where(further, step, _count(false, before * n0 - 0.5))
        none = ~further & (before == 0)
        cut = np.where(none, np.inf, np.nextafter(self._cuts[last], -np.inf))
        return np.where(none, 0.0, _pick(found, self._reached, last)), cut


def _descending(scores: Floats, side: Mask) -> Ints:
    rows = np.flatnonzero(side)
    order: Ints = rows[np.argsort(-scores[rows], kind="stable")]
    return order


def _count(rising: Floats, bounds: Floats) -> NDArray[np.int64]:
    """(F, B): how many values of each column, (n, B) and rising, are at most the bound of shape (F, B)."""
    low = np.zeros(bounds.shape, dtype=np.int64)
    high = np.full(bounds.shape, len(rising))
    for _ in range(len(rising).bit_length()):
        middle = (low + high) // 2
        below = (_at(rising, middle) <= bounds) & (middle < high)
        low = np.where(below, middle + 1, low)
        high = np.where(below, high, middle)
    return low


def _at(values: Floats, rows: Ints) -> Floats:
    """Values (n, B) of each column at rows (F, B), those beyond an end taken from the end."""
    picked: Floats = np.take_along_axis(values, np.clip(rows, 0, len(values) - 1), axis=0)
    return picked


def _pick(found: Floats, places: Ints, step: Ints) -> Floats:
    """Members found when the steps before `step`, shape (F, B), are taken; all when there is no other."""
    return _at(found, np.append(places, len(found) - 1)[step])
