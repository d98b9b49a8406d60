"""A verdict in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ngramscope.evaluate.delong import LEAST_GROUPS
from ngramscope.evaluate.evidence import (
    BOTH,
    MEMBERSHIP,
    NOT_IDENTIFIABLE,
    NOTHING,
    SHIFT,
    AttackEvidence,
    Evidence,
)

__all__ = ["sentences", "title_of"]

_TITLES: Mapping[str, str] = {
    NOTHING: "nothing detectable",
    MEMBERSHIP: "membership",
    SHIFT: "shift",
    BOTH: "shift and membership",
    NOT_IDENTIFIABLE: "shift, membership not identifiable",
}
"""Of the codes."""


def title_of(code: str, because: str) -> str:
    """The verdict in two or three words; without any attack nothing could have been detected."""
    return "nothing known" if (code, because) == (NOTHING, "no_attack") else _TITLES[code]


_NOT_IDENTIFIABLE: Mapping[str, str] = {
    "no_placebo": "Without a placebo model, or membership drawn by chance, it cannot be told how much of that is membership.",
    "no_blind_baseline": "No blind baseline and no placebo was run, so it cannot be told whether text alone does the same.",
    "shift_not_excluded": "A shift between the two sides is not excluded, and there is no placebo to tell membership from it.",
    "no_gain_over_blind": "But it is not provably above what text alone reaches, and there is no placebo.",
    "not_beyond_placebo": "But it is not provably better than on a placebo, or than text alone, so membership is not shown.",
}


def sentences(
    code: str, because: str, best: AttackEvidence | None, evidence: Evidence, decided: Mapping[str, Any]
) -> Iterator[str]:
    """What is concluded, from what, and what it does not say; see `verdict.decide`."""
    if code in (SHIFT, BOTH) or (code == NOT_IDENTIFIABLE and because == "no_placebo"):
        yield _shift(decided)
    if best is None:
        yield "No attack has an AUC, so nothing is known of membership."
        return
    if because == "too_few_groups":
        yield (
            f"The attacks are not judged: with fewer than {LEAST_GROUPS} groups on a side it cannot be told how far chance "
            f"alone goes (the highest: {_attack(best)})."
        )
        yield "That is no evidence of privacy: it takes more groups, not more documents of the same ones."
        return
    if because == "no_signal":
        yield f"These attacks cannot tell members from non-members (the nearest: {_attack(best)})."
        yield "That is no evidence of privacy: another attack, or more documents, may find what these do not."
        if decided["detectable_auc"] is not None:
            yield f"An AUC of {decided['detectable_auc']:.3f} would have been told from .5 in 80 % of studies of this size."
        if evidence.blind is None:
            yield "No blind baseline was run, so of a shift in the texts nothing is known."
        return
    yield f"Members are told from non-members by {_attack(best)}, p = {_p(decided['signal'][best.name])}."
    if code in (MEMBERSHIP, BOTH):
        yield from _membership(because, best, evidence)
        yield "That holds for the two sets. It says nothing of a single document."
    elif code == NOT_IDENTIFIABLE:
        yield _NOT_IDENTIFIABLE[because]
    else:
        yield "It is not provably better than on a placebo, which saw neither side, or than text alone: that can be the shift."
    if because == "not_beyond_placebo" and decided["detectable_difference"] is not None:
        yield (
            f"An AUC {decided['detectable_difference']:.3f} above that on the placebo would have been found in 80 % of studies "
            "of this size."
        )


def _membership(because: str, best: AttackEvidence, evidence: Evidence) -> Iterator[str]:
    if because == "randomised":
        yield "Chance alone decided who was a member, and the p-value is over the draws of that design."
    for each in best.placebos:
        yield f"On the placebo {each.model}, which saw neither side, it has {each.auc:.3f}: {each.difference.difference:+.3f}."
    if best.gain is not None:
        yield f"To what text alone says it adds {best.gain:+.3f}."
    if because == "no_shift" and evidence.blind is not None:
        yield (
            f"Text alone does not tell the sides apart (blind ceiling {evidence.blind.auc:.3f}, p = {_p(evidence.blind.p)}). A "
            "shift that only a language model sees is not excluded: there is no placebo."
        )


def _shift(decided: Mapping[str, Any]) -> str:
    seen = [f"{name}, p = {_p(p)}" for name, p in sorted(decided["shift"].items(), key=lambda each: (each[1], each[0]))]
    return f"The two sides are different texts, as what has seen no membership tells them apart ({seen[0]})."


def _attack(attack: AttackEvidence) -> str:
    interval = "" if attack.interval is None else f" [{attack.interval[0]:.3f}, {attack.interval[1]:.3f}]"
    return f"{attack.name} with an AUC of {attack.auc:.3f}{interval}"


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "less than .0001"
