"""All baselines on one set, out of fold, and the ceiling: one stack of them.

The stack is a logistic regression over the baselines' scores. What it learns from are scores of documents that the baselines
did not learn from either, and no document of the fold that it is evaluated on has a say: for each pair of folds, baselines are
also fitted without both. p-values come from permuted labels, with which all of this is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ngramscope.blind.base import Baseline, BlindInputs, Learner, NoFeaturesError, baselines
from ngramscope.blind.folds import FoldRule, folds_of, too_small
from ngramscope.blind.learners import apply, newton
from ngramscope.evaluate.auc import Floats, Mask, column_aucs
from ngramscope.evaluate.delong import TOO_FEW, Part, auc_interval, measure, standard_error
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.permute import permuted_labels

__all__ = ["CEILING", "BlindResult", "BlindStudy", "blind_study", "fold_parts", "mean_auc", "p_value"]

CEILING = "ceiling"
"""Name of the stack."""

_CUT = 4.0
"""Standardised scores of baselines beyond this count as this: naive Bayes is very sure of long texts."""

_TIE = 1e-12


@dataclass(frozen=True)
class BlindResult:
    """What a baseline, or the ceiling, reaches.

    Attributes
    ----------
    name
        Of the baseline.
    auc
        Mean of the folds' AUCs, each out of fold; None if there is none.
    interval
        From DeLong's errors, what was learned held fixed.
    p
        Share of permuted labels (the given ones included) with an AUC at least as large.
    reason
        Why there is no AUC, or no interval.
    """

    name: str
    auc: float | None
    interval: tuple[float, float] | None
    p: float | None
    reason: str | None = None


@dataclass(frozen=True, eq=False)
class BlindStudy:
    """Baselines on one set.

    Attributes
    ----------
    baselines, ceiling
        Results.
    folds
        (repeats, N).
    scores
        (repeats, N): the ceiling's log-odds, out of fold; NaN if there is no ceiling.
    by_baseline
        By name (repeats, N) scores of each baseline that could learn, out of fold.
    training
        (repeats, folds, N): log-odds of the stack for the documents that it learned from; NaN in the fold left out.
    reason
        Why there is no number at all.
    """

    baselines: tuple[BlindResult, ...]
    ceiling: BlindResult
    folds: Ints
    scores: Floats
    training: Floats
    reason: str | None = None
    by_baseline: Mapping[str, Floats] = field(default_factory=dict)


def blind_study(
    inputs: BlindInputs,
    members: Mask,
    unit: Ints,
    rule: FoldRule,
    *,
    level: float = 0.95,
    chosen: Mapping[str, Baseline] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> BlindStudy:
    """Run every baseline and the ceiling.

    Parameters
    ----------
    members, unit
        (N,): sides, and numbers of units (`groups.units`).
    level
        Of the intervals.
    chosen
        Baselines by name; None: all that there are, as declared before any label was seen.
    progress
        Called with fits done and fits in all.
    """
    chosen = baselines() if chosen is None else chosen
    reason = too_small(members, unit, rule.folds)
    folds = np.zeros((rule.repeats, len(members)), dtype=np.int64)
    if reason is None:
        folds = folds_of(members, unit, rule)
        reason = _a_side_in_few_folds(folds, members, rule.folds)
    if reason is not None:
        none = [BlindResult(name, None, None, None, reason) for name in (*chosen, CEILING)]
        missing = np.full((rule.repeats, rule.folds, len(members)), np.nan)
        return BlindStudy(tuple(none[:-1]), none[-1], folds, missing[:, 0], missing, reason)
    random = np.random.default_rng(rule.seed)
    labels = permuted_labels(members, unit, folds[0], rule.permutations, random)
    # On one thread of the linear algebra, so that the machine has no say in the last digit.
    with threadpool_limits(1):
        learners, reasons = _learners(inputs, chosen)
        stack = _Stack(list(learners.values()), labels, folds, rule.folds, progress)
    tested = dict(zip((*learners, CEILING), range(len(learners) + 1), strict=True))

    def result(name: str) -> BlindResult:
        if name not in tested:
            return BlindResult(name, None, None, None, reasons.get(name, "no_baseline"))
        place = tested[name]
        moments = measure(list(fold_parts(stack.observed[place][None], folds, members)), members)
        auc = float(stack.aucs[place, 0])
        error = standard_error(moments.moved[0], moments.used[0], members, unit)
        reason = TOO_FEW if np.isnan(error) else None
        return BlindResult(name, auc, auc_interval(auc, error, level), p_value(stack.aucs[place]), reason)

    results = [result(name) for name in sorted((*learners, *reasons))]
    scores = dict(zip(learners, stack.observed, strict=False))
    return BlindStudy(tuple(results), result(CEILING), folds, stack.observed[-1], stack.training, by_baseline=scores)


def p_value(statistics: Floats) -> float | None:
    """Of the first against those of permutations: larger ones, and undefined ones, count against it."""
    null = statistics[1:]
    if not len(null):
        return None
    return float((1 + np.count_nonzero(~(null < statistics[0] - _TIE))) / (1 + len(null)))


def fold_parts(scores: Floats, folds: Ints, members: Mask) -> Iterator[Part]:
    """Parts whose mean AUC is that within folds: of scores (A, repeats, N), each fold in which both sides are.

    A document counts where all of its A scores are there.
    """
    for at, division in enumerate(folds):
        there = np.isfinite(scores[:, at]).all(axis=0)
        for fold in np.unique(division):
            here = there & (division == fold)
            if (here & members).any() and (here & ~members).any():
                yield Part(np.where(here, scores[:, at], np.nan))


def mean_auc(scores: NDArray[np.float64], labels: NDArray[np.bool_], folds: Ints, count: int) -> Floats:
    """(P,): mean of the AUCs within folds, over those in which both sides are; of scores and labels (N, P)."""
    aucs = np.stack([column_aucs(scores[folds == each], labels[folds == each]) for each in range(count)])
    present = ~np.isnan(aucs)
    with np.errstate(invalid="ignore"):
        found: Floats = np.where(present, aucs, 0.0).sum(axis=0) / present.sum(axis=0)
    return found


class _Stack:
    """All fits of a study.

    Attributes
    ----------
    aucs
        (B + 1, 1 + P): of each baseline and of the stack, for the labels and for their permutations.
    observed
        (B + 1, repeats, N): out-of-fold scores for the labels as they are.
    training
        See `BlindStudy`.
    """

    def __init__(
        self, learners: Sequence[Learner], labels: NDArray[np.bool_], folds: Ints, count: int,
        progress: Callable[[int, int], None] | None,
    ) -> None:  # fmt: skip
        self._learners, self._labels, self._count = learners, labels, count
        repeats, documents = folds.shape
        self._fits, self._progress = (0, repeats * len(learners) * count * (count + 1) // 2), progress
        self.observed = np.full((len(learners) + 1, repeats, documents), np.nan)
        self.training = np.full((repeats, count, documents), np.nan)
        by_repeat = [self._one(repeat, each) for repeat, each in enumerate(folds)]
        self.aucs: Floats = np.mean(by_repeat, axis=0)

    def _one(self, repeat: int, fold: Ints) -> Floats:
        """(B + 1, 1 + P) AUCs of one division."""
        base = np.empty((len(self._learners), *self._labels.shape), dtype=np.float32)
        inner = np.empty((self._count, *base.shape), dtype=np.float32)
        for number, learner in enumerate(self._learners):
            self._fit(learner, fold, base[number], inner[:, number])
        stacked = np.empty(self._labels.shape)
        for left in range(self._count):
            train, test = np.flatnonzero(fold != left), np.flatnonzero(fold == left)
            stacked[test], self.training[repeat, left, train] = self._stacked(inner[left][:, train], base[:, test], train)
        self.observed[:-1, repeat], self.observed[-1, repeat] = base[:, :, 0], stacked[:, 0]
        return np.stack([mean_auc(each, self._labels, fold, self._count) for each in (*base, stacked)])

    def _fit(self, learner: Learner, fold: Ints, base: NDArray[np.float32], inner: NDArray[np.float32]) -> None:
        """Scores without each fold, and without each pair of folds: of the other one's documents for the stack."""
        rows = [np.flatnonzero(fold == each) for each in range(self._count)]
        left_out: list[tuple[int, ...]] = [(each,) for each in range(self._count)]
        for out in [*left_out, *combinations(range(self._count), 2)]:
            train = np.flatnonzero(~np.isin(fold, out))
            test = np.concatenate([rows[each] for each in out])
            found = learner.scores(self._labels, train, test)
            if len(out) == 1:
                base[test] = found
            else:
                size = len(rows[out[0]])
                inner[out[1]][rows[out[0]]], inner[out[0]][rows[out[1]]] = found[:size], found[size:]
            done, total = self._fits
            self._fits = done + 1, total
            if self._progress is not None:
                self._progress(done + 1, total)

    def _stacked(self, known: NDArray[np.float32], new: NDArray[np.float32], train: Ints) -> tuple[Floats, Floats]:
        """Log-odds (test, 1 + P) of new documents; and, for the labels as they are, (train,) of those learned from."""
        centre, spread = known.mean(axis=1, keepdims=True), known.std(axis=1, keepdims=True)
        spread[spread == 0] = 1.0
        design, ahead = (
            np.clip((each - centre) / spread, -_CUT, _CUT).astype(np.float64).transpose(2, 1, 0) for each in (known, new)
        )
        weights = newton(design, self._labels[train].T)
        return apply(ahead, weights).T, apply(design[:1], weights[:1])[0]


def _learners(inputs: BlindInputs, chosen: Mapping[str, Baseline]) -> tuple[dict[str, Learner], dict[str, str]]:
    learners, reasons = {}, {}
    for name, each in chosen.items():
        try:
            learners[name] = each.learner(each.features(inputs))
        except NoFeaturesError as error:
            reasons[name] = str(error)
    return learners, reasons


def _a_side_in_few_folds(folds: Ints, members: Mask, count: int) -> str | None:
    """Whatever two folds are left out, both sides must be in the others."""
    for each in folds:
        for name, side in (("members", members), ("nonmembers", ~members)):
            if len(np.unique(each[side])) < min(3, count):
                return f"{name}_in_too_few_folds"
    return None
