"""Sizes as people write them (``4GiB``) to bytes, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ngramscope.errors import UsageError

__all__ = ["counted", "format_count", "format_distinct", "format_reasons", "format_size", "parse_size"]

_UNITS = {"": 1, "B": 1}
for _power, _letter in enumerate("KMGTP", start=1):
    _UNITS[_letter] = _UNITS[_letter + "IB"] = 1024**_power
    _UNITS[_letter + "B"] = 1000**_power

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def parse_size(value: int | str, *, option: str) -> int:
    """Bytes of `value`: an integer, or a number with ``KiB``/``K`` (1024), ``KB`` (1000) and so on up to ``P``.

    Raises
    ------
    UsageError
        Not a size, or not at least one byte; `option` names the culprit.
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise UsageError(f"{option}: {value!r} is not a size; write bytes or a number with a unit, as 4GiB")
    if isinstance(value, int):
        size = value
    else:
        match = _SIZE.fullmatch(value)
        unit = _UNITS.get(match[2].upper()) if match else None
        if match is None or unit is None:
            raise UsageError(f"{option}: {value!r} is not a size; write bytes or a number with a unit, as 4GiB")
        size = int(match[1]) * unit if match[1].isdigit() else int(float(match[1]) * unit)
    if size < 1 or size >= 1 << 63:
        raise UsageError(f"{option}: {value!r} is out of range; at least 1 byte and less than 2^63")
    return size


def format_size(size: float) -> str:
    """`size` bytes for people: three significant figures and a binary unit."""
    if size < 1024:
        return f"{size:.0f} B"
    scaled = float(size)
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        scaled /= 1024
        if scaled < 1000 or unit == "PiB":
            break
    return f"{scaled:.3g} {unit}" if scaled < 100 else f"{scaled:.0f} {unit}"


def format_count(count: float) -> str:
    """`count` for people: exact with thousands separators below ten million, else three figures and M, G or T."""
    if abs(count) < 10_000_000:
        return f"{count:,.0f}"
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if abs(count) >= scale:
            return f"{count / scale:.3g} {letter}"
    raise AssertionError(count)


def counted(count: int, thing: str) -> str:
    """`count` with what is counted: ``1 document``, ``2 documents``."""
    return f"{format_count(count)} {thing}" + ("" if count == 1 else "s")


def format_reasons(counts: Mapping[str, int]) -> str:
    """Counts by reason for people: ``40 mixed_set, 2 no_value``; ``none`` if nothing was counted."""
    return ", ".join(f"{format_count(count)} {reason}" for reason, count in counts.items() if count) or "none"


def format_distinct(count: int | None, kind: str) -> str:
    """The distinct n-grams of a key set for people: an exact set counts them, a filter estimates them from its fill."""
    if count is None:
        return "more than it can tell"
    return format_count(count) if kind == "exact" else f"about {format_count(float(f'{count:.3g}'))}"
