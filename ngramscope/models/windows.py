"""The runs of tokens that a model is shown of one text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ngramscope.models.encode import Encoded

__all__ = ["Window", "windows"]


@dataclass(frozen=True, eq=False)
class Window:
    """Tokens of one text that the model sees at once; the last `scored` of them are scored.

    Attributes
    ----------
    text
        Number of the text.
    start
        Number of its first scored token among those of the text.
    tokens
        int32 ids.
    scored
        How many, from the end.
    """

    text: int
    start: int
    tokens: NDArray[np.int32]
    scored: int

    @property
    def length(self) -> int:
        """Positions it takes: the last token is only predicted."""
        return len(self.tokens) - 1


def windows(number: int, text: Encoded, front: NDArray[np.int32]) -> list[Window]:
    """One window, or for a text that is longer several, each with half a window or more before its scored tokens.

    The tokens scored, and what is before them, are those of MIMIR; its first two windows are one here, as what comes after
    a token has no influence on it.

    Parameters
    ----------
    number, text
        The text.
    front
        Ids before it, which take the place of its start token.
    """
    head = text.ids[:0] if len(front) and text.starts else text.head
    tokens = np.concatenate([front, head, text.ids])
    unscored = len(tokens) - len(text.ids)
    if len(tokens) <= text.window:
        return [Window(number, 0, tokens, len(text.ids))]
    half = text.window // 2
    end = 2 * half
    found = [Window(number, 0, tokens[:end], end - unscored)]
    while end < len(tokens):
        stop = min(end + half, len(tokens))
        found.append(Window(number, end - unscored, tokens[end + half - text.window : stop], stop - end))
        end = stop
    return found
