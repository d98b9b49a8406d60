"""Every attack against numbers worked out by hand or with the public code that it follows."""

from __future__ import annotations

import math
import zlib as compression
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope.attacks.base import Inputs, MissingPassError, attacks, find_attack
from ngramscope.attacks.loss_tail import loss_tail
from ngramscope.attacks.numbers import count_of
from ngramscope.errors import UsageError
from tests.score_stores import Pass, inputs_of

A = [-0.1, -2.3, -0.05, -4, -1.2, -0.7, -3.1, -0.02, -0.9, -1.6, -0.3]
REFERENCE = [-0.5, -2, -0.1, -4.5, -1, -1, -3, -0.5, -1, -1, -0.4]
LOGITS = [[2, 0, -1, 1], [0.5] * 4, [3, -2, 0, 1]]
TARGETS = [0, 2, 3]
PANGRAM = "The quick brown fox jumps over the lazy dog."

Values = Mapping[str, list[list[float]]]


def scored(inputs: Inputs, name: str, **options: Any) -> list[float]:
    """Scores of an attack with one column."""
    (column,) = find_attack(name).score(inputs, **options).values()
    return [float(each) for each in column]


def plain(log_prob: list[list[float]], *, more: Values | None = None, **facts: Any) -> Pass:
    """A pass whose tokens are 1, 2, ...; `more` are further columns."""
    ids = [list(range(1, 1 + len(each))) for each in log_prob]
    return Pass({"token_id": ids, "log_prob": log_prob, **(more or {})}, **facts)


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("loss", {}, -1.297272727),
        ("perplexity", {}, -3.659303129),
        ("zlib", {}, -0.025436720),
        ("zlib", {"form": "rate"}, -1.119215686),
        ("min-k", {"k": 0.05, "k_round": "floor"}, math.nan),
        ("min-k", {"k": 0.05}, -4.0),
        ("min-k", {"k": 0.1}, -4.0),
        ("min-k", {"k": 0.1, "k_round": "ceil"}, -3.55),
        ("min-k", {"k": 0.2}, -3.55),
        ("min-k", {}, -3.55),
        ("min-k", {"k": 0.2, "k_round": "ceil"}, -3.133333),
        ("min-k", {"k": 0.3}, -3.133333),
        ("min-k", {"k": 0.3, "k_round": "ceil"}, -2.75),
        ("min-k", {"k": 0.6}, -2.183333),
        ("min-k", {"k": 1.0}, -1.297273),
        ("min-k", {"k": 0.2, "tokens": "most-likely"}, -0.035),
    ],
)
def test_numbers_of_one_pass(tmp_path: Path, name: str, options: dict[str, Any], expected: float) -> None:
    inputs = inputs_of(
        tmp_path, plain([A], zlib_bytes=[len(compression.compress(PANGRAM.encode()))], text_bytes=[len(PANGRAM)])
    )
    assert scored(inputs, name, **options) == pytest.approx([expected], abs=1e-6, nan_ok=True)


def moments(*, weighted: bool) -> dict[str, list[float]]:
    """Statistics of the toy logits; unweighted moments are what one public implementation takes for those of Min-K%++."""
    logits = np.array(LOGITS, dtype=np.float64)
    logsumexp = np.log(np.exp(logits).sum(axis=1))
    logp = logits - logsumexp[:, None]
    weights = np.exp(logp) if weighted else np.full_like(logp, 0.25)
    mu = (weights * logp).sum(axis=1)
    variance = (weights * logp**2).sum(axis=1) - mu**2
    if not weighted:
        variance = variance * 4 / 3  # torch.std divides by n - 1
    names = ("mu", "sigma") if weighted else ("flat_mu", "flat_sigma")
    values = {
        "log_prob": logp[range(3), TARGETS], names[0]: mu, names[1]: np.sqrt(np.maximum(variance, 0)), "top1_log_prob": logp.max(axis=1),
    }  # fmt: skip
    return {name: each.tolist() for name, each in values.items()}


def toy(*, weighted: bool = True, together: bool = False) -> Pass:
    """The toy logits, each token a text of its own, or all of them one."""
    return Pass({name: [each] if together else [[v] for v in each] for name, each in moments(weighted=weighted).items()})


def test_statistics_of_the_toy_logits() -> None:
    found = moments(weighted=True)
    assert found["log_prob"] == pytest.approx([-0.440190, -1.386294, -2.175515], abs=1e-6)
    assert found["mu"] == pytest.approx([-0.947537, -1.386294, -0.556199], abs=1e-6)
    assert np.square(found["sigma"]) == pytest.approx([0.616586, 0, 0.826564], abs=1e-6)


@pytest.mark.parametrize(
    ("weighted", "flat", "expected"),
    [
        (True, "omit", [0.646113, math.nan, -1.781121]),
        (True, "last", [0.646113, math.nan, -1.781121]),
        (True, "clamp", [0.646113, 0, -1.781121]),
        (False, "omit", [1.161895, math.nan, 0.240192]),
    ],
)
def test_min_k_plus_plus(tmp_path: Path, weighted: bool, flat: str, expected: list[float]) -> None:
    inputs = inputs_of(tmp_path, toy(weighted=weighted))
    moments_ = "weighted" if weighted else "unweighted"
    assert scored(inputs, "min-k++", flat=flat, moments=moments_) == pytest.approx(expected, abs=2e-6, nan_ok=True)


def test_unweighted_moments_are_not_always_kept(tmp_path: Path) -> None:
    with pytest.raises(MissingPassError, match="--statistic flat_mu"):
        scored(inputs_of(tmp_path, toy()), "min-k++", moments="unweighted")


@pytest.mark.parametrize(("flat", "expected"), [("omit", -0.567504), ("clamp", -0.378336), ("last", math.nan)])
def test_flat_positions_by_rule(tmp_path: Path, flat: str, expected: float) -> None:
    inputs = inputs_of(tmp_path, toy(together=True))
    assert scored(inputs, "min-k++", k=1.0, flat=flat) == pytest.approx([expected], abs=1e-6, nan_ok=True)


@pytest.mark.parametrize(
    ("options", "expected"),
    [({"a": 10.0}, 0.138217), ({"a": 0.2}, 0.094385), ({"a": 0.01}, 0.008527), ({}, 0.008527)],
)
def test_dc_pdd(tmp_path: Path, options: dict[str, Any], expected: float) -> None:
    counts = np.array([0, 10, 3, 0, 1])
    one = Pass({"token_id": [[1, 2, 1, 4]], "log_prob": [[-0.5, -3, -0.1, -6]]})
    assert scored(inputs_of(tmp_path, one, token_counts=counts), "dc-pdd", **options) == pytest.approx([expected], abs=1e-6)


def test_dc_pdd_token_by_token(tmp_path: Path) -> None:
    counts = np.array([0, 10, 3, 0, 1])
    assert (counts + 1) / (counts.sum() + 5) == pytest.approx([0.052632, 0.578947, 0.210526, 0.052632, 0.105263], abs=1e-6)
    texts = Pass({"token_id": [[1], [2], [4], []], "log_prob": [[-0.5], [-3], [-6], []]})
    expected = [0.331496, 0.077575, 0.005580, math.nan]
    assert scored(inputs_of(tmp_path, texts, token_counts=counts), "dc-pdd", a=10.0) == pytest.approx(
        expected, abs=1e-6, nan_ok=True
    )


def test_dc_pdd_and_the_first_token(tmp_path: Path) -> None:
    counts = np.array([0, 10, 3, 0, 1])
    ids, log_prob = [[1, 2, 1, 4]], [[-0.5, -3, -0.1, -6]]
    after_start = inputs_of(
        tmp_path / "a", Pass({"token_id": ids, "log_prob": log_prob}, tokens_total=[4]), token_counts=counts
    )
    alone = inputs_of(tmp_path / "b", Pass({"token_id": ids, "log_prob": log_prob}), token_counts=counts)
    whole = scored(after_start, "dc-pdd", a=10.0, first="required")
    assert whole == scored(alone, "dc-pdd", a=10.0, first="drop") == pytest.approx([0.138217], abs=1e-6)
    third = math.exp(-0.1) * math.log(19 / 11)
    dropped = (0.077575 + third + 0.005580) / 3
    assert scored(after_start, "dc-pdd", a=10.0, first="drop") == pytest.approx([dropped], abs=1e-6)
    with pytest.raises(MissingPassError, match="start token"):
        scored(alone, "dc-pdd", first="required")
    with pytest.raises(UsageError, match="another tokenizer"):
        scored(inputs_of(tmp_path / "c", Pass({"token_id": [[9]], "log_prob": [[-1]]}), token_counts=counts), "dc-pdd")
    with pytest.raises(MissingPassError, match="--token-counts"):
        scored(inputs_of(tmp_path / "d", Pass({"token_id": [[1]], "log_prob": [[-1]]})), "dc-pdd")


@pytest.mark.parametrize(
    ("windows", "expected"), [("1", 0.636364), ("2", 0.7), ("3", 0.666667), ("20", 1.0), ("1,20", 0.818182)]
)
def test_wbc(tmp_path: Path, windows: str, expected: float) -> None:
    inputs = inputs_of(tmp_path, plain([A]), plain([REFERENCE], role="reference", label="r"))
    assert scored(inputs, "wbc", windows=windows) == pytest.approx([expected], abs=1e-6)


def test_ref(tmp_path: Path) -> None:
    inputs = inputs_of(tmp_path, plain([A]), plain([REFERENCE], role="reference", label="r"))
    assert scored(inputs, "ref") == pytest.approx([0.066364], abs=1e-6)
    assert scored(inputs, "ref", form="ratio") == pytest.approx([-np.mean(A) / np.mean(REFERENCE)], abs=1e-6)


def test_several_references_have_an_average_and_a_smallest(tmp_path: Path) -> None:
    inputs = inputs_of(
        tmp_path, plain([A, [-1]]),
        plain([REFERENCE, [-3]], role="reference", label="large", parameters=9),
        plain([[-2] * 11, [-5]], role="reference", label="small", parameters=2),
    )  # fmt: skip
    found = find_attack("ref").score(inputs)
    assert list(found) == ["ref.large", "ref.small", "ref.average"]
    assert found["ref.average"] == pytest.approx((found["ref.large"] + found["ref.small"]) / 2)
    smallest = find_attack("smaller-ref").score(inputs)
    assert list(smallest) == ["smaller-ref.small"]
    assert smallest["smaller-ref.small"] == pytest.approx(found["ref.small"])


def test_another_tokenizer_is_compared_per_byte_of_the_same_text(tmp_path: Path) -> None:
    other = plain([[-6], [-2, -2], [-1]], role="reference", label="r", tokenizer="tokenizer-b", text_bytes=[8, 8, 5])
    inputs = inputs_of(
        tmp_path, plain([[-1, -3], [-1, -1], [-1]], text_bytes=[8, 8, 8], more={"rank": [[1, 1], [1, 1], [1]]}), other
    )
    assert scored(inputs, "ref") == pytest.approx([(-4 + 6) / 8, (-2 + 4) / 8, math.nan], nan_ok=True)
    with pytest.raises(UsageError, match="another tokenizer"):
        scored(inputs, "ref", tokenizers="refuse")
    for name in ("wbc", "ez-mia"):
        with pytest.raises(MissingPassError, match="tokenizer"):
            find_attack(name).score(inputs)


def test_tokens_that_differ_are_not_compared(tmp_path: Path) -> None:
    target = Pass(
        {
            "token_id": [[1, 2], [1, 2], [3, 1, 2]],
            "log_prob": [[-1, -2], [-1, -2], [-9, -1, -2]],
            "rank": [[1, 1]] * 2 + [[1] * 3],
        }
    )
    reference = Pass({"token_id": [[1, 2], [1, 3], [1, 2]], "log_prob": [[-3, -3]] * 3}, role="reference", label="r")
    inputs = inputs_of(tmp_path, target, reference)
    # The third is scored from its second token on by the reference: the first is left out.
    assert scored(inputs, "ref") == pytest.approx([1.5, math.nan, 1.5], nan_ok=True)
    assert scored(inputs, "wbc") == pytest.approx([1, math.nan, 1], nan_ok=True)


def prefixed(plain_ll: float, given: float, members: float) -> list[Pass]:
    return [
        plain([[plain_ll] * 2]), plain([[given] * 2], kind="prefix"), plain([[members] * 2], kind="prefix-members"),
    ]  # fmt: skip


def test_recall_and_con_recall(tmp_path: Path) -> None:
    inputs = inputs_of(tmp_path, *prefixed(-2.0, -2.5, -2.2))
    assert scored(inputs, "recall") == pytest.approx([1.25])
    assert scored(inputs, "con-recall", gamma=0.5) == scored(inputs, "con-recall") == pytest.approx([0.7])
    assert scored(inputs, "con-recall", gamma=1) == pytest.approx([0.15])


def test_recall_over_the_same_tokens_or_over_all(tmp_path: Path) -> None:
    given = Pass({"token_id": [[9, 1, 2]], "log_prob": [[-9, -1, -2]]}, kind="prefix")
    inputs = inputs_of(tmp_path, Pass({"token_id": [[1, 2]], "log_prob": [[-1, -2]]}), given)
    assert scored(inputs, "recall") == [1.0]
    assert scored(inputs, "recall", tokens="all") == pytest.approx([4 / 1.5])


def test_recall_without_a_prefix_is_one_and_without_a_loss_undefined(tmp_path: Path) -> None:
    texts = [A, [0.0, 0.0]]
    inputs = inputs_of(tmp_path, plain(texts), plain(texts, kind="prefix"), plain(texts, kind="lowercase"))
    for name in ("recall", "lowercase"):
        assert scored(inputs, name) == pytest.approx([1.0, math.nan], abs=0, nan_ok=True)


def test_neighbourhood(tmp_path: Path) -> None:
    neighbours = plain([[-3.0], [-1.0], [-2, -4], []], kind="neighbours", rows=[0, 0, 1, 1])
    inputs = inputs_of(tmp_path, plain([[-1], [-2], [-1]]), neighbours)
    assert scored(inputs, "neighbourhood") == pytest.approx([1, 1, math.nan], nan_ok=True)
    assert scored(inputs, "neighbourhood", aggregate="least-likely") == pytest.approx([2, 1, math.nan], nan_ok=True)


def test_pac(tmp_path: Path) -> None:
    def distance(values: list[float]) -> float:
        ordered = sorted(values)
        return ordered[-1] - sum(ordered[:3]) / 3  # of 11 tokens, the 3 lowest and the highest

    swapped = [REFERENCE, [each - 1 for each in A]]
    inputs = inputs_of(tmp_path, plain([A]), plain(swapped, kind="swaps", rows=[0, 0]))
    expected = (distance(swapped[0]) + distance(swapped[1])) / 2 - distance(A)
    assert scored(inputs, "pac") == pytest.approx([expected], abs=1e-6)


def test_surp_takes_unlikely_tokens_of_sure_predictions(tmp_path: Path) -> None:
    entropies = [3.0, 1.0, 1.0, 2.5, 1.0]
    columns = {"log_prob": [[-1, -2, -5, -9, -0.1]] * 2, "mu": [[-each for each in entropies], [-3.0] * 5]}
    inputs = inputs_of(tmp_path, Pass(columns))
    # The two lowest are -9 (unsure) and -5 (sure).
    assert scored(inputs, "surp") == pytest.approx([-5, math.nan], nan_ok=True)
    assert scored(inputs, "surp", empty=-100.0) == pytest.approx([-5, -100])


def test_gap_k_smooths_and_takes_the_lowest(tmp_path: Path) -> None:
    gaps = [0.0, -2.0, -4.0, -1.0, 0.0, -3.0, 0.0]
    columns = {
        "log_prob": [[each - 0.5 for each in gaps], [-2.5, -1.5]],
        "top1_log_prob": [[-0.5] * 7, [-0.5] * 2],
        "sigma": [[2.0] * 7, [0.0, 1.0]],
    }
    inputs = inputs_of(tmp_path, Pass(columns))
    averages = sorted(sum(gaps[at : at + 3]) / 6 for at in range(5))
    found = scored(inputs, "gap-k", k=0.4)
    assert found == pytest.approx([(averages[0] + averages[1]) / 2, -2 / 1e-4])
    assert scored(inputs, "gap-k", window=1, k=1.0)[0] == pytest.approx(sum(gaps) / 14)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # Rises of 1 and 2, a fall of 1; no error; nothing moved; a single error that rises.
        ({}, [0.5, math.nan, 0.0, 1.0]),
        ({"edge": "member"}, [0.5, 1.0, 0.0, 1.0]),
        ({"edge": "non-member"}, [0.5, -1.0, -1.0, -1.0]),
        ({"skip_first": True}, [1 / 3, math.nan, 0.0, math.nan]),
    ],
)
def test_ez_mia(tmp_path: Path, options: dict[str, Any], expected: list[float]) -> None:
    target = Pass(
        {
            "token_id": [[1, 2, 3, 4], [1, 2], [1, 2], [1, 2]],
            "log_prob": [[-2, -2, -2, -1], [-1, -1], [-3, -3], [-2, -2]],
            "rank": [[1, 2, 5, 0], [0, 0], [4, 4], [1, 0]],
        }
    )
    reference = Pass(
        {"token_id": target.columns["token_id"], "log_prob": [[-3, -4, -1, -9], [-2, -2], [-3, -3], [-5, -5]]},
        role="reference", label="r",
    )  # fmt: skip
    assert scored(inputs_of(tmp_path, target, reference), "ez-mia", **options) == pytest.approx(expected, nan_ok=True)


def test_rank_and_entropy(tmp_path: Path) -> None:
    columns = {"rank": [[0, 9, 99]], "log_prob": [[-1, -2, -6]], "mu": [[-2, -2, -2]]}
    inputs = inputs_of(tmp_path, Pass(columns))
    found = {**find_attack("rank").score(inputs), **find_attack("entropy").score(inputs)}
    expected = {
        "rank.log": -math.log(1000) / 3, "rank.top1": 1 / 3, "rank.top10": 2 / 3, "rank.reciprocal": 1.11 / 3,
        "entropy.mean": -2, "entropy.excess": -1,
    }  # fmt: skip
    assert {name: float(each[0]) for name, each in found.items()} == pytest.approx(expected)


def test_gradient_norm_has_the_sign_of_the_loss(tmp_path: Path) -> None:
    inputs = inputs_of(
        tmp_path, Pass({}, kind="gradient", scalars={"gradient_mean_inf": [1.0, 3.0], "gradient_global_2": [5, 6]})
    )
    assert scored(inputs, "gradient-norm") == [-1, -3]
    assert scored(inputs, "gradient-norm", member="larger") == [1, 3]
    assert scored(inputs, "gradient-norm", aggregate="global", norm="2") == [-5, -6]
    with pytest.raises(MissingPassError, match="gradient_mean_1"):
        scored(inputs, "gradient-norm", norm="1")


@pytest.mark.parametrize(
    ("share", "tokens", "expected"), [(0.29, 100, 29), (0.05, 11, 1), (0.2, 10, 2), (0.6, 5, 3), (1.0, 7, 7)]
)
def test_a_share_of_tokens_is_not_lost_to_rounding(share: float, tokens: int, expected: int) -> None:
    assert count_of(share, tokens) == expected


@pytest.mark.parametrize("seed", range(3))
def test_all_tokens_of_min_k_are_the_loss_attack(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    texts = [(-random.exponential(2, size)).tolist() for size in random.integers(1, 200, 30)]
    inputs = inputs_of(tmp_path, plain(texts))
    assert scored(inputs, "min-k", k=1.0) == pytest.approx(scored(inputs, "loss"), abs=1e-12)


def test_a_reference_that_is_the_target_gives_zero(tmp_path: Path) -> None:
    texts = [A, [-1.5, -2]]
    ranks = [[1] * len(each) for each in texts]
    ids = [list(range(len(each))) for each in texts]
    columns: Values = {"token_id": ids, "log_prob": texts, "rank": ranks}
    # Once under another name, and once the very same model, scored as target and as reference.
    inputs = inputs_of(tmp_path, Pass(columns), Pass(columns, role="reference", label="copy"), Pass(columns, role="reference"))
    for name in ("ref", "smaller-ref", "wbc", "ez-mia"):
        for column in find_attack(name).score(inputs).values():
            assert column.tolist() == [0, 0]


def test_loss_tail_is_the_share_of_non_members_beyond_members() -> None:
    scores = np.array([-1.0, -2, -3, -4, -2.5, -3.5, -9, math.nan, -100])
    labels = np.array([1, 1, 1, 1, 0, 0, 0, 0, math.nan])
    (_, _, row) = loss_tail(scores, labels)
    assert row == {"fnr": 0.05, "attained_fnr": 0, "tnr": 1 / 3, "threshold": -4, "members": 4, "nonmembers": 3}
    many = np.concatenate([-np.arange(100.0), [-94.5, -95.5]])
    (_, at_one, at_five) = loss_tail(many, np.array([1] * 100 + [0] * 2))
    assert (at_one["threshold"], at_one["attained_fnr"], at_one["tnr"]) == (-98, 0.01, 0)
    assert (at_five["threshold"], at_five["attained_fnr"], at_five["tnr"]) == (-94, 0.05, 1)
    assert loss_tail(scores, np.ones(9)) == []


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("min-k", {"k": 0}, "above 0"),
        ("min-k", {"k": 1.5}, "at most 1"),
        ("min-k", {"k": "a"}, "number"),
        ("min-k", {"k_round": "up"}, "floor-min1"),
        ("min-k", {"size": 3}, "no option 'size'"),
        ("min-k++", {"flat": "zero"}, "clamp"),
        ("zlib", {"form": "x"}, "bytes"),
        ("surp", {"empty": math.nan}, "number"),
        ("gap-k", {"window": 0}, "at least 1"),
        ("wbc", {"windows": "2,x"}, "commas"),
        ("ez-mia", {"skip_first": 1}, "True or False"),
        ("recall", {"tokens": "some"}, "common"),
        ("ref", {"form": "x"}, "difference"),
        ("smaller-ref", {"form": "x"}, "difference"),
        ("con-recall", {"gamma": -1}, "above 0"),
        ("pac", {"far": 0}, "above 0"),
        ("gradient-norm", {"norm": "3"}, "inf"),
        ("neighbourhood", {"aggregate": "max"}, "mean"),
        ("dc-pdd", {"first": "never"}, "drop"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(tmp_path: Path, name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        find_attack(name).score(inputs_of(tmp_path, plain([A])), **options)
    assert name in str(caught.value)


def test_every_attack_is_described() -> None:
    for name, each in attacks().items():
        assert name == each.name
        assert each.summary.endswith(".")
        assert each.source
        assert each.function.__doc__
        for values in each.compat.values():
            assert isinstance(values, str) or each.check(values)
        for swept in each.sweep:
            each.check(swept)
