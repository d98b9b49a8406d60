"""Was it training? Attacks judged by the chance that decided who was a member (Fisher 1935; Rosenbaum 2002, chapter 2).

If a document's score does not depend on whether it was inserted, then every other assignment that the design could have drawn
would have gone with the same scores. So the AUC is compared with those of assignments drawn again; nothing is assumed of scores
or texts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ngramscope.attacks.table import ScoreTable
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.prepare import Prepared
from ngramscope.sets.randomized_files import Key, redraw

__all__ = ["DRAWS", "INSERT_ID", "assignments", "randomization_p"]

DRAWS = 1_999
INSERT_ID = "insert_id"
"""Column that names units of the design."""


def assignments(table: ScoreTable, data: Prepared, key: Key, draws: int = DRAWS) -> Mask:
    """(1 + draws, N): who is a member, as it was drawn and as it might have been.

    Raises
    ------
    UsageError
        The table does not name the units.
    InputError
        A document that is no unit of this key, or whose label is not what the key drew.
    """
    if INSERT_ID not in table.documents.column_names:
        raise UsageError(f"--key: the table has no column {INSERT_ID}; score the set that ngramscope sets randomize wrote")
    place = {name: number for number, name in enumerate(key.insert_ids)}
    names = table.documents[INSERT_ID].to_pylist()
    units = []
    for row in data.rows.tolist():
        if names[row] not in place:
            raise InputError(f"--key: record {row + 1} of the table ({INSERT_ID} {names[row]}) is not in this key")
        units.append(place[names[row]])
    drawn: Mask = redraw(key, 1 + draws, first=0)[:, units] > 0
    if not np.array_equal(drawn[0], data.members):
        wrong = int(np.flatnonzero(drawn[0] != data.members)[0])
        raise InputError(f"--key: record {int(data.rows[wrong]) + 1} of the table has another label than the key drew")
    return drawn


def randomization_p(scores: Sequence[Floats], drawn: Mask) -> float:
    """Two-sided p of a mean of AUCs: share of assignments, the one that was made included, as far from .5.

    Parameters
    ----------
    scores
        (N,) each: of an attack, or of the splits of a learned one, whose AUCs are averaged. NaN: not used.
    drawn
        (1 + B, N): of `assignments`, the one that was made first.
    """
    from scipy.stats import rankdata

    total = np.zeros(len(drawn))
    for values in scores:
        used = ~np.isnan(values)
        ranks, ours = rankdata(values[used]), drawn[:, used]
        n1 = ours.sum(axis=1)
        n0 = int(used.sum()) - n1
        with np.errstate(invalid="ignore", divide="ignore"):
            found = (ours @ ranks - n1 * (n1 + 1) / 2) / (n1 * n0)
        total += np.where(np.isnan(found), 0.5, found)
    far = np.abs(total / len(scores) - 0.5)
    return float(np.count_nonzero(far >= far[0] - 1e-12) / len(far))
