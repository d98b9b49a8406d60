"""Folds of documents: seeded, stratified, and of groups whole."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ngramscope.checks import check_integer
from ngramscope.evaluate.auc import Mask
from ngramscope.evaluate.groups import Ints

__all__ = ["FOLD", "FoldRule", "folds_of", "too_small"]

FOLD = "blind_fold"
"""Column of a table of blind scores: which fold a document was left out in."""

_MAX_SEED = 1 << 32


@dataclass(frozen=True)
class FoldRule:
    """How a set is divided, and how often its labels are permuted.

    Parameters
    ----------
    folds
        At least 3: a stack needs folds within folds.
    repeats
        Divisions; their AUCs are averaged.
    permutations
        Of the labels; 0 leaves p-values out.
    seed
        Of the divisions and permutations.
    """

    folds: int = 5
    repeats: int = 1
    permutations: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("--folds", self.folds, 3, 100)
        check_integer("--repeats", self.repeats, 1, 1000)
        check_integer("--permutations", self.permutations, 0, 1_000_000)
        check_integer("--seed", self.seed, 0, _MAX_SEED - self.repeats)


def too_small(members: Mask, unit: Ints, folds: int) -> str | None:
    """Code of why there are too few documents of a side for so many folds; None if there are enough.

    Each side needs twice as many documents as there are folds, and as many groups.
    """
    for name, side in (("members", members), ("nonmembers", ~members)):
        if not side.any():
            return f"no_{name}"
        if np.count_nonzero(side) < 2 * folds or len(np.unique(unit[side])) < folds:
            return f"too_few_{name}"
    return None


def folds_of(members: Mask, unit: Ints, rule: FoldRule) -> Ints:
    """(repeats, N): for each division the fold of each document.

    Documents of a unit are in one fold; folds are alike in their shares of members, as far as units allow.

    The order of documents has a say: sort them first.
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    alone = len(np.unique(unit)) == len(unit)
    found = np.empty((rule.repeats, len(members)), dtype=np.int64)
    for repeat in range(rule.repeats):
        kind = StratifiedKFold if alone else StratifiedGroupKFold
        split = kind(rule.folds, shuffle=True, random_state=rule.seed + repeat)
        for number, (_, test) in enumerate(split.split(np.zeros(len(members)), members, None if alone else unit)):
            found[repeat, test] = number
    return found
