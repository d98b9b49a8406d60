"""Perplexity: the loss on another scale, with the same ranking."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Scores, attack
from ngramscope.attacks.numbers import mean_log_prob

__all__ = ["perplexity"]


@attack(
    "perplexity",
    summary="Minus the perplexity of the text.",
    source="Carlini et al. 2021, §4; ranks as loss does",
)
def perplexity(inputs: Inputs) -> Scores:
    """(N,): minus exp(mean negative log-likelihood)."""
    with np.errstate(over="ignore"):  # infinite is then undefined
        return -np.exp(-mean_log_prob(inputs.stats()))
