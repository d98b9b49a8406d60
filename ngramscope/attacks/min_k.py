"""Min-K% Prob: the mean over the least likely tokens."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Scores, attack
from ngramscope.attacks.numbers import K_ROUND, check_number, count_of
from ngramscope.checks import check_choice

__all__ = ["min_k"]


@attack(
    "min-k",
    summary="Mean log-probability of the k least likely tokens.",
    source="Shi et al. 2024, §3",
    sweep=tuple({"k": k} for k in (0.05, 0.1, 0.15, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 1.0)),
    compat={
        "mimir": {"k_round": "floor"},
        "mimir-head": {"k_round": "floor"},
        "mink": {"k_round": "floor"},
        "minkpp": {"k_round": "floor"},
        "recall": {"k_round": "floor"},
        "dcpdd": {"k_round": "floor"},
        "sok": {"k_round": "floor"},
        "di": {"tokens": "most-likely"},
    },
    undefined="no_token_at_k",
)
def min_k(inputs: Inputs, *, k: float = 0.2, k_round: str = "floor-min1", tokens: str = "least-likely") -> Scores:
    """(N,): mean log-probability of the share `k` of least likely tokens; k = 1 is the loss attack.

    Parameters
    ----------
    k
        Share of the text's scored tokens, above 0 and at most 1.
    k_round
        ``floor-min1``: rounded down, at least one token. ``floor``: none where k·n < 1, and so undefined. ``ceil``.
    tokens
        ``least-likely``; or ``most-likely``, which the code of dataset inference calls k_min.
    """
    check_number("min-k.k", k, 0, 1)
    check_choice("min-k.k_round", k_round, K_ROUND)
    check_choice("min-k.tokens", tokens, ("least-likely", "most-likely"))

    def mean(log_prob: np.typing.NDArray[np.float64]) -> float:
        ordered = np.sort(log_prob)
        count = count_of(k, len(ordered), k_round)
        chosen = ordered[:count] if tokens == "least-likely" else ordered[::-1][:count]
        return float(chosen.mean()) if count else np.nan

    return inputs.stats().per_text(mean)
