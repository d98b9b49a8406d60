"""What an aggregation is, and the registry that finds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ngramscope.errors import UsageError
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.setlevel.documents import SetScores
from ngramscope.plugins import load_modules

__all__ = ["Aggregation", "Known", "aggregation", "aggregations", "find_aggregation"]

PLUGINS = "NGRAMSCOPE_AGGREGATIONS"
"""Environment variable: folders with further aggregations, separated as in PATH."""


@dataclass(frozen=True, eq=False)
class Known:
    """Sets whose membership is known, none of which is among those that are aggregated.

    Attributes
    ----------
    members, nonmembers
        (M1,) and (M0,): scores of their documents.
    """

    members: Floats
    nonmembers: Floats

    @classmethod
    def of(cls, sets: SetScores, members: Mask) -> Known:
        """Of sets and of which of them are members, (S,)."""
        ours = members[sets.set_of]
        return cls(sets.scores[ours], sets.scores[~ours])


@dataclass(frozen=True)
class Aggregation:
    """An aggregation.

    Attributes
    ----------
    name
        As on the command line.
    function
        Of `SetScores`, and of `Known` if it learns; gives (S,), higher = more likely a member, NaN where undefined.
    summary, source
        One line for people; paper and section.
    learns
        Whether it takes something from sets whose membership is known.
    """

    name: str
    function: Callable[..., Floats]
    summary: str
    source: str
    learns: bool

    def __call__(self, sets: SetScores, known: Known | None = None) -> Floats:
        """(S,); `known` is needed if it learns. NaN for sets without documents."""
        scores = self.function(sets, known) if self.learns else self.function(sets)
        return np.where(sets.counts > 0, np.asarray(scores, dtype=np.float64), np.nan)


_registry: dict[str, Aggregation] = {}


def aggregation(
    name: str, *, summary: str, source: str, learns: bool = False
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """Register a function as an aggregation."""

    def register(function: Callable[..., Floats]) -> Callable[..., Floats]:
        there = _registry.get(name)
        if there is not None and there.function.__module__ != function.__module__:
            raise UsageError(f"aggregation {name!r} is there twice: {there.function.__module__} and {function.__module__}")
        _registry[name] = Aggregation(name, function, summary, source, learns)
        return function

    return register


def aggregations() -> Mapping[str, Aggregation]:
    """All by name, those of `PLUGINS` included."""
    load_modules("ngramscope.evaluate.setlevel.aggregations", PLUGINS)
    return MappingProxyType(dict(sorted(_registry.items())))


def find_aggregation(name: str) -> Aggregation:
    """The aggregation of that name.

    Raises
    ------
    UsageError
        There is none; lists those that there are.
    """
    known = aggregations()
    if name not in known:
        raise UsageError(f"no aggregation {name!r}; known: {', '.join(known)}")
    return known[name]
