"""Each statistic against scipy or an oracle that enumerates."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from ngramscope.sets.shift import (
    TwoSamples,
    bootstrap,
    detectable_shift,
    distances,
    holm,
    mean_test,
    permute,
    relabelled,
    two_samples,
)
from ngramscope.sets.vocabulary import vocabulary_shift

Floats = np.typing.NDArray[np.float64]


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def by_scipy(a: Floats, b: Floats) -> dict[str, float]:
    return {
        "mean": float(a.mean() - b.mean()),
        "ks": float(stats.ks_2samp(a, b).statistic),
        "auc": float(stats.mannwhitneyu(a, b).statistic / (len(a) * len(b))),
        "wasserstein": float(stats.wasserstein_distance(a, b)),
        "energy": float(stats.energy_distance(a, b)),
    }


def pair(seed: int) -> tuple[Floats, Floats]:
    """Two samples of unequal sizes, with ties inside and across when the seed is odd."""
    random = rng(seed)
    digits = 1 if seed % 2 else 12
    return np.round(random.random(5 + 7 * seed), digits), np.round(random.beta(2, 5, 40 - 5 * seed), digits)


@pytest.mark.parametrize("seed", range(7))
def test_distances_are_those_of_scipy(seed: int) -> None:
    a, b = pair(seed)
    found = distances(two_samples(a, b))
    assert found == pytest.approx(by_scipy(a, b), abs=1e-12)


def test_equal_values_have_no_distance() -> None:
    assert distances(two_samples([2.0] * 3, [2.0] * 5)) == {
        "mean": 0, "ks": 0, "auc": 0.5, "wasserstein": 0, "energy": 0,
    }  # fmt: skip


@pytest.mark.parametrize("grouped", [False, True])
def test_permuted_distances_are_those_of_the_permuted_sides(grouped: bool) -> None:
    a, b = pair(3)
    groups = (np.arange(len(a)) // 3, np.arange(len(b)) // 2) if grouped else (None, None)
    samples = two_samples(a, b, groups)
    found = permute(samples, 30, rng(5))
    labels = np.concatenate(list(relabelled(samples, 30, rng(5))))
    for row, sides in enumerate(labels):
        ours = sides[samples.unit]
        expected = by_scipy(samples.values[ours], samples.values[~ours])
        assert {name: values[row] for name, values in found.items()} == pytest.approx(expected, abs=1e-12)


def studentized(a: list[Floats], b: list[Floats]) -> float:
    """Shift over its standard error, of two lists of groups, by the formula in words."""
    means, variances = [], []
    for side in (a, b):
        size, mean = sum(map(len, side)), np.concatenate(side).mean()
        k = len(side)
        variances.append(sum((group - mean).sum() ** 2 for group in side) / size**2 * k / (k - 1))
        means.append(mean)
    return float(abs(means[0] - means[1]) / math.sqrt(sum(variances)))


@pytest.mark.parametrize("size", [1, 3])
def test_the_p_value_is_the_share_of_all_divisions(size: int) -> None:
    random = rng(2)
    units = [random.random(1 + (number % size)) + (0.45 if number < 4 else 0) for number in range(9)]
    groups = [np.repeat(np.arange(len(side)), [len(each) for each in side]) for side in (units[:4], units[4:])]
    samples = two_samples(np.concatenate(units[:4]), np.concatenate(units[4:]), (groups[0], groups[1]))
    observed = studentized(units[:4], units[4:])
    as_far = [
        studentized([units[each] for each in ours], [units[each] for each in range(9) if each not in ours]) >= observed - 1e-12
        for ours in itertools.combinations(range(9), 4)
    ]
    exact = float(np.mean(as_far))
    assert 0.01 < exact < 0.5
    test = mean_test(samples, 20_000, rng(0))
    assert test.p == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))
    assert abs(test.shift) / test.standard_error == pytest.approx(observed)


def test_without_groups_the_standard_error_is_that_of_welch() -> None:
    a, b = pair(4)
    test = mean_test(two_samples(a, b), 99, rng(0))
    assert test.shift / test.standard_error == pytest.approx(stats.ttest_ind(a, b, equal_var=False).statistic)


def test_means_without_any_spread() -> None:
    assert mean_test(two_samples([1.0] * 5, [1.0] * 5), 99, rng(0)).p == 1
    assert mean_test(two_samples([1.0] * 12, [2.0] * 12), 999, rng(0)).p == 0.001


def test_groups_stay_together() -> None:
    # A group of the first side and one of the second are two, though they have one number; -1 stands alone.
    samples = two_samples(np.arange(5.0), np.arange(4.0), ([7, 7, 2, -1, -1], [7, 2, 2, -1]))
    assert samples.units == (4, 3)
    first, second = np.split(samples.unit, [5])
    assert first[0] == first[1]
    assert len(set(first)) == 4
    assert second[1] == second[2]
    assert not set(first) & set(second)
    labels = np.concatenate(list(relabelled(samples, 500, rng(1))))
    assert set(labels.sum(axis=1)) == {4}
    assert len(np.unique(labels, axis=0)) == math.comb(7, 4)


def clustered(random: np.random.Generator) -> TwoSamples:
    """Two sides of one distribution: 15 groups each, of 8 values that have much in common."""
    values = [np.repeat(random.random(15), 8) + 0.05 * random.random(120) for _ in range(2)]
    return two_samples(values[0], values[1], (np.repeat(np.arange(15), 8), np.repeat(np.arange(15), 8)))


def test_groups_that_are_ignored_are_false_alarms() -> None:
    random = rng(11)
    kept = ignored = 0
    for _ in range(100):
        samples = clustered(random)
        kept += mean_test(samples, 199, random).p <= 0.05
        first, second = np.split(samples.values, 2)
        ignored += mean_test(two_samples(first, second), 199, random).p <= 0.05
    assert kept <= 12  # 5 expected; more than 12 once in a thousand
    assert ignored > 35


def test_resamples_draw_whole_groups() -> None:
    samples = two_samples([0.0] * 5 + [1.0] * 3, [0.0, 0.0], ([0] * 5 + [1] * 3, None))
    means = bootstrap(samples, 400, rng(0))["mean"]
    values, counts = np.unique(means.round(9), return_counts=True)
    assert values.tolist() == [0, 0.375, 1]  # twice the one, each once, twice the other
    assert counts / 400 == pytest.approx([0.25, 0.5, 0.25], abs=0.1)


def test_resamples_are_as_wide_as_theory_says() -> None:
    a, b = rng(1).normal(0, 1, 150), rng(2).normal(1, 3, 80)
    drawn = bootstrap(two_samples(a, b), 4000, rng(3))
    error = math.sqrt(a.var() / 150 + b.var() / 80)
    assert drawn["mean"].std() == pytest.approx(error, rel=0.05)
    assert drawn["mean"].mean() == pytest.approx(a.mean() - b.mean(), abs=4 * error / math.sqrt(4000))
    for name, value in by_scipy(a, b).items():
        low, high = np.quantile(drawn[name], [0.005, 0.995])
        assert low < value < high


def test_holm_is_bonferroni_over_all_intersections() -> None:
    random = rng(4)
    for count in range(1, 7):
        p = np.round(random.random(count) ** 3, 2).tolist()
        subsets = [subset for size in range(1, count + 1) for subset in itertools.combinations(range(count), size)]
        closed = [
            max(min(1.0, len(subset) * min(p[each] for each in subset)) for subset in subsets if place in subset)
            for place in range(count)
        ]
        assert holm(p) == pytest.approx(closed)
    assert holm([]) == []


@pytest.mark.parametrize(("error", "least"), [(0.01, 0.0), (0.01, 0.02), (0.01, 0.05)])
def test_a_detectable_shift_is_called_as_often_as_said(error: float, least: float) -> None:
    random = rng(6)
    shift = detectable_shift(error, alpha=0.05, least=least)
    estimates = random.normal(shift, error, 200_000)
    called = (np.abs(estimates) >= 1.959964 * error) & (np.abs(estimates) >= least)
    assert called.mean() == pytest.approx(0.8, abs=0.004)


def test_the_vocabulary_distance_is_that_of_scipy() -> None:
    from scipy.spatial.distance import jensenshannon

    first, second = ["a a b, The", "the c"], ["d the", "a", "e e e"]
    words = ["a", "b", "the", "c", "d", "e"]
    one, other = ([" ".join(side).lower().replace(",", "").split().count(word) for word in words] for side in (first, second))
    found = vocabulary_shift(first, second, permutations=99, random=rng(0))
    assert found.distance == pytest.approx(jensenshannon(one, other, base=2))
    assert {each["word"] for each in found.more_in_second} == {"d", "e"}
    assert found.more_in_second[0] == {"word": "e", "first": 0.0, "second": 500.0}
    assert vocabulary_shift(["a b"], ["a b"], permutations=99, random=rng(0)).distance == 0
    nothing = vocabulary_shift(["..."], ["?"], permutations=99, random=rng(0))
    assert (nothing.distance, nothing.p) == (None, None)


def test_the_vocabulary_test_keeps_groups_and_finds_a_difference() -> None:
    random = rng(9)
    common, rare = [f"w{number}" for number in range(30)], ["new"]
    plain = [" ".join(random.choice(common, 40)) for _ in range(60)]
    newer = [" ".join(random.choice([*common, *rare * 3], 40)) for _ in range(30)]
    differs = vocabulary_shift(newer, plain[:30], permutations=199, random=rng(0))
    assert differs.p == 0.005
    assert differs.chance is not None
    assert differs.distance is not None
    assert differs.distance > differs.chance
    assert differs.more_in_first[0]["word"] == "new"
    alike = vocabulary_shift(plain[:30], plain[30:], permutations=199, random=rng(0))
    assert alike.p is not None
    assert alike.p > 0.05
    # One group a side: no other division than the two there are.
    alone = vocabulary_shift(newer, plain[:30], groups=([0] * 30, [0] * 30), permutations=199, random=rng(0))
    assert alone.p == 1
