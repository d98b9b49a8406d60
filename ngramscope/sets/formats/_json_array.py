"""The items of one JSON array, read piece by piece."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any

from ngramscope.errors import InputError

__all__ = ["items"]

_CHUNK = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")


def items(stream: IO[bytes], shown: str, *, longest: int) -> Iterator[Any]:
    """The items of the array that `stream` is, UTF-8; no more than one of them, and a piece of the file, is held.

    Parameters
    ----------
    longest
        Characters of an item.

    Raises
    ------
    InputError
        It is no array, or ends early; names the item.
    """
    return _Array(stream, shown, longest).items()


class _Array:
    def __init__(self, stream: IO[bytes], shown: str, longest: int) -> None:
        self._stream = stream
        self._shown = shown
        self._longest = longest
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._scan = json.JSONDecoder().raw_decode
        self._text, self._at, self._ended = "", 0, False
        self._item = 1

    def items(self) -> Iterator[Any]:
        self._take("[")
        if self._sign() == "]":
            return
        while True:
            yield self._value()
            if self._take(",]") == "]":
                return
            self._sign()
            self._item += 1

    def _sign(self) -> str:
        """The next character that is no white space; empty at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._more()

    def _take(self, expected: str) -> str:
        sign = self._sign()
        if not sign or sign not in expected:
            found = repr(sign) if sign else "the end of the file"
            raise self._fault(f"{found} where {' or '.join(expected)} should be; is it one JSON array, and whole?")
        self._at += 1
        return sign

    def _value(self) -> Any:
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except ValueError as error:
                if self._ended or len(self._text) - self._at > self._longest:
                    raise self._fault(f"not JSON: {error}") from error
            else:
                # A number that ends where the piece ends may go on.
                if end < len(self._text) or self._ended:
                    self._at = end
                    return value
            self._more()

    def _more(self) -> None:
        rest = self._text[self._at :]
        chunk = self._stream.read(max(_CHUNK, len(rest)))
        self._ended = not chunk
        self._text, self._at = rest + self._decode(chunk, self._ended), 0

    def _fault(self, what: str) -> InputError:
        return InputError(f"{self._shown}, item {self._item}: {what}")
