"""How much a text loses when it is written in lower case."""

from __future__ import annotations

from ngramscope.attacks.base import Inputs, Needs, Scores, attack
from ngramscope.attacks.numbers import mean_log_prob, quotient

__all__ = ["lowercase"]


@attack(
    "lowercase",
    summary="Loss of the text in lower case, divided by its loss.",
    source="Carlini et al. 2021, §5.2; Shi et al. 2024, §4.2",
    needs=Needs(passes=("plain", "lowercase")),
    undefined="zero_loss",
)
def lowercase(inputs: Inputs) -> Scores:
    """(N,): mean loss in lower case over mean loss; NaN where the loss is 0."""
    return quotient(mean_log_prob(inputs.stats("lowercase")), mean_log_prob(inputs.stats()))
