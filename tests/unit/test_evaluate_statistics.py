"""Each statistic of the evaluation against scipy and scikit-learn, against its formula in words, or against simulation."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score, roc_curve

from ngramscope.errors import UsageError
from ngramscope.evaluate.auc import auc, aucs, placements, roc, tied_pairs
from ngramscope.evaluate.bootstrap import bootstrap, draws, percentiles
from ngramscope.evaluate.complementarity import complementarity
from ngramscope.evaluate.delong import LEAST_GROUPS, Comparison, Part, auc_interval, compare, measure, standard_error
from ngramscope.evaluate.groups import units
from ngramscope.evaluate.missing import usable
from ngramscope.evaluate.multiple import adjust
from ngramscope.evaluate.power import detectable_auc, hanley_mcneil
from ngramscope.evaluate.stability import disagreement, flagged_by_cuts
from ngramscope.evaluate.strata import pooled_parts, stratify
from ngramscope.evaluate.tpr import RULES, check_rates, tprs
from ngramscope.evaluate.transfer import flagged_share, share

NORMAL = NormalDist()
TOY = np.array([0.9, 0.8, 0.8, 0.4, 0.3, 0.8, 0.5, 0.4, 0.2, 0.1])
TOY_MEMBERS = np.arange(10) < 5


def study(seed: int, size: int, attacks: int = 2, digits: int = 9, shift: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Scores and sides of unequal sizes, with ties if there are few digits."""
    random = np.random.default_rng(seed)
    members = random.random(size) < 0.4
    members[:4] = True, False, True, False
    return np.round(random.normal(size=(attacks, size)) + shift * members, digits), members


@pytest.mark.parametrize("digits", [0, 9])
def test_auc_and_curve_are_those_of_scikit_learn_and_scipy(digits: int) -> None:
    scores, members = study(1, 57, digits=digits)
    for values, found in zip(scores, aucs(scores, members), strict=True):
        assert found == pytest.approx(roc_auc_score(members, values), abs=1e-12)
        pairs = members.sum() * (~members).sum()
        assert found == pytest.approx(stats.mannwhitneyu(values[members], values[~members]).statistic / pairs, abs=1e-12)
        assert auc(-values, members) == pytest.approx(1 - found, abs=1e-12)
        curve, expected = roc(values, members), roc_curve(members, values, drop_intermediate=False)
        for ours, theirs in zip((curve.fpr, curve.tpr, curve.thresholds), expected, strict=True):
            assert ours == pytest.approx(theirs)
        equal = np.equal.outer(values[members], values[~members]).mean()
        assert tied_pairs(values, members) == pytest.approx(equal)


def test_the_toy_study_with_ties() -> None:
    assert auc(TOY, TOY_MEMBERS) == pytest.approx(0.74)
    curve = roc(TOY, TOY_MEMBERS)
    assert curve.fpr.tolist() == pytest.approx([0, 0, 0.2, 0.4, 0.6, 0.6, 0.8, 1])
    assert curve.tpr.tolist() == pytest.approx([0, 0.2, 0.6, 0.6, 0.8, 1, 1, 1])
    found = {rule: [each.point_tpr for each in tprs(TOY, TOY_MEMBERS, (0.05, 0.2, 0.25), rule)] for rule in RULES}
    assert found["lt"] == pytest.approx([0.2, 0.2, 0.6])
    assert found["le"] == pytest.approx([0.2, 0.6, 0.6])
    assert found["interp"] == pytest.approx([0.3, 0.6, 0.6])
    assert found["nearest"] == pytest.approx([0.0, 0.6, 0.6])


@pytest.mark.parametrize("shift", [0.05, 0.1, 0.2, 0.5, 1.0])
def test_gaussian_scores_have_the_auc_that_theory_says(shift: float) -> None:
    # Quantiles in place of draws, so that nothing is left to chance.
    levels = (np.arange(2000) + 0.5) / 2000
    quantiles = stats.norm.ppf(levels)
    scores = np.concatenate([quantiles + shift, quantiles])
    assert auc(scores, np.arange(4000) < 2000) == pytest.approx(NORMAL.cdf(shift / math.sqrt(2)), abs=2e-4)


def test_tprs_say_what_was_attained_and_what_cannot_be_told() -> None:
    scores, members = study(3, 2000)
    for each in tprs(scores[0], members):
        assert each.attained_fpr is not None
        assert each.threshold is not None
        assert each.attained_fpr <= each.target
        flagged = scores[0] >= each.threshold
        assert flagged[members].mean() == pytest.approx(each.point_tpr)
        assert flagged[~members].mean() == pytest.approx(each.attained_fpr)
    n0 = int((~members).sum())
    assert [each.unreliable for each in tprs(scores[0], members, (5 / n0, 0.1))] == [True, False]
    few = tprs(scores[0][:40], members[:40], (0.01,))[0]
    assert (few.tpr, few.attained_fpr) == (None, 0.0)
    # 1,000 non-members do resolve 0.1 %, and 10 of them expected are reliable at 1 %.
    exact = tprs(np.arange(2000.0), np.arange(2000) >= 1000, (0.001, 0.01))
    assert [each.tpr for each in exact] == [1.0, 1.0]
    assert [each.unreliable for each in exact] == [True, False]


def test_impossible_rates_and_rules_are_refused() -> None:
    for rates, rule in (((0.0,), "le"), ((1.0,), "le"), ((), "le"), ((0.1,), "most")):
        with pytest.raises(UsageError, match=r"--fpr|--tpr-rule"):
            check_rates(rates, rule)


def delong_in_words(first: np.ndarray, second: np.ndarray, members: np.ndarray) -> np.ndarray:
    """Covariance matrix of two AUCs by the formula of DeLong et al. 1988."""

    def kernel(values: np.ndarray) -> np.ndarray:
        ours, others = values[members][:, None], values[~members][None]
        return (ours > others) + (ours == others) / 2

    kernels = [kernel(each) for each in (first, second)]
    tens, ones = np.cov([each.mean(axis=1) for each in kernels]), np.cov([each.mean(axis=0) for each in kernels])
    return tens / members.sum() + ones / (~members).sum()


@pytest.mark.parametrize("digits", [0, 9])
def test_standard_errors_are_delong_s(digits: int) -> None:
    scores, members = study(2, 80, digits=digits)
    expected = delong_in_words(scores[0], scores[1], members)
    found = measure([Part(scores)], members)
    for number in range(2):
        error = standard_error(found.moved[number], found.used[number], members)
        assert error == pytest.approx(math.sqrt(expected[number, number]))
    paired = standard_error(found.moved[0] - found.moved[1], found.used[0], members)
    assert paired == pytest.approx(math.sqrt(expected[0, 0] + expected[1, 1] - 2 * expected[0, 1]))
    alone = standard_error(found.moved[0], found.used[0], members, np.arange(80))
    assert alone == pytest.approx(math.sqrt(expected[0, 0]))


def test_standard_errors_of_groups_are_obuchowski_s() -> None:
    scores, members = study(4, 90)
    unit = np.random.default_rng(0).integers(0, 25, 90)
    values = scores[0]
    placed, value = placements(scores, members)[0], auc(values, members)
    n1, n0 = members.sum(), (~members).sum()
    tens, ones = ([placed[side & (unit == each)] - value for each in range(25)] for side in (members, ~members))
    k1, k0 = (sum(len(each) > 0 for each in side) for side in (tens, ones))
    s10 = k1 / (k1 - 1) / n1 * sum(each.sum() ** 2 for each in tens)
    s01 = k0 / (k0 - 1) / n0 * sum(each.sum() ** 2 for each in ones)
    count = len(np.unique(unit))
    s11 = count / (count - 1) * sum(one.sum() * other.sum() for one, other in zip(tens, ones, strict=True))
    found = measure([Part(scores)], members)
    error = standard_error(found.moved[0], found.used[0], members, unit)
    assert error**2 == pytest.approx(s10 / n1 + s01 / n0 + 2 * s11 / (n1 * n0))


def test_intervals_without_spread_are_none() -> None:
    for values in (np.ones(20), np.arange(20.0)):
        found = measure([Part(values[None])], np.arange(20) >= 10)
        error = standard_error(found.moved[0], found.used[0], np.arange(20) >= 10)
        assert auc_interval(float(found.auc[0]), error) is None
        assert replace(compare(0.0, error), reason=None) == Comparison(0.0, None, None, None)
    assert math.isnan(standard_error(np.zeros(3), np.ones(3, bool), np.array([True, False, False])))


@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_delong_intervals_cover(shift: float) -> None:
    random = np.random.default_rng(5)
    members = np.arange(120) < 60
    scores = random.normal(size=(1000, 120)) + shift * members
    found, truth = measure([Part(scores)], members), NORMAL.cdf(shift / math.sqrt(2))
    covered = 0
    for value, moved, used in zip(found.auc, found.moved, found.used, strict=True):
        reach = auc_interval(float(value), standard_error(moved, used, members))
        assert reach is not None
        covered += reach[0] <= truth <= reach[1]
    assert 930 <= covered <= 970


def test_intervals_of_groups_cover_where_those_of_documents_do_not() -> None:
    random = np.random.default_rng(6)
    unit = np.repeat(np.arange(60), 5)
    members = unit < 30
    scores = np.repeat(random.normal(size=(1000, 60)), 5, axis=1) + 0.5 * random.normal(size=(1000, 300))
    found = measure([Part(scores)], members)
    covered = {"groups": 0, "documents": 0}
    for value, moved, used in zip(found.auc, found.moved, found.used, strict=True):
        for name, numbers in (("groups", unit), ("documents", None)):
            reach = auc_interval(float(value), standard_error(moved, used, members, numbers))
            covered[name] += reach is not None and reach[0] <= 0.5 <= reach[1]
    assert 930 <= covered["groups"] <= 970
    assert covered["documents"] < 800


def test_fewer_groups_than_are_asked_for_would_cover_too_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """The formula alone, of groups whose documents are half alike: why `LEAST_GROUPS` is what it is."""

    def covered(groups: int, studies: int = 300) -> float:
        random, found = np.random.default_rng(groups), 0
        unit = np.repeat(np.arange(2 * groups), 5)
        members = unit < groups
        for _ in range(studies):
            scores = random.normal(size=2 * groups)[unit] + random.normal(size=len(unit))
            measured = measure([Part(scores[None])], members)
            interval = auc_interval(float(measured.auc[0]), standard_error(measured.moved[0], members | True, members, unit))
            found += interval is not None and interval[0] <= 0.5 <= interval[1]
        return found / studies

    assert covered(LEAST_GROUPS - 1, 1) == 0
    assert covered(LEAST_GROUPS) > 0.9
    monkeypatch.setattr("ngramscope.evaluate.delong.LEAST_GROUPS", 2)
    assert covered(2) < 0.88
    assert covered(4) < 0.94


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("digits", [0, 9])
def test_resamples_are_what_evaluating_each_would_give(rule: str, digits: int) -> None:
    rates = (0.05, 0.2, 0.5)
    for seed, size in ((1, 9), (2, 40)):
        scores, members = study(seed, size, attacks=1, digits=digits)
        found = bootstrap([Part(scores)], members, resamples=34, seed=seed, fprs=rates, rule=rule)
        for start, weights in draws(members, None, 34, seed):
            for place in range(start % 2, weights.shape[1], 3):
                counts = weights[:, place].astype(int)
                rows = np.repeat(np.arange(size), counts)
                assert members[rows].sum() == members.sum()
                for number, values in enumerate(scores[:, rows]):
                    assert found.auc[number, start + place] == pytest.approx(roc_auc_score(members[rows], values), abs=1e-12)
                    for at, each in enumerate(tprs(values, members[rows], rates, rule)):
                        assert found.tpr[number, at, start + place] == pytest.approx(each.point_tpr, abs=1e-12)
                        if rule != "interp":
                            flagged = values >= (np.inf if each.threshold is None else each.threshold)
                            assert (flagged == (values > found.cut[number, at, start + place])).all()


def test_resamples_draw_whole_groups_of_their_kind() -> None:
    unit = np.array([0, 0, 1, 2, 2, 3, 4, 4, 5, 5])
    members = np.array([1, 1, 1, 0, 0, 0, 1, 0, 1, 0], dtype=bool)  # groups 4 and 5 are mixed
    for _, weights in draws(members, unit, 70, 0):
        for group in range(6):
            assert (weights[unit == group] == weights[unit == group][0]).all()
        first = weights[[0, 2, 3, 5, 6, 8]]
        assert (first[:2].sum(axis=0) == 2).all()
        assert (first[2:4].sum(axis=0) == 2).all()
        assert (first[4:].sum(axis=0) == 2).all()


def test_resamples_do_not_depend_on_other_attacks_and_spread_as_theory_says() -> None:
    scores, members = study(7, 400)
    both = bootstrap([Part(scores)], members, resamples=500)
    alone = bootstrap([Part(scores[1:])], members, resamples=500)
    assert (both.auc[1] == alone.auc[0]).all()
    error = measure([Part(scores)], members)
    assert both.auc[0].std() == pytest.approx(standard_error(error.moved[0], error.used[0], members), rel=0.1)


def test_bootstrap_intervals_cover() -> None:
    # Few studies here; benchmarks/evaluate.py has a thousand of each kind.
    random = np.random.default_rng(8)
    members = np.arange(240) < 120
    scores = random.normal(size=(250, 240)) + 0.7 * members
    found = bootstrap([Part(scores)], members, resamples=200, fprs=(0.1,))
    truths = (NORMAL.cdf(0.7 / math.sqrt(2)), 1 - NORMAL.cdf(NORMAL.inv_cdf(0.9) - 0.7))
    for values, truth in zip((found.auc, found.tpr[:, 0]), truths, strict=True):
        low, high = percentiles(values)
        assert 0.91 < ((low <= truth) & (truth <= high)).mean() < 0.985


def test_means_over_splits_have_the_error_of_means() -> None:
    scores, members = study(9, 300, attacks=1)
    random = np.random.default_rng(1)
    parts = [Part(np.where(random.random(300) < 0.7, scores, np.nan)) for _ in range(4)]
    found = measure(parts, members)
    kept = [~np.isnan(each.scores[0]) for each in parts]
    assert found.auc[0] == pytest.approx(np.mean([roc_auc_score(members[k], scores[0, k]) for k in kept]))
    drawn = bootstrap(parts, members, resamples=1000)
    error = standard_error(found.moved[0], found.used[0], members)
    assert drawn.auc[0].std() == pytest.approx(error, rel=0.1)


def test_hanley_and_mcneil_s_standard_errors() -> None:
    for value, expected in ((0.5, 0.01291), (0.6, 0.01260), (0.7, 0.01162), (0.9, 0.00713)):
        assert hanley_mcneil(value, 1000, 1000) == pytest.approx(expected, abs=5e-6)
    assert hanley_mcneil(0.5, 70, 30) == pytest.approx(math.sqrt(101 / (12 * 70 * 30)))  # of the Mann-Whitney statistic


def test_the_detectable_auc_is_detected_in_so_many_studies() -> None:
    value = detectable_auc(100, 150)
    assert value is not None
    random = np.random.default_rng(10)
    members = np.arange(250) < 100
    scores = random.normal(size=(2000, 250)) + math.sqrt(2) * NORMAL.inv_cdf(value) * members
    found = measure([Part(scores)], members)
    detected = 0
    for auc_, moved, used in zip(found.auc, found.moved, found.used, strict=True):
        reach = auc_interval(float(auc_), standard_error(moved, used, members))
        detected += reach is not None and reach[0] > 0.5
    assert detected / 2000 == pytest.approx(0.8, abs=0.04)
    assert detectable_auc(1, 1) is None
    assert detectable_auc(0, 5) is None
    wider = detectable_auc(100, 150, inflation=2.0)
    assert wider is not None
    assert wider > value


def test_shares_have_exact_intervals() -> None:
    for count, of in ((0, 7), (7, 7), (3, 40)):
        expected = stats.binomtest(count, of).proportion_ci(method="exact")
        found = share(count, of)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert flagged_share(np.array([1.0, 2.0, np.nan]), 2.0).value == 0.5
    assert flagged_share(np.array([1.0]), None).count == 0
    assert share(0, 0).value is None


def test_holm_leaves_out_what_was_not_tested() -> None:
    found = adjust([Comparison(0.1, 0, 0.2, 0.02), Comparison(0.0, None, None, None), Comparison(0.1, 0, 0.2, 0.03)])
    assert [each.p_holm for each in found] == [0.04, None, 0.04]


def test_holm_is_that_of_statsmodels() -> None:
    from statsmodels.stats.multitest import multipletests

    p = np.random.default_rng(0).random(9) ** 3
    ours = adjust([Comparison(0.0, 0.0, 0.0, float(each)) for each in p])
    assert [each.p_holm for each in ours] == pytest.approx(multipletests(p, method="holm")[1].tolist())


def test_pooled_strata_compare_pairs_of_one_stratum_only() -> None:
    scores, members = study(11, 60, attacks=1, digits=1)
    strata = stratify(np.random.default_rng(2).integers(0, 4, 60).tolist(), 5)
    assert strata.names == ("0", "1", "2", "3")
    won = [
        (scores[0, one] > scores[0, other]) + (scores[0, one] == scores[0, other]) / 2
        for one, other in itertools.product(np.flatnonzero(members), np.flatnonzero(~members))
        if strata.number[one] == strata.number[other]
    ]
    assert measure(pooled_parts(scores, members, strata), members).auc[0] == pytest.approx(np.mean(won))


def test_strata_of_numbers_and_categories() -> None:
    numbers = stratify([*range(100), None, math.nan, math.inf], 4)
    assert np.bincount(numbers.number[:100]).tolist() == [24, 25, 25, 26]
    assert (numbers.number[100:] == -1).all()
    assert numbers.names == ("[0, 24)", "[24, 49)", "[49, 74)", "[74, 99]")
    heavy = stratify([0] * 90 + list(range(1, 11)), 4)
    assert heavy.number[:90].tolist() == [0] * 90  # equal values stay together
    assert stratify(["b", "a", None, "b"], 5).number.tolist() == [1, 0, -1, 1]
    assert stratify(["pooled", "no value", "a"], 5).names == ("a", '"no value"', '"pooled"')  # the words for other things
    for values in ([None, None], [f"x{number}" for number in range(300)]):
        with pytest.raises(UsageError, match="--by length"):
            stratify(values, 5, name="length")


def test_what_cannot_be_ranked_is_left_out_for_all_attacks() -> None:
    scores = np.array([[1, np.nan, 3, 4, 5.0], [1, 2, 3, np.inf, 5], [np.nan] * 5, [1, 2, 3, np.nan, np.nan]])
    members = np.array([True, True, True, False, False])
    reasons = [[None, "no-tokens", None, None, None], [None] * 5, ["x"] * 5, [None] * 5]
    found = usable(scores, members, reasons)
    assert np.isnan(found.scores).tolist() == [[False, True, False, True, False]] * 2 + [[True] * 5] * 2
    assert found.empty == (None, None, "no_scores", "no_nonmember_scores")
    assert found.undefined == ({"no-tokens": 1}, {"infinite": 1}, {"x": 5}, {"nan": 2})
    assert found.sizes[3] == (3, 0)
    own = usable(scores, members, reasons, "per-attack")
    assert np.isnan(own.scores).sum(axis=1).tolist() == [1, 1, 5, 5]


def test_members_found_by_one_attack_and_missed_by_another() -> None:
    scores = np.array([[3, 3, 1, 0, 9.0], [3, 1, 3, 0, 9], [np.nan, 3, 3, 3, 9]])
    members = np.array([True, True, True, True, False])
    found = [
        (each.both, each.first_only, each.second_only, each.neither) for each in complementarity(scores, members, [2, 2, None])
    ]
    assert found == [(1, 1, 1, 1), (0, 1, 0, 2), (0, 1, 0, 2)]


def test_rates_of_disagreement_are_those_of_pairs() -> None:
    decisions = np.array([[1, 1, 0, np.nan], [1, 0, 0, np.nan], [1, 0, np.nan, 1], [1, 1, 0, np.nan]])
    expected = []
    for column in decisions.T:
        known = column[~np.isnan(column)]
        pairs = [one != other for one, other in itertools.combinations(known, 2)]
        expected.append(np.mean(pairs) if pairs else math.nan)
    assert disagreement(decisions) == pytest.approx(expected, nan_ok=True)
    flagged = flagged_by_cuts(np.array([0.0, 1.5, 2.0, np.nan]), np.array([1.0, 2.0, -np.inf, np.inf]))
    assert flagged == pytest.approx([0.25, 0.5, 0.5, math.nan], nan_ok=True)


def test_units_are_groups_or_documents_alone() -> None:
    assert units(["a", None, "b", "a", None, "b"]).tolist() == [0, 1, 2, 0, 3, 2]
