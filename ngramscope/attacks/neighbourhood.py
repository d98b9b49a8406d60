"""A text against slightly changed copies of itself."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Needs, Scores, attack
from ngramscope.attacks.numbers import mean_log_prob
from ngramscope.checks import check_choice

__all__ = ["neighbourhood"]


@attack(
    "neighbourhood",
    summary="Mean log-probability of the text minus that of its neighbours.",
    source="Mattern et al. 2023; Duan et al. 2024, A.4",
    needs=Needs(passes=("plain", "neighbours")),
    compat={"mimir-head": {"aggregate": "least-likely"}},
)
def neighbourhood(inputs: Inputs, *, aggregate: str = "mean") -> Scores:
    """(N,): log-probability of the text minus that of its neighbours, each a mean over tokens.

    Parameters
    ----------
    aggregate
        ``mean`` over the neighbours; or ``least-likely``: the neighbour of lowest likelihood only, as the present code of
        MIMIR does by mistake.
    """
    check_choice("neighbourhood.aggregate", aggregate, ("mean", "least-likely"))
    neighbours = inputs.stats("neighbours")
    likelihood = mean_log_prob(neighbours)
    if aggregate == "mean":
        others = neighbours.by_candidate(likelihood, len(inputs))
    else:
        others = np.full(len(inputs), np.nan)
        np.fmin.at(others, neighbours.rows, likelihood)
    return mean_log_prob(inputs.stats()) - others
