"""Documents to the sides of a set by their dates: what all rules about dates share."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from ngramscope import _core, provenance
from ngramscope.checks import check_choice
from ngramscope.errors import InputError, UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.index.output import TableFile, TableWriter
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.dates import RESOLUTIONS, DateRule, Span, utc_text
from ngramscope.sets.records import Keys, Records, RecordSource
from ngramscope.sets.writer import Counts

__all__ = ["Dated", "DatedSource", "LeftOutFile", "Progress", "Repeated", "Sides", "require_both_sides", "text_digest"]

Progress = Callable[[_core.Progress], object]

LEFT_OUT_VERSION = 1
"""Version of the rows that `LeftOutFile` writes."""

OUTSIDE = "outside_window"
BETWEEN = "between_sides"

_SAMPLES = 20
_DATE_LENGTH = 200


@dataclass(frozen=True)
class Sides:
    """When documents of either side are from; moments as in `ngramscope.sets.dates`.

    Parameters
    ----------
    members, nonmembers
        First moment, and first moment after; the first interval ends before the second begins, or where it begins.
    """

    members: tuple[int, int]
    nonmembers: tuple[int, int]

    def place(self, span: Span) -> int | str:
        """`MEMBER` or `NONMEMBER` if the whole of `span` is on that side, or a reason.

        Reasons are ``straddles_cutoff``, ``between_sides`` (in the margins) and ``outside_window``.
        """
        (first, before), (after, last) = self.members, self.nonmembers
        if span.end <= before:
            return MEMBER if span.start >= first else OUTSIDE
        if span.start >= after:
            return NONMEMBER if span.end <= last else OUTSIDE
        return BETWEEN if before <= span.start and span.end <= after else "straddles_cutoff"


@dataclass(slots=True)
class Dated:
    """A candidate that has a side.

    Attributes
    ----------
    candidate
        With its label, and ``date_utc`` among its further keys.
    span
        Its date.
    number
        Of the document, from 0, in the order in which this source is read.
    """

    candidate: Candidate
    span: Span
    number: int


class LeftOutFile:
    """A JSON Lines file of the documents that were left out: ``id``, ``source``, ``position``, ``date``, ``reason``.

    Parameters
    ----------
    path
        Ends in ``.jsonl``, ``.jsonl.gz`` or ``.jsonl.zst``; None keeps none.
    """

    def __init__(self, path: str | Path | None) -> None:
        writers = {".jsonl": _JsonLines}
        self._table = None if path is None else TableFile(Path(path), writers, with_source=True, option="--left-out")

    def __enter__(self) -> LeftOutFile:
        if self._table is not None:
            self._table.__enter__()
        return self

    def add(self, candidate: Candidate, reason: str) -> None:
        """Write one."""
        if self._table is not None:
            self._table.write({**_said(candidate), "reason": reason})

    def commit(self, settings: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]) -> None:
        """Give the file its name."""
        if self._table is not None:
            self._table.commit(provenance.stamp("left-out", version=LEFT_OUT_VERSION, settings=settings, inputs=inputs))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._table is not None:
            self._table.__exit__(kind, error, trace)


class _JsonLines(TableWriter[dict[str, Any]]):
    def write(self, table: dict[str, Any]) -> None:
        self._stream.write((json.dumps(table, ensure_ascii=False) + "\n").encode("utf-8"))

    def close(self, provenance: Mapping[str, Any]) -> None:
        pass


class Repeated:
    """A source that is read several times, and has to say the same each time.

    Attributes
    ----------
    headers
        Of the candidate sets, if the source is such.
    report
        `Records.report` of the last whole pass.

    Raises
    ------
    UsageError
        Standard input.
    InputError
        A file that changed between two passes.
    """

    def __init__(self, source: RecordSource, progress: Progress | None) -> None:
        if any(str(each) == "-" for each in source.paths):
            raise UsageError("standard input can be read only once, and this rule reads its documents twice; name a file")
        self._source = source
        self._progress = progress
        self.headers: tuple[dict[str, Any], ...] = ()
        self.report: dict[str, Any] = {}

    def candidates(self) -> Iterator[Candidate]:
        """One pass."""
        records: Records = self._source.open(self._progress)
        self.headers = records.headers
        yield from records.candidates()
        report = records.report()
        if self.report and report["sources"] != self.report["sources"]:
            before = {each["name"]: each for each in self.report["sources"]}
            changed = next((each["name"] for each in report["sources"] if each != before.get(each["name"])), "a file")
            raise InputError(f"{changed}: changed while it was being read; start again when it is complete")
        self.report = report

    def settings(self) -> dict[str, Any]:
        """For the header: by which keys records were read."""
        read, keys = self._source.read or ReadOptions(), self._source.keys or Keys()
        return {"text_key": read.text_key, "id_key": read.id_key, "keys": {**asdict(keys), "fields": list(keys.fields)}}

    @property
    def partial(self) -> bool:
        """Whether broken records or files were left out."""
        return bool(self.report["bad_records"] or self.report["bad_files"])


class DatedSource(Repeated):
    """Documents on their sides, pass after pass.

    Parameters
    ----------
    source
        The documents. One whose label contradicts its date is left out.
    rule, sides
        How dates are read, and which side they mean.
    coarsest
        Coarser dates are left out: one of `RESOLUTIONS`.

    Attributes
    ----------
    counts
        Of the last pass: every record of the files is used, or left out under a reason.
    samples
        The first documents whose date does not put them anywhere, by reason.
    """

    def __init__(
        self,
        source: RecordSource,
        rule: DateRule,
        sides: Sides,
        *,
        coarsest: str = RESOLUTIONS[0],
        progress: Progress | None = None,
    ) -> None:
        super().__init__(source, progress)
        check_choice("--coarsest", coarsest, RESOLUTIONS)
        self._rule, self._sides = rule, sides
        self._fine = RESOLUTIONS[RESOLUTIONS.index(coarsest) :]
        self.counts = Counts()
        self.samples: dict[str, list[dict[str, Any]]] = {}

    def dated(
        self,
        refuse: Callable[[Dated], str | None] | None = None,
        left_out: Callable[[Candidate, str], object] | None = None,
    ) -> Iterator[Dated]:
        """One pass.

        Parameters
        ----------
        refuse
            Gives the reason for which the rule itself leaves a document out.
        left_out
            Told of all that are, with the reason.
        """
        self.counts, self.samples = Counts(), {}
        for number, candidate in enumerate(self.candidates()):
            found = self._dated(candidate, number)
            reason = found if isinstance(found, str) else None if refuse is None else refuse(found)
            if reason is None and isinstance(found, Dated):
                self.counts.used += 1
                yield found
            elif reason is not None:
                self.counts.left_out[reason] += 1
                if isinstance(found, str) and found not in (OUTSIDE, BETWEEN):
                    self._sample(candidate, reason)
                if left_out is not None:
                    left_out(candidate, reason)
        # Their texts could not be read, so that no candidate was made of them.
        self.counts.left_out.update(self.report["unusable"])

    def _dated(self, candidate: Candidate, number: int) -> Dated | str:
        span = self._rule.read(candidate.date)
        if isinstance(span, str):
            return span
        if span.resolution not in self._fine:
            return "coarse_date"
        label = self._sides.place(span)
        if isinstance(label, str):
            return label
        if candidate.label not in (None, label):
            return "label_contradicts_date"
        candidate.label = label
        candidate.extra["date_utc"] = utc_text(span.start)
        return Dated(candidate, span, number)

    def _sample(self, candidate: Candidate, reason: str) -> None:
        sample = self.samples.setdefault(reason, [])
        if len(sample) < _SAMPLES:
            sample.append(_said(candidate))


def text_digest(text: str) -> int:
    """64 bits of the words of `text`; white space alone makes no difference."""
    return int.from_bytes(hashlib.blake2b(" ".join(text.split()).encode("utf-8"), digest_size=8).digest(), "big")


def require_both_sides(counts: Counter[int | None], what: Counts) -> None:
    """Refuse a set of which one side is empty.

    Raises
    ------
    InputError
        Says what became of the records.
    """
    if counts[MEMBER] and counts[NONMEMBER]:
        return
    raise InputError(
        f"{counts[MEMBER]:,} members and {counts[NONMEMBER]:,} non-members were found; a set needs both (left out: "
        f"{what.reasons()})"
    )


def _said(candidate: Candidate) -> dict[str, Any]:
    date = candidate.date[:_DATE_LENGTH] if isinstance(candidate.date, str) else candidate.date
    return {"id": candidate.id, "source": candidate.source, "position": candidate.position, "date": date}
