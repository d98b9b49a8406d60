"""AUC of members against non-members of like overlap, beside that of the same members against all non-members.

Each member takes the nearest non-member that is left, within a caliper (`sets.matching.nearest`). The difference of the two
AUCs has a paired interval. Matching binds two documents, so its variance is that of pairs as units: after matching without
replacement, whole pairs can be resampled without matching again (Austin and Small, Statistics in Medicine 2014; Abadie and
Spiess, JASA 2022), and what resampling would give is known in closed form (Obuchowski 1997). With groups beside pairs, the
variances of both ways of clustering are added and that of their intersection is taken away (Cameron, Gelbach and Miller 2011).
The order in which members choose is chance, too: what the numbers vary by over some orders is added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.delong import standard_error
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.lines import Line, Reading, read
from ngramscope.sets.matching import nearest, scales

__all__ = ["ORDERS", "Matching", "match", "matched", "pair_error"]

ORDERS = 5


@dataclass(frozen=True, eq=False)
class Matching:
    """Who stands for whom.

    Attributes
    ----------
    there
        (N,): documents that could take part.
    kept
        (N,): retained members and their partners.
    pair
        (N,) number of the pair; a document without a partner has one of its own.
    pairs
        How many.
    gap, far
        Means over pairs of the overlap of the member less that of its partner, and of its absolute value; NaN without pairs.
    orders
        The same as `kept`, for `ORDERS` orders of choice, this one first.
    """

    there: Mask
    kept: Mask
    pair: Ints
    pairs: int
    gap: float
    far: float
    orders: tuple[Mask, ...] = ()


def match(shares: Floats, members: Mask, there: Mask, *, caliper: float = 0.2, seed: int = 0) -> Matching:
    """Pair members and non-members of like overlap.

    Parameters
    ----------
    shares
        (N,): overlap of every document.
    there
        (N,): documents that take part; each has an overlap.
    caliper
        Largest difference in a pair, in standard deviations (`sets.matching.scales`).
    seed
        Of the order in which members choose, and in which equals are taken.
    """
    found = [_match(shares, members, there, caliper, np.random.default_rng([seed, order])) for order in range(ORDERS)]
    return replace(found[0], orders=tuple(each.kept for each in found))


def _match(shares: Floats, members: Mask, there: Mask, caliper: float, random: np.random.Generator) -> Matching:
    sides = [random.permutation(np.flatnonzero(there & side)) for side in (members, ~members)]
    kept, pair = np.zeros_like(members), np.arange(len(members))
    if not all(map(len, sides)):
        return Matching(there, kept, pair, 0, math.nan, math.nan)
    ours, theirs = (shares[side][:, None] for side in sides)
    scale = scales(ours, theirs)
    found = nearest(ours / scale, theirs / scale, caliper=caliper)
    first, second = sides[0][found.reference], sides[1][found.candidates]
    kept[first] = kept[second] = True
    pair[second] = first
    gaps = shares[first] - shares[second]
    mean, distance = (float(each.mean()) if len(gaps) else math.nan for each in (gaps, np.abs(gaps)))
    return Matching(there, kept, pair, len(first), mean, distance)


def matched(line: Line, members: Mask, found: Matching) -> list[tuple[Reading, Reading]]:
    """AUC of the retained members against all non-members that could take part, and against their partners.

    For each order of choice in which both are known, `Matching.kept` first.
    """
    both = [(read(line, members, found.there & (kept | ~members)), read(line, members, kept)) for kept in found.orders]
    return [(raw, adjusted) for raw, adjusted in both if raw is not None and adjusted is not None]


def pair_error(moved: Floats, used: Mask, members: Mask, unit: Ints | None, found: Matching) -> float:
    """Standard error of a number that documents move by `moved`, shape (N,), with pairs (and groups) as units."""
    pairs = standard_error(moved, used, members, found.pair)
    if unit is None:
        return pairs
    shared = np.unique(np.stack([found.pair, unit]), axis=1, return_inverse=True)[1].reshape(-1)
    groups, both = standard_error(moved, used, members, unit), standard_error(moved, used, members, shared)
    if math.isnan(groups):  # too few
        return groups
    variance = pairs**2 + groups**2 - both**2
    return math.sqrt(variance) if variance > 0 else max(pairs, groups)
