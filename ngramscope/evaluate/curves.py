"""AUC as a function of overlap: non-members restricted, both sides restricted, strata.

The first curve is Duan et al. 2024, Table 2, at every threshold: members stay as they are, non-members with more overlap are
taken away, and what that does to the AUC is shown. The second takes documents away on both sides by the same rule. An attack
that keeps its AUC in the second does not live on overlap; one that gains in the first only, and no more than a placebo or a
blind baseline does, has been handed easier non-members.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.delong import TOO_FEW, Comparison, auc_interval, compare
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.lines import Line, Reading, read, read_within, too_few
from ngramscope.evaluate.overlaps import DocumentOverlap
from ngramscope.evaluate.strata import stratify

__all__ = ["BOTH", "NONMEMBERS", "POOLED", "AucAt", "curves", "strata_of_overlap"]

NONMEMBERS, BOTH = "nonmembers", "both"
"""Which side is restricted."""

POOLED = "pooled"

_FEW = 10


@dataclass(frozen=True)
class AucAt:
    """An AUC among some of the documents.

    Attributes
    ----------
    attack, model, role, split
        See `lines.Line`.
    restricted
        `NONMEMBERS` or `BOTH`.
    at_most
        Largest overlap; None in a stratum.
    stratum
        Its name, or `POOLED`; None at a threshold.
    n1, n0
        Members and non-members that the number comes from.
    auc, interval
        With DeLong's interval.
    less_raw
        Less the AUC of all documents.
    reason
        Why there is no number: ``too_few_members``, ``too_few_nonmembers``, ``no_part_with_both_sides``; or no interval:
        `delong.TOO_FEW`.
    """

    attack: str
    model: str
    role: str
    split: str
    restricted: str
    at_most: float | None
    stratum: str | None
    n1: int
    n0: int
    auc: float | None = None
    interval: tuple[float, float] | None = None
    less_raw: Comparison | None = None
    reason: str | None = None


def curves(
    lines: Sequence[Line],
    members: Mask,
    unit: Ints | None,
    overlap: DocumentOverlap,
    thresholds: Sequence[float],
    level: float = 0.95,
) -> Iterator[AucAt]:
    """Both curves of every line; the second only if `DocumentOverlap.alike` is known.

    In the first curve all members stay, also those without an overlap. Documents that are restricted and have no overlap are
    left out at every threshold.
    """
    sides: list[tuple[str, Floats, Mask]] = [(NONMEMBERS, overlap.plain, members)]
    if overlap.alike is not None:
        sides.append((BOTH, overlap.alike, np.zeros_like(members)))
    for line in lines:
        raw = read(line, members)
        # What learns anew takes its time: at every second threshold, the last among them, if there are many.
        at = thresholds if line.refit is None or len(thresholds) <= _FEW else thresholds[::-1][::2][::-1]
        for restricted, shares, free in sides:
            for most in at:
                kept = free | (shares <= most)
                row = _row(line, restricted, most, None, kept & _known(line), members)
                yield _filled(row, line, kept, raw, members, unit, level)


def strata_of_overlap(
    lines: Sequence[Line], members: Mask, unit: Ints | None, shares: Floats, bins: int, level: float = 0.95
) -> Iterator[AucAt]:
    """Every line within strata of equally many documents by overlap, shape (N,), and pooled over them."""
    strata = stratify(shares.tolist(), bins, name="overlap")
    # What learns is not taught anew in so small a part.
    for line in (each.fixed for each in lines):
        raw = read(line, members)
        for number, name in enumerate(strata.names):
            kept = strata.number == number
            row = _row(line, BOTH, None, name, kept & line.scored, members)
            yield _filled(row, line, kept, raw, members, unit, level)
        pooled = read_within(line, members, strata)
        row = _row(line, BOTH, None, POOLED, np.zeros_like(members), members)
        yield _measured(row, pooled, raw, members, unit, level)


def _known(line: Line) -> Mask:
    """Documents that it could have a score for."""
    return line.scored if line.refit is None else np.ones_like(line.scored)


def _row(line: Line, restricted: str, most: float | None, stratum: str | None, used: Mask, members: Mask) -> AucAt:
    sizes = int((used & members).sum()), int((used & ~members).sum())
    return AucAt(line.attack, line.model, line.role, line.split, restricted, most, stratum, *sizes)


def _filled(row: AucAt, line: Line, kept: Mask, raw: Reading | None, members: Mask, unit: Ints | None, level: float) -> AucAt:
    reason = too_few(kept & _known(line), members)
    if reason is not None:
        return replace(row, reason=reason)
    return _measured(row, read(line, members, kept), raw, members, unit, level)


def _measured(row: AucAt, found: Reading | None, raw: Reading | None, members: Mask, unit: Ints | None, level: float) -> AucAt:
    if found is None:
        return replace(row, reason="no_part_with_both_sides")
    error = found.error(members, unit)
    return replace(
        row,
        n1=int((found.used & members).sum()),
        n0=int((found.used & ~members).sum()),
        auc=found.auc,
        interval=auc_interval(found.auc, error, level),
        less_raw=None if raw is None else compare(*found.less(raw, members, unit), level),
        reason=TOO_FEW if np.isnan(error) else None,
    )
