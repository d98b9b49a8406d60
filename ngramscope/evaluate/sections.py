"""What a report has beside its table of attacks: strata, thresholds on other sets, pairs of attacks, stability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ngramscope.attacks.table import ScoreTable
from ngramscope.errors import InputError
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.blocks import Block
from ngramscope.evaluate.bootstrap import Resampled
from ngramscope.evaluate.calibration import calibration, kind
from ngramscope.evaluate.complementarity import complementarity, found
from ngramscope.evaluate.delong import TOO_FEW, Part, auc_interval, compare, measure, standard_error
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.missing import usable
from ngramscope.evaluate.multiple import adjust
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.prepare import Prepared, align
from ngramscope.evaluate.report import AttackRow, ChangeRow, FlaggedRow, PairRow, StabilityRow, StratumRow
from ngramscope.evaluate.rows import contrast
from ngramscope.evaluate.stability import disagreement, flagged_by_cuts, summary
from ngramscope.evaluate.strata import NO_VALUE, POOLED, Strata, pooled_parts
from ngramscope.evaluate.tpr import resolves, tprs
from ngramscope.evaluate.transfer import flagged_share

__all__ = ["change_rows", "check_shared", "modified_rows", "pair_rows", "stability_rows", "stratum_rows", "transfer_rows"]


def stratum_rows(block: Block, data: Prepared, by: Mapping[str, Strata], options: EvaluationOptions) -> list[StratumRow]:
    """Each attack in each stratum of each column, see `columns.strata_by`, and pooled over the strata of a column."""
    rows: list[StratumRow] = []
    for column, strata in by.items():
        scores = block.parts[0].scores
        for number, name in enumerate(strata.names):
            rows += _stratum(block, data, column, name, np.where(strata.number == number, scores, np.nan), options)
        if (strata.number < 0).any():
            rows += _stratum(block, data, column, NO_VALUE, np.where(strata.number < 0, scores, np.nan), options)
        rows += _pooled(block, data, column, strata, options)
    return rows


def _stratum(
    block: Block, data: Prepared, column: str, name: str, scores: Floats, options: EvaluationOptions
) -> Iterator[StratumRow]:
    measured = measure([Part(scores)], data.members)
    for number, entry in enumerate(block.entries):
        used = ~np.isnan(scores[number])
        n1, n0 = int((used & data.members).sum()), int((used & ~data.members).sum())
        if min(n1, n0) == 0:
            missing = "no_scores" if not max(n1, n0) else "one_side_only"
            yield StratumRow(column, name, entry.attack, entry.model, n1, n0, None, None, missing)
            continue
        auc = float(measured.auc[number])
        error = standard_error(measured.moved[number], measured.used[number], data.members, data.unit)
        why = TOO_FEW if np.isnan(error) else None
        yield StratumRow(column, name, entry.attack, entry.model, n1, n0, auc, auc_interval(auc, error, options.level), why)


def _pooled(block: Block, data: Prepared, column: str, strata: Strata, options: EvaluationOptions) -> Iterator[StratumRow]:
    for number, entry in enumerate(block.entries):
        scores = block.parts[0].scores[[number]]
        scored = replace(strata, number=np.where(np.isnan(scores[0]), -1, strata.number))
        parts = pooled_parts(scores, data.members, scored)
        if not parts:
            yield StratumRow(column, POOLED, entry.attack, entry.model, 0, 0, None, None, "no_stratum_with_both_sides")
            continue
        pooled = measure(parts, data.members)
        used, auc = pooled.used[0], float(pooled.auc[0])
        error = standard_error(pooled.moved[0], used, data.members, data.unit)
        raw = block.measured
        moved = pooled.moved[0] - raw.moved[number]
        change = standard_error(moved, used | raw.used[number], data.members, data.unit)
        yield StratumRow(
            column, POOLED, entry.attack, entry.model, int((used & data.members).sum()), int((used & ~data.members).sum()),
            auc, auc_interval(auc, error, options.level), TOO_FEW if np.isnan(error) else None,
            compare(auc - float(raw.auc[number]), change, options.level),
        )  # fmt: skip


def transfer_rows(block: Block, data: Prepared, other: Prepared, options: EvaluationOptions) -> list[FlaggedRow]:
    """Thresholds of this set, applied to members and non-members of another."""
    shared = _shared(block, other.names)
    scores = _theirs(other, shared, options)
    sides = {"nonmembers": ~other.members, "members": other.members}
    return list(_flagged(block, data, shared, {name: scores[:, side] for name, side in sides.items()}, options))


def modified_rows(block: Block, data: Prepared, table: ScoreTable, options: EvaluationOptions) -> list[FlaggedRow]:
    """Thresholds of this set, applied to modified members (all documents of the table, whatever their label) and to members."""
    shared = _shared(block, [(each.attack, each.model) for each in table.columns])
    scores = np.array([table.columns[each].scores for _, each in shared])
    finite = np.isfinite(scores)
    kept = finite.all(axis=0) & finite if options.missing == "complete" else finite
    originals = block.parts[0].scores[[number for number, _ in shared]][:, data.members]
    return list(_flagged(block, data, shared, {"modified": np.where(kept, scores, np.nan), "originals": originals}, options))


def _flagged(
    block: Block, data: Prepared, shared: Sequence[tuple[int, int]], sides: dict[str, Floats], options: EvaluationOptions
) -> Iterator[FlaggedRow]:
    rule = "le" if options.tpr_rule == "interp" else options.tpr_rule  # a threshold is needed
    for place, (number, _) in enumerate(shared):
        entry = block.entries[number]
        if np.isnan(block.measured.auc[number]):
            continue
        for each in tprs(block.parts[0].scores[number], data.members, options.fprs, rule):
            if each.tpr is None:
                continue
            for name, scores in sides.items():
                flagged = flagged_share(scores[place], each.threshold, options.level)
                yield FlaggedRow(name, entry.attack, entry.model, each.target, each.threshold, flagged)


def change_rows(block: Block, data: Prepared, other: Prepared, options: EvaluationOptions) -> list[ChangeRow]:
    """AUCs on the other set less those on this one, and for each model whether calibrated attacks change alike."""
    shared = _shared(block, other.names)
    theirs = _theirs(other, shared, options)
    rows = []
    for model in dict.fromkeys(block.entries[number].model for number, _ in shared):
        places = [place for place, (number, _) in enumerate(shared) if block.entries[number].model == model]
        numbers = [shared[place][0] for place in places]
        names = [block.entries[number].attack for number in numbers]
        first, second, members, unit = align(data, other, (block.parts[0].scores[numbers], theirs[places]))
        measured = [measure([Part(each)], members) for each in (first, second)]
        change = calibration(names, measured[0], measured[1], members, unit, options.level)
        for name, was, is_, each in zip(names, measured[0].auc, measured[1].auc, change.attacks, strict=True):
            rows.append(ChangeRow(name, model, kind(name), float(was), float(is_), each))
        if change.divergence is not None:
            rows.append(ChangeRow(None, model, None, None, None, change.divergence, change.sign_of_shift))
    return rows


def pair_rows(block: Block, members: Mask, unit: Ints | None, options: EvaluationOptions) -> list[PairRow]:
    """Every pair of attacks on target models; Holm's correction is for all of them."""
    chosen = [
        number
        for number, entry in enumerate(block.entries)
        if entry.role == "target" and not np.isnan(block.measured.auc[number])
    ]
    scores = block.parts[0].scores
    pairs = complementarity(scores[chosen], members, _thresholds(block, chosen, members, options))
    differences = adjust(
        [contrast(block, chosen[each.first], chosen[each.second], members, unit, options.level) for each in pairs]
    )
    names = [f"{entry.attack} @ {entry.model}" for entry in block.entries]
    return [
        PairRow(
            names[chosen[each.first]], names[chosen[each.second]], difference, options.decision_fpr,
            each.both, each.first_only, each.second_only, each.neither,
        )
        for each, difference in zip(pairs, differences, strict=True)
    ]  # fmt: skip


def stability_rows(
    block: Block, rows: Sequence[AttackRow], drawn: Resampled, members: Mask, options: EvaluationOptions
) -> list[StabilityRow]:
    """Disagreement of decisions at the FPR for pairs: between resamples, between seeds, between target models."""
    found_rows = []
    scored = [number for number, row in enumerate(rows) if row.reason is None and resolves(row.n0, options.decision_fpr)]
    scores = block.parts[0].scores
    if block.seeds:
        for number in scored:
            if len(block.parts) > 1 and not _same_everywhere(block, number):
                decisions = np.stack([_decide(part.scores[number], members, options) for part in block.parts])
                found_rows.append(_stable(rows[number], "seeds", decisions, members, options))
        return found_rows
    if options.bootstrap and options.tpr_rule != "interp" and options.decision_fpr in options.fprs:
        place = options.fprs.index(options.decision_fpr)
        for number in scored:
            flagged = flagged_by_cuts(scores[number], drawn.cut[number, place])
            count = options.bootstrap
            rates = 2 * flagged * (1 - flagged) * count / (count - 1)
            sides = [summary(rates, flagged, side) for side in (members, ~members)]
            found_rows.append(
                StabilityRow(rows[number].attack, rows[number].model, "resamples", options.decision_fpr, sides[0], sides[1])
            )
    for attack in dict.fromkeys(rows[number].attack for number in scored):
        same = [number for number in scored if rows[number].attack == attack and rows[number].role == "target"]
        if len(same) > 1:
            decisions = np.stack([_decide(scores[number], members, options) for number in same])
            found_rows.append(_stable(replace(rows[same[0]], model="targets"), "models", decisions, members, options))
    return found_rows


def _stable(row: AttackRow, between: str, decisions: Floats, members: Mask, options: EvaluationOptions) -> StabilityRow:
    made = (~np.isnan(decisions)).sum(axis=0)
    flagged = np.nansum(decisions, axis=0) / np.maximum(made, 1)
    rates = disagreement(decisions)
    return StabilityRow(
        row.attack,
        row.model,
        between,
        options.decision_fpr,
        summary(rates, flagged, members),
        summary(rates, flagged, ~members),
    )


def _decide(scores: Floats, members: Mask, options: EvaluationOptions) -> Floats:
    """(N,): 1 flagged at this set's threshold, 0 not, NaN without a score."""
    threshold = tprs(scores, members, (options.decision_fpr,), "le")[0].threshold
    flagged = found(scores[None], [threshold])[0]
    return np.where(np.isnan(scores), np.nan, flagged.astype(np.float64))


def _same_everywhere(block: Block, number: int) -> bool:
    """Whether an attack has learned nothing: its scores do not depend on the split."""
    every = np.stack([part.scores[number] for part in block.parts])
    known = ~np.isnan(every)
    low, high = np.where(known, every, np.inf).min(axis=0), np.where(known, every, -np.inf).max(axis=0)
    return not (low < high).any()


def _thresholds(block: Block, chosen: Sequence[int], members: Mask, options: EvaluationOptions) -> list[float | None]:
    return [tprs(block.parts[0].scores[each], members, (options.decision_fpr,), "le")[0].threshold for each in chosen]


def _theirs(other: Prepared, shared: Sequence[tuple[int, int]], options: EvaluationOptions) -> Floats:
    """(A, N'): scores of the other table by the shared attacks, as they are evaluated."""
    columns = [column for _, column in shared]
    return usable(other.scores[columns], other.members, [other.reasons[each] for each in columns], options.missing).scores


def check_shared(block: Block, table: ScoreTable | None) -> None:
    """Refuse another table that has no attack of this one: what is compared comes after all that takes long."""
    if table is not None:
        _shared(block, [(each.attack, each.model) for each in table.columns])


def _shared(block: Block, names: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    """Numbers of the block's attacks that another table has too, and its columns' numbers."""
    place = {name: number for number, name in enumerate(names)}
    shared = [(at, place[e.attack, e.model]) for at, e in enumerate(block.entries) if (e.attack, e.model) in place]
    if not shared:
        ours = ", ".join(sorted({f"{each.attack} @ {each.model}" for each in block.entries}))
        raise InputError(f"the two score tables have no attack on the same model in common; the evaluated one has: {ours}")
    return shared
