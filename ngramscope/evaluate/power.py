"""What could have been detected with so many documents."""

from __future__ import annotations

import math
from statistics import NormalDist

__all__ = ["detectable_auc", "hanley_mcneil"]

_NORMAL = NormalDist()


def hanley_mcneil(auc: float, n1: int, n0: int) -> float:
    """Standard error of an AUC of so many members and non-members (Hanley and McNeil 1982, with exponential scores)."""
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (n1 - 1) * (q1 - auc**2) + (n0 - 1) * (q2 - auc**2)
    return math.sqrt(variance / (n1 * n0))


def detectable_auc(n1: int, n0: int, *, level: float = 0.95, power: float = 0.8, inflation: float = 1.0) -> float | None:
    """The smallest true AUC above .5 whose interval, at `level`, lies above .5 in a share `power` of studies.

    Parameters
    ----------
    n1, n0
        Members and non-members.
    inflation
        Of the standard error, by groups: its value with them over that without.

    Returns
    -------
    float
        None if an AUC of 1 would not do.
    """
    if min(n1, n0) < 1:
        return None
    critical = _NORMAL.inv_cdf((1 + level) / 2) * hanley_mcneil(0.5, n1, n0) * inflation
    wanted = _NORMAL.inv_cdf(power) * inflation
    low, high = 0.5, 1.0
    if high - 0.5 < critical:
        return None
    for _ in range(60):  # what is wanted less what is there falls as the AUC rises
        middle = (low + high) / 2
        if middle - 0.5 >= critical + wanted * hanley_mcneil(middle, n1, n0):
            high = middle
        else:
            low = middle
    return high
