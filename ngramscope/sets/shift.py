"""How two samples of a number differ: a test of their means, distances of their distributions, intervals.

All by resampling, which asks nothing of the distributions and keeps groups together: a *unit* is a group of values (the
windows of a book) or a value that stands alone. Permutations deal the units out to the two sides anew; the bootstrap draws
units of each side with replacement.

The test of means is a permutation test of the difference over its standard error (Janssen 1997; Chung and Romano 2013): exact
where both samples come from one distribution, and right in large samples where only their means agree. The distances are
those of `scipy.stats` (`ks_2samp`, `mannwhitneyu`, `wasserstein_distance`, `energy_distance`), for many resamples at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "DISTANCES",
    "MeanTest",
    "TwoSamples",
    "bootstrap",
    "detectable_shift",
    "distances",
    "holm",
    "mean_test",
    "permute",
    "relabelled",
    "two_samples",
]

DISTANCES = ("ks", "auc", "wasserstein", "energy")
"""What `distances` gives beside the difference of the means."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Numbers in an array of resamples; arrays of this size stay in the processor's cache and end soon after Ctrl-C.
_CELLS = 1 << 20
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class TwoSamples:
    """Two samples and their units.

    Attributes
    ----------
    values
        Of both sides, shape (values,).
    unit
        For each value the number of its unit, shape (values,).
    first
        For each unit whether it is of the first side, shape (units,).
    """

    values: Floats
    unit: Ints
    first: NDArray[np.bool_]

    @property
    def units(self) -> tuple[int, int]:
        """How many units each side has."""
        ones = int(self.first.sum())
        return ones, len(self.first) - ones

    def shift(self) -> float:
        """Mean of the first side less that of the second."""
        ours = self.first[self.unit]
        return float(self.values[ours].mean() - self.values[~ours].mean())


def two_samples(
    first: ArrayLike, second: ArrayLike, groups: tuple[ArrayLike | None, ArrayLike | None] = (None, None)
) -> TwoSamples:
    """Make `TwoSamples` of two arrays.

    Parameters
    ----------
    first, second
        Values, shapes (n1,) and (n2,), without NaN.
    groups
        For each side None, or for each value the number of its group; a negative one stands alone. Groups of the two sides
        are different ones, whatever their numbers.
    """
    sides = [np.asarray(each, dtype=np.float64) for each in (first, second)]
    ones, others = (_units(each, len(side)) for each, side in zip(groups, sides, strict=True))
    count = int(ones.max(initial=-1)) + 1
    in_all = count + int(others.max(initial=-1)) + 1
    return TwoSamples(np.concatenate(sides), np.concatenate([ones, others + count]), np.arange(in_all) < count)


@dataclass(frozen=True)
class MeanTest:
    """Result of `mean_test`.

    Attributes
    ----------
    shift
        Mean of the first side less that of the second.
    standard_error
        Of the shift (Welch's; of groups, the one that is robust to them).
    p
        Share of the permutations (and the given labels) whose shift over its standard error is at least as far from 0.
    """

    shift: float
    standard_error: float
    p: float


def mean_test(samples: TwoSamples, permutations: int, random: np.random.Generator) -> MeanTest:
    """Permutation test of equal means, two-sided; of at least two units on each side."""
    sizes = np.bincount(samples.unit).astype(np.float64)
    # About the common mean, so that squares lose no digits.
    sums = np.bincount(samples.unit, weights=samples.values - samples.values.mean())
    powers = np.column_stack([np.ones_like(sizes), sizes, sums, sums**2, sums * sizes, sizes**2])
    total = powers.sum(axis=0)
    scale = np.abs(sums).sum() / sizes.sum()

    def studentized(labels: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        ones = labels.astype(np.float64) @ powers
        (mean, variance), (other_mean, other_variance) = _ratio(ones), _ratio(total - ones)
        error = np.sqrt(variance + other_variance)
        shift = np.where(np.abs(mean - other_mean) <= _SAME * scale, 0.0, mean - other_mean)
        flat = error <= _SAME * scale
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(flat & (shift == 0), 0.0, np.abs(shift) / np.where(flat, 0.0, error)), error

    observed, error = studentized(samples.first[None, :])
    beyond = sum(
        int(np.count_nonzero(studentized(labels)[0] >= observed[0] * (1 - _SAME)))
        for labels in relabelled(samples, permutations, random)
    )
    return MeanTest(samples.shift(), float(error[0]), (1 + beyond) / (1 + permutations))


def permute(samples: TwoSamples, permutations: int, random: np.random.Generator) -> dict[str, Floats]:
    """`distances` of the two sides after units have been dealt out anew; each of shape (permutations,)."""
    curves = _Curves(samples)
    return _joined(
        curves.distances(labels.astype(np.float64), (~labels).astype(np.float64))
        for labels in relabelled(samples, permutations, random)
    )


def bootstrap(samples: TwoSamples, resamples: int, random: np.random.Generator) -> dict[str, Floats]:
    """`distances` of resamples in which each side's units are drawn with replacement; each of shape (resamples,)."""
    curves = _Curves(samples)
    count = len(samples.first)
    sides = [np.flatnonzero(samples.first), np.flatnonzero(~samples.first)]

    def drawn(rows: int) -> dict[str, Floats]:
        weights = []
        for side in sides:
            chosen = side[random.integers(0, len(side), (rows, len(side)))] + count * np.arange(rows)[:, None]
            weights.append(np.bincount(chosen.ravel(), minlength=rows * count).reshape(rows, count).astype(np.float64))
        return curves.distances(*weights)

    return _joined(drawn(rows) for rows in _rows(resamples, len(samples.values)))


def relabelled(
    samples: TwoSamples, permutations: int, random: np.random.Generator, *, width: int | None = None
) -> Iterator[NDArray[np.bool_]]:
    """Whether units are of the first side after they have been dealt out anew, as many to each as before.

    Arrays of shapes (some, units), of as many permutations as fit when each is then worked on by `width` numbers.
    """
    for rows in _rows(permutations, len(samples.values) if width is None else width):
        yield random.permuted(np.broadcast_to(samples.first, (rows, len(samples.first))), axis=1)


def distances(samples: TwoSamples) -> dict[str, float]:
    """How the two distributions differ.

    Returns
    -------
    dict
        ``mean``: difference of the means, first less second. ``ks``: largest difference of the distribution functions.
        ``auc``: chance that a value of the first side is above one of the second, ties counted half (the Mann-Whitney
        statistic over the number of pairs). ``wasserstein``: area between the distribution functions, in the values' unit.
        ``energy``: energy distance.
    """
    first = samples.first[None, :].astype(np.float64)
    return {name: float(each[0]) for name, each in _Curves(samples).distances(first, 1 - first).items()}


def detectable_shift(standard_error: float, *, alpha: float, least: float = 0.0, power: float = 0.8) -> float:
    """The smallest true shift that is called in a share `power` of cases, the estimate being normal about it.

    It is called where the two-sided test at `alpha` rejects and the estimate is at least `least`.
    """
    normal = NormalDist()
    return max(normal.inv_cdf(1 - alpha / 2) * standard_error, least) + normal.inv_cdf(power) * standard_error


def holm(p: Sequence[float]) -> list[float]:
    """p-values that hold for all of them together (Holm 1979), in the order given."""
    adjusted = [0.0] * len(p)
    reached = 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=lambda each: p[each])):
        reached = max(reached, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = reached
    return adjusted


class _Curves:
    """The distribution functions of weighted units at all values that occur."""

    def __init__(self, samples: TwoSamples) -> None:
        order = np.argsort(samples.values, kind="stable")
        ordered = samples.values[order]
        self._unit = samples.unit[order]
        self._last = np.flatnonzero(np.append(np.diff(ordered) > 0, True))
        self._support = ordered[self._last]
        self._gaps = np.diff(self._support)

    def distances(self, first: Floats, second: Floats) -> dict[str, Floats]:
        """See `distances`; `first` and `second` are weights of the units, shapes (resamples, units)."""
        one, other = self._reached(first), self._reached(second)
        between = one - other
        inner = between[:, :-1]
        steps = np.diff(one, axis=1, prepend=0.0)
        below = other - np.diff(other, axis=1, prepend=0.0) / 2
        return {
            "mean": -(inner @ self._gaps),  # what a mean is by parts
            "ks": np.abs(between).max(axis=1),
            "auc": (steps * below).sum(axis=1),
            "wasserstein": np.abs(inner) @ self._gaps,
            "energy": np.sqrt(2 * (inner**2 @ self._gaps)),
        }

    def _reached(self, weights: Floats) -> Floats:
        sums = np.cumsum(weights[:, self._unit], axis=1)[:, self._last]
        reached: Floats = sums / sums[:, -1:]
        return reached


def _units(groups: ArrayLike | None, count: int) -> Ints:
    """Numbers from 0 without gaps, one for each group and one for each value that stands alone."""
    if groups is None:
        return np.arange(count)
    numbers = np.asarray(groups, dtype=np.int64)
    alone = numbers < 0
    named = np.where(alone, numbers.max(initial=-1) + 1 + np.arange(count), numbers)
    return np.unique(named, return_inverse=True)[1].reshape(count)


def _ratio(powers: Floats) -> tuple[Floats, Floats]:
    """Mean of the values of weighted units, and the variance of that mean; of sums of `powers`, shape (resamples, 6)."""
    units, sizes, sums, squares, products, squared_sizes = powers.T
    mean = sums / sizes
    spread = np.maximum(squares - 2 * mean * products + mean**2 * squared_sizes, 0.0)
    return mean, spread / sizes**2 * units / (units - 1)


def _rows(total: int, width: int) -> Iterator[int]:
    """`total` in parts, each of which makes arrays of a bearable size."""
    most = max(1, _CELLS // max(1, width))
    for start in range(0, total, most):
        yield min(most, total - start)


def _joined(parts: Iterator[dict[str, Floats]]) -> dict[str, Floats]:
    found = list(parts)
    return {name: np.concatenate([each[name] for each in found]) for name in ("mean", *DISTANCES)} if found else {}
