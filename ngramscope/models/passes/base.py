"""What a pass is, and the registry that finds them. Nothing here imports a model."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from ngramscope.checks import InputsReached
from ngramscope.errors import UsageError
from ngramscope.sets.base import Candidate

__all__ = ["PassKind", "PassTexts", "Shots", "Variant", "check_passes", "find_pass", "pass_kind", "pass_kinds"]


class Variant(NamedTuple):
    """A text that a model is to see.

    Attributes
    ----------
    row
        Number of its candidate in the set, from 0.
    number
        Of the variant of that candidate, from 0.
    text
        What is scored.
    """

    row: int
    number: int
    text: str


@dataclass(frozen=True)
class Shots:
    """Texts that stand before every text of a pass and are not scored.

    Attributes
    ----------
    texts
        In order; the first is the furthest from the text.
    rows
        Candidates of the set that are shots, or have the text of one: their scores are to be left out of evaluation.
    """

    texts: tuple[str, ...]
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class PassTexts:
    """What a pass shows to a model.

    Attributes
    ----------
    texts
        In any order.
    shots
        What stands before them, if anything.
    counts
        Of what was left out while making them, by reason; for ``pass.json``.
    """

    texts: Sequence[Variant]
    shots: Shots | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Iterable[str], shots: Shots | None = None) -> PassTexts:
        """One text a candidate, in the order of the set."""
        return cls([Variant(row, 0, text) for row, text in enumerate(texts)], shots)

    def sha256(self) -> str:
        """Digest of the texts, whose they are, and the shots: the same pass has the same, however it was asked for."""
        digest = hashlib.sha256(json.dumps(self.shots and self.shots.texts).encode())
        for each in sorted(self.texts):
            digest.update(json.dumps(each).encode())
        return digest.hexdigest()


class _NoCandidates(Sequence[Candidate]):
    """What stands for candidates where only options are asked about, before there is a set."""

    def __getitem__(self, _: Any) -> Any:
        raise InputsReached

    def __len__(self) -> int:
        raise InputsReached


@dataclass(frozen=True)
class PassKind:
    """A kind of pass: a name, and a function from candidates to texts.

    Attributes
    ----------
    name
        As in stores and on the command line.
    function
        ``function(candidates, **options)`` gives `PassTexts`.
    summary
        One line for people.
    source
        Paper and section.
    statistics
        Names of `ngramscope.models.stats.STATISTICS` that are kept of every token.
    scalars
        Names of what is measured of every text as a whole.
    help
        By name of an option, a line for people.
    """

    name: str
    function: Callable[..., PassTexts]
    summary: str
    source: str
    statistics: tuple[str, ...]
    scalars: tuple[str, ...] = ()
    help: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> Mapping[str, Any]:
        """Names and defaults of the function's options; the default of one that names a file is None."""
        return {each.name: each.default for each in list(inspect.signature(self.function).parameters.values())[1:]}

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse values of options before there is a set; files are left to `make`.

        Raises
        ------
        UsageError
            A value that the function refuses before it looks at candidates.
        """
        with contextlib.suppress(InputsReached):
            self.function(
                _NoCandidates(), **{name: each for name, each in options.items() if self.options[name] not in (None, ())}
            )

    def make(self, candidates: Sequence[Candidate], **options: Any) -> PassTexts:
        """The texts of that pass.

        Raises
        ------
        UsageError
            An option that is not known or cannot be.
        InputError
            A file that cannot be used.
        """
        unknown = next((each for each in options if each not in self.options), None)
        if unknown is not None:
            raise UsageError(f"pass {self.name}: no option {unknown!r}; it has: {', '.join(self.options) or 'none'}")
        return self.function(candidates, **options)


_registry: dict[str, PassKind] = {}


def pass_kind(
    name: str,
    *,
    summary: str,
    source: str,
    statistics: tuple[str, ...] = ("token_id", "log_prob"),
    scalars: tuple[str, ...] = (),
    options: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Callable[..., PassTexts]], Callable[..., PassTexts]]:
    """Register a function of candidates as a pass; its keyword-only parameters, all with defaults, are its options.

    Parameters
    ----------
    options
        A line of help for each of them; ``ngramscope score`` makes its options of these.
    """

    def register(function: Callable[..., PassTexts]) -> Callable[..., PassTexts]:
        known = _registry.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise UsageError(f"pass {name!r} is there twice: {known.function.__module__} and {function.__module__}")
        _registry[name] = PassKind(name, function, summary, source, statistics, scalars, dict(options))
        return function

    return register


def pass_kinds() -> Mapping[str, PassKind]:
    """All kinds of passes by name."""
    _load()
    return MappingProxyType(dict(sorted(_registry.items())))


def check_passes(options: Mapping[str, Any]) -> None:
    """Refuse values of options of passes, by name, before there is a set; see `PassKind.check`.

    Raises
    ------
    UsageError
        A value that a pass refuses.
    """
    for kind in pass_kinds().values():
        kind.check({name: value for name, value in options.items() if name in kind.options})


def find_pass(name: str) -> PassKind:
    """The kind of that name.

    Raises
    ------
    UsageError
        There is none; lists those that there are.
    """
    known = pass_kinds()
    if name not in known:
        raise UsageError(f"--pass: {name!r} is not known; known: {', '.join(known)}")
    return known[name]


@cache
def _load() -> None:
    package = importlib.import_module("ngramscope.models.passes")
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
