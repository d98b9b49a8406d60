"""Score tables of arrays, for tests of what is made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from ngramscope import provenance
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable


def score_table(
    labels: Sequence[float | None] | np.typing.NDArray[Any],
    scores: Mapping[str, ArrayLike],
    *,
    reasons: Mapping[str, Mapping[int, str]] | None = None,
    **documents: Sequence[Any],
) -> ScoreTable:
    """A table; attacks by name, ``attack``, ``attack @ model`` or ``attack @ model @ role``."""
    columns = []
    for name, values in scores.items():
        attack, model, role = (*name.split(" @ "), *["m", "target"][len(name.split(" @ ")) - 1 :])
        given = (reasons or {}).get(name, {})
        array = np.asarray(values, dtype=np.float64)
        columns.append(ScoreColumn(attack, model, role, array, [given.get(row) for row in range(len(array))], {}))
    known = {"id": [f'"d{row}"' for row in range(len(labels))], "label": pa.array(list(labels), pa.int64()), **documents}
    return ScoreTable(
        pa.table(known), tuple(columns), provenance.stamp("score-table", version=SCORES_VERSION, settings={}, inputs=[])
    )
