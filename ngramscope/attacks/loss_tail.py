"""Which part of the losses of non-members lies beyond those of members: a statistic of a model, not of a text.

Dodd et al. 2025, "The Tail Tells All", arXiv 2510.19773: points at risk have left the high-loss tail, so that the true negative
rate of the loss attack at a low false negative rate tells how vulnerable a model is. We had the abstract and reviews of the
paper only: that the false negative rate is what is held fixed, and at which values, is our reading of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FALSE_NEGATIVE_RATES", "loss_tail"]

FALSE_NEGATIVE_RATES = (0.001, 0.01, 0.05)
"""At which the statistic is given."""


def loss_tail(scores: NDArray[np.float64], labels: NDArray[np.float64]) -> list[dict[str, Any]]:
    """True negative rate of the loss attack at low false negative rates, at thresholds that exist.

    Parameters
    ----------
    scores
        (N,): of the loss attack, higher = member; NaN does not count.
    labels
        (N,): 1 member, 0 non-member; others do not count.

    Returns
    -------
    list
        For each of `FALSE_NEGATIVE_RATES`: ``fnr`` asked for, ``attained_fnr`` (at most that), ``tnr``, ``threshold`` (a score;
        members are at or above it), ``members``, ``nonmembers``. Empty if a side is empty.
    """
    members = np.sort(scores[(labels == 1) & ~np.isnan(scores)])
    nonmembers = scores[(labels == 0) & ~np.isnan(scores)]
    if len(members) == 0 or len(nonmembers) == 0:
        return []
    rows = []
    for fnr in FALSE_NEGATIVE_RATES:
        threshold = members[int(fnr * len(members))]
        rows.append(
            {
                "fnr": fnr,
                "attained_fnr": float(np.mean(members < threshold)),
                "tnr": float(np.mean(nonmembers < threshold)),
                "threshold": float(threshold),
                "members": len(members),
                "nonmembers": len(nonmembers),
            }
        )
    return rows
