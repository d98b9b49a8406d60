"""Is a data set more like what a model was trained on than held-out data of its kind? One test, on arrays.

Maini et al. 2024 (arXiv 2406.06443): on one half of the documents a linear model learns which attacks tell the suspect set
from the held-out one; on the other half its scores are compared. What clips and scales the attacks' scores is taken from the
first half alone. Puerto et al. 2024 compare collections by their t statistic without learning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.delong import Part, auc_interval, measure, standard_error
from ngramscope.evaluate.groups import Ints

__all__ = ["LEARNERS", "LEAST", "TESTS", "Tested", "halves", "infer", "p_values", "unit_means"]

LEAST = 20
"""Units (groups, or documents that stand alone) of a side below which there is no test."""

TESTS = ("permutation", "welch", "mann_whitney")
"""One-sided tests that suspects score higher; the first is the one that is declared beforehand."""

_CLIP = (0.025, 0.975)
_CELLS = 1 << 20
"""Numbers in an array of permutations."""

Scorer = Callable[[Floats], Floats]


def _logistic(features: Floats, suspects: Mask) -> Scorer:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=1.0, max_iter=5000).fit(features, suspects)
    return lambda values: np.asarray(model.decision_function(values), dtype=np.float64)


def _linear(features: Floats, suspects: Mask) -> Scorer:
    from sklearn.linear_model import Ridge

    model = Ridge(alpha=1.0).fit(features, suspects.astype(np.float64))
    return lambda values: np.asarray(model.predict(values), dtype=np.float64)


LEARNERS: Mapping[str, Callable[[Floats, Mask], Scorer] | None] = MappingProxyType(
    {"logistic": _logistic, "linear": _linear, "none": None}
)
"""``none``: the mean of the standardised attacks, and all documents are compared; of one attack, its score."""


@dataclass(frozen=True)
class Tested:
    """A comparison of suspects with held-out documents.

    Attributes
    ----------
    suspects, held_out
        Units that are compared: of the second half, if something was learned on the first.
    t
        Welch's statistic of the units' means.
    p
        By name of `TESTS`, one-sided; None where nothing varies.
    difference
        Of the means, in standard deviations of the held-out ones.
    auc, interval
        Of the documents compared; the interval is of units.
    reason
        Why there is no test.
    """

    suspects: int
    held_out: int
    t: float | None
    p: Mapping[str, float | None]
    difference: float | None
    auc: float | None
    interval: tuple[float, float] | None
    reason: str | None = None


def infer(
    features: Floats,
    suspects: Mask,
    unit: Ints,
    *,
    learner: str = "logistic",
    permutations: int = 999,
    random: np.random.Generator,
) -> Tested:
    """Compare suspects with held-out documents.

    Parameters
    ----------
    features
        (N, F) finite scores of the attacks.
    suspects
        (N,).
    unit
        (N,) numbers of units; their documents stay in one half, and are averaged before they are compared.
    """
    counts = len(np.unique(unit[suspects])), len(np.unique(unit[~suspects]))
    if min(counts) < LEAST:
        return Tested(*counts, None, dict.fromkeys(TESTS), None, None, None, f"fewer_than_{LEAST}_units")
    train = np.zeros(len(unit), bool) if LEARNERS[learner] is None else halves(unit, suspects, random)
    scores = _scores(features, suspects, train, learner)
    second = ~train
    ours, others = (unit_means(scores, unit, second & side) for side in (suspects, ~suspects))
    t, p = p_values(ours, others, permutations, random)
    measured = measure([Part(scores[second][None])], suspects[second])
    auc = float(measured.auc[0])
    error = standard_error(measured.moved[0], measured.used[0], suspects[second], unit[second])
    spread = float(others.std(ddof=1))
    difference = float(ours.mean() - others.mean()) / spread if spread > 0 else None
    return Tested(len(ours), len(others), t, p, difference, auc, auc_interval(auc, error))


def _scores(features: Floats, suspects: Mask, train: Mask, learner: str) -> Floats:
    """(N,): what the learner makes of all documents; nothing of those that are not for training has a say in how."""
    make = LEARNERS[learner]
    source = features if make is None else features[train]
    low, high = np.quantile(source, _CLIP, axis=0)
    clipped = np.clip(source, low, high)
    mean, spread = clipped.mean(axis=0), clipped.std(axis=0)
    varies = spread > 1e-12 * np.maximum(1.0, np.abs(mean))
    if not varies.any():
        return np.zeros(len(features))
    scaled = ((np.clip(features, low, high) - mean) / np.where(varies, spread, 1.0))[:, varies]
    return scaled.mean(axis=1) if make is None else make(scaled[train], suspects[train])(scaled)


def halves(unit: Ints, suspects: Mask, random: np.random.Generator) -> Mask:
    """(N,): a random half of the units, of those with suspects only, with others only, and with both."""
    count = int(unit.max()) + 1
    has = [np.bincount(unit[side], minlength=count) > 0 for side in (suspects, ~suspects)]
    chosen = np.zeros(count, dtype=np.bool_)
    for kind in (has[0] & ~has[1], has[1] & ~has[0], has[0] & has[1]):
        units = random.permutation(np.flatnonzero(kind))
        chosen[units[: len(units) // 2]] = True
    found: Mask = chosen[unit]
    return found


def unit_means(scores: Floats, unit: Ints, chosen: Mask) -> Floats:
    """Mean score of each unit's chosen documents, in order of the units."""
    numbers, place = np.unique(unit[chosen], return_inverse=True)
    means: Floats = np.bincount(place, scores[chosen], len(numbers)) / np.bincount(place, minlength=len(numbers))
    return means


def p_values(
    ours: Floats, others: Floats, permutations: int, random: np.random.Generator
) -> tuple[float | None, dict[str, float | None]]:
    """Welch's t and the p-values of `TESTS` that `ours` (n,) are higher than `others` (m,); None where nothing varies."""
    from scipy.stats import mannwhitneyu, ttest_ind

    if np.ptp(np.concatenate([ours, others])) == 0:
        return None, dict.fromkeys(TESTS)
    welch = ttest_ind(ours, others, equal_var=False, alternative="greater")
    rank = mannwhitneyu(ours, others, alternative="greater")
    t = float(welch.statistic)
    found = {
        "permutation": _permutation_p(ours, others, permutations, random) if permutations else None,
        "welch": float(welch.pvalue),
        "mann_whitney": float(rank.pvalue),
    }
    return (t if np.isfinite(t) else None), {name: found[name] for name in TESTS}


def _permutation_p(ours: Floats, others: Floats, permutations: int, random: np.random.Generator) -> float:
    """Of the difference of the means over its standard error (Janssen 1997): also right if only the means agree."""
    values = np.concatenate([ours, others])
    values = values - values.mean()
    first = np.arange(len(values)) < len(ours)
    observed = float(_studentized(first[None], values)[0])
    reached, at_once = 0, max(1, _CELLS // len(values))
    for start in range(0, permutations, at_once):
        rows = min(at_once, permutations - start)
        labels = random.permuted(np.broadcast_to(first, (rows, len(first))), axis=1)
        slack = 1e-9 * max(1.0, abs(observed)) if np.isfinite(observed) else 0.0
        reached += int(np.count_nonzero(_studentized(labels, values) >= observed - slack))
    return (1 + reached) / (1 + permutations)


def _studentized(labels: Mask, values: Floats) -> Floats:
    """(B,): Welch's t of labels (B, n); infinite where neither side varies."""
    sizes = np.array([[labels[0].sum()], [(~labels[0]).sum()]], dtype=np.float64)
    sums = np.stack([labels @ values, ~labels @ values])
    squares = np.stack([labels @ values**2, ~labels @ values**2])
    variances = np.maximum(squares - sums**2 / sizes, 0.0) / (sizes - 1) / sizes
    shift, error = sums[0] / sizes[0] - sums[1] / sizes[1], np.sqrt(variances.sum(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error > 0, shift / error, np.where(np.abs(shift) < 1e-12, 0.0, np.sign(shift) * np.inf))
