"""Checks of option values; messages spell an option as the command line does."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

from ngramscope.errors import UsageError

__all__ = ["MAX_COUNT", "InputsReached", "check_choice", "check_integer", "check_optional", "check_share", "check_switch"]

MAX_COUNT = (1 << 63) - 1


class InputsReached(BaseException):
    """Raised by what stands for inputs where only options are asked about: a function that comes so far has refused none."""


def check_integer(option: str, value: Any, low: int, high: int) -> None:
    """A whole number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        top = f"and at most {high:,}" if high < MAX_COUNT else "and below 2^63"
        raise UsageError(f"{option}: {value!r} is not possible; a whole number of at least {low} {top}")


def check_optional(option: str, value: Any, low: int, high: int) -> None:
    """The same, or None."""
    if value is not None:
        check_integer(option, value, low, high)


def check_switch(option: str, value: Any) -> None:
    """True or False."""
    if not isinstance(value, bool):
        raise UsageError(f"{option}: {value!r} is not possible; True or False")


def check_choice(option: str, value: Any, known: Sequence[str]) -> None:
    """One of the `known` names."""
    if value not in known:
        raise UsageError(f"{option}: {value!r} is not known; known: {', '.join(known)}")


def check_share(option: str, value: Any) -> None:
    """A number from 0 to 1, or None."""
    if value is not None and not (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1):
        raise UsageError(f"{option}: {value!r} is not possible; a share lies between 0 and 1")
