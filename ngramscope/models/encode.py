"""Texts as token ids: the start-token rule, control tokens that a text spells out, texts longer than the model can see."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import UsageError
from ngramscope.models.load import LoadedModel

__all__ = ["NO_TOKEN", "ONE_TOKEN", "ControlTokens", "EncodeOptions", "Encoded", "Encoder", "LongText", "StartToken"]

StartToken = Literal["tokenizer", "force", "none", "eos"]
ControlTokens = Literal["text", "token"]
LongText = Literal["truncate", "stride"]

NO_TOKEN = "no_token"  # noqa: S105
ONE_TOKEN = "one_token"  # noqa: S105
"""Null reasons: the text has no token; it has one, and no start token before it."""

_ZLIB_LEVEL = 6


@dataclass(frozen=True)
class EncodeOptions:
    """How texts become token ids.

    Parameters
    ----------
    start_token
        What stands before the text, so that its own first token is scored too. ``tokenizer``: what the tokenizer adds by itself
        (LLaMA's a start token, Pythia's nothing); ``force``: the start token, whether it adds it or not; ``eos``: the end
        token instead; ``none``: nothing, and the text's first token is not scored. Never two, whatever the tokenizer does.
    control_tokens
        Control tokens that a text spells out (``<|endoftext|>``, ``<s>``). ``text``: they are read as the characters they
        are, like any other text; ``token``: they become the control token.
    max_tokens
        Tokens of one window, start token included; None: as many as the model can see.
    long_text
        Texts longer than that. ``truncate``: cut, and flagged; ``stride``: scored in whole, in windows of `max_tokens`
        that each move on by half of it, so that every later token has at least half a window before it (as MIMIR).

    Raises
    ------
    UsageError
        A value that cannot be.
    """

    start_token: StartToken = "tokenizer"  # noqa: S105
    control_tokens: ControlTokens = "text"
    max_tokens: int | None = None
    long_text: LongText = "truncate"

    def __post_init__(self) -> None:
        choices = {"start_token": StartToken, "control_tokens": ControlTokens, "long_text": LongText}
        for name, kind in choices.items():
            if getattr(self, name) not in get_args(kind):
                option = "--" + name.replace("_", "-")
                raise UsageError(f"{option}: {getattr(self, name)!r} is not one of {', '.join(get_args(kind))}")
        if self.max_tokens is not None and (isinstance(self.max_tokens, bool) or self.max_tokens < 4):
            raise UsageError(f"--max-tokens: {self.max_tokens!r} is not possible; a whole number of at least 4")


@dataclass(frozen=True, eq=False)
class Encoded:
    """One text as the model is to see it.

    Attributes
    ----------
    head
        int32: ids before the first that is scored: the start token, or else the text's own first token.
    ids
        int32: ids that are scored.
    starts
        Whether `head` is a start token, not part of the text. Behind a prefix it is left out: the prefix has its own.
    window
        Most tokens that the model is shown at once; more are seen in windows that move on by half of it.
    tokens_total
        Tokens of the whole text, without a start token.
    text_bytes, zlib_bytes
        UTF-8 bytes of exactly the text that is seen, and of these compressed by zlib at level 6.
    truncated
        Whether the text was cut.
    null_reason
        Why nothing can be scored, or None.
    """

    head: NDArray[np.int32]
    ids: NDArray[np.int32]
    starts: bool
    window: int
    tokens_total: int
    text_bytes: int
    zlib_bytes: int
    truncated: bool
    null_reason: str | None


class Encoder:
    """Encodes texts for one model by its own tokenizer, of which it works on a copy.

    Raises
    ------
    UsageError
        The tokenizer has no such start token, or `max_tokens` is more than the model can see.
    """

    def __init__(self, loaded: LoadedModel, options: EncodeOptions | None = None) -> None:
        self.options = options or EncodeOptions()
        tokens = self.options.max_tokens or loaded.context
        if tokens > loaded.context:
            raise UsageError(f"--max-tokens: {tokens}, but {loaded.label} sees {loaded.context} at most")
        self.window = tokens
        """Most tokens that the model is shown at once."""
        self._tokenizer = loaded.tokenizer
        self._backend: Any = None
        if loaded.tokenizer.is_fast:
            from tokenizers import Tokenizer

            self._backend = Tokenizer.from_str(loaded.tokenizer.backend_tokenizer.to_str())
            self._backend.no_truncation()
            self._backend.no_padding()
            self._backend.encode_special_tokens = self.options.control_tokens == "text"
        self.start = self._start()
        """Ids that stand before every text; none of them is scored."""

    def encode(self, text: str) -> Encoded:
        """The ids of one text, and the sizes of as much of it as they are of."""
        ids, seen = self._ids(text), text
        start = self.start
        if start and ids[: len(start)] == start:
            # The text spells out the start token: once is enough.
            start = []
        total = len(ids)
        room = self.window - len(start)
        cut = total > room and self.options.long_text == "truncate"
        if cut:
            ids, seen = self._cut(text, ids, room)
        whole = [*start, *ids]
        begin = len(self.start) or 1
        data = seen.encode()
        reason = NO_TOKEN if not ids else ONE_TOKEN if len(whole) <= begin else None
        return Encoded(
            head=np.array(whole[:begin], dtype=np.int32),
            ids=np.array(whole[begin:], dtype=np.int32),
            starts=bool(self.start),
            window=self.window,
            tokens_total=total,
            text_bytes=len(data),
            zlib_bytes=len(zlib.compress(data, _ZLIB_LEVEL)),
            truncated=cut,
            null_reason=reason,
        )

    def prefix(self, text: str) -> list[int]:
        """The ids of a text that others are scored behind, start token first; it is not cut."""
        ids = self._ids(text)
        return ids if ids[: len(self.start)] == self.start else [*self.start, *ids]

    def _ids(self, text: str, *, special: bool = False) -> list[int]:
        if self._backend is not None:
            found: list[int] = self._backend.encode(text, add_special_tokens=special).ids
            return found
        split = self.options.control_tokens == "text"
        ids = self._tokenizer(text, add_special_tokens=special, split_special_tokens=split, verbose=False)["input_ids"]
        return [int(each) for each in ids]

    def _start(self) -> list[int]:
        rule = self.options.start_token
        if rule == "none":
            return []
        with_special, without = self._ids("a", special=True), self._ids("a")
        places = range(len(with_special) - len(without) + 1)
        own = next((with_special[:at] for at in places if with_special[at : at + len(without)] == without), [])
        if rule == "tokenizer" or (rule == "force" and own):
            return own
        token = self._tokenizer.bos_token_id if rule == "force" else self._tokenizer.eos_token_id
        if token is None:
            kind, other = ("start", "eos") if rule == "force" else ("end", "force")
            raise UsageError(f"--start-token {rule}: the tokenizer has no {kind} token; try {other}, or none")
        return [int(token)]

    def _cut(self, text: str, ids: list[int], room: int) -> tuple[list[int], str]:
        """At most `room` ids that end where a character ends, and the text they are of."""
        if self._backend is None:
            return self._cut_by_search(text, room)
        offsets: Sequence[tuple[int, int]] = self._backend.encode(text, add_special_tokens=False).offsets
        while room and offsets[room - 1][1] > offsets[room][0]:
            room -= 1
        end = max((stop for _, stop in offsets[:room]), default=0)
        # Many tokenizers give white space no offsets; decoding tells how far the ids really go.
        decoded = self._backend.decode(ids[:room], skip_special_tokens=False)
        return ids[:room], decoded if len(decoded) >= end and text.startswith(decoded) else text[:end]

    def _cut_by_search(self, text: str, room: int) -> tuple[list[int], str]:
        """As `_cut`, for tokenizers that do not tell where their tokens lie: the longest start of the text that fits."""
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if len(self._ids(text[:middle])) <= room else (low, middle - 1)
        return self._ids(text[:low]), text[:low]
