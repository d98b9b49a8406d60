"""Conditional gain: what an attack adds to the blind ceiling.

For each fold, a logistic regression over the ceiling's log-odds and the attack's score is learned on the other folds; the gain
is the AUC of what it gives for the fold less that of the ceiling alone, averaged over folds.

Null hypothesis of the p-value: given what the ceiling and every baseline say, an attack's score says nothing of the label.
Scores are taken as what these predict of them (a cubic of the ceiling, the baselines linearly) and a rest; rests are dealt out
anew among documents, or groups, of one fold and about the same log-odds of the ceiling (bins of at least 20), and all is
learned again. The ceiling alone would not do: it is diluted by baselines that see nothing, and an attack that sees what one of
them sees, but more clearly than the stack, is no more than text. A score that says something of the text which all baselines
have missed does not fulfil the hypothesis: compare with a placebo model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ngramscope.blind.learners import apply, newton
from ngramscope.blind.study import BlindStudy, mean_auc, p_value
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.permute import bins, shuffled

__all__ = ["Gain", "conditional_gain"]

_BINS = 10
_DEGREE = 3
_FEWEST = 10
_BATCHES = 5
_CLEAR = 0.1


@dataclass(frozen=True)
class Gain:
    """What an attack adds.

    Attributes
    ----------
    gain
        Mean over folds of the AUC of ceiling and attack together less that of the ceiling; None if there is none.
    p
        One-sided: share of permutations (the given scores included) with a gain at least as large.
    weight
        Mean weight of the attack's score (normal scores of its ranks) in the log-odds; below 0: it was learned turned round.
    permutations
        That were made.
    reason
        Why there is no gain.
    """

    gain: float | None
    p: float | None
    weight: float | None
    permutations: int = 0
    reason: str | None = None


def conditional_gain(
    study: BlindStudy, parts: Floats, members: Mask, unit: Ints, *, permutations: int = 200, seed: int = 0
) -> Gain:
    """The gain of one attack.

    Parameters
    ----------
    study
        Of the same N documents.
    parts
        (S, N): scores by one attack, S = 1; or of S splits of a learned attack, whose gains are averaged. NaN: not used.
    members, unit
        (N,): sides and numbers of units.
    permutations
        Of a batch. There are up to five, so that many attacks can be corrected for; no more once p is above .1 (after Besag and
        Clifford 1991).
    seed
        Of the permutations. The order of documents has a say: sort them first.
    """
    if study.ceiling.auc is None:
        return Gain(None, None, None, reason=study.ceiling.reason)
    for used in np.isfinite(parts):
        if min(np.count_nonzero(members & used), np.count_nonzero(~members & used)) < _FEWEST:
            return Gain(None, None, None, reason=f"fewer_than_{_FEWEST}_scores_on_a_side")
    random = np.random.default_rng(seed)
    statistics, weight = _batch(study, parts, members, unit, permutations, random)
    if np.isnan(statistics[0]):
        return Gain(None, None, None, reason="no_fold_with_both_sides")
    for _ in range(_BATCHES - 1 if permutations else 0):
        if (p_value(statistics) or 0.0) > _CLEAR:
            break
        more, _ = _batch(study, parts, members, unit, permutations, random)
        statistics = np.concatenate([statistics, more[1:]])
    return Gain(float(statistics[0]), p_value(statistics), weight, len(statistics) - 1)


def _batch(
    study: BlindStudy, parts: Floats, members: Mask, unit: Ints, permutations: int, random: np.random.Generator
) -> tuple[Floats, float]:
    """(1 + P,) gains of the scores and of permuted ones, means over parts and repeats; and the mean weight of the scores."""
    gains, weights = [], []
    for scores in parts:
        used = np.flatnonzero(np.isfinite(scores))
        normal = _normal_scores(scores[used])
        for repeat, every in enumerate(study.folds):
            folds = every[used]
            # Of a fold the ranks: each has fits of its own.
            ceiling, *others = (_within(each[repeat, used], folds) for each in (study.scores, *study.by_baseline.values()))
            drawn = _permuted(normal, ceiling, others, folds, unit[used], permutations, random)
            found, learned = _gains(study, repeat, drawn, used, members)
            gains.append(found)
            weights.append(learned)
    return np.mean(gains, axis=0), float(np.mean(weights))


def _gains(study: BlindStudy, repeat: int, scores: Floats, used: Ints, members: Mask) -> tuple[Floats, float]:
    """(1 + P,) gains of scores (1 + P, n) of the documents `used`, and the mean weight of the first in the log-odds."""
    folds, sides = study.folds[repeat, used], members[used]
    count = study.training.shape[1]
    blind_only = study.scores[repeat, used][:, None]
    # Where nothing can be learned, nothing is gained.
    together, weights = np.repeat(blind_only, len(scores), axis=1), []
    for left in range(count):
        test = folds == left
        if not test.any() or len(np.unique(sides[~test])) < 2:
            continue
        known = study.training[repeat, left, used[~test]]
        centre, spread = known.mean(), known.std() or 1.0
        design, ahead = (
            np.stack([np.broadcast_to((blind - centre) / spread, each.shape), each], axis=2)
            for blind, each in ((known, scores[:, ~test]), (blind_only[test, 0], scores[:, test]))
        )
        learned = newton(design, sides[None, ~test])
        weights.append(learned[0, 2])
        together[test] = apply(ahead, learned).T
    labels = sides[:, None]
    gains = mean_auc(together, labels, folds, count) - mean_auc(blind_only, labels, folds, count)
    return gains, float(np.mean(weights or [np.nan]))


def _permuted(
    scores: Floats,
    ceiling: Floats,
    others: Sequence[Floats],
    folds: Ints,
    unit: Ints,
    permutations: int,
    random: np.random.Generator,
) -> Floats:
    """(1 + P, n): the scores, and scores whose rest, beyond what the ceiling and the baselines predict, is another's.

    Of groups the mean rest is dealt out anew; how documents differ from it is dealt out within the group.
    """
    known = np.column_stack([np.vander(ceiling, _DEGREE + 1), *others])
    predicted = known @ np.linalg.lstsq(known, scores, rcond=None)[0]
    rest = scores - predicted
    unit = np.unique(unit, return_inverse=True)[1]
    sizes = np.bincount(unit)
    first = np.unique(unit, return_index=True)[1]
    means = np.bincount(unit, weights=rest) / sizes
    # A mean of many varies less than a single one.
    strata = 2 * folds[first] + (sizes > 1)
    place = bins(np.bincount(unit, weights=ceiling) / sizes, strata, _BINS)
    grouped = np.flatnonzero(sizes[unit] > 1)
    within = rest - means[unit]
    found = np.empty((1 + permutations, len(scores)))
    found[0] = scores
    for row in range(1, 1 + permutations):
        found[row] = predicted + shuffled(means, place, random)[unit]
        if len(grouped):
            found[row, grouped] += shuffled(within[grouped], unit[grouped], random)
    return found


def _within(values: Floats, folds: Ints) -> Floats:
    """Normal scores of the ranks in each fold."""
    found = np.empty(len(values))
    for each in np.unique(folds):
        found[folds == each] = _normal_scores(values[folds == each])
    return found


def _normal_scores(values: Floats) -> Floats:
    """Ranks as quantiles of the normal law: like an AUC they do not change if all values are transformed alike."""
    from scipy.stats import norm, rankdata

    found: Floats = norm.ppf((rankdata(values) - 0.5) / len(values))
    return found
