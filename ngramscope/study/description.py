"""What a study is: sets, a corpus, models, attacks and how they are evaluated."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from ngramscope.attacks.base import attack_of, attacks, find_attack
from ngramscope.attacks.compat import cannot
from ngramscope.attacks.run import check_options
from ngramscope.checks import check_choice, check_integer
from ngramscope.errors import NgramscopeError, UsageError
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.index.options import ReadOptions
from ngramscope.models.encode import EncodeOptions
from ngramscope.models.load import ModelOptions
from ngramscope.models.passes import check_passes, find_pass
from ngramscope.models.score import ScoreOptions
from ngramscope.models.store import ROLES
from ngramscope.sets.overlaps import OverlapOptions
from ngramscope.sets.records import Keys
from ngramscope.sets.verdict import ShiftRule
from ngramscope.study.makers import MAKERS
from ngramscope.study.toml import Table

__all__ = ["DEFAULT_PASSES", "AttackPart", "ModelPart", "ScoringPart", "SetPart", "Study", "ValidationPart"]

DEFAULT_PASSES = ("plain", "lowercase")
"""Passes of a study that names no attacks: all attacks that can be computed from these are."""

_LONGEST = 120
_UNSAFE = frozenset('/\\:*?"<>|')


@dataclass(frozen=True, kw_only=True)
class SetPart:
    """A candidate set.

    Parameters
    ----------
    name
        Of the set, and of the folder of what is computed from it.
    kind
        How it comes about: a key of `MAKERS`.
    inputs
        By key, what it is made of: files, or the name of another set of the study.
    options
        The maker's own; None takes the defaults.
    more
        Further settings of the maker.
    against
        Another set of the study: thresholds of this one are applied to it, AUCs are compared.
    modified
        A set of edited members: how many are still flagged.
    at
        Where the set stands in a series: a training step, a year, a length.
    """

    name: str
    kind: str
    inputs: Mapping[str, tuple[str, ...]]
    options: Any = None
    more: Mapping[str, str] = field(default_factory=dict)
    against: str | None = None
    modified: str | None = None
    at: int | float | str | None = None

    def __post_init__(self) -> None:
        if len(self.name.encode()) > _LONGEST:
            raise UsageError(
                f"set {self.name[:20]!r}...: a folder is named after it; give it a name of at most {_LONGEST} bytes"
            )
        odd = not self.name.isprintable() or self.name[:1] in ("", ".", " ") or set(self.name) & _UNSAFE
        if odd or self.name.lower() in _RESERVED:
            raise UsageError(f"set {self.name!r}: a folder is named after it; give it another name")
        check_choice("kind", self.kind, tuple(MAKERS))
        if self.options is None:
            object.__setattr__(self, "options", MAKERS[self.kind].options())

    @property
    def of(self) -> str | None:
        """The set of the study that it is made from."""
        return self.inputs[self.kind][0] if MAKERS[self.kind].of_set else None


_RESERVED = ("study.toml", "study.json", "report.html", "report-files")
"""Names that lie beside the folders of the sets."""


@dataclass(frozen=True, kw_only=True)
class ModelPart:
    """A model: which, its role (one of `ROLES`), and what tables call it.

    Without a label that is its name on the hub, or the folder's without the path, and ``@revision``.
    """

    options: ModelOptions
    role: str = "target"
    label: str = ""

    def __post_init__(self) -> None:
        check_choice("--as", self.role, ROLES)
        if not self.label:
            path = Path(self.options.name).expanduser()
            name = path.resolve().name if path.exists() else self.options.name
            revision = f"@{self.options.revision}" if self.options.revision else ""
            object.__setattr__(self, "label", name + revision)


@dataclass(frozen=True, kw_only=True)
class ScoringPart:
    """How texts are shown to models; see `ScoreOptions`. `passes` are options of kinds of passes, by name."""

    encode: EncodeOptions = field(default_factory=EncodeOptions)
    passes: Mapping[str, Any] = field(default_factory=dict)
    batch_tokens: int | None = None
    padding_side: str = "right"
    statistics: tuple[str, ...] = ()
    workers: int = 1
    devices: tuple[str, ...] = ()
    engine: str = "processes"
    ray_address: str | None = None

    def __post_init__(self) -> None:
        self.options(ModelPart(options=ModelOptions("any"), label="any"), "plain")
        check_passes(self.passes)

    def options(self, model: ModelPart, kind: str) -> ScoreOptions:
        """For one pass of a model.

        Raises
        ------
        UsageError
            Options that cannot be.
        """
        mine = {name: value for name, value in self.passes.items() if name in find_pass(kind).options}
        return ScoreOptions(
            model=model.options,
            label=model.label,
            role=model.role,
            passes=(kind,),
            encode=self.encode,
            pass_options=mine,
            batch_tokens=self.batch_tokens,
            padding_side=self.padding_side,
            statistics=self.statistics if kind == "plain" else (),
            workers=self.workers,
            devices=self.devices,
            engine=self.engine,
            ray_address=self.ray_address,
        )


@dataclass(frozen=True, kw_only=True)
class AttackPart:
    """Which attacks are computed.

    Parameters
    ----------
    names
        Attacks; none: all that `passes` suffice for.
    passes
        Kinds of passes, beside those that `names` need.
    options
        By name of an attack, its options.
    compat
        A preset, see `ngramscope.attacks.compat`.
    token_counts
        File of ``ngramscope token-counts``.
    seed
        Of splits that learning attacks learn on.
    """

    names: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    compat: str | None = None
    token_counts: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in self.names:
            try:
                attack = find_attack(name)
            except UsageError as error:
                raise UsageError(f"--attack: {error}") from None
            if attack.needs.token_counts and self.token_counts is None:
                raise UsageError(f"--attack: attack {name}: needs the token counts of a corpus; name the file as token_counts")
        for kind in self.passes:
            find_pass(kind)
        if not self.names and not self.passes:
            object.__setattr__(self, "passes", DEFAULT_PASSES)
        check_options(self.options, [find_attack(each) for each in self.names] or [*attacks().values()], self.compat)
        for name in self.names:
            if (reason := cannot(find_attack(name), self.compat)) is not None:
                raise UsageError(f"--compat: {self.compat} is not possible for attack {name}: {reason}")
        check_integer("--seed", self.seed, 0, (1 << 63) - 1)

    def kinds(self, role: str) -> tuple[str, ...]:
        """The kinds of passes that a model of that role is to have; ``plain`` always."""
        needs = [find_attack(each).needs for each in self.names]
        if role == "reference":
            return tuple(dict.fromkeys(["plain", *(kind for each in needs if each.references for kind in each.passes)]))
        return tuple(dict.fromkeys(["plain", *self.passes, *(kind for each in needs for kind in each.passes)]))


@dataclass(frozen=True, kw_only=True)
class ValidationPart:
    """Whether the non-members are representative; see `ngramscope.sets.validate`.

    Parameters
    ----------
    rule
        The declared test; None takes the defaults, with a length that the index has.
    reference
        A sample that was left out of the corpus; none: the members, and leave-one-out overlap.
    describe, max_texts
        See `validate`.
    """

    rule: ShiftRule | None = None
    reference: tuple[str, ...] = ()
    describe: tuple[int, ...] = ()
    max_texts: int = 1_000


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study.

    Parameters
    ----------
    sets
        Its sets; at least one.
    name
        For people.
    series
        What `SetPart.at` counts, as ``training step``; None: the sets are no series.
    read, keys
        How files are read.
    overlap
        The training corpus; None leaves out overlap and validation.
    models
        With the roles that they have; without a target there are no attacks.
    further
        By key of `ngramscope.study.further.FURTHER` the options of a step behind the evaluation of every set.
    source
        The top of the file that describes it, so that errors name their line; None: there is none.

    Raises
    ------
    UsageError
        Parts that do not fit together.
    """

    sets: tuple[SetPart, ...]
    name: str = "study"
    series: str | None = None
    read: ReadOptions = field(default_factory=ReadOptions)
    keys: Keys = field(default_factory=Keys)
    overlap: OverlapOptions | None = None
    validation: ValidationPart = field(default_factory=ValidationPart)
    models: tuple[ModelPart, ...] = ()
    scoring: ScoringPart = field(default_factory=ScoringPart)
    attacks: AttackPart = field(default_factory=AttackPart)
    evaluation: EvaluationOptions = field(default_factory=EvaluationOptions)
    further: Mapping[str, Any] = field(default_factory=dict)
    source: Table | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        names = [each.name for each in self.sets]
        if not names:
            raise UsageError("a study needs a set; give --members and --nonmembers, or --set")
        _once("set", names)
        folders = [unicodedata.normalize("NFC", each).casefold() for each in names]
        alike = next((at for at, each in enumerate(folders) if each in folders[:at]), None)
        if alike is not None:
            pair = f"sets {names[folders.index(folders[alike])]!r} and {names[alike]!r}"
            raise UsageError(f"{pair}: share a folder where upper and lower case are the same; give one another name")
        _once("model", [each.label for each in self.models if each.role != "reference"])
        _once("reference model", [each.label for each in self.models if each.role == "reference"])
        for place, each in enumerate(self.sets):
            if each.of is not None and each.of not in names[:place]:
                raise UsageError(
                    f"set {each.name}: is made from {each.of!r}, which is no set before it: {_listed(names[:place])}"
                )
            for other in (each.against, each.modified):
                if other is not None and (other not in names or other == each.name):
                    raise UsageError(f"set {each.name}: no other set {other!r} to compare with; known: {_listed(names)}")
            if each.kind == "thresholded" and self.overlap is None:
                raise UsageError(f"set {each.name}: needs the training corpus; name it in [overlap], or with --index or --scan")
        if self.models and not any(each.role != "reference" for each in self.models):
            raise UsageError("reference models only; name a model to attack, with --model")
        needing = [each for each in self.attacks.names if find_attack(each).needs.references]
        if needing and self.models and not any(each.role == "reference" for each in self.models):
            why = f"attack {needing[0]}: needs a reference model; name one with --reference, or role = 'reference'"
            self.refuse(UsageError(f"--attack: {why}"), "attacks")
        for column in self.evaluation.attacks:
            self._check_evaluated(column)
        if self.further and not self.models:
            raise UsageError(f"[{next(iter(self.further))}] looks at scores of models; name a model, with --model")
        if self.validation.reference and self.overlap is None:
            raise UsageError("a validation sample (reference) needs the training corpus; name it in [overlap]")

    def _check_evaluated(self, column: str) -> None:
        """Refuse the name of a column that no attack of the study can give; which columns there are only the attacks tell."""
        name, part = attack_of(column), self.attacks
        try:
            found = find_attack(name)
        except UsageError as error:
            self.refuse(UsageError(f"--attack: {error}"), "evaluation")
        made = part.kinds("target")
        if part.names and name not in part.names:
            why = f"is not computed; computed are: {', '.join(part.names)}"
        elif lacking := [each for each in found.needs.passes if each not in made]:
            why = f"needs the pass {lacking[0]}, which is not made; made are: {', '.join(made)}"
        elif self.models and found.needs.references and not any(each.role == "reference" for each in self.models):
            why = "needs a reference model, and there is none"
        else:
            return
        self.refuse(UsageError(f"--attack: attack {name} {why}"), "evaluation")

    def refuse(self, error: NgramscopeError, *table: str, about: str = "") -> NoReturn:
        """Raise the error again; of a study that a file describes as one of that file, with the key in that table.

        Parameters
        ----------
        table
            Keys of the table from the top; of a set ``sets`` and its name.
        about
            Stands before what is wrong.

        Raises
        ------
        InputError, UsageError
            With the file, or without it.
        """
        if self.source is None:
            raise type(error)(f"{about}{error}") from None
        place = self.source
        if table[0] == "sets":
            place = next(each for each in place.tables("sets") if each.data.get("name") == table[1])
        else:
            for each in table:
                place = place.table(each)
        place.refuse_option(error, about=about)

    @property
    def corpus(self) -> OverlapOptions:
        """The training corpus.

        Raises
        ------
        UsageError
            There is none.
        """
        if self.overlap is None:
            raise UsageError("the training corpus is not known; name it in [overlap], or with --index or --scan")
        return self.overlap

    @property
    def evaluated(self) -> tuple[SetPart, ...]:
        """The sets with members and non-members: all but those that are only there as `SetPart.modified`."""
        edited = {each.modified for each in self.sets}
        return tuple(each for each in self.sets if each.name not in edited)


def _once(what: str, names: Sequence[str]) -> None:
    twice = next((each for number, each in enumerate(names) if each in names[:number]), None)
    if twice is not None:
        raise UsageError(f"{what} {twice!r} is there twice; give one another {'name' if what == 'set' else 'label'}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
