"""What a format of sets is: how it is told from others, read, and written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Protocol

from ngramscope.checks import check_choice
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.sets.base import COLUMNS, Candidate
from ngramscope.sets.formats._files import Files, SourceFile
from ngramscope.sets.formats._reading import Reading, Row

__all__ = ["ALL", "ExportOptions", "Format", "ImportOptions", "KeyedFormat", "RowFormat", "SetToExport", "SetWriter", "choose"]

ALL = "all"
_KEYS = ("text_key", "id_key", "label_key", "domain_key", "group_key", "date_key")


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """What is taken of the inputs, and how.

    Parameters
    ----------
    config, split
        Parts of a benchmark, as it calls them; ``all`` takes all of them. None is fine where there is only one.
    label
        Of texts that have none of their own; None leaves them unlabelled.
    text_key, id_key, label_key, domain_key, group_key, date_key
        Keys (columns) of plain records; None takes ``text``, ``id`` and so on. Other formats know their keys.
    fields
        Further keys of plain records to carry along.
    member_label
        1, or 0 for plain records whose label 0 means member.
    neighbors
        Take the perturbed copies of the texts that a benchmark has beside them, as the column ``neighbors``.
    max_bad_records, max_record_size
        See `ReadOptions`.
    """

    config: str | None = None
    split: str | None = None
    label: int | None = None
    text_key: str | None = None
    id_key: str | None = None
    label_key: str | None = None
    domain_key: str | None = None
    group_key: str | None = None
    date_key: str | None = None
    fields: tuple[str, ...] = ()
    member_label: int = 1
    neighbors: bool = True
    max_bad_records: int = 0
    max_record_size: int | str = ReadOptions.max_record_size

    def __post_init__(self) -> None:
        check_choice("--member-label", str(self.member_label), ("0", "1"))
        taken = next((each for each in self.fields if not each or each in COLUMNS), None)
        if taken is not None:
            raise UsageError(f"--field: {taken!r} is not possible; name a key that is no column of the set already")

    def for_plain(self) -> list[str]:
        """Options that were given and say something of plain records only, as the command line spells them."""
        given = [f"--{name.replace('_', '-')}" for name in _KEYS if getattr(self, name) is not None]
        return given + ["--field"] * bool(self.fields) + ["--member-label"] * (self.member_label != 1)

    def settings(self) -> dict[str, Any]:
        """For the header of a set."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name != "max_record_size"}


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """Of formats that have more than the texts; None takes what the set's history says.

    Parameters
    ----------
    config, split
        Names of the files of ``mimir``.
    min_words, max_words, max_tokens
        Numbers in the name of its folder.
    flags
        Column of the n-gram flags, for ``bff``.
    """

    config: str | None = None
    split: str | None = None
    min_words: int | None = None
    max_words: int | None = None
    max_tokens: int | None = None
    flags: str = "ngram_inclusion"


@dataclass(frozen=True)
class SetToExport:
    """What a writer may want to know before the first row.

    Attributes
    ----------
    path
        Of the set.
    header
        Of the set.
    options
        As given.
    """

    path: Path
    header: Mapping[str, Any]
    options: ExportOptions

    def setting(self, name: str) -> Any:
        """What the last step of the set's history that has such a setting says; None if there is none."""
        for step in reversed(self.header["history"]):
            if step["settings"].get(name) is not None:
                return step["settings"][name]
        return None


class SetWriter(Protocol):
    """Writes a set; ``with writer: ...``. Nothing is left unless `commit` was called."""

    @property
    def names(self) -> Sequence[Path]:
        """What `commit` brings about."""

    def __enter__(self) -> Any: ...

    def __exit__(self, *exception: object) -> None: ...

    def write(self, table: list[Candidate]) -> None:
        """Append these."""

    def commit(self, provenance: Mapping[str, Any]) -> None:
        """Finish, and give everything its name."""


class Format(ABC):
    """One layout of labelled texts; a file of this package each, whose `FORMAT` it is.

    Attributes
    ----------
    name
        As ``--format`` has it.
    layout
        One line: which files with which keys.
    labels
        How it says who is a member.
    keeps
        Columns of a set that it holds when written; ``*`` stands for those that rules added (see `keeps_extra`). None: it is
        only read.
    plain
        A layout that any data may have: `ImportOptions` name its keys, and `detect` is asked when no other format fits.
    needs_label
        Candidates without a label cannot be written.
    """

    name: ClassVar[str]
    layout: ClassVar[str]
    labels: ClassVar[str]
    keeps: ClassVar[frozenset[str] | None] = None
    plain: ClassVar[bool] = False
    needs_label: ClassVar[bool] = False

    @abstractmethod
    def detect(self, files: Files, options: ImportOptions) -> str | None:
        """What in `files` shows this layout; None if it is not this one."""

    @abstractmethod
    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """The candidates, each with the file that it comes from; what cannot be used goes to `Reading.reject`."""

    def facts(self, files: Files, options: ImportOptions) -> dict[str, Any]:  # noqa: ARG002 - most have none
        """What else the layout tells; for the header."""
        return {}

    def keeps_extra(self, name: str, source: SetToExport) -> bool:  # noqa: ARG002 - of most it does not depend on the set
        """Whether the column `name`, which some rule has added, is written."""
        return self.keeps is not None and "*" in self.keeps

    def writer(self, out: Path, source: SetToExport) -> SetWriter:
        """What writes a set to `out`.

        Raises
        ------
        UsageError
            The set cannot be written so; says what is missing.
        """
        raise NotImplementedError

    def row(self, candidate: Candidate, source: SetToExport) -> Any:
        """What is written of `candidate`.

        Raises
        ------
        InputError
            It cannot be held.
        """
        raise NotImplementedError


class KeyedFormat(Format):
    """A layout of records with a text.

    Attributes
    ----------
    text
        Key of the text.
    keys
        Keys that a record has beside it.
    optional
        Keys that are taken where there are such.
    """

    text: ClassVar[str]
    keys: ClassVar[tuple[str, ...]]
    optional: ClassVar[tuple[str, ...]] = ()

    def detect(self, files: Files, options: ImportOptions) -> str | None:  # noqa: ARG002 - of plain formats only
        """See `Format`."""
        peek = files.first.peek
        found = peek.has(self.text, *self.keys) and self.fits(peek.row)
        return f"records with the keys {', '.join((self.text, *self.keys))}" if found else None

    def fits(self, row: Mapping[str, Any]) -> bool:  # noqa: ARG002 - most are told by their keys
        """Whether a first record that has the keys is of this layout."""
        return True

    def part(self, file: SourceFile) -> str:
        """Which split a file belongs to."""
        return file.stem

    def rows(self, file: SourceFile, reading: Reading) -> Iterator[Row]:
        """The records of one file that have all of `keys`."""
        for row in reading.rows(file, self.text, (*self.keys, *self.optional)):
            lacks = next((key for key in self.keys if row.values[key] is None), None)
            if lacks is None:
                yield row
            else:
                there = [self.text, *(key for key, value in row.values.items() if value is not None)]
                reading.reject(file, row.line, f"missing_{lacks}", f"no {lacks!r}; it has {', '.join(there)}")


class RowFormat(KeyedFormat):
    """A layout of one record a text, in splits."""

    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """See `Format`."""
        for part, chosen in choose("split", options.split, files, self.part).items():
            for file in chosen:
                for row in self.rows(file, reading):
                    yield file, self.candidate(row, file, part)

    @abstractmethod
    def candidate(self, row: Row, file: SourceFile, part: str) -> Candidate:
        """The candidate that `row` is."""


def choose(option: str, asked: str | None, files: Iterable[SourceFile], part: Any) -> dict[str, list[SourceFile]]:
    """The files of the part that is asked for, by part.

    Parameters
    ----------
    option
        Name of the option that says which.
    asked
        Name of a part, ``all``, or None where there is only one.
    part
        Says of a file which part it belongs to; None for none.

    Raises
    ------
    UsageError
        There is no such part, or several and none was named; lists them.
    """
    parts: dict[str, list[SourceFile]] = {}
    for file in files:
        name = part(file)
        if name is not None:
            parts.setdefault(name, []).append(file)
    if asked == ALL or (asked is None and len(parts) == 1):
        return parts
    if asked not in parts:
        there = ", ".join(sorted(parts))
        said = f"there is no {asked}" if asked is not None else "the inputs hold several parts"
        raise UsageError(f"--{option}: {said}; name one of {there}, or {ALL}")
    return {asked: parts[asked]}
