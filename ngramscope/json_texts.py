"""JSON of the input, as it may be handed on: without what JSON, UTF-8 or Python cannot hold."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from ngramscope.errors import InputError

__all__ = ["parse", "sound", "without_nan"]

_HALF = re.compile("[\ud800-\udfff]")
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_STRING_OR_NAN = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity')
_SHOWN = 60


def _finite(number: str) -> float | None:
    value = float(number)
    return value if math.isfinite(value) else None


def _whole(number: str) -> int | str:
    try:
        return int(number)
    except ValueError:  # longer than Python converts
        return number


# One decoder: making one takes longer than most values do.
_DECODER = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite)
_LONG_NUMBERS = json.JSONDecoder(parse_constant=lambda _: None, parse_float=_finite, parse_int=_whole)


def parse(text: str) -> Any:
    """The value of a JSON text.

    NaN, Infinity and numbers above all floats are None; halves of surrogate pairs are U+FFFD; whole numbers of more digits than
    Python converts (4,300) are strings.

    Raises
    ------
    InputError
        It is nested deeper than Python follows.
    """
    try:
        try:
            value = _DECODER.decode(text)
        except ValueError:
            value = _LONG_NUMBERS.decode(text)
        return sound(value) if _ESCAPED_HALF.search(text) else value
    except RecursionError as error:
        raise InputError(f"a value is nested too deeply to be carried along: {text[:_SHOWN]}...") from error


def sound(value: Any) -> Any:
    """With U+FFFD for each half of a surrogate pair, as the core reads texts: JSON can hold it, UTF-8 cannot."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if _HALF.search(value) else value
    if isinstance(value, list):
        return [sound(each) for each in value]
    return {sound(key): sound(each) for key, each in value.items()} if isinstance(value, dict) else value


def without_nan(text: str) -> str:
    """A JSON text, digit for digit, but with null for NaN and Infinity, which Python writes and JSON does not have."""
    if "NaN" not in text and "Infinity" not in text:
        return text
    return _STRING_OR_NAN.sub(lambda found: found[0] if found[0].startswith('"') else "null", text)
