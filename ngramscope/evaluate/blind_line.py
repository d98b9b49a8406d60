"""The blind ceiling as a line over thresholds: learned anew wherever documents are taken away.

Taking non-members of much overlap away makes a set of another kind. What text alone reaches there is seen only by what has
learned on that set; scores of a classifier that has learned on the whole do not show it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ngramscope.blind.base import BlindInputs
from ngramscope.blind.folds import FoldRule
from ngramscope.blind.study import CEILING, blind_study, fold_parts
from ngramscope.evaluate.auc import Mask
from ngramscope.evaluate.blocks import ALL
from ngramscope.evaluate.delong import Part
from ngramscope.evaluate.lines import BLIND, NO_MODEL, Line
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.prepare import Prepared

__all__ = ["MOST", "blind_line"]

MOST = 500
"""Documents of a side that are learned from and evaluated, at most: there are many thresholds."""


def blind_line(
    inputs: BlindInputs, data: Prepared, options: EvaluationOptions, progress: Callable[[int], object] | None = None
) -> Line | None:
    """The line; None if there are too few documents for any.

    Parameters
    ----------
    inputs
        Of the N documents of `data`.
    progress
        Called with the number of sets learned so far.
    """
    rule = FoldRule(options.folds, options.repeats, 0, options.seed)
    count = len(data.members)
    unit = np.arange(count) if data.unit is None else data.unit
    # One order for all sets: those of neighbouring thresholds have most documents in common.
    order = np.random.default_rng(options.seed).permutation(count)
    learned = 0

    @cache
    def parts(packed: bytes) -> tuple[Part, ...]:
        nonlocal learned
        kept = np.unpackbits(np.frombuffer(packed, np.uint8), count=count).astype(np.bool_)
        rows = np.sort(np.concatenate([order[(kept & side)[order]][:MOST] for side in (data.members, ~data.members)]))
        study = blind_study(inputs.take(rows), data.members[rows], np.unique(unit[rows], return_inverse=True)[1], rule)
        learned += 1
        if progress is not None:
            progress(learned)
        if study.ceiling.auc is None:
            return ()
        found = []
        for part in fold_parts(study.scores[None], study.folds, data.members[rows]):
            scores = np.full((1, count), np.nan)
            scores[:, rows] = part.scores
            found.append(Part(scores))
        return tuple(found)

    def refit(kept: Mask) -> tuple[Part, ...]:
        return parts(np.packbits(kept).tobytes())

    whole = refit(np.ones(count, dtype=np.bool_))
    return Line(CEILING, NO_MODEL, BLIND, ALL, whole, refit) if whole else None
