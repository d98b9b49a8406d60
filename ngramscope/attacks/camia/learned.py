"""Compositions of CAMIA that learn: logistic regression on the 75 signals, raw, on 10 principal components, or on one a group.

Sections 3-5 of arXiv 2409.13745. All that is learned comes from the members and non-members of the attack split.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.attacks.base import Inputs, MissingPassError, Needs, Scores, attack
from ngramscope.attacks.camia.compose import check_options, leaked_directions, splits_of
from ngramscope.attacks.camia.features import GROUPS, SIGNALS, features
from ngramscope.attacks.camia.signals import Convention
from ngramscope.attacks.splits import ATTACK_SPLIT

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = ["REDUCTIONS", "pipeline", "weights"]

Floats = NDArray[np.float64]

REDUCTIONS = {"": "raw", "-pca": "10 principal components", "-group-pca": "one principal component a group"}
"""By the ending of the attack's name, what the regression sees of the signals."""

_COMPONENTS = 10


def pipeline(reduction: str, groups: NDArray[np.int64], samples: int, *, scaled: bool) -> Pipeline:
    """What is fitted to the attack split.

    Parameters
    ----------
    reduction
        One of `REDUCTIONS`.
    groups
        (signals,): number of each signal's group.
    samples
        Candidates of the attack split.
    scaled
        Standardise the signals before principal components are taken. The public code does not, so that the perplexities, whose
        numbers are the largest, are the first component.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.decomposition import PCA
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    steps: list[Any] = [SimpleImputer(strategy="median")]
    if scaled:
        steps.append(StandardScaler())
    elif not reduction:
        steps.append(MinMaxScaler())
    if reduction == "-pca":
        steps.append(PCA(min(_COMPONENTS, samples, len(groups)), svd_solver="full"))
    elif reduction == "-group-pca":
        parts = [(str(group), PCA(1, svd_solver="full"), np.flatnonzero(groups == group)) for group in np.unique(groups)]
        steps.append(ColumnTransformer(parts))
    return make_pipeline(*steps, LogisticRegression(solver="liblinear", max_iter=5000))


def learn(
    reduction: str, inputs: Inputs, *, convention: Convention, share: float, splits: int, procedure: str
) -> dict[str, Floats]:
    """The scores of one of `REDUCTIONS`, log-odds, (N,) a split.

    Raises
    ------
    MissingPassError
        A pass is missing, or labelled members or non-members are, or their signals do not differ.
    UsageError
        An option has no possible value.
    """
    found = {}
    for each in _fits(reduction, inputs, convention, share, splits, procedure):
        scores = np.full(len(inputs), np.nan)
        if each.rest.any():
            scores[each.rest] = each.model.decision_function(each.values[each.rest][:, each.known])
        found[each.key] = scores
    return found


def weights(inputs: Inputs, *, convention: Convention = "paper", share: float = 0.3, splits: int = 10) -> Floats:
    """(splits, signals): weights of the standardised signals in ``camia-lr`` (Figure 10); 0 for one that does not vary.

    Raises
    ------
    MissingPassError
        See `learn`.
    """
    found = np.zeros((splits, len(SIGNALS)))
    for row, each in zip(found, _fits("", inputs, convention, share, splits, "fixed"), strict=True):
        row[each.known] = each.model[-1].coef_[0]
    return found


@dataclass(frozen=True, eq=False)
class _Fit:
    """What a split has taught: which of the signals (N, signals) it sees, and which candidates it may score."""

    key: str
    model: Pipeline
    values: Floats
    known: NDArray[np.bool_]
    rest: NDArray[np.bool_]


def _fits(reduction: str, inputs: Inputs, convention: Convention, share: float, splits: int, procedure: str) -> Iterator[_Fit]:
    name = f"camia-lr{reduction}"
    check_options(name, convention, share, splits, procedure)
    labels, values = inputs.labels, features(inputs, convention)
    if procedure != "fixed":
        values = values * leaked_directions(values, labels)
    groups = np.array([GROUPS.index(each.group) for each in SIGNALS])
    scored = ~np.isnan(values).all(axis=1)
    for key, chosen in splits_of(inputs, share, splits, procedure):
        train = chosen & scored
        for label, side in ((1, "members"), (0, "non-members")):
            if not np.any(labels[train] == label):
                raise MissingPassError(
                    f"{name}: no {side} with scores in the attack split ({key}) of {int(np.sum(labels == label))} that are "
                    f"labelled; label more, or raise share ({share:g})"
                )
        known = _informative(values[train])
        if not known.any():
            raise MissingPassError(
                f"{name}: all candidates of the attack split ({key}) have the same signals; nothing can be learned"
            )
        model = pipeline(reduction, groups[known], int(train.sum()), scaled=procedure == "fixed")
        model.fit(values[train][:, known], labels[train])
        yield _Fit(key, model, values, known, scored & ~chosen)


def _informative(values: Floats) -> NDArray[np.bool_]:
    """(signals,): which have two values among the candidates, NaN not counted."""
    lowest = np.where(np.isnan(values), np.inf, values).min(axis=0)
    highest = np.where(np.isnan(values), -np.inf, values).max(axis=0)
    return np.asarray(lowest < highest)


def _register(reduction: str, summary: str) -> None:
    @attack(
        f"camia-lr{reduction}",
        summary=f"Logistic regression on CAMIA's signals ({summary}), learned on an attack split.",
        source="Chang et al. 2024 (arXiv 2409.13745), sections 3-5",
        needs=Needs(passes=("plain", "repeated"), labels=True),
        compat={"camia-code": {"convention": "code", "procedure": "camia-code"}},
        undefined=ATTACK_SPLIT,
    )
    def learned(
        inputs: Inputs, *, convention: Convention = "paper", share: float = 0.3, splits: int = 10, procedure: str = "fixed"
    ) -> Scores:
        """(N,) for each split: log-odds of being a member. A signal that is undefined has the split's median.

        Parameters
        ----------
        convention
            Of the signals.
        share
            Of the members, and of the non-members, that are learned from.
        splits
            How many; their seeds count up from that of `inputs`.
        procedure
            ``fixed``: standardised signals. ``camia-code``: what the public code does, its leaking directions included.
        """
        return learn(reduction, inputs, convention=convention, share=share, splits=splits, procedure=procedure)


for _reduction, _summary in REDUCTIONS.items():
    _register(_reduction, _summary)
