"""Con-ReCall: the likelihood of a text after non-members, against that after members."""

from __future__ import annotations

from ngramscope.attacks.base import Inputs, Needs, Scores, attack
from ngramscope.attacks.numbers import check_number, quotient
from ngramscope.attacks.recall import TOKENS, conditional
from ngramscope.checks import check_choice

__all__ = ["con_recall"]


@attack(
    "con-recall",
    summary="Log-likelihood after non-member shots minus gamma times that after member shots, divided by that without.",
    source="Wang et al. 2024 (Con-ReCall)",
    needs=Needs(passes=("plain", "prefix", "prefix-members"), labels=True),
    compat={"sok": "it also counts the loss of the shots, which no pass scores", "recall": {"tokens": "all"}},
    undefined="zero_loss",
)
def con_recall(inputs: Inputs, *, gamma: float = 0.5, tokens: str = "common") -> Scores:
    """(N,): (LL(x | non-members) - gamma LL(x | members)) / LL(x); NaN where LL(x) is 0.

    Parameters
    ----------
    gamma
        Weight of the members, above 0. The paper picks it on the data it reports; here it is fixed beforehand.
    tokens
        As of `ngramscope.attacks.recall.recall`.
    """
    check_number("con-recall.gamma", gamma, 0)
    check_choice("con-recall.tokens", tokens, TOKENS)
    nonmembers, plain = conditional(inputs, "prefix", tokens)
    members, _ = conditional(inputs, "prefix-members", tokens)
    return quotient(nonmembers - gamma * members, plain)
