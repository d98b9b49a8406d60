"""Do suspect and held-out documents differ in anything but what a model says of them?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.groups import Ints
from ngramscope.sets.classifier import two_sample_test
from ngramscope.sets.shift import holm, mean_test, two_samples

__all__ = ["ALARM", "shift_tests"]

ALARM = 0.05
"""Below this p, corrected for all tests of one suspect set, a shift is called."""

_LEAST = 5


def shift_tests(
    attributes: Mapping[str, Floats],
    texts: list[str | None] | None,
    suspects: Mask,
    unit: Ints,
    *,
    permutations: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Tests of equal means of overlap, blind scores and the like, and a classifier on the words.

    Parameters
    ----------
    attributes
        By name (N,) numbers; NaN is left out.
    texts
        N texts, or None where there is none; None: not known.
    suspects, unit
        (N,).

    Returns
    -------
    list
        For each ``name``, ``test``, ``p``, ``p_holm``, ``effect``: the shift, suspects less held-out, or the classifier's AUC.
    """
    found: list[dict[str, Any]] = []
    random = np.random.default_rng([seed, 3])
    for name, values in attributes.items():
        known = ~np.isnan(values)
        sides = [known & side for side in (suspects, ~suspects)]
        if min(len(np.unique(unit[side])) for side in sides) < _LEAST or np.ptp(values[known]) == 0:
            continue
        samples = two_samples(values[sides[0]], values[sides[1]], (unit[sides[0]], unit[sides[1]]))
        tested = mean_test(samples, permutations, random)
        found.append({"name": name, "test": "mean", "p": tested.p, "effect": tested.shift})
    if texts is not None:
        rows = [[row for row in np.flatnonzero(side).tolist() if texts[row] is not None] for side in (suspects, ~suspects)]
        words = [[str(texts[row]) for row in side] for side in rows]
        groups = [[str(unit[row]) for row in side] for side in rows]
        result = two_sample_test(
            words[0], words[1], groups=(groups[0], groups[1]), permutations=min(permutations, 199), seed=seed
        )
        if result.p is not None:
            found.append({"name": "words", "test": "classifier", "p": result.p, "effect": result.auc})
    for each, p in zip(found, holm([each["p"] for each in found]), strict=True):
        each["p_holm"] = p
    return found
