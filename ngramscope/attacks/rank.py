"""Where the text's tokens stand among all that the model could have taken."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Scores, attack

__all__ = ["rank"]


@attack(
    "rank",
    summary="Ranks of the tokens: mean logarithm, share that is first or among the first ten, mean reciprocal.",
    source="Su et al. 2023 (log-rank); Gehrmann et al. 2019 (GLTR)",
)
def rank(inputs: Inputs) -> Scores:
    """Four columns, (N,): with r = 1 for the most likely token.

    ``log``: minus the mean of log r. ``top1``, ``top10``: share of tokens with r = 1, r <= 10. ``reciprocal``: mean of 1/r.
    """
    stats = inputs.stats()
    place = stats["rank"].astype(np.float64) + 1
    values = {"log": -np.log(place), "top1": place <= 1, "top10": place <= 10, "reciprocal": 1 / place}
    return {name: stats.means(each) for name, each in values.items()}
