"""Modified members: texts of a set with random tokens replaced, or paraphrased; each linked to its original.

Duan et al., Do Membership Inference Attacks Work on Large Language Models?, COLM 2024, section 5 and table 4: is a text that is
almost a member still scored as one?
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ngramscope import _core
from ngramscope.checks import MAX_COUNT, check_choice, check_integer
from ngramscope.corpus.tokens import LoadedTokenizer
from ngramscope.errors import InputError, UsageError
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate, side
from ngramscope.sets.records import Keys, RecordBatch, RecordSource
from ngramscope.sets.replacing import Cut, Tokens, Unit, Words
from ngramscope.sets.seeds import draw
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["SIDES", "PerturbOptions", "Perturbed", "perturb"]

SIDES = ("members", "nonmembers", "all")
"""Whose texts are modified."""

_LABELS = {"members": (MEMBER,), "nonmembers": (NONMEMBER,), "all": (MEMBER, NONMEMBER, None)}
_LINKS = (
    "modified", "modification", "original", "original_source", "original_position", "replaced", "trial", "retokenized",
)  # fmt: skip
# Measured on the original, so no longer true; or a pair's.
_OUTDATED = ("overlap_loo", "weight", "pair", "distance")
Progress = Callable[[_core.Progress], None]


@dataclass(frozen=True, kw_only=True)
class PerturbOptions:
    """What to modify, and how.

    Parameters
    ----------
    replace
        Numbers of tokens or words to replace; a text for each.
    replace_share
        Shares of a text's tokens or words to replace, rounded down, at least one; a text for each.
    trials
        Texts for each number, drawn independently.
    side
        Whose texts: ``members``, ``nonmembers`` or ``all``.
    paraphrase_key
        Key of the records' own paraphrases: a text, or a list of them.
    keep_originals
        Write the originals too, before what was made of them.
    seed
        With a text and its id, decides what becomes of it.
    """

    replace: tuple[int, ...] = ()
    replace_share: tuple[float, ...] = ()
    trials: int = 1
    side: str = "members"
    paraphrase_key: str | None = None
    keep_originals: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for count in self.replace:
            check_integer("--replace", count, 1, 1_000_000)
        object.__setattr__(self, "replace", tuple(sorted(set(self.replace))))
        for share in self.replace_share:
            if isinstance(share, bool) or not 0 < share < 1:
                raise UsageError(f"--replace-share: {share!r} is not possible; a share lies between 0 and 1, as 0.05")
        object.__setattr__(self, "replace_share", tuple(sorted(set(self.replace_share))))
        check_integer("--trials", self.trials, 1, 1_000_000)
        check_integer("--seed", self.seed, 0, MAX_COUNT)
        check_choice("--side", self.side, SIDES)
        if self.paraphrase_key == "":
            raise UsageError("--paraphrase-key: '' is not possible; name a key of the records")

    @property
    def amounts(self) -> tuple[_Amount, ...]:
        """How much is replaced, one for each text that is made."""
        counts = (_Amount(str(count), count) for count in self.replace)
        return (*counts, *(_Amount(f"{100 * share:g}%", share) for share in self.replace_share))


@dataclass(frozen=True)
class _Amount:
    """So many pieces of a text, or such a share of them; with a name for ids and counts."""

    name: str
    value: int | float

    def of(self, cut: Cut) -> int:
        """How many pieces of this text."""
        return self.value if isinstance(self.value, int) else max(1, int(self.value * len(cut.pieces)))


@dataclass(frozen=True)
class Perturbed:
    """What `perturb` did: the header of the set, and the reports of the files that were read."""

    header: dict[str, Any]
    reports: list[dict[str, Any]]


def perturb(
    source: RecordSource,
    out: SetFile,
    options: PerturbOptions,
    *,
    tokenizer: LoadedTokenizer | None = None,
    unit: Unit | None = None,
    paraphrases: RecordSource | None = None,
    progress: Progress | None = None,
) -> Perturbed:
    """Write modified texts of `source`.

    A modified text keeps its original's label, domain and date; its group is the original's group or, without one, its id.
    It has no overlap: that has to be measured anew.

    Parameters
    ----------
    source
        A set, or labelled documents.
    out
        Open; `SetFile.commit` is called here.
    tokenizer
        Whose tokens are replaced; None replaces white-space words by others of the same side of `source`, which is then read
        twice.
    unit
        In place of a tokenizer, what else is replaced by what, as `ngramscope.models.masked.MaskedTokens`.
    paraphrases
        Records whose ids are those of `source`; an id may have several.
    progress
        Called now and then, on the calling thread.

    Raises
    ------
    UsageError
        Nothing to do; standard input where it would be read twice.
    InputError
        No text could be modified; an id that two originals have; a paraphrase that is no text; a file that cannot be used.
    """
    if not (options.amounts or options.paraphrase_key or paraphrases):
        raise UsageError("nothing to do; give --replace N, --replace-share SHARE, --paraphrases FILE or --paraphrase-key KEY")
    keys = source.keys or Keys()
    if options.paraphrase_key and options.paraphrase_key not in keys.fields:
        keys = dataclasses.replace(keys, fields=(*keys.fields, options.paraphrase_key))
    source = dataclasses.replace(source, keys=keys)
    if not options.amounts:
        unit = None
    elif unit is None:
        unit = Tokens(tokenizer) if tokenizer is not None else Words(_vocabulary(source, options, progress))
    work = _Work(options, unit, with_file=paraphrases is not None)
    records = source.open(progress)
    for batch in records:
        for rows in work.modified(batch, records.names[batch.source]):
            out.add(rows)
    reports = [records.report()]
    if paraphrases is not None:
        others = paraphrases.open(progress)
        for batch in others:
            out.add(work.paraphrased(batch.candidates))
        reports.append(others.report())
    if not work.written:
        raise InputError(f"{records.names[0]}: no text could be modified: {work.why()}")
    step = Step(
        rule="perturb",
        settings={
            **{name: value for name, value in dataclasses.asdict(options).items() if name != "seed"},
            **({} if unit is None else unit.facts()),
            "paraphrases": paraphrases is not None,
        },
        inputs=[each for report in reports for each in report["sources"]],
        counts={**work.counts(), "records": _read(reports)},
        seed=options.seed if options.amounts else None,
        facts={"retokenized": work.retokenized} if unit is not None and not isinstance(unit, Words) else {},
    )
    # What was measured holds for originals only.
    before = records.headers if options.keep_originals else [{**header, "overlap": {}} for header in records.headers]
    header = out.commit(step, before=before)
    return Perturbed(header, reports)


@dataclass(frozen=True, slots=True)
class _Original:
    """What a paraphrase from another file takes over."""

    attributes: tuple[Any, ...]
    id: str | int
    source: str | None
    position: int | None
    digest: int


class _Work:
    """Makes rows, and counts."""

    def __init__(self, options: PerturbOptions, unit: Unit | None, *, with_file: bool) -> None:
        self._options, self._unit, self._with_file = options, unit, with_file
        self._sides: dict[str, Counts] = {}
        self._replaced = {amount: Counts() for amount in options.amounts}
        self._paraphrased = Counts()
        self._originals: dict[str, _Original] = {}
        self._trials: Counter[str] = Counter()
        self.retokenized = {"yes": 0, "no": 0}
        self.written = 0

    def modified(self, batch: RecordBatch, file: str) -> Iterator[Iterator[Candidate]]:
        """The rows that come of each of some originals."""
        chosen, places = [], []
        for candidate, position in zip(batch.candidates, batch.positions, strict=True):
            count = self._sides.setdefault(side(candidate.label), Counts())
            if candidate.label in _LABELS[self._options.side]:
                count.used += 1
                chosen.append(candidate)
                places.append(f"{file}, record {position + 1}")
            else:
                count.left_out["other_side"] += 1
        cuts: Iterator[Cut | None] = iter([None] * len(chosen))
        if self._unit is not None:
            cuts = self._unit.cut([each.text for each in chosen])
        for candidate, cut, place in zip(chosen, cuts, places, strict=True):
            yield self._rows(candidate, cut, place)

    def paraphrased(self, candidates: list[Candidate]) -> Iterator[Candidate]:
        """The rows that come of some records of the file of paraphrases."""
        for candidate in candidates:
            key = str(candidate.id)
            original = None if candidate.id is None else self._originals.get(key)
            if original is None:
                self._paraphrased.left_out["no_id" if candidate.id is None else "no_original"] += 1
            elif hash(candidate.text) == original.digest:
                self._paraphrased.left_out["same_as_original"] += 1
            else:
                self._paraphrased.used += 1
                self.written += 1
                trial = self._trials[key]
                self._trials[key] += 1
                label, domain, group, date = original.attributes
                yield Candidate(
                    id=f"{original.id}:p:{trial}",
                    text=candidate.text,
                    label=label,
                    domain=domain,
                    group=group,
                    date=date,
                    source=candidate.source,
                    position=candidate.position,
                    extra=_links(original.id, original.source, original.position, "paraphrase", None, trial),
                )

    def counts(self) -> dict[str, Any]:
        """For the header: originals by side, then for each modification of how many originals it could be made."""
        found = {name: count.to_dict() for name, count in self._sides.items()}
        found |= {f"replace_{amount.name}": each.to_dict() for amount, each in self._replaced.items()}
        if self._with_file or self._options.paraphrase_key:
            found["paraphrases"] = self._paraphrased.to_dict()
        return found

    def why(self) -> str:
        """Why there is nothing."""
        reasons: Counter[str] = Counter()
        for count in (*self._sides.values(), *self._replaced.values(), self._paraphrased):
            reasons.update(count.left_out)
        if set(reasons) == {"other_side"}:
            return _nobody(self._options)
        return ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items())) or "there are no texts"

    def _rows(self, candidate: Candidate, cut: Cut | None, place: str) -> Iterator[Candidate]:
        candidate.group = candidate.group or (
            f"{candidate.source}:{candidate.position}" if candidate.id is None else str(candidate.id)
        )
        own = self._own_paraphrases(candidate, place)
        if self._with_file and candidate.id is not None:
            self._remember(candidate, candidate.id, place)
        if self._options.keep_originals:
            yield dataclasses.replace(candidate, extra={**candidate.extra, **dict.fromkeys(_LINKS), "modified": False})
        if self._unit is not None and cut is not None:
            yield from self._replacements(candidate, cut, self._unit)
        for trial, text in enumerate(own):
            self._paraphrased.used += 1
            yield self._made(candidate, text, "paraphrase", f"o:{trial}", None, trial)

    def _replacements(self, candidate: Candidate, cut: Cut, unit: Unit) -> Iterator[Candidate]:
        for amount, counts in self._replaced.items():
            count = amount.of(cut)
            if len(cut.free) < count:
                counts.left_out[f"fewer_{unit.name}_than_replacements"] += 1
                continue
            counts.used += 1
            for trial in range(self._options.trials):
                random = np.random.default_rng(draw(self._options.seed, candidate.id, candidate.text, amount.value, trial))
                replaced = unit.replace(candidate.text, cut, count, random)
                self.retokenized["yes" if replaced.retokenized else "no"] += 1
                name = f"r{amount.name}:{trial}"
                row = self._made(candidate, replaced.text, unit.modification, name, count, trial)
                row.extra["retokenized"] = replaced.retokenized
                yield row

    def _made(self, candidate: Candidate, text: str, modification: str, name: str, count: int | None, trial: int) -> Candidate:
        self.written += 1
        links = _links(candidate.id, candidate.source, candidate.position, modification, count, trial)
        kept = {key: value for key, value in candidate.extra.items() if key not in _OUTDATED}
        return dataclasses.replace(
            candidate,
            id=None if candidate.id is None else f"{candidate.id}:{name}",
            text=text,
            overlap={},
            overlap_null={},
            extra={**kept, **links},
        )

    def _own_paraphrases(self, candidate: Candidate, place: str) -> list[str]:
        if not self._options.paraphrase_key:
            return []
        value = candidate.extra.pop(self._options.paraphrase_key, None)
        texts = [] if value is None else value if isinstance(value, list) else [value]
        if any(not isinstance(each, str) for each in texts):
            raise InputError(f"{place}: {self._options.paraphrase_key} holds no paraphrase; a text, or a list of texts")
        others = [each for each in texts if each.strip() and each != candidate.text]
        if not texts:
            self._paraphrased.left_out["no_paraphrase"] += 1
        for each in texts:
            if not each.strip():
                self._paraphrased.left_out["empty_paraphrase"] += 1
            elif each == candidate.text:
                self._paraphrased.left_out["same_as_original"] += 1
        return others

    def _remember(self, candidate: Candidate, name: str | int, place: str) -> None:
        attributes = (candidate.label, candidate.domain, candidate.group, candidate.date)
        original = _Original(attributes, name, candidate.source, candidate.position, hash(candidate.text))
        if self._originals.setdefault(str(name), original) is not original:
            raise InputError(f"{place}: a second original with the id {name!r}; --paraphrases needs ids that are unique")


def _links(
    original: str | int | None, source: str | None, position: int | None, modification: str, count: int | None, trial: int
) -> dict[str, Any]:
    """The columns that every row has more than its original; `retokenized` is filled in where tokens were replaced."""
    return dict(zip(_LINKS, (True, modification, original, source, position, count, trial, None), strict=True))


def _vocabulary(source: RecordSource, options: PerturbOptions, progress: Progress | None) -> set[str]:
    """The distinct words of the texts that are to be modified."""
    if "-" in source.paths:
        raise UsageError("standard input (-): words to replace others with are taken from a first reading; name a file")
    found: set[str] = set()
    records = source.open(progress)
    for candidate in records.candidates():
        if candidate.label in _LABELS[options.side]:
            found.update(candidate.text.split())
    if not found:
        raise InputError(f"{records.names[0]}: no text could be modified: {_nobody(options)}")
    return found


def _nobody(options: PerturbOptions) -> str:
    if options.side == "all":
        return "there are no texts"
    return f"there are no {options.side}; say with --label-key where the labels are, or give --side all"


def _read(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    reasons: Counter[str] = Counter()
    for each in reports:
        reasons.update(each["unusable"])
    counts = Counts(sum(each["documents"] for each in reports), reasons)
    return counts.to_dict()
