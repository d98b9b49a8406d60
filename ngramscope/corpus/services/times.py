"""Times of documents: ISO in UTC; months; and which documents are taken when there are more than are wanted."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from hashlib import blake2b

from ngramscope.errors import UsageError

__all__ = ["Quota", "iso", "month_start", "next_month", "option_time", "parse_time", "seeded"]

_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])", re.ASCII)


def parse_time(text: object) -> datetime | None:
    """An ISO date or time, as UTC (also where it names no zone); None if it is none."""
    if not isinstance(text, str):
        return None
    try:
        time = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None


def option_time(option: str, text: str | None) -> datetime | None:
    """The value of an option: a date, a time, or a month, which means its beginning.

    Raises
    ------
    UsageError
        None of these.
    """
    if text is None:
        return None
    time = parse_time(f"{text}-01" if _MONTH.fullmatch(text) else text)
    if time is None:
        raise UsageError(f"{option}: {text!r} is not possible; write it as 2023-01-31, 2023-01 or 2023-01-31T12:00:00Z")
    return time


def iso(time: datetime) -> str:
    """To the second, with Z."""
    return time.astimezone(timezone.utc).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def month_start(option: str, text: str) -> datetime:
    """The beginning of the month ``YYYY-MM``.

    Raises
    ------
    UsageError
        It is none.
    """
    if not _MONTH.fullmatch(text) or not "0001" <= text < "9999":
        raise UsageError(f"{option}: {text!r} is not possible; write a month as 2023-01")
    return datetime(int(text[:4]), int(text[5:]), 1, tzinfo=timezone.utc)


def next_month(time: datetime) -> datetime:
    """The beginning of the month after that of `time`."""
    return (time.replace(day=1) + timedelta(days=31)).replace(day=1)


def seeded(seed: int, key: str) -> bytes:
    """What things are sorted by when chance is to choose: a digest, so that it depends on them and the seed alone."""
    return blake2b(key.encode("utf-8", "surrogatepass"), key=f"{seed}".encode(), digest_size=16).digest()


class Quota:
    """How many documents are wanted, in all and of each month; None is no limit."""

    def __init__(self, limit: int | None, per_month: int | None) -> None:
        self._limit, self._per_month = limit, per_month
        self._taken: dict[str, int] = {}

    def full(self, month: str | None) -> bool:
        """No more are wanted of this month; of any, if the month is not known."""
        if self._limit is not None and sum(self._taken.values()) >= self._limit:
            return True
        return month is not None and self._per_month is not None and self._taken.get(month, 0) >= self._per_month

    def take(self, month: str) -> None:
        """One more of this month is there."""
        self._taken[month] = self._taken.get(month, 0) + 1
