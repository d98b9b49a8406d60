from __future__ import annotations

import math
from typing import Any

import pytest

from ngramscope.errors import UsageError
from ngramscope.index.options import BuildOptions, QueryOptions, ReadOptions, WordRule, default_index


def build(**values: Any) -> BuildOptions:
    return BuildOptions(read=ReadOptions(), rule=WordRule(), **values)


@pytest.mark.parametrize("rate", [0, 1, 1.5, -0.1, math.nan, math.inf, True, "0.01"])
def test_impossible_rates_are_refused(rate: object) -> None:
    with pytest.raises(UsageError, match="--filter-fpr"):
        build(filter_fpr=rate)


@pytest.mark.parametrize("count", [0, -5, 1 << 63, 1.5, True])
def test_impossible_counts_are_refused(count: object) -> None:
    with pytest.raises(UsageError, match="--expected-ngrams"):
        build(expected_ngrams=count)


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("--n", {"n": (0,)}),
        ("--n", {"n": ()}),
        ("--n", {"n": (7, -1)}),
        ("--shards", {"shards": 0}),
        ("--threads", {"threads": 0}),
        ("--memory", {"memory": "much"}),
        ("--filter", {"filter": "bloom"}),
    ],
)
def test_other_impossible_values_are_refused_by_option_name(option: str, values: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"^{option}:"):
        build(**values)


def test_an_unknown_name_answers_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"--words: 'words' is not known; known: uax29, whitespace, gpt3, ids"):
        WordRule(words="words")
    with pytest.raises(UsageError, match=r"--normalize: 'nfd' is not known; known: none, nfc, nfkc"):
        WordRule(normalize="nfd")


def test_lengths_are_sorted_and_counted_once() -> None:
    assert build(n=(13, 7, 13)).n == (7, 13)
    assert QueryOptions(n=(2, 1, 2)).n == (1, 2)


@pytest.mark.parametrize("values", [{"max_words": 0}, {"max_ngrams": 0}, {"matches": -1}, {"max_spans": 0}, {"n": (0,)}])
def test_impossible_query_options_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        QueryOptions(**values)


@pytest.mark.parametrize("values", [{"max_window_log": 40}, {"max_bad_records": -1}, {"max_record_size": 0}, {"text_key": ""}])
def test_impossible_read_options_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ReadOptions(**values)


def test_the_default_place_of_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NGRAMSCOPE_INDEX", raising=False)
    assert str(default_index()) == "ngramscope-index"
    monkeypatch.setenv("NGRAMSCOPE_INDEX", "/elsewhere")
    assert str(default_index()) == "/elsewhere"
