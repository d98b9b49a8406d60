"""Texts with some of their tokens, or words, replaced; all other characters stay as they are.

A token is replaced where it stands: the characters that the tokenizer says it covers give way to the text of the new one. The
text is never decoded as a whole, which would change white space, case or accents that the tokenizer does not keep.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ngramscope.corpus.tokens import LoadedTokenizer
from ngramscope.errors import InputError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["Cut", "Replaced", "Tokens", "Unit", "Words", "drawn_positions"]

_CHARACTERS = 1_000_000
_REPLACEMENT = "\ufffd"
_CONTEXT = "a"
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Cut:
    """A text in pieces.

    Attributes
    ----------
    spans
        Of each piece, in code points: start, and end.
    pieces
        The token ids, or the words.
    free
        Numbers of the pieces that can be replaced.
    """

    spans: Sequence[tuple[int, int]]
    pieces: Sequence[Any]
    free: Sequence[int]


@dataclass(frozen=True)
class Replaced:
    """A text after replacement.

    Attributes
    ----------
    text
        The new one.
    positions
        Numbers of the pieces that were replaced, ascending.
    retokenized
        Whether cutting the new text gives exactly the pieces that were meant; of a tokenizer, which may join a new token with
        its neighbours, that cannot be taken for granted.
    """

    text: str
    positions: list[int]
    retokenized: bool


class Unit(Protocol):
    """What is replaced, and by what; `modification` is what a row says of it."""

    name: str
    modification: str

    def cut(self, texts: Sequence[str]) -> Iterator[Cut]:
        """Each text in pieces."""

    def replace(self, text: str, cut: Cut, count: int, random: np.random.Generator) -> Replaced:
        """`count` of the free pieces, drawn without replacement, by others, each drawn uniformly from all others."""

    def facts(self) -> dict[str, Any]:
        """For a header: from what replacements are drawn."""


class Words:
    """White-space words; replacements are drawn from the distinct words of some texts.

    Raises
    ------
    InputError
        There are fewer than two distinct words.
    """

    name = "words"
    modification = "replaced_words"

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._vocabulary = sorted(set(vocabulary))  # whatever the order of the texts
        if len(self._vocabulary) < 2:
            raise InputError("the texts have fewer than two different words; there is nothing to replace one with")

    def cut(self, texts: Sequence[str]) -> Iterator[Cut]:
        """Each text in words."""
        for text in texts:
            spans = [match.span() for match in _WORD.finditer(text)]
            yield Cut(spans, [text[start:end] for start, end in spans], range(len(spans)))

    def replace(self, text: str, cut: Cut, count: int, random: np.random.Generator) -> Replaced:
        """See `Unit.replace`."""
        positions = drawn_positions(cut, count, random)
        new = []
        for position in positions:
            word = cut.pieces[position]
            while word == cut.pieces[position]:
                word = self._vocabulary[random.integers(len(self._vocabulary))]
            new.append(word)
        return Replaced(_spliced(text, [cut.spans[each] for each in positions], new), positions, retokenized=True)

    def facts(self) -> dict[str, Any]:
        """For a header."""
        return {"unit": self.name, "vocabulary": {"used": len(self._vocabulary)}}


class Tokens:
    """Tokens of a tokenizer; replacements are drawn from its vocabulary.

    Special tokens are neither replaced nor drawn; nor are drawn those that are no text by themselves (pieces of a character).
    Tokens that share a character with a neighbour, or cover none, are not replaced: there is no place to put another.

    Attributes
    ----------
    texts
        By token id, what a token that can be drawn adds to a text when it follows a word.

    Raises
    ------
    InputError
        The tokenizer has fewer than two tokens that can be drawn.
    """

    name = "tokens"
    modification = "replaced_tokens"

    def __init__(self, loaded: LoadedTokenizer) -> None:
        self.loaded = loaded
        self._tokenizer = _without_trimming(loaded.tokenizer)
        added = self._tokenizer.get_added_tokens_decoder()
        self._special = {number for number, token in added.items() if token.special}
        ids = sorted(self._tokenizer.get_vocab(with_added_tokens=True).values())
        plain = [number for number in ids if number not in self._special]
        self.texts = {number: text for number, text in self._in_context(plain) if text and _REPLACEMENT not in text}
        self._ids = np.array(list(self.texts), dtype=np.int64)
        self._counts = {"ids": len(ids), "special": len(ids) - len(plain), "no_text": len(plain) - len(self._ids)}
        if len(self._ids) < 2:
            raise InputError(f"{loaded.name}: a tokenizer with fewer than two tokens that are texts; nothing can be replaced")

    def cut(self, texts: Sequence[str]) -> Iterator[Cut]:
        """Each text in tokens."""
        for some in _parts(texts):
            for encoding in self._tokenizer.encode_batch(some, add_special_tokens=False):
                spans = encoding.offsets
                free = [
                    number
                    for number, (start, end) in enumerate(spans)
                    if start < end
                    and encoding.ids[number] not in self._special
                    and (number == 0 or spans[number - 1][1] <= start)
                    and (number + 1 == len(spans) or end <= spans[number + 1][0])
                ]
                yield Cut(spans, encoding.ids, free)

    def replace(self, text: str, cut: Cut, count: int, random: np.random.Generator) -> Replaced:
        """See `Unit.replace`."""
        positions = drawn_positions(cut, count, random)
        new = []
        for position in positions:
            token = cut.pieces[position]
            while token == cut.pieces[position]:
                token = int(self._ids[random.integers(len(self._ids))])
            new.append(token)
        return self.put(text, cut, positions, new)

    def put(self, text: str, cut: Cut, positions: list[int], tokens: Sequence[int]) -> Replaced:
        """The text with `tokens` in the place of its pieces at `positions`, which ascend."""
        meant = list(cut.pieces)
        for position, token in zip(positions, tokens, strict=True):
            meant[position] = token
        new = [self._fitting(text, cut, position, meant[position]) for position in positions]
        spliced = _spliced(text, [cut.spans[each] for each in positions], new)
        return Replaced(spliced, positions, self._tokenizer.encode(spliced, add_special_tokens=False).ids == meant)

    def facts(self) -> dict[str, Any]:
        """For a header."""
        tokenizer = {"name": self.loaded.name, "sha256": self.loaded.sha256}
        return {"unit": self.name, "tokenizer": tokenizer, "vocabulary": {**self._counts, "used": len(self._ids)}}

    def _fitting(self, text: str, cut: Cut, position: int, token: int) -> str:
        """The text of a token in the place of another one."""
        new, old = self.texts[token], self.texts.get(cut.pieces[position], "")
        # Where the space before a word is not among the word token's characters, it is in the text already.
        implied = old.startswith(" ") and not text[cut.spans[position][0]].isspace()
        return new[1:] if implied and new.startswith(" ") and len(new) > 1 else new

    def _in_context(self, ids: Sequence[int]) -> Iterator[tuple[int, str]]:
        """What each token adds to a text when it follows a word: a decoder drops the space of a token that stands first."""
        before = self._tokenizer.encode(_CONTEXT, add_special_tokens=False).ids
        head = self._tokenizer.decode(before, skip_special_tokens=False)
        texts = self._tokenizer.decode_batch([[*before, number] for number in ids], skip_special_tokens=False)
        return ((number, text[len(head) :]) for number, text in zip(ids, texts, strict=True) if text.startswith(head))


def _without_trimming(tokenizer: Tokenizer) -> Tokenizer:
    """A copy without post-processing, which takes the space before a word off the offsets of byte-level tokens."""
    from tokenizers import Tokenizer

    return Tokenizer.from_str(json.dumps({**json.loads(tokenizer.to_str()), "post_processor": None}))


def drawn_positions(cut: Cut, count: int, random: np.random.Generator) -> list[int]:
    """Numbers of `count` of the free pieces, drawn without replacement; ascending."""
    return sorted(cut.free[each] for each in random.choice(len(cut.free), count, replace=False).tolist())


def _spliced(text: str, spans: Sequence[tuple[int, int]], new: Sequence[str]) -> str:
    """`text` with `new` in the place of the spans, which ascend."""
    parts, done = [], 0
    for (start, end), piece in zip(spans, new, strict=True):
        parts += [text[done:start], piece]
        done = end
    return "".join([*parts, text[done:]])


def _parts(texts: Sequence[str]) -> Iterator[list[str]]:
    """Some at a time, so that nobody waits long for an interrupt."""
    part: list[str] = []
    size = 0
    for text in texts:
        part.append(text)
        size += len(text)
        if size >= _CHARACTERS:
            yield part
            part, size = [], 0
    if part:
        yield part
