"""How much of what an attack finds goes with overlap: raw AUCs beside matched, weighted and doubly robust ones.

Something else may go with overlap and be what the attack sees. So what an adjustment takes away is *associated with*
overlap, and no more is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.delong import TOO_FEW, Comparison, auc_interval, compare, standard_error
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.lines import LEAST, Line, Reading, read, too_few
from ngramscope.evaluate.matched import Matching, match, matched, pair_error
from ngramscope.evaluate.weighted import Weighting, doubly_robust, weigh, weighted

__all__ = ["CLEARLY", "KINDS", "MATCHED", "ROBUST", "WEIGHTED", "Adjusted", "adjusted"]

MATCHED, WEIGHTED, ROBUST = KINDS = ("matched", "weighted", "doubly_robust")

CLEARLY = 0.55
"""A share of the excess is given only if the raw AUC's interval lies above this; nearer to .5 it divides by almost nothing."""

Interval = tuple[float, float] | None
Error = Callable[[Floats, Mask], float]


@dataclass(frozen=True)
class Adjusted:
    """A raw AUC and an adjusted one.

    Attributes
    ----------
    attack, model, role, split
        See `lines.Line`.
    kind
        One of `KINDS`.
    n1, n0
        Members and non-members of the adjusted AUC; weighted ones before they are weighted.
    raw, raw_interval
        Of the same members and all non-members with an overlap.
    auc, interval
        Adjusted.
    raw_less_adjusted
        The difference, as a pair.
    share, share_interval
        Share of the raw AUC's excess over .5 that is associated with overlap: the difference over that excess.
    share_reason
        Why there is none: ``raw_auc_not_clearly_above_0.55``.
    facts
        Of ``matched``: ``pairs``, ``mean_gap`` and ``mean_absolute_gap`` of overlap in them. Of the others:
        ``effective_sample_size`` of the non-members, ``trimmed_share``, ``propensity_overlap`` and ``members_beyond``; see
        `weighted.Weighting`.
    reason
        Why there are no numbers: ``too_few_members``, ``too_few_nonmembers``, ``no_common_support``,
        ``effective_sample_too_small``, ``no_part_with_both_sides``; or no intervals: `delong.TOO_FEW`.
    """

    attack: str
    model: str
    role: str
    split: str
    kind: str
    n1: int
    n0: int
    raw: float | None = None
    raw_interval: Interval = None
    auc: float | None = None
    interval: Interval = None
    raw_less_adjusted: Comparison | None = None
    share: float | None = None
    share_interval: Interval = None
    share_reason: str | None = None
    facts: Mapping[str, float | None] = field(default_factory=dict)
    reason: str | None = None


def adjusted(
    lines: Sequence[Line],
    members: Mask,
    unit: Ints | None,
    shares: Floats,
    *,
    caliper: float = 0.2,
    seed: int = 0,
    level: float = 0.95,
) -> Iterator[Adjusted]:
    """Three rows a line.

    Parameters
    ----------
    shares
        (N,): overlap that compares both sides, NaN where there is none.
    caliper, seed
        See `matched.match`.
    """
    known: dict[bytes, tuple[Matching, Weighting | None]] = {}
    for line in (each.fixed for each in lines):
        there = line.scored & ~np.isnan(shares)
        if (key := there.tobytes()) not in known:
            known[key] = match(shares, members, there, caliper=caliper, seed=seed), weigh(shares, members, there)
        pairs, weights = known[key]
        yield _matched(line, members, unit, pairs, level)
        for kind, estimate in ((WEIGHTED, weighted), (ROBUST, doubly_robust)):
            row = _row(line, kind, members, there)
            reason = too_few(there, members)
            if reason is None and weights is None:
                reason = "no_common_support"
            if reason is not None or weights is None:
                yield replace(row, reason=reason)
                continue
            row = replace(row, facts=_facts(weights))
            raw, found = read(line, members, there), estimate(line, members, weights)
            if weights.effective < LEAST:
                yield replace(row, reason="effective_sample_too_small")
            elif raw is None or found is None:
                yield replace(row, reason="no_part_with_both_sides")
            else:
                yield _compared(row, [(raw, found)], partial(_error, members=members, unit=unit), level)


def _matched(line: Line, members: Mask, unit: Ints | None, pairs: Matching, level: float) -> Adjusted:
    row = _row(line, MATCHED, members, pairs.kept)
    gaps = {"mean_gap": pairs.gap, "mean_absolute_gap": pairs.far} if pairs.pairs else {}
    row = replace(row, facts={"pairs": pairs.pairs, **gaps})
    reason, found = too_few(pairs.kept, members), matched(line, members, pairs)
    if reason is not None or not found:
        return replace(row, reason=reason or "no_part_with_both_sides")
    return _compared(row, found, partial(pair_error, members=members, unit=unit, found=pairs), level)


def _row(line: Line, kind: str, members: Mask, used: Mask) -> Adjusted:
    sizes = int((used & members).sum()), int((used & ~members).sum())
    return Adjusted(line.attack, line.model, line.role, line.split, kind, *sizes)


def _facts(weights: Weighting) -> dict[str, float | None]:
    return {
        "effective_sample_size": weights.effective,
        "trimmed_share": weights.trimmed_share,
        "propensity_overlap": weights.shared,
        "members_beyond": weights.beyond,
    }


def _error(moved: Floats, used: Mask, members: Mask, unit: Ints | None) -> float:
    return standard_error(moved, used, members, unit)


def _compared(row: Adjusted, both: Sequence[tuple[Reading, Reading]], error: Error, level: float) -> Adjusted:
    """The row with the first two AUCs, their difference, and the share of the excess if it can be told."""
    raw, found = both[0]
    used, excess = raw.used | found.used, raw.auc - 0.5

    def total(moved: Floats, of: Callable[[float, float], float]) -> float:
        """Standard error of a function of both AUCs: of documents, and of what else there is chance in."""
        drawn = [of(one.auc, other.auc) for one, other in both]
        return float(np.hypot(error(moved, used), np.std(drawn, ddof=1) if len(drawn) > 1 else 0.0))

    if math.isnan(error(raw.moved, used)):
        row = replace(row, reason=TOO_FEW)
    interval = auc_interval(raw.auc, total(raw.moved, lambda one, _: one), level)
    row = replace(
        row,
        raw=raw.auc,
        raw_interval=interval,
        auc=found.auc,
        interval=auc_interval(found.auc, total(found.moved, lambda _, other: other), level),
        raw_less_adjusted=compare(raw.auc - found.auc, total(raw.moved - found.moved, lambda one, other: one - other), level),
    )
    if interval is None or interval[0] <= CLEARLY:
        return replace(row, share_reason=f"raw_auc_not_clearly_above_{CLEARLY}")
    moved = (found.auc - 0.5) / excess**2 * raw.moved - found.moved / excess
    error_of_share = total(moved, lambda one, other: (one - other) / (one - 0.5) if one > 0.5 else 0.0)
    share = compare((raw.auc - found.auc) / excess, error_of_share, level)
    reach = None if share.low is None or share.high is None else (share.low, share.high)
    return replace(row, share=share.difference, share_interval=reach)
