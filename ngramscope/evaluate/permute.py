"""Labels and values dealt out anew, as a null hypothesis has it: within strata, and by units that belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.groups import Ints

__all__ = ["bins", "permuted_labels", "pure_units", "shuffled"]

_BIN = 20
"""Units of a bin, at least."""


def shuffled(values: NDArray[Any], strata: Ints, random: np.random.Generator) -> NDArray[Any]:
    """(N,): `values`, in random order within each stratum."""
    out = np.empty_like(values)
    # Both orders go stratum by stratum; the second is random within each.
    out[np.lexsort([random.random(len(values)), strata])] = values[np.argsort(strata, kind="stable")]
    return out


def bins(values: Floats, strata: Ints, most: int | None = None) -> Ints:
    """(N,): finer strata, in which `values` are alike: each stratum in bins of at least 20, at most about `most` of them.

    Equal values are in one bin, since their order says nothing, or, in a sorted table, too much.
    """
    found = np.empty(len(values), dtype=np.int64)
    number = 0
    for each in np.unique(strata):
        rows = np.flatnonzero(strata == each)
        place, counts = np.unique(values[rows], return_inverse=True, return_counts=True)[1:]
        least = _BIN if most is None else max(_BIN, len(rows) / most)
        bin_of_value = np.empty(len(counts), dtype=np.int64)
        first = number
        filled = 0
        for at, count in enumerate(counts.tolist()):
            if filled >= least:
                number, filled = number + 1, 0
            bin_of_value[at] = number
            filled += count
        if filled < _BIN and number > first:  # too few for a bin of their own
            bin_of_value[bin_of_value == number] = number - 1
        found[rows] = bin_of_value[place]
        number += 1
    return found


def pure_units(members: Mask, unit: Ints) -> Mask:
    """(U,): whether a unit's documents are all on one side."""
    share = np.bincount(unit, weights=members) / np.bincount(unit)
    return np.array((share == 0) | (share == 1))


def permuted_labels(
    members: Mask, unit: Ints, strata: Ints, permutations: int, random: np.random.Generator
) -> NDArray[np.bool_]:
    """(N, 1 + permutations): the labels, and then permuted ones.

    Null hypothesis: within a stratum the labels of units whose documents share one are exchangeable, and in a unit of both
    sides those of its documents. Units trade labels with units of their stratum that are about as large (`bins`).

    Parameters
    ----------
    members, unit
        (N,): see `groups.units`.
    strata
        (N,): the same for all documents of a unit.
    """
    sizes = np.bincount(unit)
    first = np.unique(unit, return_index=True)[1]
    pure = pure_units(members, unit)
    labels, place = members[first], bins(sizes.astype(np.float64), strata[first])
    # Units of both sides keep to themselves; so do single documents in the second step.
    place[~pure] = place.max(initial=0) + 1 + np.arange(np.count_nonzero(~pure))
    mixed = np.flatnonzero(~pure[unit])
    found = np.empty((len(members), 1 + permutations), dtype=np.bool_)
    found[:, 0] = members
    for column in range(1, 1 + permutations):
        found[:, column] = shuffled(labels, place, random)[unit]
        found[mixed, column] = shuffled(members[mixed], unit[mixed], random)
    return found
