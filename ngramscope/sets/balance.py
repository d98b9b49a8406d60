"""How two sides of a set compare: a table of standardised mean differences and Kolmogorov-Smirnov distances."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate, side
from ngramscope.sets.covariates import LOO_COLUMN
from ngramscope.sets.dates import decimal_year, middle

__all__ = ["Balance", "compare", "ks_distance", "moments"]

Floats = NDArray[np.float64]
_DOMAINS = 100
_FORMATS = {"year": ".2f"}


def moments(values: ArrayLike, weights: ArrayLike | None = None) -> dict[str, Any]:
    """Number, mean, standard deviation and quartiles of `values` (n,); null where there are too few."""
    data = np.asarray(values, dtype=np.float64)
    if not len(data):
        return {"n": 0, "mean": None, "sd": None, "quartiles": None}
    w = np.ones(len(data)) if weights is None else np.asarray(weights, dtype=np.float64)
    mean = float(np.average(data, weights=w))
    # The usual estimate, whose factor for weights is that of reliability weights.
    rest = float(w.sum() - (w**2).sum() / w.sum())
    sd = float(np.sqrt((w * (data - mean) ** 2).sum() / rest)) if rest > 0 else None
    order = np.argsort(data, kind="stable")
    reached = np.cumsum(w[order]) / w.sum()
    at = np.minimum(np.searchsorted(reached, np.array([0.25, 0.5, 0.75]) - 1e-12), len(data) - 1)
    quartiles = data[order][at].tolist()
    return {"n": len(data), "mean": mean, "sd": sd, "quartiles": quartiles}


def ks_distance(
    a: ArrayLike, b: ArrayLike, weights_a: ArrayLike | None = None, weights_b: ArrayLike | None = None
) -> float | None:
    """Largest difference of the two (weighted) distribution functions; None if a side is empty."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if not len(x) or not len(y):
        return None
    at = np.union1d(x, y)
    return float(np.abs(_distribution(x, weights_a, at) - _distribution(y, weights_b, at)).max())


def compare(
    members: ArrayLike, nonmembers: ArrayLike, *, member_weights: ArrayLike | None = None, weights: ArrayLike | None = None
) -> dict[str, Any]:
    """One covariate on both sides.

    Parameters
    ----------
    members, nonmembers
        Values, shapes (n1,) and (n0,).
    member_weights, weights
        Of the members and of the non-members; None counts each once.

    Returns
    -------
    dict
        `moments` of both sides; ``smd``, the difference of the means (members less non-members) over the root mean square of
        the two standard deviations (Cohen's d; Rosenbaum and Rubin 1985); ``ks``, the Kolmogorov-Smirnov distance. Null where
        a side is too small, and the smd also where neither side varies but the means differ.
    """
    one, other = moments(members, member_weights), moments(nonmembers, weights)
    smd = None
    if one["sd"] is not None and other["sd"] is not None:
        spread = float(np.sqrt((one["sd"] ** 2 + other["sd"] ** 2) / 2))
        difference = one["mean"] - other["mean"]
        smd = difference / spread if spread > 0 else 0.0 if difference == 0 else None
    return {"members": one, "nonmembers": other, "smd": smd, "ks": ks_distance(members, nonmembers, member_weights, weights)}


class Balance:
    """Collects candidates and says how the sides compare; holds some numbers for each, no texts."""

    def __init__(self) -> None:
        self._values: dict[str, dict[int, array[float]]] = {}
        self._domains: dict[str, Counter[str]] = {side(label): Counter() for label in (MEMBER, NONMEMBER, None)}
        self._groups: dict[str, set[str]] = {name: set() for name in self._domains}

    def add(self, candidate: Candidate) -> None:
        """Count one more."""
        name = side(candidate.label)
        self._domains[name][candidate.domain or ""] += 1
        if candidate.group is not None:
            self._groups[name].add(candidate.group)
        if candidate.label is None:
            return
        self._value("words", candidate.label, len(candidate.text.split()))
        self._value("characters", candidate.label, len(candidate.text))
        moment = middle(candidate.extra.get("date_utc") or candidate.date)
        if isinstance(moment, int):
            self._value("year", candidate.label, decimal_year(moment))
        for n, share in candidate.overlap.items():
            if share is not None:
                self._value(f"overlap_{n}", candidate.label, share)
        for n, share in (candidate.extra.get(LOO_COLUMN) or {}).items():
            if share is not None:
                self._value(f"{LOO_COLUMN}_{n}", candidate.label, share)

    def counts(self) -> dict[str, int]:
        """How many candidates each side has."""
        return {name: sum(domains.values()) for name, domains in self._domains.items()}

    def to_dict(self) -> dict[str, Any]:
        """For the header: covariates (`compare`), counts by domain and numbers of groups, by side."""
        empty: array[float] = array("d")
        return {
            "covariates": {
                name: compare(sides.get(MEMBER, empty), sides.get(NONMEMBER, empty)) for name, sides in self._values.items()
            },
            "domains": {name: dict(sorted(counts.items())[:_DOMAINS]) for name, counts in self._domains.items() if counts},
            "groups": {name: len(groups) for name, groups in self._groups.items() if groups},
        }

    def _value(self, name: str, label: int, value: float) -> None:
        self._values.setdefault(name, {}).setdefault(label, array("d")).append(value)


def _distribution(values: Floats, weights: ArrayLike | None, at: Floats) -> Floats:
    order = np.argsort(values, kind="stable")
    w = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    reached = np.concatenate([[0.0], np.cumsum(w[order])])
    shares: Floats = reached[np.searchsorted(values[order], at, side="right")] / reached[-1]
    return shares


def to_text(balance: Mapping[str, Any]) -> str:
    """The table for people."""
    lines = [f"{'':<14}{'members':>22}{'non-members':>22}{'SMD':>8}{'KS':>7}"]
    for name, row in balance["covariates"].items():
        sides = [
            "-" if row[each]["mean"] is None else f"{row[each]['mean']:{_FORMATS.get(name, '.4g')}} (n {row[each]['n']:,})"
            for each in ("members", "nonmembers")
        ]
        numbers = ["-" if row[each] is None else f"{row[each]:.3f}" for each in ("smd", "ks")]
        lines.append(f"{name:<14}{sides[0]:>22}{sides[1]:>22}{numbers[0]:>8}{numbers[1]:>7}")
    return "\n".join(lines)
