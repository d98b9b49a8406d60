"""What a report says of text alone: blind baselines, and each attack beside their ceiling and beside placebos."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ngramscope.blind.base import BlindInputs
from ngramscope.blind.folds import FoldRule
from ngramscope.blind.gain import Gain, conditional_gain
from ngramscope.blind.study import BlindResult, BlindStudy, blind_study, fold_parts
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.blocks import ALL, Block, Entry
from ngramscope.evaluate.delong import Comparison, compare, measure, standard_error
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.multiple import adjust, holm
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.prepare import Prepared

if TYPE_CHECKING:
    from ngramscope.evaluate.report import AttackRow, PlaceboRow

__all__ = ["BeyondTextRow", "BlindSection", "blind_section", "no_blind", "warnings_of"]

_LEVEL = 0.05


@dataclass(frozen=True)
class BeyondTextRow:
    """An attack beside the blind ceiling, on the documents that have its score.

    Attributes
    ----------
    attack, model, role, split, n1, n0
        As in `report.AttackRow`.
    auc, ceiling
        AUCs of the attack and of the blind ceiling, means of those within the folds.
    less_ceiling
        The first less the second, paired.
    gain
        What the attack adds to the ceiling; ``p_holm`` is corrected for all attacks on targets.
    placebos
        The same attack on placebo models.
    reason
        Why there are no numbers.
    """

    attack: str
    model: str
    role: str
    split: str
    n1: int
    n0: int
    auc: float | None
    ceiling: float | None
    less_ceiling: Comparison | None
    gain: Gain
    gain_p_holm: float | None
    placebos: tuple[PlaceboRow, ...]
    reason: str | None = None


@dataclass(frozen=True)
class BlindSection:
    """Blind baselines of an evaluation.

    Attributes
    ----------
    baselines, ceiling
        Out of fold, on all documents with a label.
    attacks
        On targets and placebos.
    reason
        Why there is none of this: texts that are not there, or too few documents.
    """

    baselines: tuple[BlindResult, ...]
    ceiling: BlindResult | None
    attacks: tuple[BeyondTextRow, ...]
    reason: str | None = None

    def cells(self) -> Iterator[dict[str, Any]]:
        """Every number as one row of a table, see `writers.COLUMNS`."""
        if self.ceiling is None:
            yield {"section": "blind", "statistic": "auc", "other": "ceiling", "note": self.reason}
            return
        for each in (*self.baselines, self.ceiling):
            low, high = each.interval or (None, None)
            yield {
                "section": "blind", "other": each.name, "statistic": "auc", "value": each.auc, "low": low, "high": high,
                "p": each.p, "note": each.reason,
            }  # fmt: skip
        for row in self.attacks:
            common = {
                "section": "beyond_text", "attack": row.attack, "model": row.model, "role": row.role, "split": row.split,
                "n1": row.n1, "n0": row.n0,
            }  # fmt: skip
            if row.reason is not None:
                yield {**common, "statistic": "gain", "note": row.reason}
                continue
            yield {**common, "statistic": "auc_within_folds", "value": row.auc}
            yield {**common, "statistic": "ceiling_within_folds", "value": row.ceiling}
            if row.less_ceiling is not None:
                less = row.less_ceiling
                yield {
                    **common, "statistic": "auc_less_ceiling", "value": less.difference, "low": less.low, "high": less.high,
                    "p": less.p, "p_holm": less.p_holm,
                }  # fmt: skip
            yield {
                **common, "statistic": "gain", "value": row.gain.gain, "p": row.gain.p, "p_holm": row.gain_p_holm,
                "note": row.gain.reason,
            }  # fmt: skip


def no_blind(reason: str) -> BlindSection:
    """Of an evaluation without texts."""
    return BlindSection((), None, (), reason)


def blind_section(
    blocks: Sequence[Block],
    rows: Sequence[AttackRow],
    data: Prepared,
    inputs: BlindInputs,
    options: EvaluationOptions,
    progress: Callable[[int, int], None] | None = None,
) -> BlindSection:
    """Run the baselines on the evaluated documents and set every attack beside them.

    Parameters
    ----------
    rows
        Of the blocks' attacks, in their order.
    inputs
        Of the N documents of `data`.
    """
    rule = FoldRule(options.folds, options.repeats, options.permutations, options.seed)
    unit = np.arange(len(data.members)) if data.unit is None else data.unit
    study = blind_study(inputs, data.members, unit, rule, level=options.level, progress=progress)
    found: list[BeyondTextRow] = []
    # Attacks that learn nothing are in every block; what counts are their numbers on all documents.
    plain = {entry for block in blocks if block.split == ALL for entry in block.entries}
    place = 0
    for block in blocks if study.reason is None else ():
        mine = rows[place : place + len(block.entries)]
        place += len(block.entries)
        for number, (entry, row) in enumerate(zip(block.entries, mine, strict=True)):
            if block.split == ALL or entry not in plain:
                scores = np.stack([part.scores[number] for part in block.parts])
                found.append(_beyond(entry, row, scores, data.members, unit, study, options))
    return BlindSection(study.baselines, study.ceiling, tuple(_corrected(found)), study.reason)


def warnings_of(section: BlindSection) -> list[str]:
    """Lines about text that does what attacks do, or about baselines that are not there."""
    if section.reason is not None:
        return [
            "no blind baselines, so that nothing tells what text alone reaches (missing columns: blind ceiling, - ceiling, "
            f"gain over text): {section.reason}"
        ]
    ceiling = section.ceiling
    if ceiling is None or ceiling.auc is None or ceiling.p is None or ceiling.p > _LEVEL:
        return []
    targets = [each for each in section.attacks if each.role == "target" and each.less_ceiling is not None]
    matched = [f"{each.attack} @ {each.model}" for each in targets if not _above(each.less_ceiling)]
    if not matched:
        return []
    if len(matched) == len(targets):
        which = "no attack is shown to exceed it"
    else:
        which = f"these attacks are not shown to exceed it: {', '.join(matched)}"
    return [
        f"text alone distinguishes these two sets: the blind ceiling has an AUC of {ceiling.auc:.3f} (p = {ceiling.p:.4f}), "
        f"and {which}; what they distinguish is these two sets, and need not be membership"
    ]


def _above(each: Comparison | None) -> bool:
    """Whether an attack is shown to exceed the ceiling."""
    return each is not None and (each.difference > 0 if each.low is None else each.low > 0)


def _beyond(
    entry: Entry, row: AttackRow, scores: Floats, members: Mask, unit: Ints, study: BlindStudy, options: EvaluationOptions
) -> BeyondTextRow:
    """Of one attack; scores (S, N), a row a split."""
    named = (entry.attack, entry.model, entry.role, row.split, row.n1, row.n0)
    if row.reason is not None:
        return BeyondTextRow(*named, None, None, None, Gain(None, None, None, reason=row.reason), None, (), row.reason)
    auc, ceiling, less = _beside(scores, members, unit, study, options.level)
    gain = conditional_gain(study, scores, members, unit, permutations=options.permutations, seed=options.seed)
    return BeyondTextRow(*named, auc, ceiling, less, gain, None, row.placebos)


def _beside(
    scores: Floats, members: Mask, unit: Ints, study: BlindStudy, level: float
) -> tuple[float | None, float | None, Comparison | None]:
    """AUC of an attack and of the ceiling, and their difference: means over parts and folds, wherever both sides are."""
    parts = [
        each
        for part in scores
        for each in fold_parts(np.stack([np.broadcast_to(part, study.scores.shape), study.scores]), study.folds, members)
    ]
    if not parts:
        return None, None, None
    found = measure(parts, members)
    error = standard_error(found.moved[0] - found.moved[1], found.used[0], members, unit)
    auc, ceiling = map(float, found.auc)
    return auc, ceiling, compare(auc - ceiling, error, level)


def _corrected(rows: Sequence[BeyondTextRow]) -> list[BeyondTextRow]:
    """With Holm's correction for all attacks on targets."""
    targets = [place for place, each in enumerate(rows) if each.role == "target" and each.less_ceiling is not None]
    differences = adjust([each for place in targets if (each := rows[place].less_ceiling) is not None])
    tested = [place for place in targets if rows[place].gain.p is not None]
    corrected = dict(zip(tested, holm([rows[place].gain.p or 0.0 for place in tested]), strict=True))
    found = list(rows)
    for place, difference in zip(targets, differences, strict=True):
        found[place] = replace(found[place], less_ceiling=difference, gain_p_holm=corrected.get(place))
    return found
