from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope import Index
from ngramscope.index.summary import Summary, index_warnings, to_text
from tests.conftest import WORDS

TEXTS = [" ".join(WORDS), "alpha beta gamma delta x", "x y z", "x", None, ""]


@pytest.fixture
def index(small_index: Path) -> Index:
    return Index.open(small_index)


def summarise(index: Index, texts: list[str | None]) -> dict[str, Any]:
    summary = Summary(index.manifests, index.filter_fpr)
    for start in range(0, len(texts), 2):
        summary.add(index.overlap(texts[start : start + 2]))
    return summary.to_dict(inputs={})


def test_counts_add_up_and_nulls_are_apart(index: Index) -> None:
    facts = summarise(index, TEXTS)
    assert facts["documents"] == len(TEXTS)
    three = facts["by_n"][0]
    assert three["n"] == 3
    assert three["scored"] + sum(three["null"].values()) == len(TEXTS)
    assert three["null"] == {"fewer_than_n_words": 2, "null_text": 1}
    values = np.array([1.0, 2 / 3, 0.0])
    assert three["mean"] == pytest.approx(values.mean())
    assert [three["quartile_1"], three["median"], three["quartile_3"]] == pytest.approx(np.quantile(values, [0.25, 0.5, 0.75]))
    assert three["with_hits"] == 2
    assert (three["hits"], three["ngrams"]) == (20, 22)
    assert sum(three["histogram"]["counts"]) == 3
    assert three["histogram"]["counts"][-1] == 1  # 1.0 belongs to the last bin


def test_without_a_scored_document_there_are_no_averages(index: Index) -> None:
    facts = summarise(index, ["x", None])
    for each in facts["by_n"]:
        assert each["scored"] == 0
        assert each["mean"] is each["median"] is each["mean_corrected"] is each["overlap_of_all_ngrams"] is None
    assert "0 of 2 documents scored" in to_text(facts)


def test_the_text_shows_every_number_a_reader_needs(index: Index) -> None:
    text = to_text(summarise(index, TEXTS))
    assert "n = 3: 3 of 6 documents scored; 3 without overlap (2 fewer_than_n_words, 1 null_text)" in text
    assert "mean 0.5556" in text
    assert "median 0.6667" in text
    assert "20 of 22 found" in text
    assert "[0.9, 1.0] 1 ████" in text
    assert text.count("n = ") == 2
    facts = summarise(index, TEXTS)
    for each, (rate, said) in zip(facts["by_n"], ((0.005, "in 200 (rate 0.005)"), (0.0, "no false hits")), strict=True):
        each["filter_fpr"] = rate
        assert said in to_text(facts)


def test_demo_partial_overfull_and_empty_are_loud(index: Index) -> None:
    (manifest,) = copy.deepcopy(index.manifests)
    assert index_warnings([manifest]) == []
    manifest["demo"] = manifest["partial"] = True
    manifest["sets"][0].update(occurrences=0)
    manifest["sets"][1].update(overfull=True, fill=0.861, rate=0.353, target_rate=0.01)
    demo, partial, empty, overfull = index_warnings([manifest])
    assert "DEMONSTRATION" in demo
    assert "INCOMPLETE" in partial
    assert "EMPTY for n = 3" in empty
    assert "OVER-FULL for n = 5: 0.861 of its bits are set, and 0.353 of absent n-grams count as found, not 0.01" in overfull
    facts = Summary([manifest], index.filter_fpr).to_dict(inputs={})
    assert facts["index_is_demo"]
    assert len(facts["warnings"]) == 4
