"""Texts of token ids, for indexes of word mode ``ids``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ngramscope.errors import UsageError

__all__ = ["as_decimals"]

_ID = re.compile(r"-?(0|[1-9][0-9]*)")


def as_decimals(texts: Iterable[str | Sequence[int] | None]) -> list[str | None]:
    """The texts as decimal integers with single spaces between, the form that the core reads; None stays.

    Raises
    ------
    UsageError
        A word is not an integer in JSON's form (``7``, not ``007`` or ``7.0``): it could never be found.
    """
    return [None if text is None else _decimals(text, position) for position, text in enumerate(texts)]


def _decimals(text: str | Sequence[int], position: int) -> str:
    ids = text.split() if isinstance(text, str) else [str(each) for each in text]
    for each in ids:
        if not _ID.fullmatch(each):
            raise UsageError(
                f"texts: {each!r} in text {position} is not a token id; the index has word mode ids: "
                "give lists of integers, or strings of decimal integers with spaces between"
            )
    return " ".join(ids)
