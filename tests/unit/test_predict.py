"""What a corpus holds, predicted from groups of texts of which the whole is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ngramscope import UsageError
from ngramscope.index.plan import sample_size
from ngramscope.index.predict import predict

GROUPS = 64
Copies = Callable[[int], NDArray[np.int64]]


def drawn(chance: np.random.Generator, copies: Copies, scale: float) -> tuple[dict[str, Any], int]:
    """A sample, each occurrence with chance 1 / scale, of keys that occur ``copies(count)`` times; and how many keys there are."""
    keys = copies(60_000)
    seen = np.repeat(np.arange(keys.size), chance.binomial(keys, 1 / scale))
    groups = chance.integers(GROUPS, size=seen.size)
    pairs = np.unique(seen * GROUPS + groups)
    of_pair, times = np.unique(pairs // GROUPS, return_inverse=True)[1], np.bincount(pairs // GROUPS)
    in_groups = np.bincount(times[times > 0] - 1, minlength=GROUPS)
    of_group = np.zeros((GROUPS, GROUPS), int)
    np.add.at(of_group, (pairs % GROUPS, times[times > 0][of_pair] - 1), 1)
    occurrences = np.bincount(groups, minlength=GROUPS)
    counted = {"n": 7, "occurrences": occurrences, "share": 1.0, "in_groups": in_groups, "of_group": of_group}
    sample = {"bytes_total": scale * 10**6, "bytes_read": 10**6, "parts": 500, "documents": occurrences, "words": occurrences}
    return sample | {"sets": [counted]}, keys.size


@pytest.mark.parametrize(
    ("copies", "scale"),
    [
        (lambda count: np.ones(count, int), 10),
        # As in text: most occur once, a few very often.
        (lambda count: np.minimum(np.random.default_rng(3).zipf(1.9, count), 5000), 10),
        (lambda count: np.minimum(np.random.default_rng(4).zipf(2.5, count), 5000), 30),
    ],
    ids=["once", "zipf", "steep zipf"],
)
def test_the_interval_holds_the_distinct_ngrams(copies: Copies, scale: float) -> None:
    for seed in range(4):
        sample, truth = drawn(np.random.default_rng(seed), copies, scale)
        distinct = predict(sample).distinct[7]
        assert distinct.low <= truth <= distinct.high
        assert distinct.low <= distinct.value <= distinct.high


@pytest.mark.parametrize(("times", "scale"), [(2, 4), (5, 10), (3, 100)])
def test_copies_that_a_sample_hardly_shows_make_the_prediction_too_high_not_too_low(times: int, scale: float) -> None:
    sample, truth = drawn(np.random.default_rng(2), lambda count: np.full(count, times), scale)
    distinct = predict(sample).distinct[7]
    assert truth < distinct.value < distinct.high


def test_what_never_repeats_grows_with_the_text() -> None:
    sample, truth = drawn(np.random.default_rng(1), lambda count: np.ones(count, int), 10)
    prediction = predict(sample)
    assert prediction.scale == 10
    assert prediction.words.value == 10 * sum(sample["words"])
    assert prediction.distinct[7].value == pytest.approx(truth, rel=0.1)
    assert prediction.words.low < truth < prediction.words.high


def test_too_little_to_predict_from_is_refused() -> None:
    sample, _ = drawn(np.random.default_rng(1), lambda count: np.ones(count, int), 10)
    one_group = np.zeros(GROUPS, int)
    one_group[3] = 1000
    for documents in (one_group, np.ones(GROUPS, int)):
        with pytest.raises(UsageError, match="too few to predict from; give more, or --count"):
            predict(sample | {"documents": documents})


def test_a_sample_is_a_size_or_a_share() -> None:
    for given, meant in (("1GiB", 1 << 30), (5000, 5000), ("5%", 0.05), (0.05, 0.05), ("0.25", 0.25), (" .5 ", 0.5)):
        assert sample_size(given) == meant
    for wrong in ("5x", "100%", "0%", "-1%", "0.x", 1.5, 0.0, float("nan"), 0, "-3"):
        with pytest.raises(UsageError, match="--sample"):
            sample_size(wrong)
