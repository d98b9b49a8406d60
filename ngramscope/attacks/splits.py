"""Attack splits: the candidates that an attack learns from, and those that it and its rivals are evaluated on."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import UsageError
from ngramscope.sets.seeds import draw

if TYPE_CHECKING:
    from ngramscope.attacks.base import Inputs
    from ngramscope.attacks.table import ScoreTable

__all__ = ["ATTACK_SPLIT", "attack_split", "code_split", "evaluated_rows", "split_of"]

ATTACK_SPLIT = "attack_split"
"""Reason of a null score: the attack has learned from this candidate."""

Mask = NDArray[np.bool_]


def attack_split(
    ids: Sequence[str], labels: NDArray[np.float64], *, share: float, seed: int, groups: Sequence[Hashable | None] | None = None
) -> Mask:
    """Which candidates are in the attack split: a share of the members, and of the non-members.

    Parameters
    ----------
    ids
        N ids. With the seed they decide; the order of candidates has no say.
    labels
        (N,): 1, 0, or NaN for those that are never in the split.
    share
        Of each class, rounded down; less where the groups do not fit.
    seed
        Another seed, another split.
    groups
        N groups, each of which is in the split whole or not at all; None: the candidate stands alone.

    Returns
    -------
    (N,) bool
    """
    units: dict[tuple[str, Hashable], list[int]] = {}
    for row in np.flatnonzero(~np.isnan(labels)).tolist():
        group = None if groups is None else groups[row]
        units.setdefault(("id", ids[row]) if group is None else ("group", group), []).append(row)
    room = {label: int(share * np.sum(labels == label)) for label in (0.0, 1.0)}
    chosen = np.zeros(len(labels), dtype=bool)
    for _, rows in sorted(units.items(), key=lambda unit: draw(seed, unit[0][0], str(unit[0][1]))):
        wanted = {label: int(np.sum(labels[rows] == label)) for label in room}
        if all(wanted[label] <= room[label] for label in room):
            chosen[rows] = True
            room = {label: room[label] - wanted[label] for label in room}
    return chosen


def code_split(labels: NDArray[np.float64], *, share: float, seed: int) -> Mask:
    """The attack split of CAMIA's public code: by position, non-members first, groups ignored."""
    random = np.random.RandomState(seed)
    chosen = np.zeros(len(labels), dtype=bool)
    for label in (0, 1):
        rows = np.flatnonzero(labels == label)
        chosen[random.choice(rows, int(len(rows) * share), replace=False)] = True
    return chosen


def split_of(inputs: Inputs, *, share: float, seed: int) -> Mask:
    """(N,): `attack_split` of a store's candidates, with their ids and groups."""
    documents = inputs.store.documents
    groups = documents["group"].to_pylist() if "group" in documents.column_names else None
    return attack_split(list(map(str, documents["id"].to_pylist())), inputs.labels, share=share, seed=seed, groups=groups)


def evaluated_rows(table: ScoreTable, seed: int) -> Mask:
    """(N,): the candidates on which every attack of a table is to be evaluated beside those that learned with `seed`.

    In a table over splits, evaluate all attacks, also those that learn nothing, on these rows, once for each seed, and average
    over the seeds. A candidate of any such attack's split is left out.

    Raises
    ------
    UsageError
        No column of the table is of that seed.
    """
    columns = [each for each in table.columns if each.attack.endswith(f"@{seed}")]
    if not columns:
        raise UsageError(f"no attack of the table learned with seed {seed}; names of those that did end in @{seed}")
    return np.array(
        [all(each.reasons[row] != ATTACK_SPLIT for each in columns) for row in range(len(table.documents))], dtype=bool
    )
