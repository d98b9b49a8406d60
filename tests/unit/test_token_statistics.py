"""Statistics of tokens against numbers worked out elsewhere, and against float64."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from ngramscope.models.stats import DEFAULT_STATISTICS, STATISTICS
from ngramscope.models.token_statistics import logit_statistics, torch_statistics

ALL = tuple(name for name in STATISTICS if name != "token_id")
DEFAULT = tuple(name for name in DEFAULT_STATISTICS if name != "token_id")
Statistics = Callable[..., dict[str, np.ndarray]]


@pytest.fixture(params=[logit_statistics, torch_statistics], ids=["core", "torch"])
def statistics(request: pytest.FixtureRequest) -> Statistics:
    """By the compiled core, as on a processor, and by torch, as on a card."""

    def run(logits: object, targets: list[int], names: tuple[str, ...] = ALL) -> dict[str, np.ndarray]:
        found = request.param(torch.tensor(logits, dtype=torch.float32), torch.tensor(targets), names)
        assert list(found) == list(names)
        assert all(values.numpy().dtype == STATISTICS[name] for name, values in found.items())
        return {name: values.numpy() for name, values in found.items()}

    return run


def test_toy_logits(statistics: Statistics) -> None:
    found = statistics([[2, 0, -1, 1], [0.5] * 4, [3, -2, 0, 1]], [0, 2, 3])
    assert found["log_prob"] == pytest.approx([-0.440190, -1.386294, -2.175515], abs=1e-6)
    assert found["mu"] == pytest.approx([-0.947537, -1.386294, -0.556199], abs=1e-6)
    assert found["sigma"] ** 2 == pytest.approx([0.616586, 0, 0.826564], abs=1e-6)
    assert found["sigma"][1] == 0
    z = (found["log_prob"] - found["mu"])[[0, 2]] / found["sigma"][[0, 2]]
    assert z == pytest.approx([0.646113, -1.781121], abs=1e-5)
    flat = (found["log_prob"] - found["flat_mu"])[[0, 2]] / found["flat_sigma"][[0, 2]]
    assert flat == pytest.approx([1.161895, 0.240192], abs=1e-5)
    assert found["flat_sigma"][1] == 0
    assert found["rank"].tolist() == [0, 0, 1]


@pytest.mark.parametrize("offset", [0.0, -100.0, 40.0])
def test_as_in_float64(statistics: Statistics, offset: float) -> None:
    random = np.random.default_rng(1)
    logits = (4 * random.standard_normal((50, 5000)) + offset).astype(np.float32)
    logits[3, 17] += 60  # all of the probability on one token
    targets = [17, *random.integers(0, 5000, 49).tolist()]
    exact = logits.astype(np.float64)
    total = np.log(np.exp(exact - exact.max(1, keepdims=True)).sum(1)) + exact.max(1)
    log_probs = exact - total[:, None]
    weights = np.exp(log_probs)
    mu = (weights * log_probs).sum(1)
    own = exact[np.arange(50), targets]
    expected = {
        "log_prob": own - total,
        "mu": mu,
        "sigma": np.sqrt((weights * (log_probs - mu[:, None]) ** 2).sum(1)),
        "rank": (exact > own[:, None]).sum(1),
        "top1_log_prob": exact.max(1) - total,
        "logsumexp": total,
        "flat_mu": log_probs.mean(1),
        "flat_sigma": log_probs.std(1, ddof=1),
    }
    found = statistics(logits, targets)
    assert set(found) == set(expected)
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, abs=2e-5), name
    some = ("log_prob", "rank")
    assert all((values == found[name]).all() for name, values in statistics(logits, targets, some).items())


def test_tokens_that_cannot_come(statistics: Statistics) -> None:
    never = float("-inf")
    found = statistics([[1.0, never, 0.5, never], [never, 0, never, never]], [0, 1], DEFAULT)
    alone = statistics([[1.0, 0.5], [0, -1e9]], [0, 0], DEFAULT)
    for name, values in alone.items():
        assert found[name] == pytest.approx(values, abs=1e-6), name
    # A token that has come though it cannot: minus infinity, for the caller to see.
    assert statistics([[0.0, never]], [1])["log_prob"][0] == never


def test_broken_logits_are_seen_in_every_statistic(statistics: Statistics) -> None:
    found = statistics([[0.0, float("nan"), 1.0], [0.0, float("inf"), 1.0]], [0, 0], ("log_prob", "mu", "sigma", "logsumexp"))
    assert not any(np.isfinite(values).any() for values in found.values())
