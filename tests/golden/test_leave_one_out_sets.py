"""On a random split, with duplicates on both sides of it, leave-one-out overlap does not tell members from non-members."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

from ngramscope.sets import OverlapOptions, RecordSource
from ngramscope.sets.thresholded import ThresholdRule, threshold
from tests.conftest import read_jsonl, write_jsonl
from tests.golden.corpora import records

LENGTHS = (3, 5, 7)
PLANTED = 200


def test_planted_duplicates_leave_the_means_of_both_sides_equal(shared: Path, tmp_path: Path) -> None:
    texts = [row["text"] for row in records(shared / "data" / "c4-sample" / "c4-sample.jsonl.zst")]
    # Duplicates come first, the split after: a copy is as likely on either side as any other document.
    chance = random.Random(7)
    documents = [{"id": f"d{number}", "text": text, "copy_of": None} for number, text in enumerate(texts)]
    for number in chance.sample(range(len(texts)), PLANTED):
        documents.append({"id": f"copy{number}", "text": texts[number], "copy_of": f"d{number}"})
    chance.shuffle(documents)
    half = len(documents) // 2
    for number, each in enumerate(documents):
        each["label"] = int(number < half)
    sides = {each["id"]: each["label"] for each in documents}
    across = [each for each in documents if each["copy_of"] and sides[each["copy_of"]] != each["label"]]
    assert len(across) > PLANTED / 3

    corpus = write_jsonl(tmp_path / "corpus.jsonl", documents[:half])
    candidates = write_jsonl(tmp_path / "candidates.jsonl", documents)
    threshold(
        RecordSource((candidates,)), OverlapOptions(scan=(corpus,)), tmp_path / "set.jsonl",
        rule=ThresholdRule(n=LENGTHS, max_overlap=1.0, max_inclusive=True, whole_document=True),
    )  # fmt: skip
    rows = read_jsonl(tmp_path / "set.jsonl")
    for n in LENGTHS:
        # One rule for both sides: whatever is a candidate's own document does not count, be it a member or not.
        assert abs(difference(rows, "overlap_loo", "overlap_loo", n)) < 2
        # With another rule for each side, the copies among the non-members would be seen as a shift.
        assert difference(rows, "overlap", "overlap_loo", n) > 2


def difference(rows: list[dict[str, Any]], of_nonmembers: str, of_members: str, n: int) -> float:
    """Of the means, non-members less members, in standard errors."""
    columns = {0: of_nonmembers, 1: of_members}
    sides = [
        np.array([row[column][str(n)] for row in rows if row["label"] == label and row[column][str(n)] is not None])
        for label, column in columns.items()
    ]
    assert min(map(len, sides)) > 500
    error = np.sqrt(sum(each.var(ddof=1) / len(each) for each in sides))
    return float((sides[0].mean() - sides[1].mean()) / error)
