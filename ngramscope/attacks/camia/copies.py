"""Where the copies of a text are in the pass over the text repeated: by token ids, as joining changes tokens at the borders."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ngramscope.attacks.camia.signals import Convention

__all__ = ["COPIES", "Copies", "find_copies"]

Ids = NDArray[np.int32]

COPIES = 3
"""How many copies the repetition signals need: the first, second and third."""

_HEAD = 7
_TAIL = 3
_LAST = 2


@dataclass(frozen=True)
class Copies:
    """The same tokens of a text in its copies.

    Attributes
    ----------
    start
        The first of them among the text's own scored tokens.
    length
        Their number.
    starts
        Where they begin among the scored tokens of the repeated text, copy by copy; at most `COPIES`.
    """

    start: int
    length: int
    starts: tuple[int, ...]


def find_copies(text: Ids, repeated: Ids, convention: Convention, *, own_head: int) -> Copies:
    """Locate the copies of a text.

    Paper (it has no rule): the most of the text that occurs `COPIES` times, one occurrence after the other; tokens at its ends
    that do not are left out, at most six at the head and two at the tail, and at most half. Where there are fewer copies, as
    in a context that ends early, the most that were found. Code: without the first two tokens, or more up to six, until it
    occurs three times; the last two occurrences are ignored, and occurrences may overlap.

    Parameters
    ----------
    text, repeated
        Ids of the scored tokens.
    own_head
        1 if the text's own first token comes before them, 0 if they are all of the text's.
    """
    best = Copies(0, 0, ())
    if convention == "code":
        for skipped in range(2, _HEAD):
            part = text[skipped - own_head :]
            starts = _occurrences(repeated, part)
            if len(starts) >= COPIES:
                return Copies(skipped - own_head, len(part), tuple(starts[:-_LAST][:COPIES]))
        return best
    for tail, head in itertools.product(range(_TAIL), range(_HEAD)):
        part = text[head : len(text) - tail]
        if not len(part) or 2 * len(part) < len(text):
            continue
        starts = _one_after_the_other(_occurrences(repeated, part), len(part))
        if len(starts) > len(best.starts):
            best = Copies(head, len(part), tuple(starts))
        if len(starts) == COPIES:
            break
    return best


def _occurrences(ids: Ids, part: Ids) -> list[int]:
    length = len(part)
    if not length or length > len(ids):
        return []
    places = np.flatnonzero((ids[: len(ids) - length + 1] == part[0]) & (ids[length - 1 :] == part[-1]))
    return [place for place in places.tolist() if np.array_equal(ids[place : place + length], part)]


def _one_after_the_other(places: list[int], length: int) -> list[int]:
    starts: list[int] = []
    for place in places:
        if len(starts) < COPIES and (not starts or place >= starts[-1] + length):
            starts.append(place)
    return starts
