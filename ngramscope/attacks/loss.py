"""Mean log-likelihood: the simplest attack, and what all others are compared with."""

from __future__ import annotations

from ngramscope.attacks.base import Inputs, Scores, attack
from ngramscope.attacks.numbers import mean_log_prob

__all__ = ["loss"]


@attack(
    "loss",
    summary="Mean log-probability of the tokens, the negative loss.",
    source="Yeom et al. 2018; Duan et al. 2024, §2, A.4",
)
def loss(inputs: Inputs) -> Scores:
    """(N,): minus the mean negative log-likelihood in nats."""
    return mean_log_prob(inputs.stats())
