"""Files of documents, or candidate sets, to candidates."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ngramscope import _core
from ngramscope.corpus.sources import corpus_sources
from ngramscope.errors import InputError, UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.json_texts import parse
from ngramscope.sets.base import COLUMNS, MEMBER, NONMEMBER, Candidate, open_header, side

__all__ = ["Keys", "RecordBatch", "RecordSource", "Records", "parse_label"]

PathLike = str | os.PathLike[str]

_LABELS: dict[Any, int] = {
    **dict.fromkeys((1, "1", "true", "member", "members", "seen"), MEMBER),
    **dict.fromkeys((0, "0", "false", "nonmember", "non-member", "nonmembers", "non-members", "unseen"), NONMEMBER),
}


@dataclass(frozen=True, kw_only=True)
class Keys:
    """Names of what is known of a record beside its text and id; dots step into nested objects. A key that is missing is null.

    Parameters
    ----------
    label, domain, group, date
        Keys of the candidate's attributes.
    fields
        Further keys to carry along.
    """

    label: str = "label"
    domain: str = "domain"
    group: str = "group"
    date: str = "date"
    fields: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("label", "domain", "group", "date"):
            if not getattr(self, name):
                raise UsageError(f"--{name}-key: '' is not possible; name a key of the records")
        taken = next((each for each in self.fields if not each or each in COLUMNS), None)
        if taken is not None:
            raise UsageError(f"--field: {taken!r} is not possible; name a key that is no column of the set already")


@dataclass(frozen=True)
class RecordBatch:
    """Candidates that stand together in a file.

    Attributes
    ----------
    candidates
        Those with a text.
    source
        Number of the file.
    positions
        For each candidate, the number of its record in that file.
    """

    candidates: list[Candidate]
    source: int
    positions: list[int]

    def __len__(self) -> int:
        return len(self.candidates)


@dataclass(frozen=True)
class RecordSource:
    """Documents to be read, as often as needed.

    Parameters
    ----------
    paths
        Candidate sets, or what ``build-index`` reads: files, folders, globs, names with a scheme, one manifest.
    read, keys
        How; None takes the defaults. Candidate sets say themselves what their keys are.
    label
        Of every document; None takes what the records say. A candidate set must not say otherwise.
    """

    paths: tuple[PathLike, ...]
    read: ReadOptions | None = None
    keys: Keys | None = None
    label: int | None = None

    def open(self, progress: Callable[[_core.Progress], object] | None = None) -> Records:
        """One pass over them."""
        return Records(self.paths, read=self.read, keys=self.keys, label=self.label, progress=progress)


class Records(Iterator[RecordBatch]):
    """One pass over documents, or candidate sets; batches in input order, and what was read when all are out.

    Parameters
    ----------
    paths, read, keys, label
        See `RecordSource`.
    progress
        Called some twenty times a second, on the calling thread.

    Attributes
    ----------
    headers
        Of the candidate sets; empty if the inputs are documents.
    names
        Of the inputs; `RecordBatch.source` counts in them.

    Raises
    ------
    UsageError
        No input, or sets and documents together.
    InputError
        A file that cannot be used; a label that is none (names file and line).
    """

    def __init__(
        self,
        paths: Sequence[PathLike],
        *,
        read: ReadOptions | None = None,
        keys: Keys | None = None,
        label: int | None = None,
        progress: Callable[[_core.Progress], object] | None = None,
    ) -> None:
        if not paths:
            raise UsageError("no file of candidates was given")
        headers = [open_header(each) for each in paths]
        self.headers: tuple[dict[str, Any], ...] = tuple(each for each in headers if each is not None)
        if self.headers and len(self.headers) < len(headers):
            raise UsageError(f"{os.fspath(paths[headers.index(None)])}: no candidate set, but others here are; give one kind")
        read = ReadOptions() if read is None else read
        keys = Keys() if keys is None else keys
        if self.headers:
            # What a set's keys are is not for its reader to say.
            extra = tuple(dict.fromkeys(name for header in self.headers for name in header["columns"]))
            keys = Keys(fields=extra)
            read = replace(read, text_key="text", id_key="id", domain_key=None)
        self._own = ("overlap", "overlap_null", "source", "position") if self.headers else ()
        self._extra = keys.fields
        names, read = corpus_sources(paths, read)
        domain = read.domain_key or keys.domain
        fields = (keys.label, domain, keys.group, keys.date, *self._own, *keys.fields)
        self.read = replace(read, fields=fields, domain_key=None)
        self._label = label
        self._core = _core.Documents(names, self.read, progress)
        self.names = tuple(self._core.sources)

    def __next__(self) -> RecordBatch:
        batch = next(self._core)
        while not batch.text:
            batch = next(self._core)
        return RecordBatch(list(self._candidates(batch)), batch.source, batch.position)

    def candidates(self) -> Iterator[Candidate]:
        """All that is left, one by one."""
        for batch in self:
            yield from batch.candidates

    def report(self) -> dict[str, Any]:
        """What was read and left out, with sizes and digests of the inputs. After the last batch only."""
        report: dict[str, Any] = json.loads(self._core.report())
        return report

    def left_out(self) -> dict[str, int]:
        """How many records had no usable text, by reason. After the last batch only."""
        return {reason: count for reason, count in self.report()["unusable"].items() if count}

    def _candidates(self, batch: _core.DocumentBatch) -> Iterator[Candidate]:
        name = self.names[batch.source]
        # Plain text has no keys at all.
        columns = [_parsed(column) or [None] * len(batch.text) for column in batch.fields]
        labels, domains, groups, dates, *rest = columns
        own, extra = rest[: len(self._own)], rest[len(self._own) :]
        ids = _parsed(batch.id)
        # Each attribute of a batch is made into a new list whenever it is asked for.
        positions, lines = batch.position, batch.line
        for row, text in enumerate(batch.text):
            label = self._label
            if labels[row] is not None and (label is None or self.headers):
                label = parse_label(labels[row], name, lines[row])
                if self._label not in (None, label):
                    raise InputError(
                        f"{name}, line {lines[row]}: one of the {side(label)} in a set that was given as "
                        f"{side(self._label)}; give it without saying so, a set has its labels"
                    )
            candidate = Candidate(
                id=ids[row],
                text=text,
                label=label,
                domain=_string(domains[row]),
                group=_string(groups[row]),
                date=dates[row],
                source=name,
                position=positions[row],
                extra={key: column[row] for key, column in zip(self._extra, extra, strict=True)},
            )
            if own:
                overlap, null, source, position = (column[row] for column in own)
                candidate.overlap, candidate.overlap_null = overlap or {}, null or {}
                candidate.source, candidate.position = source, position
            yield candidate


def _parsed(column: Iterable[str | None]) -> list[Any]:
    return [None if text is None else parse(text) for text in column]


def _string(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def parse_label(value: Any, name: str, line: int) -> int:
    """`MEMBER` or `NONMEMBER`, from how data spell them: 1, true, ``member``, ``seen`` and their opposites.

    Raises
    ------
    InputError
        It is neither; names the file and the line.
    """
    found = (
        _LABELS.get(value.strip().lower() if isinstance(value, str) else value) if not isinstance(value, list | dict) else None
    )
    if found is None:
        raise InputError(
            f"{name}, line {line}: label {json.dumps(value, ensure_ascii=False):.80} is not known; "
            "1 or member, 0 or nonmember, or null where it is not known"
        )
    return found
