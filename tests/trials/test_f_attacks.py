"""Trials of group F that concern attacks, with a model that is a table: the next token depends on the present one only."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from ngramscope.attacks.base import find_attack
from ngramscope.attacks.run import run_attacks
from tests.score_stores import Pass, inputs_of, write_store


@pytest.fixture(scope="module")
def model(trials: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((trials / "F" / "bigram_lm.json").read_bytes())
    return found


def law(model: Mapping[str, Any]) -> np.typing.NDArray[np.float64]:
    return np.log(np.array(model["next_token_probs_by_current_token"]))


def bigram(
    log_probs: np.typing.NDArray[np.float64], texts: Sequence[Sequence[int]], start: int | None = None, **facts: Any
) -> Pass:
    """A pass of that model; with a start token, that comes before every text."""
    given = [list(ids) if start is None else [start, *ids] for ids in texts]
    columns: dict[str, list[list[float]]] = {
        name: [] for name in ("token_id", "log_prob", "mu", "sigma", "rank", "top1_log_prob")
    }
    mu = (np.exp(log_probs) * log_probs).sum(axis=1)
    variance = (np.exp(log_probs) * log_probs**2).sum(axis=1) - mu**2
    for ids in given:
        now, following = ids[:-1], ids[1:]
        values = log_probs[now, following] if following else np.zeros(0)
        columns["token_id"].append(following)
        columns["log_prob"].append(values.tolist())
        columns["mu"].append(mu[now].tolist())
        columns["sigma"].append(np.sqrt(np.maximum(variance[now], 0)).tolist())
        columns["rank"].append([int((log_probs[a] > value).sum()) for a, value in zip(now, values, strict=True)])
        columns["top1_log_prob"].append(log_probs[now].max(axis=1).tolist())
    reasons = [None if len(ids) > 1 else "one_token" for ids in given]
    totals = [len(ids) for ids in texts]
    heads = [ids[:1] for ids in given]
    return Pass(columns, null_reasons=reasons, tokens_total=totals, head=heads, **facts)


@pytest.mark.parametrize(
    ("attack", "options", "answer"),
    [
        ("loss", {}, "mean_nll"),
        ("min-k", {"k": 0.2}, "mink_20"),
        ("min-k++", {"k": 0.2}, "minkpp_20_without_undefined"),
        ("min-k++", {"k": 0.2, "flat": "last"}, "minkpp_20_undefined_as_zero"),
    ],
)
def test_f02_f03_scores_are_those_worked_out(
    model: dict[str, Any], tmp_path: Path, attack: str, options: dict[str, Any], answer: str
) -> None:
    sequences = model["sequences"]
    store = write_store(tmp_path / "store", [bigram(law(model), [each["ids"] for each in sequences.values()])])
    table = run_attacks(store, [attack], options={attack: options})
    (column,) = table.columns
    sign = -1 if attack == "loss" else 1
    expected = {name: math.nan if each[answer] is None else sign * each[answer] for name, each in sequences.items()}
    assert dict(zip(sequences, column.scores.tolist(), strict=True)) == pytest.approx(expected, abs=1e-6, nan_ok=True)
    assert {name for name, reason in zip(sequences, column.reasons, strict=True) if reason == "one_token"} == {"none", "one"}
    assert set(column.reasons) == {None, "one_token"}
    assert column.settings.items() >= options.items()


def test_f02_every_token_of_long(model: dict[str, Any], tmp_path: Path) -> None:
    expected = model["sequences"]["long"]
    stats = inputs_of(tmp_path, bigram(law(model), [expected["ids"]])).stats()
    assert len(stats["log_prob"]) == 11
    assert stats["log_prob"].tolist() == pytest.approx(expected["token_logprobs"], abs=1e-6)
    assert -find_attack("loss").score(inputs_of(tmp_path / "a", bigram(law(model), [expected["ids"]])))["loss"][
        0
    ] == pytest.approx(1.648454, abs=1e-6)


def test_f03_no_nan_and_no_infinity_whatever_the_options(model: dict[str, Any], tmp_path: Path) -> None:
    texts = [each["ids"] for each in model["sequences"].values()]
    store = write_store(tmp_path / "store", [bigram(law(model), texts)])
    table = run_attacks(store)
    assert len({each.attack for each in table.columns}) > 25
    for column in table.columns:
        assert not np.isinf(column.scores).any(), column.name
        undefined = [reason is not None for reason in column.reasons]
        assert np.isnan(column.scores).tolist() == undefined, column.name


def sampled(log_probs: np.typing.NDArray[np.float64], seed: int, size: int) -> Iterator[list[int]]:
    random = np.random.default_rng(seed)
    for _ in range(size):
        ids = [int(random.integers(len(log_probs)))]
        while len(ids) < 12:
            ids.append(int(random.choice(len(log_probs), p=np.exp(log_probs[ids[-1]]) / np.exp(log_probs[ids[-1]]).sum())))
        yield ids


def test_f11_higher_means_member_for_every_attack(model: dict[str, Any], tmp_path: Path) -> None:
    probs = law(model)
    texts = list(sampled(probs, 1, 300))
    likelihood = [probs[ids[:-1], ids[1:]].mean() for ids in texts]
    order = np.argsort(likelihood)
    texts = [texts[row] for row in (*order[-60:], *order[:60])]
    labels = [1] * 60 + [0] * 60
    uniform = np.full_like(probs, -math.log(len(probs)))
    random = np.random.default_rng(2)
    neighbours = [random.permutation(ids).tolist() for ids in texts for _ in range(4)]
    owners = [row for row in range(len(texts)) for _ in range(4)]
    passes = [
        bigram(probs, texts), bigram(uniform, texts, role="reference", label="flat"),
        bigram(probs, neighbours, kind="neighbours", rows=owners),
        bigram(probs, [random.permutation(ids).tolist() for ids in texts], kind="lowercase"),
    ]  # fmt: skip
    table = run_attacks(write_store(tmp_path / "store", passes, labels=labels))
    aucs = {}
    for column in table.columns:
        known = ~np.isnan(column.scores)
        aucs[column.attack] = roc_auc_score(np.array(labels)[known], column.scores[known])
    wanted = (
        "loss", "perplexity", "zlib", "min-k", "min-k++", "gap-k", "rank.log", "rank.top1", "rank.reciprocal", "entropy.mean",
        "entropy.excess", "ref.flat", "smaller-ref.flat", "wbc.flat", "ez-mia.flat", "neighbourhood", "lowercase", "surp",
    )  # fmt: skip
    assert {name: aucs[name] > 0.5 for name in wanted} == dict.fromkeys(wanted, True)
    assert aucs["loss"] == 1.0


def test_f11_references_that_are_the_target_or_do_not_fit(model: dict[str, Any], tmp_path: Path) -> None:
    probs = law(model)
    texts = list(sampled(probs, 3, 20))
    passes = [
        bigram(probs, texts), bigram(probs, texts, role="reference", label="copy"),
        bigram(probs, [ids[::2] for ids in texts], role="reference", label="other", tokenizer="tokenizer-b", text_bytes=[44] * 20),
    ]  # fmt: skip
    table = run_attacks(write_store(tmp_path / "store", passes))
    by_name = {each.attack: each.scores for each in table.columns}
    for name in ("ref.copy", "wbc.copy"):
        assert by_name[name].tolist() == [0] * 20
    (ez,) = (each for each in table.columns if each.attack == "ez-mia.copy")
    assert set(zip(np.nan_to_num(ez.scores, nan=1).tolist(), ez.reasons, strict=True)) == {(0, None), (1, "no_error_position")}
    # Eleven tokens of four bytes each were scored by the target; the other tokenizer is compared over the same 44 bytes.
    whole = np.array([[probs[ids[:-1], ids[1:]].sum(), probs[ids[::2][:-1], ids[::2][1:]].sum()] for ids in texts])
    assert by_name["ref.other"] == pytest.approx((whole[:, 0] - whole[:, 1]) / 44, abs=1e-6)
    assert "wbc.other" not in by_name
