"""Compositions of CAMIA that need known non-members only: signals become p-values against them, and these one score.

Sections 3-5 of arXiv 2409.13745. The signals of a text are dependent, so what comes out is a score and no p-value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.attacks import combine
from ngramscope.attacks.base import Inputs, MissingPassError, Needs, Scores, attack
from ngramscope.attacks.camia.features import CONVENTIONS, SIGNALS, directions, features
from ngramscope.attacks.camia.signals import Convention
from ngramscope.attacks.numbers import check_number
from ngramscope.attacks.splits import ATTACK_SPLIT, code_split, split_of
from ngramscope.checks import check_choice, check_integer

__all__ = ["PROCEDURES", "check_options", "leaked_directions", "percentile_p", "rank_p", "splits_of"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

PROCEDURES = ("fixed", "camia-code")
"""``fixed``: directions of `DIRECTIONS`. ``camia-code``: what the public code does; its directions leak the labels."""

_CLIP = 1e-10


def rank_p(population: Floats, values: Floats) -> Floats:
    """(r + 1) / (m + 2): r of the m values of the population are at least as high, those that are equal count half.

    Never 0 or 1. NaN in `population` (m,) does not count; NaN in `values` (N,), or an empty population, gives NaN.
    """
    known = np.sort(population[~np.isnan(population)])
    if not len(known):
        return np.full(len(values), np.nan)
    above = len(known) - (np.searchsorted(known, values) + np.searchsorted(known, values, side="right")) / 2
    return np.where(np.isnan(values), np.nan, (above + 1) / (len(known) + 2))


def percentile_p(population: Floats, values: Floats) -> Floats:
    """Percentile of `values` among the population as a share, ties averaged; may be 0 or 1. NaN as in `rank_p`."""
    known = np.sort(population[~np.isnan(population)])
    if not len(known):
        return np.full(len(values), np.nan)
    low, high = np.searchsorted(known, values), np.searchsorted(known, values, side="right")
    return np.where(np.isnan(values), np.nan, (low + high + (low < high)) / (2 * len(known)))


def leaked_directions(values: Floats, labels: Floats) -> NDArray[np.int64]:
    """(75,): -1 for the signals whose mean is higher over all members than over all non-members, as the public code does.

    The three configurations of a group and repetition have one direction. It uses the labels that the evaluation tests.
    """
    found = np.ones(len(SIGNALS), dtype=np.int64)
    for start in range(0, len(SIGNALS), 3):
        of_members, of_others = (_known(values[labels == label, start : start + 3]) for label in (1, 0))
        if of_members.size and of_others.size and of_members.mean() > of_others.mean():
            found[start : start + 3] = -1
    return found


def _known(values: Floats) -> Floats:
    return values[~np.isnan(values)]


def check_options(attack_name: str, convention: str, share: Any, splits: Any, procedure: str) -> None:
    """Refuse options of a composition before anything is computed.

    Raises
    ------
    UsageError
        One has no possible value.
    """
    check_choice(f"{attack_name}.convention", convention, CONVENTIONS)
    check_choice(f"{attack_name}.procedure", procedure, PROCEDURES)
    check_number(f"{attack_name}.share", share, 0, 0.9)
    check_integer(f"{attack_name}.splits", splits, 1, 1000)


def splits_of(inputs: Inputs, share: float, splits: int, procedure: str) -> Iterator[tuple[str, Mask]]:
    """For each seed the column's key and the candidates of its attack split; (N,) bool."""
    for seed in range(inputs.seed, inputs.seed + splits):
        if procedure == "fixed":
            yield f"@{seed}", split_of(inputs, share=share, seed=seed)
        else:
            yield f"leaking@{seed}", code_split(inputs.labels, share=share, seed=seed)


def compose(
    method: str, inputs: Inputs, *, convention: Convention, share: float, splits: int, procedure: str
) -> dict[str, Floats]:
    """The scores of one of `combine.METHODS`, (N,) a split.

    Raises
    ------
    MissingPassError
        A pass is missing, or labelled non-members are.
    UsageError
        An option has no possible value.
    """
    name = f"camia-{method}"
    check_options(name, convention, share, splits, procedure)
    labels, values = inputs.labels, features(inputs, convention)
    if procedure == "fixed":
        # Diversity says nothing about the model.
        of_the_model = np.array([each.group != "diversity" for each in SIGNALS])
        values = (values * directions(convention))[:, of_the_model]
    else:
        values = values * leaked_directions(values, labels)
    found = {}
    for key, chosen in splits_of(inputs, share, splits, procedure):
        population = values[chosen & (labels == 0)]
        if not len(population):
            raise MissingPassError(
                f"{name}: {int(np.sum(labels == 0))} known non-members, and share {share:g} leaves none in the attack split "
                f"({key}); label more, or raise share"
            )
        to_p = rank_p if procedure == "fixed" else percentile_p
        p = np.array([to_p(known, column) for known, column in zip(population.T, values.T, strict=True)])
        found[key] = np.where(chosen, np.nan, _score(method, p, procedure))
    return found


def _score(method: str, p: Floats, procedure: str) -> Floats:
    if procedure == "fixed" or method == "edgington":
        return combine.mean_term(method, p)
    p = np.where(p == 0, _CLIP, np.where(p == 1, 1 - _CLIP, p))
    return -combine.combined_p(method, p)


def _register(method: str) -> None:
    @attack(
        f"camia-{method}",
        summary=f"CAMIA's signals as p-values against known non-members, combined by {method.capitalize()}'s method; a score.",
        source="Chang et al. 2024 (arXiv 2409.13745), sections 3-5",
        needs=Needs(passes=("plain", "repeated"), nonmembers=True),
        compat={"camia-code": {"convention": "code", "procedure": "camia-code"}},
        undefined=ATTACK_SPLIT,
    )
    def composition(
        inputs: Inputs, *, convention: Convention = "paper", share: float = 0.3, splits: int = 10, procedure: str = "fixed"
    ) -> Scores:
        """(N,) for each split: mean over the signals of the method's term, so of the ranks by its statistic.

        Parameters
        ----------
        convention
            Of the signals.
        share
            Of the non-members that are the population, and of the members that are left out with them.
        splits
            How many; their seeds count up from that of `inputs`.
        procedure
            One of `PROCEDURES`.
        """
        return compose(method, inputs, convention=convention, share=share, splits=splits, procedure=procedure)


for _method in combine.METHODS:
    _register(_method)
