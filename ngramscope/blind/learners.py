"""What baselines learn with: each for all permutations of the labels at once.

Naive Bayes and logistic regression are those of the textbooks (and of scikit-learn, with which the tests compare them). Labels
come as columns, so that features are read, and matrices factorised, once for all permutations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.blind.base import Floats, Labels, Rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["MAX_TRAINING", "NaiveBayes", "NumberLogistic", "SparseLogistic", "apply", "newton"]

MAX_TRAINING = 4_000
"""Texts that `SparseLogistic` learns from, at most: its time grows with their square, its memory too."""

_RIDGE = 1.0
_NEWTON_STEPS = 12
_SMALL = 1e-5
_BOUND_STEPS = 20
_CHUNK = 32
_ROWS = 1_000
_LARGEST = 30.0


class NaiveBayes:
    """Multinomial naive Bayes with add-one smoothing; the score is the log-odds, class sizes left out.

    Parameters
    ----------
    features
        (N, V) counts.
    """

    def __init__(self, features: csr_array) -> None:
        self._counts = features.tocsr().astype(np.float32)

    def scores(self, labels: Labels, train: Rows, test: Rows) -> Floats:
        """See `Learner.scores`."""
        known = self._counts[train]
        members = known.T @ labels[train].astype(np.float32)
        others = np.asarray(known.sum(axis=0)).reshape(-1, 1) - members
        logs = [np.log((each + 1.0) / (each.sum(axis=0) + len(each))) for each in (members, others)]
        found: Floats = self._counts[test] @ (logs[0] - logs[1])
        return found


class SparseLogistic:
    """Logistic regression with an L2 penalty of 1 (C = 1), of very many features, in the space of the texts.

    Of more than `MAX_TRAINING` texts, a random so many are learned from. The curvature is bounded by that of even odds
    (Boehning and Lindsay 1988), so that one inverse serves all labels and steps; the steps are accelerated (Nesterov 1983).

    Parameters
    ----------
    features
        (N, V), rows of unit length.
    """

    def __init__(self, features: csr_array) -> None:
        features = features.tocsr().astype(np.float32)
        count = features.shape[0]
        chosen = np.random.default_rng(0).permutation(count)[:MAX_TRAINING]
        self._place = np.full(count, -1)
        self._place[chosen] = np.arange(len(chosen))
        others = features[chosen].toarray().T
        self._kernel = np.empty((count, len(chosen)), dtype=np.float32)
        for start in range(0, count, _ROWS):  # one product would not let itself be interrupted
            self._kernel[start : start + _ROWS] = features[start : start + _ROWS] @ others
        self._kernel += 1.0  # the constant is the intercept

    def scores(self, labels: Labels, train: Rows, test: Rows) -> NDArray[np.float32]:
        """See `Learner.scores`."""
        train = train[self._place[train] >= 0]
        columns = self._place[train]
        kernel = self._kernel[np.ix_(train, columns)]
        ridge = np.float32(_RIDGE)
        inverse = np.linalg.inv(kernel / 4 + ridge * np.eye(len(train), dtype=np.float32))
        wanted = labels[train].astype(np.float32)
        # Weights of the texts, and the kernel times these, without ever multiplying by it again.
        state: NDArray[np.float32] = np.zeros((2, *wanted.shape), dtype=np.float32)
        before = state
        for step in range(_BOUND_STEPS):
            ahead = state + np.float32(step / (step + 3)) * (state - before)
            before = state
            slope = _sigmoid(ahead[1]) - wanted + ridge * ahead[0]
            change = inverse @ slope
            state = ahead - np.stack([change, 4 * (slope - ridge * change)])
        found: NDArray[np.float32] = self._kernel[np.ix_(test, columns)] @ state[0]
        return found


class NumberLogistic:
    """Logistic regression of a few numbers, by their ranks, so that their scale has no say, and the squares of these.

    Parameters
    ----------
    features
        (N, F); NaN where there is none, which is a feature too.
    """

    def __init__(self, features: Floats) -> None:
        self._design = ranked(features)

    def scores(self, labels: Labels, train: Rows, test: Rows) -> Floats:
        """See `Learner.scores`."""
        weights = newton(self._design[None, train], labels[train].T)
        return apply(self._design[None, test], weights).T


def ranked(features: Floats) -> Floats:
    """(N, columns): for each feature its ranks from -1 to 1, their squares less a third, and whether it is missing."""
    from scipy.stats import rankdata

    columns = []
    for values in np.asarray(features, dtype=np.float64).T:
        missing = np.isnan(values)
        scale = np.zeros(len(values))
        if not missing.all():
            scale[~missing] = 2 * (rankdata(values[~missing]) - 0.5) / np.count_nonzero(~missing) - 1
        columns += [scale, np.where(missing, 0.0, scale**2 - 1 / 3), missing.astype(np.float64)]
    kept = [each for each in columns if np.ptp(each) > 0]
    return np.stack(kept, axis=1) if kept else np.zeros((len(features), 1))


def newton(design: Floats, labels: NDArray[Any], ridge: float = _RIDGE) -> Floats:
    """Logistic regressions with an L2 penalty, by Newton's method.

    Parameters
    ----------
    design
        (P, n, F), or (1, n, F) for features that all share.
    labels
        (P, n), or (1, n).
    ridge
        Penalty of half the squared weights; the intercept has none but a trace.

    Returns
    -------
    (P, 1 + F)
        Intercept and weights.
    """
    total, width = max(len(design), len(labels)), design.shape[2] + 1
    found = np.zeros((total, width))
    penalty = np.full(width, ridge)
    penalty[0] = 1e-6
    for start in range(0, total, _CHUNK):  # the weighted design takes memory
        rows = slice(start, start + _CHUNK)
        part = design if len(design) == 1 else design[rows]
        part = np.concatenate([np.ones((*part.shape[:2], 1)), part], axis=2)
        wanted = labels if len(labels) == 1 else labels[rows]
        weights = found[rows]
        for _ in range(_NEWTON_STEPS):
            chance = _sigmoid(np.clip(np.matmul(part, weights[:, :, None])[:, :, 0], -_LARGEST, _LARGEST))
            slope = np.matmul((chance - wanted)[:, None, :], part)[:, 0] + penalty * weights
            curvature = np.matmul(part.transpose(0, 2, 1), (chance * (1 - chance))[:, :, None] * part)
            change = np.linalg.solve(curvature + np.diag(penalty), slope[:, :, None])[:, :, 0]
            weights -= change
            if np.abs(change).max() < _SMALL:
                break
    return found


def apply(design: Floats, weights: Floats) -> Floats:
    """(P, n): log-odds by the weights of `newton`."""
    found: Floats = np.matmul(design, weights[:, 1:, None])[:, :, 0] + weights[:, :1]
    return found


def _sigmoid(values: NDArray[Any]) -> NDArray[Any]:
    found: NDArray[Any] = 1 / (1 + np.exp(-values))
    return found
