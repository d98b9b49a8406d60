"""Real dated corpora: documents before a cutoff are indexed but for a sample; that against the documents after it."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope import Index, QueryOptions, Scan, ScanOptions
from ngramscope.sets import OverlapOptions, RecordSource
from ngramscope.sets.validate import HIGHER, LOWER, ShiftRule, judge, validate
from tests.conftest import write_jsonl
from tests.golden.corpora import records

WORDS, LEAST, HELD_OUT, N = 200, 100, 0.25, 7
RULE = ShiftRule(permutations=999, resamples=499)
OFTEN = 0.02

pytestmark = pytest.mark.slow


def order(row: dict[str, Any]) -> bytes:
    return blake2b(row["text"].encode(), key=bytes(8), digest_size=8).digest()


def divide(file: Path, folder: Path, cutoff: str) -> tuple[Path, dict[str, Path], int]:
    """The documents to index, the two sides (first words of those that have enough), and how many are indexed."""
    rows = sorted(records(file), key=order)
    before = [row for row in rows if row["date"] < cutoff]
    held = round(HELD_OUT * len(before))
    sides = {"heldout": before[:held], "later": [row for row in rows if row["date"] >= cutoff]}
    files = {
        side: write_jsonl(
            folder / f"{side}.jsonl",
            [{**row, "text": " ".join(words[:WORDS])} for row in found if len(words := row["text"].split()) >= LEAST],
        )
        for side, found in sides.items()
    }
    return write_jsonl(folder / "indexed.jsonl", before[held:]), files, len(before) - held


@pytest.mark.parametrize(
    ("name", "cutoff", "heldout", "later", "verdict"),
    [
        ("dated-web/us-gov-blogs", "2018", 0.137, 0.041, LOWER),
        ("dated-specs/rust-rfcs", "2018", 0.063, 0.083, HIGHER),
    ],
)
def test_later_documents_are_not_what_was_held_out(
    shared: Path, tmp_path: Path, name: str, cutoff: str, heldout: float, later: float, verdict: str
) -> None:
    corpus, files, indexed = divide(shared / "data" / f"{name}.jsonl.zst", tmp_path, cutoff)
    index = Index.build(corpus, out=tmp_path / "index", n=N, filter="exact")
    reference = RecordSource((files["heldout"],))
    report = validate(RecordSource((files["later"],)), OverlapOptions(indexes=index.paths), reference, rule=RULE, max_texts=0)
    assert report["verdict"] == verdict
    (overlap, *_) = report["quantities"]
    assert (overlap["reference"]["mean"], overlap["candidates"]["mean"]) == pytest.approx((heldout, later), abs=6e-4)
    # A scan counts documents: without the n-grams that many of them have (headings, templates) nothing is shifted upwards.
    query, counts = QueryOptions(n=(N,)), ScanOptions(counts=True, top_sources=0)
    table = Scan([files["heldout"], files["later"]], corpus, query=query, scan=counts).table()
    assert table.documents is not None
    rare = [np.mean((np.array(each) > 0) & (np.array(each) <= OFTEN * indexed)) for each in table.documents]
    sides = [np.array(rare)[table.source == number] for number in (0, 1)]
    rest = judge(sides[1], sides[0], RULE)
    assert rest.shift is not None
    assert rest.shift < 0
    assert rest.verdict != HIGHER
