"""From a sample of a corpus to what the whole of it holds.

Documents, words and n-gram occurrences grow in proportion to the text. Distinct n-grams do not: the more text, the more of it
has been seen before. A sample comes in groups of texts, drawn at random, and it is known in how many groups each of its
n-grams occurs; from that follows the expected number of distinct n-grams in any number of groups (sample-based rarefaction:
Colwell et al. 2012, Journal of Plant Ecology 5:3-21), and so how fast it grows at the end of the sample and at an eighth of
it. Every doubling of the text multiplies the distinct n-grams by 2^(1 - d); d, the deficit, is 0 while nothing repeats.
Beyond the sample:

- high: the deficit stays (or goes on falling, where it fell);
- low: its log odds go on rising as fast as within the sample and by `EXTRA` more, since copies that are far apart show only in
  large samples; but no faster than in proportion to the text, which is how repeats grow while they are rare;
- value: half way between these two rates.

Low and high are moved outwards by `ERRORS` standard errors, found by leaving out each group in turn (jackknife). How often
the intervals held what was then counted, on real and on made corpora, is told in docs/plan.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import UsageError
from ngramscope.sizes import counted

__all__ = ["Interval", "Prediction", "predict"]

ERRORS = 2.0
EXTRA = 0.2  # log odds for each doubling
STEEPEST = math.log(2)  # the deficit doubles when the text does
LEAST = 100
_FLOOR = 1e-6  # deficits below this are none
_STEPS = 200

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Interval:
    """A predicted number, and between which it lies in about 19 of 20 cases."""

    low: float
    value: float
    high: float


@dataclass(frozen=True)
class Prediction:
    """What a corpus holds.

    Attributes
    ----------
    scale
        How many times the sample the corpus is.
    documents, words
        Of the corpus.
    occurrences, distinct
        Its n-grams, by n.
    """

    scale: float
    documents: Interval
    words: Interval
    occurrences: dict[int, Interval]
    distinct: dict[int, Interval]


def predict(sample: Mapping[str, Any]) -> Prediction:
    """Predict what a corpus holds from what a `sample` of it had.

    Parameters
    ----------
    sample
        As ``_core.sample`` tells it: lists have an entry for each group.

    Raises
    ------
    UsageError
        So few texts that nothing can be said: fewer than `LEAST` documents, or in less than half of the groups.
    """
    documents, filled = sum(sample["documents"]), sum(count > 0 for count in sample["documents"])
    if documents < LEAST or 2 * filled < len(sample["documents"]):
        raise UsageError(
            f"--sample: {counted(documents, 'document')} from {counted(sample['parts'], 'part')} of the files are too few to "
            "predict from; give more, or --count to read everything"
        )
    scale = sample["bytes_total"] / sample["bytes_read"]
    return Prediction(
        scale=scale,
        documents=_total(sample["documents"], scale),
        words=_total(sample["words"], scale),
        occurrences={each["n"]: _total(each["occurrences"], scale) for each in sample["sets"]},
        distinct={each["n"]: _distinct(each, scale) for each in sample["sets"]},
    )


def _total(by_group: list[int], scale: float) -> Interval:
    """What grows with the text; the groups differ by chance, and so does their sum from what it should be."""
    groups = np.asarray(by_group, dtype=np.float64)
    value = float(groups.sum())
    error = ERRORS * math.sqrt(groups.size * float(groups.var(ddof=1)))
    # No less than what was seen.
    return Interval(low=max(value, scale * (value - error)), value=scale * value, high=scale * (value + error))


def _distinct(sampled: Mapping[str, Any], scale: float) -> Interval:
    in_groups = np.asarray(sampled["in_groups"], dtype=np.float64)
    of_group = np.asarray(sampled["of_group"], dtype=np.float64)
    groups = in_groups.size
    if not in_groups.any():
        return Interval(0.0, 0.0, 0.0)
    doublings = math.log2(scale)
    whole = _ends(in_groups, doublings)
    replicates = []
    for group in of_group:
        # Without the group, an n-gram of it is in one group less.
        without = in_groups - group + np.append(group[1:], 0.0)
        if without[:-1].any():
            replicates.append(_ends(without[:-1], doublings + math.log2(groups / (groups - 1))))
    count = len(replicates)
    error = math.sqrt(count - 1) * np.std(replicates, axis=0) if count > 1 else np.full(3, np.inf)
    low, value, high = 2.0 ** (whole + error * (-ERRORS, 0.0, ERRORS)) / sampled["share"]
    seen = float(in_groups.sum()) / sampled["share"]
    most = scale * sum(sampled["occurrences"])
    return Interval(low=max(float(low), seen), value=min(float(value), most), high=float(high))


def _ends(in_groups: Floats, doublings: float) -> Floats:
    """Base-2 logarithm of the distinct n-grams after so many doublings: low, value, high."""
    groups = in_groups.size
    # At an eighth, a quarter, a half and the whole of the sample.
    seen = np.array([in_groups @ _met(groups, groups / part) for part in (8, 4, 2, 1)])
    deficits = np.clip(1.0 - np.diff(np.log2(seen)), _FLOOR, 1.0 - _FLOOR)
    odds = np.log(deficits / (1.0 - deficits))
    slope = float(odds[2] - odds[0]) / 2
    low = min(max(slope, 0.0) + EXTRA, STEEPEST)
    high = min(slope, 0.0)
    # The last deficit is that of half a doubling before the end of the sample.
    at = (np.arange(_STEPS) + 0.5) / _STEPS * doublings + 0.5
    mean = [float(np.mean(1.0 / (1.0 + np.exp(-odds[2] - each * at)))) for each in (low, (low + high) / 2, high)]
    return np.asarray(np.log2(seen[-1]) + doublings * (1.0 - np.array(mean)))


def _met(groups: int, drawn: float) -> Floats:
    """Chance that one of `drawn` groups (of `groups`) is among `k` certain ones, for k from 1 on.

    Hypergeometric, with factorials continued to fractions.
    """
    missed = np.zeros(groups)
    constant = math.lgamma(groups - drawn + 1) - math.lgamma(groups + 1)
    for k in range(1, math.floor(groups - drawn) + 1):
        missed[k - 1] = math.exp(math.lgamma(groups - k + 1) - math.lgamma(groups - k - drawn + 1) + constant)
    return 1.0 - missed
