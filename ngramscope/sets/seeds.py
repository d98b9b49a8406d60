"""Chance that depends on a seed and on content, never on the order of files, records or threads."""

from __future__ import annotations

import hashlib
import json

__all__ = ["draw"]


def draw(seed: int, *content: str | float | None) -> int:
    """A number below 2^64 that `seed` and `content` decide, as good as random: sort by it, or seed a generator with it."""
    data = json.dumps(content, ensure_ascii=True).encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, key=str(seed).encode()).digest(), "big")
