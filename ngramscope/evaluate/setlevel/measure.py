"""The AUC of sets: its parts, its interval, what permuted labels give."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ngramscope.evaluate.auc import Mask, aucs
from ngramscope.evaluate.delong import Part
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.setlevel.aggregations.base import Aggregation, Known
from ngramscope.evaluate.setlevel.documents import SetScores

__all__ = ["FOLDS", "LEAST", "fold_of", "mean_auc", "parts", "permutation_p", "permuted_aucs"]

LEAST = 10
"""Sets of a class below which there is no number."""

FOLDS = 2
"""An aggregation that learns does so on one half of the sets and is evaluated on the other, and the other way round."""


def fold_of(members: Mask, order: Ints) -> Ints:
    """(S,): the fold of each set; each class is dealt out in turn, in an order that is given and knows no labels."""
    fold = np.empty(len(members), dtype=np.int64)
    for side in (members, ~members):
        sets = order[side[order]]
        fold[sets] = np.arange(len(sets)) % FOLDS
    return fold


def parts(aggregation: Aggregation, sets: SetScores, members: Mask, order: Ints) -> list[Part]:
    """Set-level scores, (1, S) each: one part, or of an aggregation that learns one a fold.

    Parameters
    ----------
    members
        (S,).
    order
        (S,): a random order of the sets, see `fold_of`.
    """
    if not aggregation.learns:
        return [Part(aggregation(sets)[None])]
    found = []
    fold = fold_of(members, order)
    for number in range(FOLDS):
        here, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        scores = np.full((1, len(sets)), np.nan)
        known = Known.of(sets.take(others), members[others])
        if len(known.members) and len(known.nonmembers):
            scores[0, here] = aggregation(sets.take(here), known)
        found.append(Part(scores))
    return found


def permuted_aucs(
    aggregation: Aggregation, sets: SetScores, members: Mask, order: Ints, random: np.random.Generator
) -> Iterator[float]:
    """AUCs after labels have been dealt out anew to the sets; what was learned is learned anew. Without end."""
    fixed = None if aggregation.learns else parts(aggregation, sets, members, order)
    while True:
        labels = random.permutation(members)
        yield mean_auc(fixed or parts(aggregation, sets, labels, order), labels)


def mean_auc(each: list[Part], members: Mask) -> float:
    """Mean of the parts' AUCs; NaN if one of them has none."""
    return float(np.mean([aucs(part.scores, members)[0] for part in each]))


def permutation_p(
    aggregation: Aggregation, sets: SetScores, members: Mask, order: Ints, permutations: int, random: np.random.Generator
) -> float:
    """Share of permuted labels, and the given ones, whose AUC is at least as large; one-sided."""
    observed = mean_auc(parts(aggregation, sets, members, order), members)
    drawn = permuted_aucs(aggregation, sets, members, order, random)
    reached = sum(next(drawn) >= observed - 1e-12 for _ in range(permutations))
    return (1 + reached) / (1 + permutations)
