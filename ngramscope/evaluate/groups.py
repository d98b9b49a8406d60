"""What is resampled together: the documents of a group, or one that stands alone."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ints", "units"]

Ints = NDArray[np.int64]


def units(groups: Sequence[Hashable | None]) -> Ints:
    """(N,): for each document the number of its unit, from 0 without gaps; one whose group is None is a unit of its own.

    Members and non-members of one group are one unit.
    """
    numbers: dict[Hashable, int] = {}
    found = np.empty(len(groups), dtype=np.int64)
    alone = 0
    for row, group in enumerate(groups):
        if group is None:
            found[row] = len(numbers) + alone
            alone += 1
        elif group in numbers:
            found[row] = numbers[group]
        else:
            found[row] = numbers[group] = len(numbers) + alone
    return found
