"""SURP: the tokens that surprise a model which was sure of another."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Scores, attack
from ngramscope.attacks.numbers import check_number, count_of

__all__ = ["surp"]


@attack(
    "surp",
    summary="Mean log-probability of the tokens that are unlikely where the entropy is low.",
    source="Zhang and Wu 2024 (SURP), arXiv 2407.21248",
    compat={"sok": {"empty": -100.0}},
    undefined="no_surprising_token",
)
def surp(inputs: Inputs, *, k: float = 0.4, entropy: float = 2.0, empty: float | None = None) -> Scores:
    """(N,): mean log-probability of the tokens that are among the share `k` of least likely ones and have low entropy.

    Parameters
    ----------
    k
        Share of the text's tokens, rounded down, at least one.
    entropy
        Entropy of the prediction, in nats, that such a token is below.
    empty
        Score of a text without such a token; by default it is undefined.
    """
    check_number("surp.k", k, 0, 1)
    check_number("surp.entropy", entropy, 0)
    if empty is not None:
        check_number("surp.empty", empty, -np.inf)
    stats = inputs.stats()
    out = np.full(len(stats), np.nan)
    for row, (log_prob, entropies) in enumerate(zip(stats.each("log_prob"), stats.each("entropy"), strict=True)):
        if len(log_prob):
            lowest = np.argsort(log_prob, kind="stable")[: count_of(k, len(log_prob))]
            chosen = log_prob[lowest][entropies[lowest] < entropy]
            out[row] = chosen.mean(dtype=np.float64) if len(chosen) else np.nan if empty is None else empty
    return out
