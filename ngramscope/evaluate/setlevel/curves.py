"""What becomes of the set-level AUC with fewer documents a set, with shorter or longer ones, with sets that are not pure.

Each point is a mean over draws; its interval is that of the mean, by the sets' influence on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.delong import Part, auc_interval, measure, standard_error
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.setlevel.aggregations.base import Aggregation
from ngramscope.evaluate.setlevel.documents import SetScores, by_set
from ngramscope.evaluate.setlevel.measure import LEAST, mean_auc, parts

__all__ = [
    "NOISES",
    "SIZES",
    "Point",
    "exchanged",
    "length_curve",
    "noise_curve",
    "point",
    "regrouped",
    "size_curve",
    "subsample",
]

SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Documents a set."""

NOISES = (0.0, 0.1, 0.2, 0.3, 0.4)
"""Shares of a set's documents that are exchanged for some of the other class."""


@dataclass(frozen=True)
class Point:
    """Of a curve.

    Attributes
    ----------
    at
        Documents a set, share of labels mixed, or mean length.
    n1, n0
        Sets.
    documents
        Mean number of documents a set.
    auc, interval
        None with a reason.
    """

    at: float
    n1: int
    n0: int
    documents: float
    auc: float | None
    interval: tuple[float, float] | None
    reason: str | None


def point(at: float, each: list[Part], members: Mask, documents: float, level: float) -> Point:
    """Of the mean AUC over parts: draws, folds, or both."""
    used = ~np.isnan(np.concatenate([part.scores for part in each])).all(axis=0)
    n1, n0 = int((used & members).sum()), int((used & ~members).sum())
    if min(n1, n0) < LEAST:
        return Point(at, n1, n0, documents, None, None, f"fewer_than_{LEAST}_sets")
    measured = measure(each, members)
    auc = float(measured.auc[0])
    if np.isnan(auc):
        return Point(at, n1, n0, documents, None, None, "undefined")
    error = standard_error(measured.moved[0], measured.used[0], members)
    return Point(at, n1, n0, documents, auc, auc_interval(auc, error, level), None)


def size_curve(
    aggregation: Aggregation, sets: SetScores, members: Mask, order: Ints, draws: int, level: float, random: np.random.Generator
) -> Iterator[Point]:
    """With so many documents of each set that has them, drawn without replacement."""
    for size in (each for each in SIZES if each <= sets.counts.max(initial=0)):
        enough = np.flatnonzero(sets.counts >= size)
        chosen, labels = sets.take(enough), members[enough]
        within = _within(order, enough)
        found = [part for _ in range(draws) for part in parts(aggregation, subsample(chosen, size, random), labels, within)]
        yield point(size, found, labels, size, level)


def noise_curve(
    aggregation: Aggregation, sets: SetScores, members: Mask, order: Ints, draws: int, level: float, random: np.random.Generator
) -> Iterator[Point]:
    """With a share of each set's documents exchanged for documents of the other class."""
    for share in NOISES:
        times = draws if share else 1
        found = [
            part for _ in range(times) for part in parts(aggregation, exchanged(sets, members, share, random), members, order)
        ]
        yield point(share, found, members, float(sets.counts.mean()), level)


def length_curve(
    aggregation: Aggregation, sets_of: Callable[[Mask], SetScores], lengths: Floats, members: Mask, order: Ints, level: float
) -> Iterator[Point]:
    """By quarters of the documents' length, (N,), NaN where not known; `sets_of` makes sets of some of the N documents."""
    known = ~np.isnan(lengths)
    edges = np.unique(np.quantile(lengths[known], np.linspace(0, 1, 5))) if known.any() else np.zeros(0)
    quarter = np.clip(np.searchsorted(edges[1:-1], lengths, "right"), 0, None)
    for number in range(len(edges) - 1):
        inside = known & (quarter == number)
        sets = sets_of(inside)
        filled = sets.counts[sets.counts > 0]
        documents = float(filled.mean()) if len(filled) else 0.0
        at = float(lengths[inside].mean()) if inside.any() else float(edges[number])
        yield point(at, parts(aggregation, sets, members, order), members, documents, level)


def regrouped(
    aggregation: Aggregation, sets: SetScores, members: Mask, order: Ints, draws: int, random: np.random.Generator
) -> Floats:
    """(draws,): AUCs after the documents of each class have been dealt out anew to its sets, as many to each as before."""
    found = []
    ours = members[sets.set_of]
    for _ in range(draws):
        scores = sets.scores.copy()
        for side in (ours, ~ours):
            scores[side] = random.permutation(scores[side])
        found.append(mean_auc(parts(aggregation, SetScores(scores, sets.offsets), members, order), members))
    return np.array(found)


def subsample(sets: SetScores, size: int, random: np.random.Generator) -> SetScores:
    """`size` documents of each set, drawn without replacement."""
    shuffled = np.lexsort([random.random(len(sets.scores)), sets.set_of])
    place = np.arange(len(shuffled)) - np.repeat(sets.offsets[:-1], sets.counts)
    return SetScores(sets.scores[shuffled][place < size], np.arange(len(sets) + 1) * size)


def exchanged(sets: SetScores, members: Mask, share: float, random: np.random.Generator) -> SetScores:
    """The sets, with a share of each (rounded) replaced by documents of the other class, drawn from all of these."""
    ours = members[sets.set_of]
    pools = {side: sets.scores[ours == side] for side in (True, False)}
    found = []
    for number, member in enumerate(members.tolist()):
        own = sets.scores[sets.offsets[number] : sets.offsets[number + 1]].copy()
        count, pool = round(share * len(own)), pools[not member]
        own[random.permutation(len(own))[:count]] = random.choice(pool, count) if count else 0.0
        found.append(own)
    return by_set(found)


def _within(order: Ints, kept: Ints) -> Ints:
    """The order of all sets, as one of those that are kept."""
    place = np.full(len(order), -1)
    place[kept] = np.arange(len(kept))
    found: Ints = place[order]
    return found[found >= 0]
