"""Chunks of a pass: planned from texts and settings alone, so that every process and every run plans the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ngramscope.models.encode import Encoded

__all__ = ["Chunk", "Unit", "plan_chunks"]

_CHUNKS = 64
_LEAST, _MOST = 1 << 14, 1 << 18


@dataclass(frozen=True)
class Unit:
    """A text of a pass, encoded.

    Attributes
    ----------
    row, number
        See `Variant`.
    encoded
        Its tokens.
    shots
        How many shots stand before it.
    """

    row: int
    number: int
    encoded: Encoded
    shots: int = 0


@dataclass(frozen=True)
class Chunk:
    """Texts that are scored and written together.

    Attributes
    ----------
    number
        From 0.
    units
        Of about the same length.
    """

    number: int
    units: Sequence[Unit]

    def key(self) -> str:
        """Digest of its texts as tokens, and whose they are."""
        digest = hashlib.sha256()
        for each in self.units:
            digest.update(json.dumps((each.row, each.number, each.shots, each.encoded.null_reason)).encode())
            digest.update(np.ascontiguousarray(each.encoded.ids, dtype="<i4").tobytes())
        return digest.hexdigest()


def plan_chunks(units: Sequence[Unit]) -> list[Chunk]:
    """Texts by length, longest first, in chunks of a fixed number of tokens each.

    The number is a 64th of all tokens, between 2^14 and 2^18: what a kill can cost stays small beside the whole.
    Longest first, so that memory that does not suffice shows at once.
    """
    ordered = sorted(units, key=lambda each: (-len(each.encoded.ids), each.row, each.number))
    size = min(max(sum(len(each.encoded.ids) for each in ordered) // _CHUNKS, _LEAST), _MOST)
    chunks: list[Chunk] = []
    start = tokens = 0
    for at, each in enumerate(ordered, 1):
        tokens += max(len(each.encoded.ids), 1)
        if tokens >= size or at == len(ordered):
            chunks.append(Chunk(len(chunks), ordered[start:at]))
            start, tokens = at, 0
    return chunks
