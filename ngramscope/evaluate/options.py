"""What can be chosen of an evaluation."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ngramscope.blind.folds import FoldRule
from ngramscope.errors import UsageError
from ngramscope.evaluate import missing
from ngramscope.evaluate.tpr import FPRS, RULES, check_rates
from ngramscope.sets.covariates import MEMBER_OVERLAPS

__all__ = ["THRESHOLDS", "EvaluationOptions"]

THRESHOLDS = tuple(number / 20 for number in range(1, 21))
"""Of overlap."""


@dataclass(frozen=True)
class EvaluationOptions:
    """Choices that have a say in the numbers.

    Attributes
    ----------
    attacks
        Which attacks, see `columns.named`, with the same on placebo models; empty: all.
    fprs, tpr_rule
        Of the TPRs; see `tpr`.
    bootstrap
        Resamples; 0: none, and so no intervals of TPRs and no stability between resamples.
    seed
        Of the resamples.
    level
        Of the intervals.
    missing
        See `missing.RULES`.
    group
        Column of what belongs together; None: nothing does.
    by
        Columns to stratify by.
    bins
        Strata of a column of numbers.
    baseline
        Attack that the others are compared with.
    pairs
        Whether every pair of attacks on target models is compared.
    decision_fpr
        At which documents are flagged where decisions are compared: of pairs, and for stability.
    overlap
        Lengths of n-grams whose overlap is looked at; empty: 7, or if there is no 7 all that the table has.
    member_overlap
        Which overlap stands for members; see `overlaps.document_overlap`.
    thresholds
        Of overlap, ascending, at which AUCs are computed.
    caliper
        Largest difference in overlap in a matched pair, in standard deviations.
    folds, repeats, permutations
        Of the blind baselines; see `blind.folds.FoldRule`.
    """

    attacks: tuple[str, ...] = ()
    fprs: tuple[float, ...] = FPRS
    tpr_rule: str = RULES[0]
    bootstrap: int = 1000
    seed: int = 0
    level: float = 0.95
    missing: str = missing.RULES[0]
    group: str | None = "group"
    by: tuple[str, ...] = ()
    bins: int = 5
    baseline: str = "loss"
    pairs: bool = False
    decision_fpr: float = 0.01
    overlap: tuple[int, ...] = ()
    member_overlap: str = MEMBER_OVERLAPS[0]
    thresholds: tuple[float, ...] = THRESHOLDS
    caliper: float = 0.2
    folds: int = FoldRule.folds
    repeats: int = FoldRule.repeats
    permutations: int = FoldRule.permutations

    def __post_init__(self) -> None:
        check_rates(self.fprs, self.tpr_rule)
        if not 0 < self.decision_fpr < 1:
            raise UsageError("--decision-fpr: lies between 0 and 1, both not included")
        if self.bootstrap < 0 or 0 < self.bootstrap < 100:
            raise UsageError("--bootstrap: at least 100 resamples, or 0 for none")
        if self.seed < 0:
            raise UsageError("--seed: a whole number from 0 on")
        if not 0 < self.level < 1:
            raise UsageError("--level: lies between 0 and 1, both not included")
        if self.missing not in missing.RULES:
            raise UsageError(f"--missing: no rule {self.missing!r}; known: {', '.join(missing.RULES)}")
        if any(n < 1 for n in self.overlap):
            raise UsageError("--overlap: a length of n-grams is a whole number from 1 on")
        if self.member_overlap not in MEMBER_OVERLAPS:
            raise UsageError(f"--member-overlap: no {self.member_overlap!r}; known: {', '.join(MEMBER_OVERLAPS)}")
        if not self.thresholds or not all(0 <= each <= 1 for each in self.thresholds):
            raise UsageError("--overlap-at: overlaps lie between 0 and 1")
        object.__setattr__(self, "thresholds", tuple(sorted(set(self.thresholds))))
        if not 0 < self.caliper < math.inf:
            raise UsageError("--caliper: a number of standard deviations above 0")
        if self.bins < 2:
            raise UsageError("--bins: at least 2")
        FoldRule(self.folds, self.repeats, self.permutations, self.seed)
