"""Overlap with the training corpus: sets whose sides differ in it are told apart by it alone."""

from __future__ import annotations

import numpy as np

from ngramscope.blind.base import BlindInputs, Floats, NoFeaturesError, baseline
from ngramscope.blind.learners import NumberLogistic


@baseline(
    "overlap",
    learner=NumberLogistic,
    summary="Overlap with the training corpus, each n; of members without their own document.",
    source="Duan et al. 2024",
)
def overlap(inputs: BlindInputs) -> Floats:
    """(N, number of lengths)."""
    if not inputs.overlaps:
        raise NoFeaturesError(inputs.no_overlap)
    return np.column_stack(list(inputs.overlaps.values()))
