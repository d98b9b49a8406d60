"""Comparisons that are made together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ngramscope.evaluate.delong import Comparison
from ngramscope.sets.shift import holm

__all__ = ["adjust", "holm"]


def adjust(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """The same with `Comparison.p_holm`, for all of them that have a p-value together (Holm 1979)."""
    tested = [each.p for each in comparisons if each.p is not None]
    corrected = iter(holm(tested))
    return [each if each.p is None else replace(each, p_holm=next(corrected)) for each in comparisons]
