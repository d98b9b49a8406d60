"""Does an attack work among documents that are alike in something: duplicates, training step, length, overlap, domain?"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ngramscope.errors import UsageError
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.delong import Part

__all__ = ["NO_VALUE", "POOLED", "Strata", "pooled_parts", "stratify"]

POOLED = "pooled"
NO_VALUE = "no value"
"""What stands in place of a stratum for all of them, and for documents without one; a value that is called so is quoted."""

MOST = 200
"""Categories beyond which a column says nothing of strata, as an id does not."""


@dataclass(frozen=True, eq=False)
class Strata:
    """Documents by a column.

    Attributes
    ----------
    number
        (N,) number of the stratum; -1: the column has no value.
    names
        Of the strata: a value, or ``[from, to)`` of a range, the last one closed.
    """

    number: np.typing.NDArray[np.int64]
    names: tuple[str, ...]


def stratify(values: Sequence[Any], bins: int, *, name: str = "column") -> Strata:
    """Strata by quantiles of numbers, or by category.

    Numbers with more than `bins` different values are cut at quantiles of members and non-members together; equal values stay
    together, so there may be fewer strata. Everything else is a category. None, NaN and infinities are no value.

    Raises
    ------
    UsageError
        No values, or more than `MOST` categories.
    """
    known = [None if each is None or (isinstance(each, float) and not np.isfinite(each)) else each for each in values]
    present = [each for each in known if each is not None]
    if not present:
        raise UsageError(f"--by {name}: no document has a value there")
    numeric = all(isinstance(each, int | float) and not isinstance(each, bool) for each in present)
    different = sorted(set(present)) if numeric else sorted({str(each) for each in present})
    if numeric and len(different) > bins:
        return _quantiles(np.array([np.nan if each is None else each for each in known], dtype=np.float64), bins)
    if len(different) > MOST:
        raise UsageError(f"--by {name}: {len(different):,} categories; at most {MOST} are possible")
    place = {each: number for number, each in enumerate(different)}
    keys = [each if numeric or each is None else str(each) for each in known]
    return Strata(np.array([-1 if each is None else place[each] for each in keys]), tuple(map(_name, different)))


def _name(value: Any) -> str:
    return f'"{value}"' if value in (POOLED, NO_VALUE) else str(value)


def pooled_parts(scores: Floats, members: Mask, strata: Strata) -> list[Part]:
    """What `delong.measure` averages to the pooled stratified AUC.

    That is the chance that a member scores above a non-member of its own stratum: strata weigh as many pairs as they have;
    those with one side only have none.
    """
    parts = []
    for number in range(len(strata.names)):
        inside = strata.number == number
        pairs = int((inside & members).sum()) * int((inside & ~members).sum())
        if pairs:
            parts.append(Part(np.where(inside, scores, np.nan), pairs))
    return parts


def _quantiles(values: Floats, bins: int) -> Strata:
    known = values[~np.isnan(values)]
    edges = np.unique(np.quantile(known, np.linspace(0, 1, bins + 1), method="lower"))
    inner = edges[1:-1]
    number = np.where(np.isnan(values), -1, np.searchsorted(inner, values, "right"))
    bounds = [f"{each:.6g}" for each in edges]
    last = len(bounds) - 2
    names = [f"[{low}, {high}{']' if at == last else ')'}" for at, (low, high) in enumerate(itertools.pairwise(bounds))]
    return Strata(number, tuple(names))
