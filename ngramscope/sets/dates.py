"""What the date of a record says: an interval of time in UTC, or a reason why it says nothing.

A date is as exact as it was written: ``2023`` is a year, ``2023-03`` a month, ``2023-03-01`` a day, ``12:00`` a minute. Rules
that compare dates compare whole intervals. The time zone of the machine has no say. docs/sets/dates.md explains the rule.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from ngramscope.errors import UsageError
from ngramscope.sets._date_parts import (
    AMBIGUOUS,
    IMPOSSIBLE,
    STEPS,
    UNKNOWN,
    Reading,
    finest_of,
    read_format,
    read_text,
    zone_offset,
)

__all__ = ["DAY", "EARLIEST", "LATEST", "RESOLUTIONS", "DateRule", "Span", "decimal_year", "duration", "middle", "utc_text"]

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)

DAY = 86_400_000_000
"""Microseconds of a day. All moments here are whole microseconds since 1970-01-01T00:00:00Z."""

EARLIEST = (datetime.min - _EPOCH) // _MICROSECOND
"""No date begins before this moment, the beginning of year 1."""

LATEST = (datetime.max - _EPOCH) // _MICROSECOND
"""No date ends after this moment, a microsecond before the end of year 9999."""

RESOLUTIONS = ("year", "month", "day", "time")
"""How exact a date can be, coarsest first."""

NO_DATE = "no_date"
PLACEHOLDER = "placeholder_date"
FUTURE = "future_date"

# What programs write that have no date: the zero of Unix time, and that of Go and .NET.
_PLACEHOLDERS = ("1970-01-01", "0001-01-01")
_UNITS = {"seconds": 1_000_000, "milliseconds": 1_000}
_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]+)?", re.ASCII)
_LONGEST = 100
_DURATION = re.compile(r"([0-9]{1,9}(?:\.[0-9]+)?)([hdw])", re.ASCII)
_HOURS = {"h": 1, "d": 24, "w": 168}


@dataclass(frozen=True, slots=True)
class Span:
    """The interval that a date means: from `start` to just before `end`, in microseconds since 1970-01-01T00:00:00Z.

    `resolution` is one of `RESOLUTIONS`.
    """

    start: int
    end: int
    resolution: str


@dataclass(frozen=True, kw_only=True)
class DateRule:
    """How dates are read.

    Parameters
    ----------
    timezone
        Of dates and times that name none: ``UTC``, a name of the tz database as ``Europe/Paris``, or ``+09:00``.
    formats
        Tried before the general rule, in order: formats of `datetime.strptime`, or ``seconds`` or ``milliseconds`` for
        numbers since 1970-01-01T00:00:00Z.
    latest
        Dates that begin after this one are in the future, and say nothing. None: today, in `timezone`.

    Raises
    ------
    UsageError
        A zone that is not known; a format without a year, with a gap (minutes but no hours), or with a directive that depends
        on the machine.
    """

    timezone: str = "UTC"
    formats: tuple[str, ...] = ()
    latest: str | None = None
    _zone: tzinfo = field(init=False, repr=False, compare=False)
    _finest: dict[str, str] = field(init=False, repr=False, compare=False)
    _placeholders: frozenset[int] = field(init=False, repr=False, compare=False)
    _future: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        derive = object.__setattr__
        derive(self, "_zone", _time_zone(self.timezone))
        derive(self, "_finest", {each: finest_of(each) for each in self.formats if each not in _UNITS})
        zeros = [self._by_rule(day + zone) for day in _PLACEHOLDERS for zone in ("", "Z")]
        derive(self, "_placeholders", frozenset(each.start for each in zeros if isinstance(each, Span)))
        if self.latest is None:
            derive(self, "latest", datetime.now(self._zone).date().isoformat())
        derive(self, "_future", self._given("--latest", self.latest).end)

    def settings(self) -> dict[str, Any]:
        """For the header of a set."""
        return {"timezone": self.timezone, "date_format": list(self.formats), "latest": self.latest}

    def read(self, value: Any) -> Span | str:
        """The interval that a record's date means, or the reason why it means none.

        Reasons are ``no_date`` (missing, null, empty), ``impossible_date`` (30 February), ``ambiguous_date`` (03/04/2023, or a
        number that may be several things), ``unknown_date_format``, ``placeholder_date`` (the zero of a clock) and
        ``future_date``.
        """
        span = self.span(value)
        if isinstance(span, str):
            return span
        if span.start in self._placeholders and span.resolution in ("day", "time"):
            return PLACEHOLDER
        return FUTURE if span.start >= self._future else span

    def span(self, value: Any) -> Span | str:
        """As `read`, but a placeholder or a future date is a date like others."""
        if value is None or (isinstance(value, str) and not value.strip()):
            return NO_DATE
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            return UNKNOWN
        text = str(value).strip()
        return _by_text(self, text) if len(text) <= _LONGEST else UNKNOWN

    def moment(self, option: str, value: str) -> int:
        """The beginning of a date that is given as an option.

        Raises
        ------
        UsageError
            It is none.
        """
        return self._given(option, value).start

    def periods(self, resolution: str, begin: int, until: int) -> Iterator[tuple[str, Span]]:
        """Whole months or years of `timezone` that begin at or after `begin` and before `until`, with their names.

        `resolution` is ``month`` (``2023-03``) or ``year``.
        """
        year, month = (_EPOCH + timedelta(microseconds=begin)).timetuple()[:2]
        # A clock ahead of UTC may have begun the next month, but none is a month behind.
        year, month = (year - 1, 12) if month == 1 and year > 1 else (year, max(1, month - 1))
        while year < datetime.max.year:
            name = f"{year:04}-{month:02}" if resolution == "month" else f"{year:04}"
            span = self._by_rule(name)
            if isinstance(span, Span):
                if span.start >= until:
                    return
                if span.start >= begin:
                    yield name, span
            year, month = (year, month + 1) if resolution == "month" and month < 12 else (year + 1, 1)

    def _given(self, option: str, value: Any) -> Span:
        # Formats are for records: an option is read by the general rule alone.
        span = self._by_rule(str(value).strip())
        if isinstance(span, str):
            raise UsageError(f"{option}: {value!r} is no date ({span}); write it as 2023-03-01 or 2023-03-01T00:00:00Z")
        return span

    def _by_format(self, text: str, format_: str) -> Span | str | None:
        if format_ in _UNITS:
            return _since_epoch(text, _UNITS[format_]) if _NUMBER.fullmatch(text) else None
        reading = read_format(text, format_, self._finest[format_])
        return None if reading is None else self._interval(reading)

    def _by_rule(self, text: str) -> Span | str:
        if _NUMBER.fullmatch(text):
            return self._by_number(text)
        reading = read_text(text)
        return reading if isinstance(reading, str) else self._interval(reading)

    def _by_number(self, text: str) -> Span | str:
        value = float(text)
        whole = str(int(value))
        if value.is_integer() and value > 0 and len(whole) in (4, 8):
            reading = read_text(whole)
            return reading if isinstance(reading, str) else self._interval(reading)
        # Seconds of the years 1973 to 5138, and milliseconds likewise; 0 is the same moment in both.
        if value == 0 or 1e8 <= value < 1e11:
            return _since_epoch(text, _UNITS["seconds"])
        return _since_epoch(text, _UNITS["milliseconds"]) if 1e11 <= value < 1e14 else AMBIGUOUS

    def _interval(self, reading: Reading) -> Span | str:
        begins, finest, offset = reading.begins, reading.finest, reading.offset
        length = (_following(begins, finest) - begins) // _MICROSECOND
        if offset is not None:
            start = (begins - _EPOCH - offset) // _MICROSECOND
            end = start + length
        elif finest in STEPS:
            start, last = self._utc(begins), self._utc(begins.replace(fold=1))
            # PEP 495: where clocks go back, a time is read twice, and means both; where they were put forward past it, the
            # second reading would come before the first, and there was no such time.
            end = last + length if last >= start else start
        else:
            start, end = self._utc(begins), self._utc(_following(begins, finest))
        end = min(end, LATEST)
        if not EARLIEST <= start < end:
            return IMPOSSIBLE
        return Span(start, end, "time" if finest in STEPS else finest)

    def _utc(self, wall: datetime) -> int:
        return (wall - _EPOCH - (self._zone.utcoffset(wall) or timedelta(0))) // _MICROSECOND


# Most corpora have far fewer dates than documents.
@functools.lru_cache(maxsize=1 << 14)
def _by_text(rule: DateRule, text: str) -> Span | str:
    for each in rule.formats:
        found = rule._by_format(text, each)
        if found is not None:
            return found
    return rule._by_rule(text)


def duration(option: str, text: str) -> int:
    """Microseconds of a length of time as ``30d``, ``2w``, ``12h`` or ``0``.

    Raises
    ------
    UsageError
        It is none; months and years are not, since they differ.
    """
    if text == "0":
        return 0
    match = _DURATION.fullmatch(text)
    if match is None:
        raise UsageError(f"{option}: {text!r} is no length of time; write it in days, weeks or hours, as 30d, 2w or 12h")
    return min(round(float(match[1]) * _HOURS[match[2]] * DAY / 24), LATEST - EARLIEST)


def utc_text(moment: int) -> str:
    """A moment in ISO 8601, ending in Z."""
    return (_EPOCH + timedelta(microseconds=moment)).isoformat() + "Z"


def decimal_year(moment: int) -> float:
    """A moment as a number of years: 2023.5 is the middle of 2023."""
    when = _EPOCH + timedelta(microseconds=moment)
    first = datetime(when.year, 1, 1)
    return when.year + (when - first) / (_following(first, "year") - first)


def middle(date: Any) -> int | str:
    """The middle of the interval that a date means by the general rule in UTC, as a moment; or the reason why it means none."""
    span = _general().read(date)
    return span if isinstance(span, str) else (span.start + span.end) // 2


@functools.cache
def _general() -> DateRule:
    # What is the future must not depend on the day on which it is asked.
    return DateRule(latest="9999-12-31")


def _time_zone(name: str) -> tzinfo:
    if name.upper() in ("UTC", "Z"):
        return timezone.utc
    try:
        if name[:1] in ("+", "-"):
            return timezone(zone_offset(name) or timedelta(0))
        # That one is whatever the machine is set to.
        if name != "localtime":
            return ZoneInfo(name)
    except (ValueError, KeyError, OSError):
        pass
    raise UsageError(
        f"--timezone: {name!r} is not known here; give UTC, +09:00, or a name of the tz database as Europe/Paris "
        "(if this machine has no such database: pip install tzdata)"
    )


def _following(begins: datetime, finest: str) -> datetime:
    """The beginning of the year, month, ... after the one that begins at `begins`."""
    try:
        if finest == "year":
            return begins.replace(year=begins.year + 1)
        if finest == "month":
            return begins.replace(year=begins.year + begins.month // 12, month=begins.month % 12 + 1)
        return begins + STEPS.get(finest, timedelta(days=1))
    except (OverflowError, ValueError):  # year 10000
        return datetime.max


def _since_epoch(text: str, unit: int) -> Span | str:
    whole, _, fraction = text.partition(".")
    if fraction.strip("0"):
        start = round(float(text) * unit)
        end = start + 1
    else:
        start, end = int(whole) * unit, (int(whole) + 1) * unit
    return Span(start, end, "time") if start >= EARLIEST and end <= LATEST else IMPOSSIBLE
