"""What a verdict depends on: attacks, placebos, blind ceiling, as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ngramscope.evaluate.blocks import ALL
from ngramscope.evaluate.delong import TOO_FEW, Comparison

if TYPE_CHECKING:
    from ngramscope.evaluate.blind_section import BlindSection
    from ngramscope.evaluate.report import AttackRow

__all__ = [
    "BOTH",
    "CODES",
    "MEMBERSHIP",
    "NOTHING",
    "NOT_IDENTIFIABLE",
    "SHIFT",
    "AttackEvidence",
    "BlindEvidence",
    "Evidence",
    "PlaceboEvidence",
    "evidence_of",
    "of_blind",
]

NOTHING, MEMBERSHIP, SHIFT, BOTH, NOT_IDENTIFIABLE = CODES = (
    "nothing_detectable", "membership", "shift", "shift_and_membership", "shift_membership_not_identifiable",
)  # fmt: skip

Interval = tuple[float, float] | None
OverText = tuple[float | None, float | None, Comparison | None]
"""`AttackEvidence.gain`, `gain_p` and `over_blind`."""


@dataclass(frozen=True)
class PlaceboEvidence:
    """The attack on a model that saw neither side.

    Attributes
    ----------
    model
        Its name.
    auc, p
        Of the attack on it; p two-sided, of an AUC of .5.
    difference
        AUC on the target less this one, as a pair.
    """

    model: str
    auc: float
    p: float | None
    difference: Comparison


@dataclass(frozen=True)
class AttackEvidence:
    """An attack on a target.

    Attributes
    ----------
    name
        ``attack @ model``.
    auc, interval
        With its interval.
    p
        Two-sided, of an AUC of .5: by DeLong's error, or over the draws of the design if membership was randomised.
    n1, n0
        Members and non-members.
    detectable
        Smallest AUC that would have been told from .5 in 80 % of studies.
    placebos
        The same attack on placebo models.
    gain, gain_p
        What it adds to the blind ceiling, and the p-value of that by permutations; None if not known.
    over_blind
        Its AUC less that of the blind ceiling, as a pair; None if not known.
    few_groups
        Whether a side has so few groups that nothing can be told (`delong.LEAST_GROUPS`).
    """

    name: str
    auc: float
    interval: Interval
    p: float | None
    n1: int
    n0: int
    detectable: float | None = None
    placebos: tuple[PlaceboEvidence, ...] = ()
    gain: float | None = None
    gain_p: float | None = None
    over_blind: Comparison | None = None
    few_groups: bool = False


@dataclass(frozen=True)
class BlindEvidence:
    """The blind ceiling: AUC out of fold, interval, and p-value by permuting labels and fitting anew."""

    auc: float
    interval: Interval
    p: float


@dataclass(frozen=True)
class Evidence:
    """All that the verdict depends on; the order of attacks and placebos does not matter.

    Attributes
    ----------
    attacks
        On targets. Those without an AUC are left out.
    blind
        None if no blind baseline was run.
    randomised
        Whether membership was drawn by a known design, and the p-values of attacks are over its draws.
    """

    attacks: tuple[AttackEvidence, ...]
    blind: BlindEvidence | None = None
    randomised: bool = False


def of_blind(section: BlindSection) -> tuple[BlindEvidence | None, dict[str, OverText]]:
    """The blind ceiling, and by attack what it adds; nothing without baselines, or without permutations."""
    ceiling = section.ceiling
    if ceiling is None or ceiling.auc is None or ceiling.p is None:
        return None, {}
    over = {f"{each.attack} @ {each.model}": (each.gain.gain, each.gain.p, each.less_ceiling) for each in section.attacks}
    return BlindEvidence(ceiling.auc, ceiling.interval, ceiling.p), over


def evidence_of(
    rows: Sequence[AttackRow],
    blind: BlindEvidence | None = None,
    over_text: Mapping[str, OverText] | None = None,
    randomised: Mapping[str, float] | None = None,
) -> Evidence:
    """The evidence in a report's rows of attacks.

    Parameters
    ----------
    rows
        Of attacks that learned something the held-out rows count, of all others those of all documents.
    over_text
        By name (`AttackEvidence.name`), see `of_blind`.
    randomised
        By name, p-values over the draws of the design; None if membership was not randomised.
    """
    plain = {(row.attack, row.model) for row in rows if row.split == ALL}
    counted = [row for row in rows if row.auc is not None and (row.split == ALL or (row.attack, row.model) not in plain)]
    own = {(row.attack, row.model): row.p for row in counted}
    attacks = []
    for row in counted:
        if row.role != "target" or row.auc is None:
            continue
        name = f"{row.attack} @ {row.model}"
        placebos = tuple(
            PlaceboEvidence(each.model, each.auc, own.get((row.attack, each.model)), each.difference) for each in row.placebos
        )
        over = (over_text or {}).get(name, (None, None, None))
        p = row.p if randomised is None else randomised[name]
        few = TOO_FEW in row.notes
        attacks.append(AttackEvidence(name, row.auc, row.interval, p, row.n1, row.n0, row.detectable, placebos, *over, few))
    return Evidence(tuple(attacks), blind, randomised is not None)
