"""How alike are a completion and the text it might have been learned from? ROUGE-L and the longest run of words in common."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ngramscope.evaluate.groups import Ints

__all__ = ["Likeness", "likeness", "longest_run", "longest_subsequence", "words_of"]

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Likeness:
    """Of a completion with a reference.

    Attributes
    ----------
    precision, recall, rouge_l
        The longest common subsequence of words, over the words of the completion, over those of the reference, and the
        harmonic mean of both (Lin 2004, ROUGE-L); None where one has no word.
    longest_run
        Words of the longest run that both have.
    run
        These words, as the completion spells them; empty if there is none.
    """

    precision: float | None
    recall: float | None
    rouge_l: float | None
    longest_run: int
    run: str


def words_of(text: str) -> list[str]:
    """Runs of letters, digits and underscores, in lower case."""
    return _WORD.findall(text.lower())


def likeness(completion: str, reference: str) -> Likeness:
    """Of two texts; case and punctuation have no say."""
    spans = [match.span() for match in _WORD.finditer(completion)]
    ours, theirs = [completion[start:end].lower() for start, end in spans], words_of(reference)
    if not ours or not theirs:
        return Likeness(None, None, None, 0, "")
    numbers = {word: number for number, word in enumerate(dict.fromkeys([*ours, *theirs]))}
    first, second = (np.array([numbers[word] for word in each], dtype=np.int64) for each in (ours, theirs))
    common = longest_subsequence(first, second)
    length, begin = longest_run(first, second)
    precision, recall = common / len(first), common / len(second)
    both = 2 * precision * recall / (precision + recall) if common else 0.0
    run = completion[spans[begin][0] : spans[begin + length - 1][1]] if length else ""
    return Likeness(precision, recall, both, length, run)


def longest_subsequence(first: Ints, second: Ints) -> int:
    """Length of the longest common subsequence, (n,) and (m,), in n steps of m numbers."""
    best = np.zeros(len(second) + 1, dtype=np.int64)
    for each in first:
        extended = np.maximum(best[1:], np.where(second == each, best[:-1] + 1, 0))
        best[1:] = np.maximum.accumulate(extended)
    return int(best[-1])


def longest_run(first: Ints, second: Ints) -> tuple[int, int]:
    """Length of the longest run of words that both have, and where it first begins in `first`."""
    ends = np.zeros(len(second), dtype=np.int64)
    length, begin = 0, 0
    for place, each in enumerate(first.tolist()):
        ends = np.where(second == each, np.concatenate([[0], ends[:-1]]) + 1, 0)
        here = int(ends.max(initial=0))
        if here > length:
            length, begin = here, place - here + 1
    return length, begin
