"""How well a text compresses: repeated and formulaic text does."""

from __future__ import annotations

import zlib

import numpy as np

from ngramscope.blind.base import BlindInputs, Floats, baseline
from ngramscope.blind.learners import NumberLogistic

_LEVEL = 6


@baseline(
    "compression",
    learner=NumberLogistic,
    summary="Compressed bytes, and their share of all bytes (zlib, level 6).",
    source="Carlini et al. 2021, the denominator of the zlib attack",
)
def compression(inputs: BlindInputs) -> Floats:
    """(N, 2)."""
    rows = []
    for text in inputs.texts:
        data = text.encode("utf-8", "surrogatepass")
        size = len(zlib.compress(data, _LEVEL))
        rows.append([size, size / max(len(data), 1)])
    return np.array(rows, dtype=np.float64).reshape(len(inputs), 2)
