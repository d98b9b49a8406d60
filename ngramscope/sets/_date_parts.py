"""How dates are written: from a text to what it names on some clock, and how finely."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from ngramscope.errors import UsageError

__all__ = ["AMBIGUOUS", "IMPOSSIBLE", "STEPS", "UNKNOWN", "Reading", "finest_of", "read_format", "read_text", "zone_offset"]

IMPOSSIBLE = "impossible_date"
AMBIGUOUS = "ambiguous_date"
UNKNOWN = "unknown_date_format"

STEPS = {
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "fraction": timedelta(microseconds=1),
}
"""How long a time lasts that is written so finely."""

_PARTS = {"year": "1", "month": "1", "day": "1", "hour": "0", "minute": "0", "second": "0", "fraction": "0"}

_ZONE = r"(?:\ *(?P<zone>Z|UTC|GMT|[+-][0-9]{2}(?::?[0-9]{2})?))?"
_TIME = r"(?P<hour>[0-9]{1,2})(?::?(?P<minute>[0-9]{2})(?::?(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?)?)?"
_CLOCK = rf"(?:(?:T|,?\ +){_TIME})?{_ZONE}"
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\ +)?"
_NAME = r"(?P<name>[A-Z]{3,9})"
_PATTERNS = tuple(
    re.compile(pattern, re.ASCII | re.IGNORECASE)
    for pattern in (
        # ISO 8601, also with slashes, and without separators.
        r"(?P<year>[0-9]{4})",
        r"(?P<year>[0-9]{4})[-/](?P<month>[0-9]{1,2})",
        rf"(?P<year>[0-9]{{4}})(?P<separator>[-/])(?P<month>[0-9]{{1,2}})(?P=separator)(?P<day>[0-9]{{1,2}}){_CLOCK}",
        rf"(?P<year>[0-9]{{4}})(?P<month>[0-9]{{2}})(?P<day>[0-9]{{2}})(?:T{_TIME})?{_ZONE}",
        # Months by their English names: Wed, 01 Mar 2023 12:00:00 GMT (RFC 5322); March 1, 2023; March 2023.
        rf"{_WEEKDAY}(?P<day>[0-9]{{1,2}})[\ -]{_NAME}\.?[\ -](?P<year>[0-9]{{4}}){_CLOCK}",
        rf"{_WEEKDAY}{_NAME}\.?\ +(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?,?\ +(?P<year>[0-9]{{4}}){_CLOCK}",
        rf"{_NAME}\.?,?\ +(?P<year>[0-9]{{4}})",
    )
)
# Day, month and year in an order that cannot be known.
_THREE_NUMBERS = re.compile(r"[0-9]{1,4}([-/. ])[0-9]{1,2}\1[0-9]{1,4}\b.*", re.DOTALL)
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NUMBERS = {"sept": 9} | {name: at + 1 for at, month in enumerate(_MONTHS) for name in (month, month[:3])}

# Each directive with those of which it needs one. %Z is not among them: it takes the names of the machine's own zone.
_DIRECTIVES = {
    "Y": "",
    "y": "",
    "m": "Yy",
    "b": "Yy",
    "B": "Yy",
    "j": "Yy",
    "d": "mbB",
    "a": "dj",
    "A": "dj",
    "H": "dj",
    "I": "dj",
    "p": "I",
    "M": "HI",
    "S": "M",
    "f": "S",
    "z": "HI",
    "%": "",
}
_FINEST = {"f": "fraction", "S": "second", "M": "minute", "HI": "hour", "dj": "day", "mbB": "month", "Yy": "year"}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says: where a `finest` (``year`` ... ``fraction``) begins, and the offset from UTC if it names one."""

    begins: datetime
    finest: str
    offset: timedelta | None


def read_text(text: str) -> Reading | str:
    """A date in a format that leaves no doubt, or a reason."""
    match = next((found for pattern in _PATTERNS if (found := pattern.fullmatch(text))), None)
    if match is None:
        return AMBIGUOUS if _THREE_NUMBERS.fullmatch(text) else UNKNOWN
    parts = {name: part for name, part in match.groupdict().items() if part is not None}
    if "name" in parts:
        month = _NUMBERS.get(parts["name"].lower())
        if month is None:
            return UNKNOWN
        parts["month"] = str(month)
    if parts.get("second") == "60":
        parts["second"] = "59"  # a leap second belongs to the second before it
    finest = next(each for each in reversed(_PARTS) if each in parts)
    parts["fraction"] = parts.get("fraction", "")[:6].ljust(6, "0")
    year, month, day, hour, minute, second, fraction = (int(parts.get(each, low)) for each, low in _PARTS.items())
    try:
        return Reading(datetime(year, month, day, hour, minute, second, fraction), finest, zone_offset(parts.get("zone")))
    except ValueError:
        return IMPOSSIBLE


def read_format(text: str, format_: str, finest: str) -> Reading | None:
    """A date in a format of `datetime.strptime`; None if it is not in that format."""
    try:
        moment = datetime.strptime(text, format_)
    except ValueError:
        return None
    return Reading(moment.replace(tzinfo=None), finest, moment.utcoffset())


def finest_of(format_: str) -> str:
    """The finest part of a date that a format reads.

    Raises
    ------
    UsageError
        No year, a part without the one before it, or a directive that depends on the machine.
    """
    found = re.findall(r"%(.?)", format_)
    for each in found:
        if each not in _DIRECTIVES or (found.count(each) > 1 and each != "%"):
            known = " ".join(f"%{name}" for name in _DIRECTIVES)
            raise UsageError(f"--date-format: {format_!r}: %{each} is not possible; give each of these once: {known}")
        if _DIRECTIVES[each] and not set(_DIRECTIVES[each]) & set(found):
            needed = " or ".join(f"%{name}" for name in _DIRECTIVES[each])
            raise UsageError(f"--date-format: {format_!r}: %{each} says nothing without {needed}")
    if not {"Y", "y"} & set(found):
        raise UsageError(f"--date-format: {format_!r} has no year; write %Y, or seconds or milliseconds for numbers")
    return next(name for letters, name in _FINEST.items() if set(letters) & set(found))


def zone_offset(zone: str | None) -> timedelta | None:
    """Of ``Z``, ``UTC``, ``GMT``, ``+09``, ``+0900`` or ``+09:00``; a `ValueError` if no clock has it."""
    if zone is None:
        return None
    if zone[0] not in "+-":
        return timedelta(0)
    digits = zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:
        raise ValueError(zone)
    return timedelta(hours=hours, minutes=minutes) * (-1 if zone[0] == "-" else 1)
