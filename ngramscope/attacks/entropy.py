"""How sure the model is, and how the loss compares with what it expects itself."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Scores, attack

__all__ = ["entropy"]


@attack(
    "entropy",
    summary="Minus the mean entropy of the predictions, and minus the loss beyond it.",
    source="Gehrmann et al. 2019 (GLTR); Zhang et al. 2025 (Min-K%++) for the expected log-probability",
)
def entropy(inputs: Inputs) -> Scores:
    """Two columns, (N,), in nats. ``mean``: minus the mean entropy. ``excess``: mean of log p + entropy."""
    stats = inputs.stats()
    entropies = stats["entropy"].astype(np.float64)
    return {"mean": -stats.means(entropies), "excess": stats.means(stats["log_prob"] + entropies)}
