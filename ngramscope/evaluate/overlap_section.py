"""What a report says of overlap: two curves, strata, and adjusted AUCs, for each length of n-grams."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ngramscope.attacks.table import ScoreTable
from ngramscope.evaluate.associated import Adjusted, adjusted
from ngramscope.evaluate.curves import AucAt, curves, strata_of_overlap
from ngramscope.evaluate.delong import Comparison, Part
from ngramscope.evaluate.lines import BLIND, NO_MODEL, Line
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.overlaps import document_overlap, lengths
from ngramscope.evaluate.prepare import Prepared

__all__ = ["OVERLAP_ALONE", "OverlapSection", "overlap_sections"]

OVERLAP_ALONE = "overlap"
"""The line whose score is the overlap itself: how far the two sides differ in it, and what matching has left of that."""


@dataclass(frozen=True)
class OverlapSection:
    """Overlap of n-grams of one length.

    Attributes
    ----------
    n
        The length.
    of_members
        Which overlap stands for members: ``loo`` (leave-one-out) or ``plain``.
    counts
        ``members`` and ``nonmembers`` used, and of each how many have no overlap (``members_without``, ``nonmembers_without``).
        Of members that is leave-one-out overlap if it is to be taken.
    reason
        Why there is only the first curve; None if there is all.
    curves, strata, adjusted
        See `curves` and `associated`.
    """

    n: int
    of_members: str
    counts: Mapping[str, int]
    reason: str | None
    curves: tuple[AucAt, ...]
    strata: tuple[AucAt, ...] = ()
    adjusted: tuple[Adjusted, ...] = ()

    def cells(self) -> Iterator[dict[str, Any]]:
        """Every number as a row of `writers.COLUMNS`."""
        for each in (*self.curves, *self.strata):
            where = f"at most {each.at_most:g}" if each.stratum is None else each.stratum
            common = {**_named(each, "overlap", self.n), "stratum": where, "other": each.restricted, "note": each.reason}
            yield {**common, "statistic": "auc", "value": each.auc, **_bounds(each.interval)}
            if each.less_raw is not None:
                yield {**common, "statistic": "auc_less_raw", **_compared(each.less_raw)}
        for row in self.adjusted:
            common = {**_named(row, "adjusted", self.n), "other": row.kind, "note": row.reason}
            yield {**common, "statistic": "auc", "value": row.auc, **_bounds(row.interval)}
            for name, value in row.facts.items():
                yield {**common, "statistic": name, "value": value}
            if row.raw_less_adjusted is not None:
                yield {**common, "statistic": "auc_raw", "value": row.raw, **_bounds(row.raw_interval)}
                yield {**common, "statistic": "raw_less_adjusted", **_compared(row.raw_less_adjusted)}
                share = {"statistic": "share_associated_with_overlap", "value": row.share, "note": row.share_reason}
                yield {**common, **share, **_bounds(row.share_interval)}


def overlap_sections(
    lines: Sequence[Line], data: Prepared, table: ScoreTable, options: EvaluationOptions
) -> Iterator[OverlapSection]:
    """One for each length of n-grams that is asked for, or that the table has.

    Raises
    ------
    UsageError
        A length that the table lacks.
    """
    members, unit = data.members, data.unit
    used = np.logical_or.reduce([line.scored for line in lines]) if lines else np.zeros_like(members)
    for n in lengths(table, options.overlap):
        overlap = document_overlap(table, data, n, options.member_overlap)
        shares = overlap.alike
        counts = {}
        for name, side in (("members", members), ("nonmembers", ~members)):
            known = overlap.plain if shares is None and name == "nonmembers" else shares
            counts[name] = int((used & side).sum())
            without = np.ones_like(members) if known is None else np.isnan(known)
            counts[f"{name}_without"] = int((used & side & without).sum())
        if shares is None:
            found = tuple(curves(lines, members, unit, overlap, options.thresholds, options.level))
            yield OverlapSection(n, options.member_overlap, counts, overlap.reason, found)
            continue
        alone = Line(OVERLAP_ALONE, NO_MODEL, BLIND, "all", (Part(np.where(used, shares, np.nan)[None]),))
        every = [*lines, alone]
        yield OverlapSection(
            n, options.member_overlap, counts, None,
            tuple(curves(every, members, unit, overlap, options.thresholds, options.level)),
            tuple(strata_of_overlap(every, members, unit, shares, options.bins, options.level)),
            tuple(
                adjusted(
                    every, members, unit, shares, caliper=options.caliper, seed=options.seed, level=options.level
                )
            ),
        )  # fmt: skip


def _named(row: AucAt | Adjusted, section: str, n: int) -> dict[str, Any]:
    names = {name: getattr(row, name) for name in ("attack", "model", "role", "split", "n1", "n0")}
    return {"section": f"{section}-{n}", **names}


def _bounds(interval: tuple[float, float] | None) -> dict[str, float | None]:
    return dict(zip(("low", "high"), interval or (None, None), strict=True))


def _compared(each: Comparison) -> dict[str, Any]:
    values = asdict(each)
    return {"value": values.pop("difference"), "note": values.pop("reason"), **values}
