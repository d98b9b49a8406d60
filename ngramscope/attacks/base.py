"""What an attack is, and the registry that finds them."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.checks import InputsReached
from ngramscope.errors import UsageError
from ngramscope.models.stats import DEFAULT_STATISTICS, MissingStatisticError, TokenStats
from ngramscope.models.store import ScoreStore, StoredPass
from ngramscope.plugins import load_modules

__all__ = ["Attack", "Inputs", "MissingPassError", "Needs", "Scores", "attack", "attack_of", "attacks", "find_attack"]

Scores = NDArray[np.float64] | Mapping[str, NDArray[np.float64]]
"""(N,) scores, higher = member, NaN where undefined; or several such columns by name, for an attack that has many signals."""

PLUGINS = "NGRAMSCOPE_ATTACKS"
"""Environment variable: folders with further attacks, separated as in PATH."""


class MissingPassError(UsageError):
    """An attack needs a pass, or something else, that the store does not have; the message says how to make it."""


@dataclass(frozen=True)
class Needs:
    """What an attack reads.

    Attributes
    ----------
    passes
        Kinds of passes of the model under attack.
    references
        Whether it needs a reference model's passes of these kinds too.
    labels
        Whether it learns from members and non-members, and so must be evaluated on others.
    nonmembers
        Whether it needs known non-members (not members), and so must be evaluated on others.
    token_counts
        Whether it needs the token counts of a corpus (``ngramscope token-counts``).
    """

    passes: tuple[str, ...] = ("plain",)
    references: bool = False
    labels: bool = False
    nonmembers: bool = False
    token_counts: bool = False


@dataclass(frozen=True)
class Inputs:
    """What an attack is a function of: a store, seen from one of its models.

    Parameters
    ----------
    store
        The score store.
    model
        The model under attack, target or placebo, as `StoredPass.model` names it.
    token_counts
        (V,) int64: how often each token id occurs in a corpus; None if there is none.
    seed
        Of splits that learning attacks learn on; see `Needs.labels`.
    """

    store: ScoreStore
    model: str
    token_counts: NDArray[np.int64] | None = None
    seed: int = 0

    def __len__(self) -> int:
        return len(self.store)

    @property
    def labels(self) -> NDArray[np.float64]:
        """(N,): 1 member, 0 non-member, NaN not known. For attacks that declare `Needs.labels` or `Needs.nonmembers` only."""
        return self.store.labels

    def stored(self, kind: str = "plain") -> StoredPass:
        """The pass of that kind.

        Raises
        ------
        MissingPassError
            The store has none.
        UsageError
            It has several that differ in their settings.
        """
        found = [each for each in self.store.find(kind, model=self.model) if each.role != "reference"]
        if not found:
            placebo = any(each.role == "placebo" for each in self.store.passes if each.model == self.model)
            raise MissingPassError(
                f"{self.store.path}: no {kind} pass of {self.model}; make it with ngramscope score SET --model MODEL "
                f"{'--as placebo ' if placebo else ''}--pass {kind} --out {self.store.path}"
            )
        if len(found) > 1:
            names = ", ".join(each.path.name for each in found)
            raise UsageError(f"{self.store.path}: several {kind} passes of {self.model} ({names}); remove all but one")
        return found[0]

    def stats(self, kind: str = "plain") -> TokenStats:
        """Token statistics of that pass; for a pass without variants, row i is candidate i."""
        return self.stored(kind).stats

    def references(self, kind: str = "plain") -> list[StoredPass]:
        """That pass of each reference model.

        Raises
        ------
        MissingPassError
            There is none.
        """
        found = self.store.find(kind, role="reference")
        if not found:
            raise MissingPassError(
                f"{self.store.path}: no {kind} pass of a reference model; make it with "
                f"ngramscope score SET --model MODEL --as reference --pass {kind} --out {self.store.path}"
            )
        return found


class _NoInputs(Inputs):
    """What stands for inputs where only options are asked about, before there is a store."""

    def __init__(self) -> None:
        pass

    def __getattribute__(self, name: str) -> Any:
        raise InputsReached


@dataclass(frozen=True)
class Attack:
    """An attack: a name, what it needs, and a function.

    Attributes
    ----------
    name
        As on the command line and in tables.
    function
        ``function(inputs, **options)`` gives `Scores`.
    summary
        One line for people.
    source
        Paper and section.
    needs
        What it reads.
    sweep
        Options of further columns that come by default, as ``{"k": 0.1}``.
    compat
        By name of a preset, the options with which a public implementation or a paper computes it; or, as text, why a store
        cannot give what that implementation computes.
    undefined
        Code of why a score is undefined where the pass itself has tokens.
    """

    name: str
    function: Callable[..., Scores]
    summary: str
    source: str
    needs: Needs = field(default_factory=Needs)
    sweep: tuple[Mapping[str, Any], ...] = ()
    compat: Mapping[str, Mapping[str, Any] | str] = field(default_factory=dict)
    undefined: str = "undefined"

    @property
    def options(self) -> Mapping[str, Any]:
        """Names and defaults of the function's options."""
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        return {each.name: each.default for each in parameters}

    def check(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """All options with their values.

        Raises
        ------
        UsageError
            One is not known, or has a value that the function refuses before it looks at its inputs.
        """
        known = self.options
        for name in options:
            if name not in known:
                listed = ", ".join(known) or "none"
                raise UsageError(f"attack {self.name}: no option {name!r}; it has: {listed}")
        with contextlib.suppress(InputsReached):
            self.function(_NoInputs(), **options)
        return {**known, **options}

    def check_labels(self, labels: Sequence[int | None]) -> None:
        """Refuse a set that has nothing to learn from, before anything is computed of it.

        Raises
        ------
        UsageError
            Names the side that it lacks.
        """
        needed = {"members": 1, "non-members": 0} if self.needs.labels else {"non-members": 0} if self.needs.nonmembers else {}
        for side, label in needed.items():
            if label not in labels:
                raise UsageError(f"attack {self.name}: learns from {' and '.join(needed)}, and there are no {side}")

    def score(self, inputs: Inputs, **options: Any) -> dict[str, NDArray[np.float64]]:
        """Scores by column name: the attack's own, one a signal (``name.signal``), or one a split (``name@seed``).

        Raises
        ------
        MissingPassError
            The store lacks something.
        """
        try:
            scores = self.function(inputs, **self.check(options))
        except MissingStatisticError as error:
            raise MissingPassError(self._without(str(error.args[0]), inputs)) from None
        if not isinstance(scores, Mapping):
            scores = {"": scores}
        columns = {f"{self.name}{key if key[:1] in ('', '@') else '.' + key}": values for key, values in scores.items()}
        return {name: np.asarray(values, dtype=np.float64) for name, values in columns.items()}

    def _without(self, statistic: str, inputs: Inputs) -> str:
        """What to say of a statistic that a pass has not kept."""
        passes = [inputs.stored(kind) for kind in self.needs.passes]
        passes += [each for kind in self.needs.passes for each in inputs.references(kind)] if self.needs.references else []
        lacking = [each.path for each in passes if statistic not in each.stats.columns]
        option = "" if statistic in DEFAULT_STATISTICS else f" --statistic {statistic}"
        where = ", ".join(map(str, lacking)) or inputs.store.path
        return (
            f"attack {self.name}: {where} has not kept {statistic}; remove it, and make "
            f"it again with ngramscope score SET --model MODEL{option} --out {inputs.store.path}"
        )


_registry: dict[str, Attack] = {}


def attack(
    name: str,
    *,
    summary: str,
    source: str,
    needs: Needs | None = None,
    sweep: tuple[Mapping[str, Any], ...] = (),
    compat: Mapping[str, Mapping[str, Any] | str] = MappingProxyType({}),
    undefined: str = "undefined",
) -> Callable[[Callable[..., Scores]], Callable[..., Scores]]:
    """Register a function of `Inputs` as an attack; its keyword-only parameters, all with defaults, are its options.

    It refuses values of options, with `UsageError`, before it looks at its inputs: so that is said before any model is loaded.
    """

    def register(function: Callable[..., Scores]) -> Callable[..., Scores]:
        known = _registry.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise UsageError(f"attack {name!r} is there twice: {known.function.__module__} and {function.__module__}")
        _registry[name] = Attack(name, function, summary, source, needs or Needs(), sweep, compat, undefined)
        return function

    return register


def attacks() -> Mapping[str, Attack]:
    """All attacks by name, those of `PLUGINS` included."""
    load_modules(__package__ or "ngramscope.attacks", PLUGINS)
    return MappingProxyType(dict(sorted(_registry.items())))


def attack_of(column: str) -> str:
    """The name of the attack that a column is of: ``min-k`` of ``min-k(k=0.1) @ MODEL``, ``camia`` of ``camia.loss-200``."""
    return re.split(r"[.@( ]", column, maxsplit=1)[0]


def find_attack(name: str) -> Attack:
    """The attack of that name.

    Raises
    ------
    UsageError
        There is none; lists those that there are.
    """
    known = attacks()
    if name not in known:
        raise UsageError(f"no attack {name!r}; known: {', '.join(known)}")
    return known[name]
