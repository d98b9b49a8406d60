"""What an evaluation shows: membership, a shift between the two sides, both, or nothing.

An attack that ranks members above non-members has seen one of two things: that the model was trained on the members, or that
the two sides are different texts. Three things tell them apart: what text alone reaches (the blind ceiling), what the same
attack reaches on a model that saw neither side (placebo), and whether chance alone decided who was a member (randomised). The
verdict is a pure function of their numbers, by a rule that is declared before the data are seen. docs/verdict.md has the rule
in words, and how often it errs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscope.evaluate.delong import Comparison
from ngramscope.evaluate.evidence import (
    BOTH,
    MEMBERSHIP,
    NOT_IDENTIFIABLE,
    NOTHING,
    SHIFT,
    AttackEvidence,
    BlindEvidence,
    Evidence,
)
from ngramscope.evaluate.multiple import holm
from ngramscope.evaluate.verdict_words import sentences

__all__ = ["Verdict", "VerdictRule", "decide"]

_DETECTED = (1.96 + 0.84) / 1.96
"""Half an interval of 95 %, times this, is found in 80 % of studies."""


@dataclass(frozen=True)
class VerdictRule:
    """The declared rule.

    Attributes
    ----------
    alpha
        Level of every family of tests, each with Holm's correction.
    screen
        Without a placebo and without randomised membership a shift counts as excluded only if the blind ceiling's p is above
        this: a test that does not reject has not shown that there is no shift.
    """

    alpha: float = 0.05
    screen: float = 0.2


@dataclass(frozen=True)
class Verdict:
    """What is concluded.

    Attributes
    ----------
    code
        One of `evidence.CODES`.
    sentences
        The same for people, with what it does not say.
    because
        Code of the reason, see docs/verdict.md.
    decided
        The numbers that decided: corrected p-values by attack, of membership (``membership``) and of an AUC above .5
        (``signal``), those of a shift (``shift``), the strongest attack, what could have been detected.
    rule, evidence
        As given.
    """

    code: str
    because: str
    sentences: tuple[str, ...]
    decided: dict[str, Any]
    rule: VerdictRule
    evidence: Evidence

    def cells(self) -> Iterator[dict[str, Any]]:
        """As rows of `writers.COLUMNS`: the code as a note, and every p-value that decided."""
        yield {"section": "verdict", "statistic": "verdict", "note": f"{self.code}; {self.because}"}
        for of in ("signal", "membership", "shift"):
            for name, p in self.decided[of].items():
                yield {"section": "verdict", "attack": name, "statistic": of, "p_holm": p}


def decide(evidence: Evidence, rule: VerdictRule | None = None) -> Verdict:
    """Apply the rule.

    Of an attack, *signal* is an AUC above .5. *Beyond text* is, all at once: signal; an AUC above that on each placebo; a gain
    over the blind ceiling, if it is known; and without any placebo an AUC above that of the ceiling. Its p-value is the largest
    of theirs (an intersection-union test), so that each of them has to hold. If membership was randomised, signal alone is
    beyond text.
    """
    rule = rule or VerdictRule()
    attacks = tuple(sorted(evidence.attacks, key=lambda each: each.name))
    names = [each.name for each in attacks]
    signal = _corrected(names, [_signal(each) for each in attacks])
    beyond = _corrected(names, [_beyond(each, evidence) for each in attacks])
    shift = _shift(evidence.blind, attacks)
    tested = [any(p <= rule.alpha for p in each.values()) for each in (signal, beyond, shift)]
    code, because = _conclude(evidence, rule, *tested)
    best = min(attacks, key=lambda each: (beyond[each.name], signal[each.name], -each.auc), default=None)
    decided: dict[str, Any] = {
        "attack": None if best is None else best.name,
        "signal": signal,
        "membership": beyond,
        "shift": shift,
        "detectable_auc": min((each.detectable for each in attacks if each.detectable is not None), default=None),
        "detectable_difference": None if best is None else _detectable_difference(best),
    }
    return Verdict(code, because, tuple(sentences(code, because, best, evidence, decided)), decided, rule, evidence)


def _conclude(evidence: Evidence, rule: VerdictRule, signal: bool, beyond: bool, shift: bool) -> tuple[str, str]:
    if not evidence.attacks:
        return (SHIFT, "no_attack") if shift else (NOTHING, "no_attack")
    if not signal:
        judged = evidence.randomised or not all(each.few_groups for each in evidence.attacks)
        because = "no_signal" if judged else "too_few_groups"
        return (SHIFT, because) if shift else (NOTHING, because)
    if evidence.randomised:
        return (BOTH if shift else MEMBERSHIP), "randomised"
    if any(each.placebos for each in evidence.attacks):
        if beyond:
            return (BOTH if shift else MEMBERSHIP), "beyond_placebo"
        return (SHIFT, "not_beyond_placebo") if shift else (NOT_IDENTIFIABLE, "not_beyond_placebo")
    if shift:
        return NOT_IDENTIFIABLE, "no_placebo"
    if evidence.blind is None:
        return NOT_IDENTIFIABLE, "no_blind_baseline"
    if evidence.blind.p <= rule.screen:
        return NOT_IDENTIFIABLE, "shift_not_excluded"
    return (MEMBERSHIP, "no_shift") if beyond else (NOT_IDENTIFIABLE, "no_gain_over_blind")


def _signal(attack: AttackEvidence) -> float:
    """Two-sided p of an AUC above .5; 1 if it is not above."""
    if attack.auc <= 0.5:
        return 1.0
    if attack.p is not None:
        return attack.p
    if attack.few_groups:
        return 1.0
    # Without an error: all pairs tie, or all are in one order, which has this chance.
    return 2 / math.comb(attack.n1 + attack.n0, attack.n1) if attack.auc == 1 else 1.0


def _beyond(attack: AttackEvidence, evidence: Evidence) -> float:
    signal = _signal(attack)
    if evidence.randomised:
        return signal
    parts = [signal, *(_above(each.difference) for each in attack.placebos)]
    if attack.gain is not None:
        parts.append(1.0 if attack.gain_p is None or attack.gain <= 0 else attack.gain_p)
    if not attack.placebos:
        if any(each.placebos for each in evidence.attacks):
            return 1.0  # it has not been compared with a placebo, and others have
        # Out of fold a ceiling that has nothing to learn lies below .5, so that it takes nothing to be above it.
        if attack.over_blind is not None and evidence.blind is not None and evidence.blind.auc > 0.5:
            parts.append(_above(attack.over_blind))
    return max(parts)


def _above(difference: Comparison) -> float:
    return 1.0 if difference.p is None or difference.difference <= 0 else difference.p


def _shift(blind: BlindEvidence | None, attacks: Sequence[AttackEvidence]) -> dict[str, float]:
    """Corrected p-values of the tests that see no membership: blind ceiling, and attacks on placebos, in whatever direction.

    Half of the level is the ceiling's: its p-value, of some hundred permutations, must not drown among those of many attacks.
    """
    placebos = {
        f"{attack.name.split(' @ ')[0]} @ {each.model}": each.p
        for attack in attacks
        for each in attack.placebos
        if each.p is not None
    }
    families = [_corrected(list(placebos), list(placebos.values())), {} if blind is None else {"blind ceiling": blind.p}]
    parts = sum(map(bool, families))
    return {name: min(1.0, parts * p) for family in families for name, p in family.items()}


def _corrected(names: Sequence[str], p: Sequence[float]) -> dict[str, float]:
    return dict(zip(names, holm(p), strict=True))


def _detectable_difference(attack: AttackEvidence) -> float | None:
    """What the attack's AUC would have had to be above that on a placebo, to be told from it in 80 % of studies."""
    reach = [
        each.difference.high - each.difference.low
        for each in attack.placebos
        if each.difference.low is not None and each.difference.high is not None
    ]
    return max(reach) / 2 * _DETECTED if reach else None
