"""Rank test: does a document score higher than twins that only chance kept from being published in its place?

If the document was drawn at random among itself and its k twins, and the model has seen none, each rank is equally likely,
whatever the attack and the model: the p-value is exact (Besag and Clifford 1989). Carlini et al. 2019 rank canaries so; Wei et
al. 2024 (arXiv 2402.10892) test data watermarks so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.combine import combined_p
from ngramscope.attacks.reading import AttackScores
from ngramscope.checks import check_choice
from ngramscope.evaluate.twins import Family, families
from ngramscope.sets.shift import holm

__all__ = ["COMBINATIONS", "RANKTEST_VERSION", "rank", "rank_sum_p", "ranktest"]

RANKTEST_VERSION = 1
"""Version of the report."""

COMBINATIONS = ("ranks", "fisher")
"""How several documents become one p-value: by the sum of their ranks, or by Fisher's method."""


def rank(family: Family) -> int:
    """1 + the number of twins that score at least as high as the document: from 1 to k + 1."""
    return 1 + int(np.sum(family.twins >= family.document))


def rank_sum_p(ranks: list[int], twins: list[int]) -> float:
    """P(sum of ranks <= the observed), of documents that are independent, each rank being one of 1 to k + 1 with equal chance.

    Exact: the distributions are convolved. Ties make it larger, never smaller.
    """
    excess = sum(ranks) - len(ranks)
    chances = np.ones(1)
    for k in twins:
        # Sums above the observed one are never needed.
        chances = np.convolve(chances, np.full(k + 1, 1 / (k + 1)))[: excess + 1]
    return min(1.0, float(chances.sum()))


def ranktest(read: AttackScores, *, group: str = "group", combine: str = "ranks") -> dict[str, Any]:
    """Test each document of a score table against its twins, and all of them together.

    Parameters
    ----------
    read
        Scores; label 1 is the document, 0 a twin.
    group
        Column that says whose twin a record is.
    combine
        One of `COMBINATIONS`. Choose it before you look: the smaller of two p-values is none.

    Returns
    -------
    dict
        Ready for JSON: provenance, ``combined`` (``p``, ``documents``, ``smallest`` possible p), ``documents`` (``group``,
        ``twins``, ``score``, ``rank``, ``p``, ``resolution`` 1 / (k + 1), ``p_holm`` that holds for all of them together) and
        ``counts``.

    Raises
    ------
    UsageError
        An option has no possible value.
    InputError
        There is nothing to test.
    """
    check_choice("--combine", combine, COMBINATIONS)
    grouped = families(read, group)
    ranks = [rank(each) for each in grouped.families]
    twins = [len(each.twins) for each in grouped.families]
    p = [position / (k + 1) for position, k in zip(ranks, twins, strict=True)]
    settings = {"attack": read.attack, "model": read.model, "options": dict(read.settings), "group": group, "combine": combine}

    def together(positions: list[int]) -> float:
        if combine == "ranks":
            return rank_sum_p(positions, twins)
        shares = np.array([[position / (k + 1)] for position, k in zip(positions, twins, strict=True)])
        return float(combined_p("fisher", shares)[0])

    return {
        **provenance.stamp("ranktest", version=RANKTEST_VERSION, settings=settings, inputs=[read.source]),
        "combined": {"p": together(ranks), "documents": len(ranks), "smallest": together([1] * len(ranks))},
        "documents": [
            {
                "group": each.name, "twins": k, "score": each.document, "rank": position,
                "p": value, "resolution": 1 / (k + 1), "p_holm": adjusted,
            }
            for each, k, position, value, adjusted in zip(grouped.families, twins, ranks, p, holm(p), strict=True)
        ],
        "counts": {
            "records": grouped.records,
            "documents": len(ranks),
            "twins": sum(twins),
            "left_out": grouped.left_out,
        },
    }  # fmt: skip
