"""Texts as callers have them, to what the core takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ngramscope.errors import UsageError

__all__ = ["as_decimals", "as_strings", "check_texts"]

_ID = re.compile(r"-?(0|[1-9][0-9]*)")


def check_texts(texts: Any) -> Iterable[Any]:
    """`texts` if it can be a list of texts.

    Raises
    ------
    UsageError
        One text instead of several, a table, a mapping (whose keys would be taken for texts), or nothing to iterate over.
    """
    if isinstance(texts, str | bytes):
        raise UsageError("texts: one string was given; give a list of texts")
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise UsageError(f"texts: a {type(texts).__name__} was given; give its column of texts, as table['text']")
    if not isinstance(texts, Iterable):
        raise UsageError(f"texts: {texts!r} was given; give a list of texts")
    return texts


def as_strings(texts: Iterable[Any]) -> list[str | None]:
    """The texts as a list; None, NaN and NA, as pandas spells what is missing, are None.

    Raises
    ------
    UsageError
        Names the first that is no string.
    """
    return [_string(text, position) for position, text in enumerate(texts)]


def as_decimals(texts: Iterable[Any]) -> list[str | None]:
    """Texts of token ids as decimal integers with single spaces between, the form that the core reads; what is missing is None.

    Raises
    ------
    UsageError
        A word is not an integer in JSON's form (``7``, not ``007`` or ``7.0``): it could never be found.
    """
    return [_decimals(text, position) for position, text in enumerate(texts)]


def _string(text: Any, position: int) -> str | None:
    if isinstance(text, str):
        return text
    # NaN is not equal to itself, and NA's comparison is NA again.
    if text is None or type(text).__name__ == "NAType" or (isinstance(text, float) and text != text):
        return None
    raise UsageError(f"texts: text {position} is a {type(text).__name__}, not a string: {text!r:.80}")


def _decimals(text: Any, position: int) -> str | None:
    if not isinstance(text, Sequence):
        return _string(text, position)
    ids = text.split() if isinstance(text, str) else [str(each) for each in text]
    for each in ids:
        if not _ID.fullmatch(each):
            raise UsageError(
                f"texts: {each!r} in text {position} is not a token id; the index has word mode ids: "
                "give lists of integers, or strings of decimal integers with spaces between"
            )
    return " ".join(ids)
