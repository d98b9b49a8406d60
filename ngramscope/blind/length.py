"""How long a text is."""

from __future__ import annotations

import re

import numpy as np

from ngramscope.blind.base import WORD, BlindInputs, Floats, baseline
from ngramscope.blind.learners import NumberLogistic

_WORD = re.compile(WORD)


@baseline(
    "length",
    learner=NumberLogistic,
    summary="Characters, words and marks, lines, characters a word; tokens where they are known.",
    source="Duan et al. 2024",
)
def length(inputs: BlindInputs) -> Floats:
    """(N, 4 or 5)."""
    rows = []
    for text in inputs.texts:
        words = len(_WORD.findall(text))
        rows.append([len(text), words, text.count("\n"), len(text) / max(words, 1)])
    found = np.array(rows, dtype=np.float64).reshape(len(inputs), 4)
    return found if inputs.tokens is None else np.column_stack([found, inputs.tokens])
