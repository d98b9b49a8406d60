"""A series of sets: the same members, and non-members of one window of time after the other (Duan et al. 2024, figure 6)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ngramscope.errors import InputError, UsageError
from ngramscope.sets.base import NONMEMBER
from ngramscope.sets.dated import Dated, LeftOutFile, Progress
from ngramscope.sets.dates import DateRule, Span, utc_text
from ngramscope.sets.folder import SetFolder
from ngramscope.sets.records import RecordSource
from ngramscope.sets.temporal import CutoffOptions, Split
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["Window", "given_windows", "series"]

_PERIODS = {"monthly": "month", "yearly": "year"}
# Each holds numbers of all members for its balance table, and an open file; more windows are further passes.
_AT_ONCE = 16
_NO_NAME = re.compile(r"[^0-9A-Za-z+-]")


@dataclass(frozen=True)
class Window:
    """A window of time, from `start` to just before `end`; moments as in `ngramscope.sets.dates`."""

    name: str
    start: int
    end: int


def series(
    source: RecordSource,
    out_dir: str | Path,
    options: CutoffOptions,
    windows: Sequence[str],
    *,
    members: RecordSource | None = None,
    left_out: str | Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a folder of sets, one for each window that has non-members, and ``series.json``, which lists all windows.

    Parameters
    ----------
    out_dir
        A new or empty folder.
    windows
        ``("monthly",)`` or ``("yearly",)``: whole calendar months or years of the rule's time zone, from the first that
        begins after the cutoff and its margin to that of the last document. Otherwise `START/END` dates, each from the
        beginning of START to the beginning of END, or files of such pairs. They may overlap.

    Other parameters are as those of `ngramscope.sets.temporal.temporal`.

    Returns
    -------
    dict
        What is in ``series.json``.

    Raises
    ------
    UsageError, InputError
        As `temporal`; also windows that are none, or that begin before the cutoff and its margin.
    """
    sides = options.sides()
    earliest = sides.nonmembers[0]
    period = _PERIODS.get(windows[0]) if len(windows) == 1 else None
    chosen = [] if period else given_windows(windows, options.dates, earliest)
    with SetFolder(out_dir) as folder, LeftOutFile(left_out) as listed:
        split = Split(source, options, sides, members=members, progress=progress)
        if period:
            found = options.dates.periods(period, earliest, split.last + 1)
            chosen = [Window(name, span.start, span.end) for name, span in found]
        rows: list[dict[str, Any]] = []
        for first in range(0, len(chosen), _AT_ONCE):
            some = range(first, min(first + _AT_ONCE, len(chosen)))
            rows += _write(folder, split, chosen, some, listed if first == 0 else None)
        if not any(row["file"] for row in rows):
            raise InputError(
                f"no set of the series has members and non-members ({len(chosen):,} windows); left out: "
                + "; ".join(f"{counts.reasons()} of {name}" for name, counts in split.counts.items())
            )
        step = split.step("temporal", series=list(windows))
        listed.commit(step.settings, step.inputs)
        return folder.commit(step, rows)


def given_windows(values: Sequence[str], rule: DateRule, earliest: int) -> list[Window]:
    """Windows from ``START/END`` pairs and files of such; none may begin before the moment `earliest`.

    Raises
    ------
    UsageError
        A value that is neither, no windows at all, or two of one name.
    """
    windows = [_window(pair, rule, earliest) for value in values for pair in _pairs(value)]
    names = Counter(each.name for each in windows)
    if not windows or max(names.values()) > 1:
        raise UsageError(
            f"--series: {'no window was given' if not windows else f'{names.most_common(1)[0][0]} is given twice'}"
        )
    return windows


def _pairs(value: str) -> Iterator[str]:
    path = Path(value)
    if path.is_file():
        yield from path.read_text(encoding="utf-8", errors="replace").split()
    else:
        yield value


def _window(pair: str, rule: DateRule, earliest: int) -> Window:
    try:
        first, last = pair.split("/")
        start, end = rule.moment("--series", first), rule.moment("--series", last)
    except ValueError as error:
        raise UsageError(
            f"--series: {pair!r} is no window; give monthly, yearly, pairs as 2023-03-01/2023-06-01, or a file of them"
        ) from error
    if start >= end:
        raise UsageError(f"--series: {pair}: ends before it begins")
    if start < earliest:
        raise UsageError(f"--series: {pair}: begins before the cutoff and its margin, {utc_text(earliest)}")
    # Two hyphens are ISO 8601's own way to write an interval where there can be no slash.
    return Window(_NO_NAME.sub("", f"{first}--{last}"), start, end)


def _write(
    folder: SetFolder, split: Split, windows: Sequence[Window], chosen: range, listed: LeftOutFile | None
) -> list[dict[str, Any]]:
    """One pass, which writes the `chosen` ones of the windows; their rows for ``series.json``."""
    members = nonmembers = 0
    found: Counter[int] = Counter()

    def refuse(dated: Dated) -> str | None:
        if _inside(dated.span, windows):
            return None
        touched = any(each.start < dated.span.end and dated.span.start < each.end for each in windows)
        return "straddles_window" if touched else "outside_window"

    with ExitStack() as stack:
        files = {at: stack.enter_context(SetFile(folder.file(f"{windows[at].name}.jsonl"))) for at in chosen}
        for candidate in split.members():
            members += 1
            for file in files.values():
                file.add([candidate])
        for dated in split.documents(listed, refuse):
            if dated.candidate.label == NONMEMBER:
                nonmembers += 1
                places = [at for at in _inside(dated.span, windows) if at in files]
                found.update(places)
            else:
                members += 1
                places = list(files)
            for at in places:
                files[at].add([dated.candidate])
        rows = []
        for at, file in files.items():
            window = windows[at]
            times = {"name": window.name, "start": utc_text(window.start), "end": utc_text(window.end)}
            complete = members > 0 and found[at] > 0
            if complete:
                file.commit(_step(split, times, nonmembers - found[at]), before=split.headers)
            rows.append({**times, "file": file.path.name if complete else None, "members": members, "nonmembers": found[at]})
    return rows


def _step(split: Split, window: dict[str, str], elsewhere: int) -> Step:
    """Of one set, which leaves out the non-members that are `elsewhere` in the series."""
    step = split.step("temporal", window=window)
    own = split.counts["documents"]
    own = Counts(own.used - elsewhere, own.left_out + Counter({"in_another_window": elsewhere}))
    return replace(step, counts={**step.counts, "documents": own.to_dict()})


def _inside(span: Span, windows: Sequence[Window]) -> list[int]:
    return [at for at, each in enumerate(windows) if each.start <= span.start and span.end <= each.end]
