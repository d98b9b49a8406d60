"""The shared corpora, and bit by bit comparisons."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from ngramscope import OverlapTable, WordRule
from ngramscope._core import words as word_bounds

REAL = ("dated-specs", "dated-web", "wikitext2", "dm-math")
"""Folders of real corpora."""


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a compressed file of JSON Lines."""
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        for line in io.TextIOWrapper(stream, encoding="utf-8", newline="\n"):
            yield json.loads(line)


def texts(folder: Path) -> list[str]:
    """The texts of all files in a folder."""
    return [each["text"] for path in sorted(folder.glob("*.jsonl.zst")) for each in records(path) if each.get("text")]


def cut(text: str, rule: WordRule | None = None) -> list[str]:
    """The words of a text as the tokeniser finds them (its own tests hold it against the standard)."""
    return [text[start:end] for start, end in word_bounds(text, rule or WordRule())]


def bits(flags: str) -> NDArray[np.bool_]:
    """A string of 0 and 1, shape (n-grams,)."""
    return np.frombuffer(flags.encode("ascii"), dtype=np.uint8) == ord("1")


def flags(table: OverlapTable) -> list[NDArray[np.bool_]]:
    """The flags of every row."""
    assert table.flags is not None
    return [bits(each or "") for each in table.flags]
