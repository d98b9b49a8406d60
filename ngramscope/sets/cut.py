"""Documents to the texts that are scored: the first words of each, or windows at random places.

A word is what white space separates (`str.split`), as in MIMIR (Duan et al. 2024, section 4 and its code); the white space
between words stays as it was.
"""

from __future__ import annotations

import re
from random import Random

__all__ = ["cut", "windows"]

# Its \S is the complement of what `str.split` splits at.
_WORD = re.compile(r"\S+")


def cut(text: str, max_words: int | None) -> str:
    """`text` up to the end of its word number `max_words`, or of its last word; what stands before the first word stays.

    None leaves it as it is.
    """
    if max_words is None:
        return text
    parts = text.split(None, max_words)
    head = text[: len(text) - len(parts[max_words])] if len(parts) > max_words else text
    return head.rstrip()


def windows(text: str, count: int, words: int, seed: bytes) -> list[tuple[int, str]]:
    """Windows of a document at random places, none of which overlap (Shi et al. 2024, section 2.2, takes 100 of 512 words).

    Parameters
    ----------
    text
        Has at least ``count * words`` words.
    count, words
        How many windows, and of how many words each.
    seed
        Same seed, same places.

    Returns
    -------
    list
        For each window the 0-based number of its first word, ascending, and its text.

    Raises
    ------
    ValueError
        The text is too short.
    """
    spans = [word.span() for word in _WORD.finditer(text)]
    rest = len(spans) - count * words
    if rest < 0:
        raise ValueError(f"{len(spans)} words hold no {count} windows of {words} words")
    random = Random(seed)  # noqa: S311 - no secret
    # How many words stand before window i that are in no window: only `random()` is promised to stay the same in all Pythons.
    skipped = sorted(int(random.random() * (rest + 1)) for _ in range(count))
    starts = [before + number * words for number, before in enumerate(skipped)]
    return [(start, text[spans[start][0] : spans[start + words - 1][1]]) for start in starts]
