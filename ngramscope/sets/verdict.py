"""The declared test of a shift in overlap, and the verdict that follows from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ngramscope.checks import MAX_COUNT, check_integer, check_switch
from ngramscope.errors import UsageError
from ngramscope.sets.shift import bootstrap, detectable_shift, mean_test, two_samples

__all__ = ["HIGHER", "LOWER", "REPRESENTATIVE", "UNKNOWN", "Judgement", "ShiftRule", "judge"]

REPRESENTATIVE, LOWER, HIGHER, UNKNOWN = "representative", "shifted_lower", "shifted_higher", "cannot_tell"
"""Verdicts."""

POWER = 0.8
_MIN_UNITS = 10


@dataclass(frozen=True, kw_only=True)
class ShiftRule:
    """The declared test and what follows from it.

    Parameters
    ----------
    n
        Length of the n-grams whose mean overlap is tested.
    min_shift, min_ratio
        Shifts of the mean overlap below this do not matter: `min_shift` (.02 are two points), or `min_ratio` of the
        reference's mean if that is less, so that something is left to be called where all overlaps are small.
    alpha
        Level of the two-sided test; intervals have level 1 - alpha.
    permutations, resamples
        Of the sides' labels, for the test; of the texts, for intervals.
    leave_one_out
        A document is no evidence for itself: for members of the corpus, and then for all texts alike.
    seed
        What chance begins with.
    """

    n: int = 7
    min_shift: float = 0.02
    min_ratio: float = 0.25
    alpha: float = 0.05
    permutations: int = 9_999
    resamples: int = 2_000
    leave_one_out: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("--permutations", self.permutations, 99, 1_000_000)
        check_integer("--resamples", self.resamples, 99, 1_000_000)
        check_integer("--seed", self.seed, 0, MAX_COUNT)
        check_switch("--leave-one-out", self.leave_one_out)
        for name, most in (("min_shift", 1.0), ("min_ratio", 1.0), ("alpha", 0.5)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
                option = name.replace("_", "-")
                raise UsageError(f"--{option}: {value!r} is not possible; a number above 0 and at most {most:g}")
        if self.permutations < 1 / self.alpha:
            raise UsageError(f"--permutations: {self.permutations} cannot reject at --alpha {self.alpha}; give more")

    def declared(self) -> dict[str, Any]:
        """The test, for the head of a report: all that decides the verdict, known before the data are."""
        return {
            "test": "permutation test of the difference of mean overlap over its standard error, two-sided",
            **asdict(self),
            "exclusion": "documents that are a text's own do not count, on both sides" if self.leave_one_out else "none",
            "power": POWER,
            "least_units": _MIN_UNITS,
            "verdicts": {
                "least": "the shift that matters: min_shift, or min_ratio of the reference's mean if that is less",
                "shifted": "the test rejects at alpha, and the shift is at least the least that matters",
                REPRESENTATIVE: "not shifted, and the whole interval of the shift is smaller than the least that matters",
                UNKNOWN: "neither",
            },
        }


@dataclass(frozen=True)
class Judgement:
    """Outcome of the declared test.

    Attributes
    ----------
    verdict
        `REPRESENTATIVE`, `LOWER`, `HIGHER` or `UNKNOWN`.
    reason
        Of `UNKNOWN`: ``too_few_texts`` (or groups), ``no_variation``, ``significant_but_small``, ``interval_too_wide``.
    texts, units
        Of the candidates and of the reference: with an overlap; groups and single texts that they are.
    shift
        Mean overlap of the candidates less that of the reference; None where a side is empty.
    least
        The smallest shift that matters.
    interval
        Of the shift, by bootstrap.
    standard_error
        Of the shift, by bootstrap.
    p, rejected
        Of the test.
    detectable
        The smallest true shift that would be called with power .8; with numbers as these.
    """

    verdict: str
    reason: str | None
    texts: tuple[int, int]
    units: tuple[int, int]
    shift: float | None = None
    least: float | None = None
    interval: tuple[float, float] | None = None
    standard_error: float | None = None
    p: float | None = None
    rejected: bool | None = None
    detectable: float | None = None


def judge(
    candidates: ArrayLike,
    reference: ArrayLike,
    rule: ShiftRule,
    groups: tuple[ArrayLike | None, ArrayLike | None] = (None, None),
) -> Judgement:
    """Apply the declared test to overlaps.

    Parameters
    ----------
    candidates, reference
        Overlaps, shapes (n1,) and (n2,), without NaN.
    rule
        The test.
    groups
        See `ngramscope.sets.shift.two_samples`.
    """
    samples = two_samples(candidates, reference, groups)
    texts = np.bincount(~samples.first[samples.unit], minlength=2)
    sizes = (int(texts[0]), int(texts[1])), samples.units
    if min(samples.units) < _MIN_UNITS:
        shift = samples.shift() if min(sizes[0]) else None
        return Judgement(UNKNOWN, "too_few_texts", *sizes, shift=shift)
    if np.ptp(samples.values) == 0:
        return Judgement(UNKNOWN, "no_variation", *sizes, shift=0.0)
    least = min(rule.min_shift, rule.min_ratio * float(np.mean(np.asarray(reference, dtype=np.float64))))
    test = mean_test(samples, rule.permutations, np.random.default_rng([rule.seed, 0]))
    shifts = bootstrap(samples, rule.resamples, np.random.default_rng([rule.seed, 1]))["mean"]
    low, high = np.quantile(shifts, [rule.alpha / 2, 1 - rule.alpha / 2]).tolist()
    error = float(shifts.std(ddof=1))
    rejected = test.p <= rule.alpha
    verdict, reason = UNKNOWN, None
    if rejected and abs(test.shift) >= least:
        verdict = LOWER if test.shift < 0 else HIGHER
    elif -least < low and high < least:
        verdict = REPRESENTATIVE
    else:
        reason = "significant_but_small" if rejected else "interval_too_wide"
    detectable = detectable_shift(error, alpha=rule.alpha, least=least, power=POWER)
    return Judgement(verdict, reason, *sizes, test.shift, least, (low, high), error, test.p, rejected, detectable)
