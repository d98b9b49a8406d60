"""How the sets of a study come about: one entry a kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ngramscope.errors import InputError, UsageError
from ngramscope.sets.base import open_header
from ngramscope.sets.formats import ImportOptions, import_set
from ngramscope.sets.perturb import PerturbOptions, perturb
from ngramscope.sets.records import RecordSource
from ngramscope.sets.sample import SampleOptions, sample
from ngramscope.sets.temporal import CutoffOptions, temporal
from ngramscope.sets.thresholded import ThresholdRule, threshold
from ngramscope.sets.writer import Counts, SetFile, Step

if TYPE_CHECKING:
    from ngramscope.study.description import SetPart, Study

__all__ = ["MAKERS", "SET_FILE", "Maker", "make_set"]

SET_FILE = "candidates.jsonl"
"""Name of a set's file in its step's folder."""

Progress = Callable[[Any], None]
Header = dict[str, Any]


@dataclass(frozen=True)
class _NoOptions:
    """A set as it is."""


@dataclass(frozen=True)
class Maker:
    """A kind of set.

    Attributes
    ----------
    inputs
        Keys of what it is made of; the first one that a table has says that it is of this kind.
    options
        Dataclass of its settings; its fields are keys of the table, but for `left_out`.
    make
        ``make(part, study, source, out, progress)`` writes the set.
    of_set
        Whether it is made from another set of the study.
    more
        Further keys with texts.
    files
        Of these the ones that may be files or folders.
    left_out
        Fields of `options` that have no key.
    """

    inputs: tuple[str, ...]
    options: type
    make: Callable[[SetPart, Study, RecordSource, Path, Progress | None], object]
    of_set: bool = False
    more: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def make_set(part: SetPart, study: Study, source: Path | None, out: Path, progress: Progress | None) -> None:
    """Write a set.

    Parameters
    ----------
    source
        The set that it is made from, if its kind is.
    out
        Its file.

    Raises
    ------
    InputError
        Nothing is in it, or of two sides that it is drawn from one is empty.
    """
    maker = MAKERS[part.kind]
    records = (
        RecordSource(part.inputs.get(maker.inputs[0], ()), study.read, study.keys)
        if source is None
        else RecordSource((source,))
    )
    maker.make(part, study, records, out, progress)
    _refuse_empty(part, open_header(out) or {})


def _refuse_empty(part: SetPart, header: Header) -> None:
    """Of a set without candidates, or one of two sides with one, nothing can be found: said before any model is loaded."""
    needed = ("members", "nonmembers") if part.kind == "sample" else ()
    counts = header["counts"]
    empty = [side for side in needed if not counts[side]] or ([] if any(counts.values()) else ["candidates"])
    if not empty:
        return
    steps = header["history"][-1]["counts"].items()
    read = "; ".join(
        f"{name}: {each['read']:,} read" + "".join(f", {count:,} {reason}" for reason, count in each["left_out"].items())
        for name, each in steps
        if "left_out" in each
    )
    raise InputError(f"set {part.name}: it has no {' and no '.join(empty)} ({read})")


def _sample(part: SetPart, study: Study, _: RecordSource, out: Path, progress: Progress | None) -> None:
    sample(
        out,
        members=part.inputs.get("members", ()),
        nonmembers=part.inputs.get("nonmembers", ()),
        options=part.options,
        read=study.read,
        keys=study.keys,
        progress=progress,
    )


def _taken(_part: SetPart, study: Study, source: RecordSource, out: Path, progress: Progress | None) -> None:
    """Candidates as they are: one copy that stays what it is."""
    records = source.open(progress)
    counts = Counts()
    with SetFile(out) as file:
        for batch in records:
            counts.used += len(batch)
            file.add(batch.candidates)
        counts.left_out.update(records.left_out())
        step = Step(
            rule="taken",
            settings={"read": asdict(study.read), "keys": asdict(study.keys)},
            inputs=records.report()["sources"],
            counts={"candidates": counts.to_dict()},
        )
        file.commit(step, before=records.headers)


def _import(part: SetPart, _study: Study, _: RecordSource, out: Path, progress: Progress | None) -> None:
    import_set(part.inputs["import"], out, format=part.more.get("format", "auto"), options=part.options, progress=progress)


def _temporal(part: SetPart, _study: Study, source: RecordSource, out: Path, progress: Progress | None) -> None:
    temporal(source, out, part.options, progress=progress)


def _thresholded(part: SetPart, study: Study, source: RecordSource, out: Path, progress: Progress | None) -> None:
    threshold(source, study.corpus, out, rule=part.options, progress=progress)


def _perturbed(part: SetPart, _study: Study, source: RecordSource, out: Path, progress: Progress | None) -> None:
    tokenizer = unit = None
    if "masked_model" in part.more:
        from ngramscope.models.masked import MaskedModel, MaskedTokens

        unit = MaskedTokens(MaskedModel(part.more["masked_model"], revision=part.more.get("masked_revision")))
    elif "tokenizer" in part.more:
        from ngramscope.corpus.tokens import load_tokenizer

        tokenizer = load_tokenizer(part.more["tokenizer"])
    if not part.options.amounts and part.options.paraphrase_key is None:
        raise UsageError(f"set {part.name}: say how much is replaced, with replace or replace_share, or name a paraphrase_key")
    with SetFile(out) as file:
        perturb(source, file, part.options, tokenizer=tokenizer, unit=unit, progress=progress)


MAKERS: Mapping[str, Maker] = {
    "sample": Maker(("members", "nonmembers"), SampleOptions, _sample, left_out=("threads",)),
    "set": Maker(("set",), _NoOptions, _taken, more=("key",), files=("key",)),
    "import": Maker(("import",), ImportOptions, _import, more=("format",), left_out=("label",)),
    "temporal": Maker(("temporal",), CutoffOptions, _temporal, left_out=("dates",)),
    "thresholded": Maker(("thresholded",), ThresholdRule, _thresholded, of_set=True),
    "perturbed": Maker(
        ("perturbed",),
        PerturbOptions,
        _perturbed,
        of_set=True,
        more=("tokenizer", "masked_model", "masked_revision"),
        files=("tokenizer", "masked_model"),
    ),
}
"""Kinds of sets by name."""
