"""Which candidates look like a reference: nearest and optimal matching with a caliper, inverse-propensity weights.

Functions of numbers alone: a matrix of covariates for each side, one row a text. Rows count in the order in which they are
given; whoever wants chance to decide shuffles them first. See Stuart, Matching Methods for Causal Inference, Statistical
Science 2010, sections 2 to 4.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import UsageError

__all__ = [
    "MAX_CELLS",
    "Pairs",
    "Propensity",
    "Weights",
    "cut_odds",
    "effective_size",
    "nearest",
    "no_common_support",
    "odds_weights",
    "optimal",
    "outside",
    "propensity",
    "scales",
    "spline_terms",
]

MAX_CELLS = 25_000_000
"""Pairs that `optimal` weighs against each other, at most: 200 MiB of distances, and some minutes."""

_KNOTS = 5
_EVERY = 256
_WAIT = 0.05
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Pairs:
    """Who was matched with whom; all columns have shape (pairs,), those of one reference row stand together.

    Attributes
    ----------
    reference, candidates
        Rows. Every candidate at most once, every matched row of the reference as often as the ratio says.
    distance
        Euclidean, in standard deviations.
    """

    reference: Ints
    candidates: Ints
    distance: Floats


@dataclass(frozen=True)
class Propensity:
    """How likely a text of these covariates is one of the reference: a logistic regression on `spline_terms`.

    Attributes
    ----------
    terms
        Shape (r + c, terms), the reference first.
    logit
        Logarithm of the odds, shape (r + c,); 0 everywhere if no covariate varies.
    """

    terms: Floats
    logit: Floats


@dataclass(frozen=True)
class Weights:
    """Result of `odds_weights`.

    Attributes
    ----------
    weights
        Shape (candidates,), mean 1.
    trimmed
        Which of them were cut down, shape (candidates,).
    """

    weights: Floats
    trimmed: Bools


def scales(reference: Floats, candidates: Floats) -> Floats:
    """One standard deviation of each covariate: the root mean square of both sides', as the SMD has it; 1 for a constant."""
    spread = np.sqrt((_variances(reference) + _variances(candidates)) / 2)
    return np.where(spread > 0, spread, 1.0)


def nearest(
    reference: Floats,
    candidates: Floats,
    *,
    caliper: float,
    ratio: int = 1,
    progress: Callable[[int], object] | None = None,
) -> Pairs:
    """Greedy matching without replacement: each row of the reference, in order, takes the nearest candidates that are left.

    Parameters
    ----------
    reference, candidates
        Standardised covariates, shapes (r, d) and (c, d).
    caliper
        Largest difference in any covariate; infinity for none.
    ratio
        Candidates for each row of the reference; a row that does not find so many takes none.
    progress
        Called now and then with the number of rows done.
    """
    left = _Left(candidates)
    taken: list[tuple[int, int, float]] = []
    for row, point in enumerate(reference):
        taken.extend((row, candidate, distance) for candidate, distance in left.take(point, caliper, ratio))
        if progress is not None and row % _EVERY == 0:
            progress(row)
    columns = list(zip(*taken, strict=True)) or [(), (), ()]
    return Pairs(np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], np.float64))


def optimal(
    reference: Floats,
    candidates: Floats,
    *,
    caliper: float,
    ratio: int = 1,
    progress: Callable[[int], object] | None = None,
) -> Pairs:
    """As many pairs within the caliper as can be, and of all such choices the one with the smallest sum of distances.

    Parameters are those of `nearest`; `progress` is called with the number of all rows, since nobody knows how many are done.
    With a ratio above 1 the rule holds for single pairs; rows of the reference that get fewer than `ratio` are dropped
    afterwards.

    Raises
    ------
    UsageError
        There are more than `MAX_CELLS` possible pairs.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    cells = len(reference) * ratio * len(candidates)
    if cells > MAX_CELLS:
        raise UsageError(
            f"--method optimal: {len(reference) * ratio:,} x {len(candidates):,} possible pairs, above the bound of "
            f"{MAX_CELLS:,}; match within domains (--on ...,domain), take a sample first, or use --method nearest"
        )
    distance = cdist(reference, candidates)
    far = cdist(reference, candidates, "chebyshev") > caliper
    # A forbidden pair costs more than any set of allowed ones: none is taken where an allowed one would do.
    cost = np.where(far, 1.0 + distance[~far].max(initial=0.0) * min(len(reference) * ratio, len(candidates)), distance)
    copies, chosen = _interruptible(
        lambda: linear_sum_assignment(cost if ratio == 1 else np.repeat(cost, ratio, axis=0)),
        lambda: None if progress is None else progress(len(reference)),
    )
    rows = copies // ratio
    allowed = ~far[rows, chosen]
    allowed &= np.bincount(rows[allowed], minlength=len(reference))[rows] == ratio
    rows, chosen = rows[allowed], chosen[allowed]
    return Pairs(rows, chosen, distance[rows, chosen])


def outside(points: Floats, others: Floats, *, caliper: float, ratio: int = 1) -> Bools:
    """Which of the points (p, d) have fewer than `ratio` of the others (o, d) within the caliper; shape (p,)."""
    from scipy.spatial import cKDTree

    if len(others) < ratio:
        return np.ones(len(points), dtype=bool)
    # Equal points are asked for once, and held no more often than they matter: overlaps of 0 and 1 are many.
    places, place = _places(points)
    held, of = _places(others)
    held = np.repeat(held, np.minimum(np.bincount(of), ratio), axis=0)
    if len(held) < ratio:
        return np.ones(len(points), dtype=bool)
    distances: Floats = np.asarray(cKDTree(held).query(places, k=[ratio], p=np.inf)[0])
    found: Bools = (distances[:, 0] > caliper)[place]
    return found


def no_common_support(reference: Floats, candidates: Floats) -> list[int]:
    """Covariates (columns) in which the ranges of the two sides do not even touch."""
    apart = (reference.min(axis=0) > candidates.max(axis=0)) | (reference.max(axis=0) < candidates.min(axis=0))
    return np.flatnonzero(apart).tolist()


def odds_weights(reference: Floats, candidates: Floats, *, trim: float = 1.0, max_weight: float | None = None) -> Weights:
    """Weights by which the candidates look like the reference: the odds e / (1 - e) of the propensity score e.

    The score is a logistic regression, of the side on `spline_terms`; odds are the weights for the effect on the treated
    (Hirano and Imbens 2001; Stuart 2010, section 4.2). Extreme weights are cut down to a bound, not left out (Cole and Hernan,
    American Journal of Epidemiology 2008).

    Parameters
    ----------
    reference, candidates
        Standardised covariates, shapes (r, d) and (c, d).
    trim
        Weights above this quantile of the candidates' are cut down to it; 1 cuts none.
    max_weight
        Weights above so many times their mean are cut down to that.
    """
    logit = propensity(reference, candidates).logit[len(reference) :]
    return cut_odds(logit, trim=trim, max_weight=max_weight)


def cut_odds(logit: Floats, *, trim: float = 1.0, max_weight: float | None = None) -> Weights:
    """The last step of `odds_weights`: weights of candidates whose `Propensity.logit` is known, shape (candidates,)."""
    odds = np.exp(logit - logit.max())  # their scale is lost when the mean is set to 1
    bound = float(np.quantile(odds, trim))
    if max_weight is not None:
        bound = min(bound, max_weight * float(odds.mean()))
    cut = np.minimum(odds, bound)
    return Weights(cut / cut.mean(), odds > bound)


def propensity(reference: Floats, candidates: Floats) -> Propensity:
    """Fit it, with scikit-learn's default penalty; see `odds_weights` for the parameters."""
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    terms = spline_terms(np.concatenate([reference, candidates]))
    if not terms.shape[1]:
        return Propensity(terms, np.zeros(len(terms)))
    side = np.repeat([1, 0], [len(reference), len(candidates)])
    # On one thread of the linear algebra, so that the machine has no say in the last digit.
    with threadpool_limits(1):
        model = LogisticRegression(tol=1e-6, max_iter=2000).fit(terms, side)
    return Propensity(terms, model.decision_function(terms))


def effective_size(weights: Floats) -> float:
    """How many equally weighted texts would be as good: (sum w)^2 / sum w^2 (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def spline_terms(covariates: Floats) -> Floats:
    """Cubic splines of every covariate, knots at quantiles, and the products of all pairs; every column standardised.

    Shape (n, d) to (n, terms); a constant covariate has no terms.
    """
    from sklearn.preprocessing import SplineTransformer

    varying = [column for column in covariates.T if np.ptp(column) > 0]
    columns = []
    for column in varying:
        # Many values are often equal (an overlap of 0), and knots must not be.
        knots = np.unique(np.quantile(column, np.linspace(0, 1, _KNOTS)))
        columns.append(SplineTransformer(knots=knots[:, None], include_bias=False).fit_transform(column[:, None]))
    columns.extend((one * other)[:, None] for number, one in enumerate(varying) for other in varying[:number])
    terms: Floats = np.concatenate([np.empty((len(covariates), 0)), *columns], axis=1)
    spread = terms.std(axis=0)
    terms = terms[:, spread > 0]
    standardised: Floats = (terms - terms.mean(axis=0)) / spread[spread > 0]
    return standardised


class _Left:
    """Candidates that nobody has taken. Those at one place are a stack, so that a crowded place costs no more than another."""

    def __init__(self, candidates: Floats) -> None:
        self._places, place = _places(candidates)
        self._rows = np.argsort(place, kind="stable")
        ends = np.cumsum(np.bincount(place, minlength=len(self._places)))
        self._end = ends.tolist()
        self._next = [0, *self._end[:-1]]
        self._plant()

    def take(self, point: Floats, caliper: float, ratio: int) -> list[tuple[int, float]]:
        """The `ratio` nearest, with their distances; none if there are not so many within the caliper."""
        if self._empty_seen > len(self._alive):
            self._plant()
        taken: list[tuple[int, float]] = []
        for place, distance in self._nearest(point, caliper, ratio):
            while self._next[place] < self._end[place] and len(taken) < ratio:
                taken.append((int(self._rows[self._next[place]]), distance))
                self._next[place] += 1
        return taken

    def _nearest(self, point: Floats, caliper: float, ratio: int) -> list[tuple[int, float]]:
        """Places that together have `ratio` candidates left, the nearest first; none if there are not so many."""
        radius = np.nextafter(caliper * np.sqrt(len(point)), np.inf)
        asked = 0
        while asked < len(self._alive):
            asked = min(max(8, 4 * asked), len(self._alive))
            answer = self._tree.query(point, k=np.arange(1, asked + 1), distance_upper_bound=radius)
            distances, found = map(np.asarray, answer)
            inside = found[np.isfinite(distances)]
            places, count = [], 0
            for number, distance in zip(inside.tolist(), distances.tolist(), strict=False):
                place = int(self._alive[number])
                stock = self._end[place] - self._next[place]
                self._empty_seen += stock == 0
                if stock and np.abs(self._places[place] - point).max() <= caliper:
                    places.append((place, distance))
                    count += stock
                    if count >= ratio:
                        return places
            if len(inside) < asked:
                break
        return []

    def _plant(self) -> None:
        """A tree of the places that are not empty; anew when as many empty ones were met as it holds."""
        from scipy.spatial import cKDTree

        self._alive = np.flatnonzero(np.array(self._next) < np.array(self._end))
        self._tree = cKDTree(self._places[self._alive])
        self._empty_seen = 0


def _interruptible(work: Callable[[], Result], waiting: Callable[[], object]) -> Result:
    """The result of `work`, done on another thread: compiled code that runs for long does not hear Ctrl-C, who waits does."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again on the calling thread
            errors.append(error)

    thread = threading.Thread(target=run, name="ngramscope-optimal", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_WAIT)
        waiting()
    if errors:
        raise errors[0]
    return results[0]


def _places(points: Floats) -> tuple[Floats, Ints]:
    """Distinct points in order, and for each point the number of its place."""
    places, place = np.unique(points, axis=0, return_inverse=True)
    return places, place.reshape(-1)


def _variances(values: Floats) -> Floats:
    return values.var(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1])
