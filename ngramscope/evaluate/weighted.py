"""AUC of members against non-members who are weighted so that they overlap with the corpus as members do.

Weights are odds of being a member at that overlap (`sets.matching.odds_weights`). The share of members above a non-member, its
*placement*, is then an outcome, and the weighted AUC is its mean among non-members as if they had the members' overlaps. So
there is a doubly robust AUC, the augmented estimate of such a mean (Robins, Rotnitzky and Zhao 1994): the mean placement that a
regression on overlap predicts at the members' overlaps, plus the weighted mean of what the regression misses. It is right if
either the propensity or the regression is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask, placements
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.lines import Line, Reading
from ngramscope.sets import matching

__all__ = ["Weighting", "doubly_robust", "weigh", "weighted"]

_BINS = 20


@dataclass(frozen=True, eq=False)
class Weighting:
    """How members and non-members differ in overlap, and weights that make up for it.

    Attributes
    ----------
    there
        (N,): the n documents that it is about.
    terms
        (N, k): intercept and spline terms of the overlap; 0 for other documents.
    propensity
        (N,): chance that a document of such overlap is a member; NaN for other documents.
    weights
        (N,): of non-members, mean 1; 0 for others.
    trimmed
        (N,): non-members whose weight was cut down.
    effective
        Equally weighted non-members that would be as good (Kish).
    shared
        Area that the propensities of both sides have in common: 1, they are alike; 0, they are apart.
    beyond
        Share of members whose propensity is above that of every non-member: nobody stands for them.
    """

    there: Mask
    terms: Floats
    propensity: Floats
    weights: Floats
    trimmed: Mask
    effective: float
    shared: float
    beyond: float

    @property
    def trimmed_share(self) -> float:
        """Of the non-members."""
        return float(self.trimmed.sum() / (self.weights > 0).sum())


def weigh(shares: Floats, members: Mask, there: Mask, *, trim: float = 0.99) -> Weighting | None:
    """Weights for the non-members of `there`; None if the two sides' ranges of overlap do not touch.

    Parameters
    ----------
    shares
        (N,): overlap of every document.
    there
        (N,): documents that take part; each has an overlap.
    trim
        Weights above this quantile of them are cut down to it.
    """
    sides = [np.flatnonzero(there & side) for side in (members, ~members)]
    ours, theirs = (shares[side][:, None] for side in sides)
    if not len(ours) or not len(theirs) or matching.no_common_support(ours, theirs):
        return None
    scale = matching.scales(ours, theirs)
    fitted = matching.propensity(ours / scale, theirs / scale)
    cut = matching.cut_odds(fitted.logit[len(ours) :], trim=trim)
    rows, count = np.concatenate(sides), len(members)
    terms, propensity = np.zeros((count, 1 + fitted.terms.shape[1])), np.full(count, np.nan)
    terms[rows] = np.column_stack([np.ones(len(rows)), fitted.terms])
    propensity[rows] = 1 / (1 + np.exp(-fitted.logit))
    weights, trimmed = np.zeros(count), np.zeros_like(members)
    weights[sides[1]], trimmed[sides[1]] = cut.weights, cut.trimmed
    first, second = propensity[sides[0]], propensity[sides[1]]
    bars = [np.histogram(each, _BINS, (0, 1))[0] / len(each) for each in (first, second)]
    return Weighting(
        there, terms, propensity, weights, trimmed, matching.effective_size(cut.weights),
        float(np.minimum(*bars).sum()), float((first > second.max()).mean()),
    )  # fmt: skip


def weighted(line: Line, members: Mask, found: Weighting) -> Reading | None:
    """The weighted AUC; None if no part has both sides. Its influences know that the propensity was estimated."""
    return _read(line, members, found, robust=False)


def doubly_robust(line: Line, members: Mask, found: Weighting) -> Reading | None:
    """The augmented weighted AUC. As nothing keeps it there, it can lie outside 0 and 1."""
    return _read(line, members, found, robust=True)


def _read(line: Line, members: Mask, found: Weighting, *, robust: bool) -> Reading | None:
    total, auc, moved = 0.0, 0.0, np.zeros(len(members))
    for part in line.parts:
        scores = np.where(found.there, part.scores[0], np.nan)
        sides = [np.flatnonzero(~np.isnan(scores) & side) for side in (members, ~members)]
        if all(map(len, sides)):
            value, influence = _estimate(scores, members, sides[0], sides[1], found, robust)
            total += part.weight
            auc += part.weight * value
            moved += part.weight * influence
    return Reading(auc / total, moved / total, found.there & line.scored) if total else None


def _estimate(scores: Floats, members: Mask, ours: Ints, others: Ints, found: Weighting, robust: bool) -> tuple[float, Floats]:
    placed = placements(scores[None], members)[0][others]
    weights = found.weights[others] / found.weights[others].sum()
    auc = float(weights @ placed)
    moved = np.zeros(len(members))
    moved[ours] = (_weight_below(scores[ours], scores[others], weights) - auc) / len(ours)
    if not robust:
        moved[others] = weights * (placed - auc)
        through = _of_propensity(moved * ~found.trimmed * ~members, members, found)
        moved[others] /= 1 - weights  # as if left out: few heavy ones must not look better than they are
        return auc, moved + through
    inverse = np.linalg.pinv(found.terms[others])
    predicted = np.clip(found.terms @ (inverse @ placed), 0, 1)
    leverage = np.einsum("ij,ji->i", found.terms[others], inverse)
    expected, missed = float(predicted[ours].mean()), float(weights @ (placed - predicted[others]))
    moved[ours] += (predicted[ours] - expected) / len(ours)
    # As if left out, from the regression too.
    moved[others] = weights * (placed - predicted[others] - missed) / np.clip((1 - weights) * (1 - leverage), 0.1, 1)
    return expected + missed, moved


def _of_propensity(slope: Floats, members: Mask, found: Weighting) -> Floats:
    """Influence on the AUC by way of the regression that the weights come from.

    `slope`, shape (N,), is how the AUC changes with each document's logit. The members are a fixed number, so each side's
    influences have mean 0.
    """
    there = found.there
    terms, chance = found.terms[there], found.propensity[there]
    penalty = np.diag([0.0, *np.ones(terms.shape[1] - 1)])
    information = (terms * (chance * (1 - chance))[:, None]).T @ terms + penalty
    direction = np.linalg.solve(information, slope[there] @ terms)
    moved = np.zeros(len(members))
    moved[there] = (members[there] - chance) * (terms @ direction)
    for side in (members & there, ~members & there):
        moved[side] -= moved[side].mean()
    return moved


def _weight_below(values: Floats, others: Floats, weights: Floats) -> Floats:
    """For each value how much of the others' weight lies below it; ties count half."""
    order = np.argsort(others, kind="stable")
    running = np.append(0.0, np.cumsum(weights[order]))
    ordered = others[order]
    both: Floats = running[np.searchsorted(ordered, values, "left")] + running[np.searchsorted(ordered, values, "right")]
    return both / 2
