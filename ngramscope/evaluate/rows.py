"""The rows of a report: each attack with its AUC, TPRs, intervals, and what it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask, tied_pairs
from ngramscope.evaluate.blocks import Block
from ngramscope.evaluate.bootstrap import Resampled, bootstrap, percentiles
from ngramscope.evaluate.delong import LEAST_GROUPS, TOO_FEW, Comparison, auc_interval, compare, few_groups
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.multiple import adjust
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.power import detectable_auc
from ngramscope.evaluate.report import AttackRow, PlaceboRow, TprRow
from ngramscope.evaluate.tpr import RELIABLE, tprs

__all__ = ["attack_rows", "contrast"]

NOTES: Mapping[str, str] = {
    "all_tied": "every document has the same score: the AUC is .5 and says nothing",
    "ties": "members and non-members tie in more than 1 % of pairs; ties count half",
    "separated": "every member scores above every non-member, or below: no interval",
    "below_half": "AUC below .5; scores are never turned round",
    "few_documents": f"fewer than {RELIABLE} documents on a side: intervals are not to be relied on",
    TOO_FEW: f"fewer than {LEAST_GROUPS} groups on a side: no intervals and no p-values",
    "fewer_documents": "evaluated on fewer documents than other attacks of the table",
}
"""What the codes of `AttackRow.notes` mean."""

_TIES = 0.01


def attack_rows(
    block: Block, members: Mask, unit: Ints | None, options: EvaluationOptions, progress: Callable[[int], None] | None = None
) -> tuple[list[AttackRow], Resampled]:
    """A row for each attack of a block, and the resamples that its intervals are from."""
    kept = block.measured.used.any(axis=0)  # as many of these are drawn as there are
    drawn = bootstrap(
        [replace(part, scores=part.scores[:, kept]) for part in block.parts], members[kept],
        None if unit is None else unit[kept], resamples=options.bootstrap, seed=options.seed, fprs=options.fprs,
        rule=options.tpr_rule, progress=progress,
    )  # fmt: skip
    rows = [_row(block, number, members, unit, options, drawn) for number in range(len(block.entries))]
    most = max(((each.n1, each.n0) for each in rows if each.reason is None), default=(0, 0))
    rows = [
        replace(each, notes=(*each.notes, "fewer_documents")) if each.reason is None and (each.n1, each.n0) != most else each
        for each in rows
    ]
    return _compared(block, rows, members, unit, options), drawn


def contrast(block: Block, first: int, second: int, members: Mask, unit: Ints | None, level: float) -> Comparison:
    """AUC of one attack of a block less that of another."""
    weights = np.zeros(len(block.entries))
    weights[first], weights[second] = 1.0, -1.0
    return compare(float(block.measured.auc[first] - block.measured.auc[second]), block.error(weights, members, unit), level)


def _row(
    block: Block, number: int, members: Mask, unit: Ints | None, options: EvaluationOptions, drawn: Resampled
) -> AttackRow:
    entry = block.entries[number]
    n1, n0 = block.sizes[number].tolist()
    reason = block.empty[number] or (None if min(n1, n0) else "no_common_documents")
    row = AttackRow(
        entry.attack, entry.model, entry.role, block.split, block.seeds, n1, n0, reason, undefined=block.undefined[number]
    )
    if reason is not None:
        return row
    auc = float(block.measured.auc[number])
    own = np.eye(len(block.entries))[number]
    error = block.error(own, members, unit)
    alone = error if unit is None else block.error(own, members, None)
    tested = compare(auc - 0.5, error)
    ties = float(np.mean([tied_pairs(part.scores[number], members) for part in block.parts]))
    used = block.measured.used[number]
    sides = [used & members, used & ~members]
    few = few_groups(used, members, unit)
    units = None if unit is None else min(len(np.unique(unit[side])) for side in sides)
    resampled = _reach(drawn.auc[number], options, units)
    notes = {
        "all_tied": ties == 1, "ties": _TIES < ties < 1, "separated": auc in (0.0, 1.0), "below_half": auc < 0.5,
        "few_documents": min(int(side.sum()) for side in sides) < RELIABLE, TOO_FEW: few,
    }  # fmt: skip
    return replace(
        row,
        auc=auc,
        standard_error=None if np.isnan(error) else error,
        interval=auc_interval(auc, error, options.level),
        bootstrap_interval=resampled if resampled is not None and resampled[0] < resampled[1] else None,
        p=tested.p,
        detectable=None
        if few
        else detectable_auc(n1, n0, level=options.level, inflation=error / alone if error > 0 and alone > 0 else 1.0),
        tied_pairs=ties,
        tprs=_tprs(block, number, members, options, drawn, units),
        notes=tuple(code for code, holds in notes.items() if holds),
    )


def _tprs(
    block: Block, number: int, members: Mask, options: EvaluationOptions, drawn: Resampled, units: int | None
) -> tuple[TprRow, ...]:
    by_part = [tprs(part.scores[number], members, options.fprs, options.tpr_rule) for part in block.parts]
    few = units is not None and units < LEAST_GROUPS
    rows = []
    for place, each in enumerate(zip(*by_part, strict=True)):
        shown = all(one.tpr is not None for one in each)
        attained = [one.attained_fpr for one in each if one.attained_fpr is not None]
        point = float(np.mean([one.point_tpr for one in each]))
        bounds = _reach(drawn.tpr[number, place], options, units)
        rows.append(
            TprRow(
                each[0].target,
                point if shown else None,
                point,
                float(np.mean(attained)) if len(attained) == len(each) else None,
                each[0].threshold if len(each) == 1 else None,
                bounds if shown else None,
                min(one.n0 for one in each),
                few or any(one.unreliable for one in each),
                TOO_FEW if shown and few else None if shown else "fewer_nonmembers_than_1_in_fpr",
            )
        )
    return tuple(rows)


def _reach(values: Floats, options: EvaluationOptions, units: int | None) -> tuple[float, float] | None:
    """Percentiles of resamples; None without any, of too few groups, or where one had no document of a side."""
    if not options.bootstrap or np.isnan(values).any() or (units is not None and units < LEAST_GROUPS):
        return None
    low, high = percentiles(values, options.level, units)
    return float(low), float(high)


def _compared(
    block: Block, rows: Sequence[AttackRow], members: Mask, unit: Ints | None, options: EvaluationOptions
) -> list[AttackRow]:
    """Add what rows are compared with; Holm's correction is for the comparisons of a kind in the block."""
    place = {(each.attack, each.model): number for number, each in enumerate(rows) if each.reason is None}
    baselines: dict[int, Comparison] = {}
    placebos: dict[tuple[int, int], Comparison] = {}
    for number, row in enumerate(rows):
        if row.reason is not None:
            continue
        base = place.get((options.baseline, row.model))
        if base is not None and base != number:
            baselines[number] = contrast(block, number, base, members, unit, options.level)
        for other, placebo in enumerate(rows):
            alike = placebo.attack == row.attack and placebo.reason is None
            if row.role == "target" and placebo.role == "placebo" and alike:
                placebos[number, other] = contrast(block, number, other, members, unit, options.level)
    corrected = dict(zip(baselines, adjust(list(baselines.values())), strict=True))
    beside = dict(zip(placebos, adjust(list(placebos.values())), strict=True))
    return [
        replace(
            row,
            to_baseline=corrected.get(number),
            placebos=tuple(
                PlaceboRow(rows[other].model, rows[other].auc or 0.0, rows[other].interval, difference)
                for (target, other), difference in beside.items()
                if target == number
            ),
        )
        for number, row in enumerate(rows)
    ]
