"""Members from before a cutoff, non-members from after it (Duan et al. 2024, section 4.2), and what lies around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ngramscope.errors import UsageError
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.dated import Dated, DatedSource, LeftOutFile, Progress, Repeated, Sides, require_both_sides, text_digest
from ngramscope.sets.dates import DAY, EARLIEST, LATEST, DateRule, Span, duration, utc_text
from ngramscope.sets.records import RecordSource
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["CutoffOptions", "Split", "rdd", "temporal"]


@dataclass(frozen=True, kw_only=True)
class CutoffOptions:
    """What counts as before and as after.

    Parameters
    ----------
    cutoff
        A date; the cutoff is the moment at which it begins.
    margin_before, margin_after
        Leave out documents from so long before the cutoff, and after it: ``30d``, ``2w``, ``12h``.
    members_from, nonmembers_until
        Dates at whose beginning the members' time begins, and that of the non-members ends; None sets no bound.
    dates
        How dates are read.

    Raises
    ------
    UsageError
        A date or length that is none; a side without time.
    """

    cutoff: str
    margin_before: str = "0"
    margin_after: str = "0"
    members_from: str | None = None
    nonmembers_until: str | None = None
    dates: DateRule = field(default_factory=DateRule)

    def __post_init__(self) -> None:
        self.sides()

    @property
    def moment(self) -> int:
        """The cutoff."""
        return self.dates.moment("--cutoff", self.cutoff)

    def sides(self, window: int | None = None) -> Sides:
        """When members and non-members are from; with `window`, no longer before and after the cutoff than that."""
        at = self.moment
        first = EARLIEST if window is None else at - window
        last = LATEST if window is None else at + window
        if self.members_from is not None:
            first = max(first, self.dates.moment("--members-from", self.members_from))
        if self.nonmembers_until is not None:
            last = min(last, self.dates.moment("--nonmembers-until", self.nonmembers_until))
        before = at - duration("--margin-before", self.margin_before)
        after = at + duration("--margin-after", self.margin_after)
        for name, begin, end in (("members", first, before), ("non-members", after, last)):
            if begin >= end:
                raise UsageError(f"--cutoff {self.cutoff}: margins and bounds leave no time for {name}; widen them")
        return Sides((first, before), (after, last))

    def settings(self) -> dict[str, Any]:
        """For the header of a set."""
        return {
            "cutoff": self.cutoff,
            "cutoff_utc": utc_text(self.moment),
            "margin_before": self.margin_before,
            "margin_after": self.margin_after,
            "members_from": self.members_from,
            "nonmembers_until": self.nonmembers_until,
            **self.dates.settings(),
        }


class Split:
    """Documents by the side of a cutoff, and members that are known otherwise; reads the documents once to begin with.

    A non-member whose text a member also has is left out (``text_of_a_member``): it existed before.

    Parameters
    ----------
    source
        Documents.
    members
        Texts that are members whatever their dates are; then documents from before the cutoff are left out
        (``before_cutoff``).
    options, sides, coarsest
        See `CutoffOptions` and `DatedSource`.

    Attributes
    ----------
    last
        When the last non-member begins.
    """

    def __init__(
        self,
        source: RecordSource,
        options: CutoffOptions,
        sides: Sides,
        *,
        members: RecordSource | None = None,
        coarsest: str = "year",
        progress: Progress | None = None,
    ) -> None:
        self._options = options
        self._documents = DatedSource(source, options.dates, sides, coarsest=coarsest, progress=progress)
        self._members = None if members is None else Repeated(replace(members, label=MEMBER), progress)
        self._member_counts = Counts()
        self.last = EARLIEST
        self._texts = {text_digest(each.text) for each in self.members()}
        for dated in self._documents.dated():
            if dated.candidate.label == NONMEMBER:
                self.last = max(self.last, dated.span.start)
            elif members is None:
                self._texts.add(text_digest(dated.candidate.text))

    def members(self) -> Iterator[Candidate]:
        """Those that are known otherwise."""
        if self._members is None:
            return
        self._member_counts = Counts()
        for candidate in self._members.candidates():
            span = self._options.dates.span(candidate.date)
            candidate.extra["date_utc"] = utc_text(span.start) if isinstance(span, Span) else None
            self._member_counts.used += 1
            yield candidate
        self._member_counts.left_out.update(self._members.report["unusable"])

    def documents(
        self, left_out: LeftOutFile | None = None, refuse: Callable[[Dated], str | None] = lambda _: None
    ) -> Iterator[Dated]:
        """Those that have a side; `refuse` gives the reason for which a non-member is left out after all."""

        def refuse_all(dated: Dated) -> str | None:
            if dated.candidate.label == MEMBER:
                return None if self._members is None else "before_cutoff"
            return "text_of_a_member" if text_digest(dated.candidate.text) in self._texts else refuse(dated)

        return self._documents.dated(refuse_all, None if left_out is None else left_out.add)

    @property
    def counts(self) -> dict[str, Counts]:
        """Of the last pass, by kind of input."""
        counts = {"documents": self._documents.counts}
        return counts if self._members is None else {"members": self._member_counts, **counts}

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """Names, sizes, digests of what was read."""
        return [each for source in self._sources() for each in source.report["sources"]]

    @property
    def headers(self) -> tuple[dict[str, Any], ...]:
        """Of the candidate sets that were read."""
        return tuple(header for source in self._sources() for header in source.headers)

    def step(self, rule: str, **settings: Any) -> Step:
        """What the set's header says of this."""
        return Step(
            rule=rule,
            settings={**self._options.settings(), **self._documents.settings(), **settings},
            inputs=self.inputs,
            counts={name: counts.to_dict() for name, counts in self.counts.items()},
            facts={
                "left_out_samples": self._documents.samples,
                "partial": any(source.partial for source in self._sources()),
            },
        )

    def _sources(self) -> list[Repeated]:
        return [self._documents] if self._members is None else [self._members, self._documents]


def temporal(
    source: RecordSource,
    out: str | Path,
    options: CutoffOptions,
    *,
    members: RecordSource | None = None,
    left_out: str | Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a set: members from before a cutoff, non-members from after it.

    Parameters
    ----------
    source
        Documents with dates.
    out
        The set: ``.jsonl``, ``.jsonl.gz`` or ``.jsonl.zst``.
    options
        The cutoff.
    members
        Take these as members instead, whatever their dates are (the training data itself).
    left_out
        Also write a list of the documents that are left out.
    progress
        Called now and then, on the calling thread.

    Returns
    -------
    dict
        The header of the set.

    Raises
    ------
    UsageError
        Standard input, or options that cannot be.
    InputError
        A side without documents; a file that cannot be used, or that changes meanwhile.
    """
    return _write(out, left_out, Split(source, options, options.sides(), members=members, progress=progress), "temporal", {})


def rdd(
    source: RecordSource,
    out: str | Path,
    options: CutoffOptions,
    *,
    window: str,
    coarsest: str = "day",
    left_out: str | Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a set for a regression-discontinuity test: all documents from within a window around a cutoff.

    Column ``distance_days`` is how long after the cutoff the document's date begins, in days; members, from before it, have
    negative distances. See Meeus et al. 2024 ("SoK: Membership Inference Attacks on LLMs are Rushing Nowhere").

    Parameters
    ----------
    window
        How far from the cutoff documents may be, on either side, as ``180d``.
    coarsest
        Leave out dates that are less exact, since their distance is not known: ``year``, ``month``, ``day`` or ``time``.

    Other parameters, what is returned and what is raised are as those of `temporal`.
    """
    width = duration("--window", window)
    split = Split(source, options, options.sides(width), coarsest=coarsest, progress=progress)
    return _write(out, left_out, split, "rdd", {"window": window, "coarsest": coarsest}, cutoff=options.moment)


def _write(
    out: str | Path,
    left_out: str | Path | None,
    split: Split,
    rule: str,
    settings: dict[str, Any],
    cutoff: int | None = None,
) -> dict[str, Any]:
    sides: Counter[int | None] = Counter()
    with SetFile(out) as file, LeftOutFile(left_out) as listed:
        for candidate in split.members():
            sides[candidate.label] += 1
            file.add([candidate])
        for dated in split.documents(listed):
            sides[dated.candidate.label] += 1
            if cutoff is not None:
                dated.candidate.extra["distance_days"] = (dated.span.start - cutoff) / DAY
            file.add([dated.candidate])
        require_both_sides(sides, split.counts["documents"])
        step = split.step(rule, **settings)
        listed.commit(step.settings, split.inputs)
        return file.commit(step, before=split.headers)
