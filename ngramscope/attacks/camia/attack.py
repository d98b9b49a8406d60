"""The attack ``camia``: a column for each signal of CAMIA."""

from __future__ import annotations

from ngramscope.attacks.base import Inputs, Needs, Scores, attack
from ngramscope.attacks.camia.features import SIGNALS, directions, features
from ngramscope.attacks.camia.signals import Convention

__all__ = ["camia"]


@attack(
    "camia",
    summary="75 signals of how the loss runs along a text and falls when the text is repeated, a column each.",
    source="Chang et al. 2024 (arXiv 2409.13745), sections 3-4, tables 8-9",
    needs=Needs(passes=("plain", "repeated")),
    compat={"camia-code": {"convention": "code"}},
    undefined="signal_undefined",
)
def camia(inputs: Inputs, *, convention: Convention = "paper") -> Scores:
    """(N,) for each of `SIGNALS`: its value, negated where members are expected to have lower ones.

    ``convention="code"`` computes the values as the public code does; the directions stay fixed.
    """
    values = features(inputs, convention) * directions(convention)
    return {signal.name: values[:, column] for column, signal in enumerate(SIGNALS)}
