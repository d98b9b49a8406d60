"""Documents with a known overlap, and what holds for the header of every filtered set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ngramscope import Index
from tests.conftest import write_jsonl


def words(prefix: str, count: int, start: int = 0) -> str:
    return " ".join(f"{prefix}{number}" for number in range(start, start + count))


def make_corpus(path: Path) -> Path:
    """438 7-grams of two documents; the words of the first are c0, c1, ..."""
    return write_jsonl(path, [words("c", 400), words("other", 50)])


def make_index(folder: Path, corpus: Path) -> Path:
    Index.build(corpus, out=folder, n=[7, 13], filter="exact", name="mine", threads=1)
    return folder


def with_hits(name: str, hits: int, ngrams: int = 200, n: int = 7, **more: Any) -> dict[str, Any]:
    """A document of so many n-grams of which the first `hits` are in the corpus of `make_corpus`."""
    known = hits + n - 1 if hits else 0
    return {"id": name, "text": f"{words('c', known)} {words(f'{name}x', ngrams + n - 1 - known)}".strip(), **more}


def adds_up(header: Mapping[str, Any]) -> None:
    """Assert that everything that was read is used or left out for a reason."""
    step = header["history"][-1]
    counts = step["counts"]
    for each in counts.values():
        assert each["read"] == each["used"] + sum(each["left_out"].values())
    assert counts["records"]["read"] == sum(each["records"] for each in header["inputs"])
    assert header["counts"] == {**{side: counts[side]["used"] for side in ("members", "nonmembers")}, "unlabelled": 0}
    unusable = sum(sum(each["unusable"].values()) for each in header["inputs"])
    assert counts["records"]["read"] == counts["members"]["read"] + counts["nonmembers"]["read"] + unusable
