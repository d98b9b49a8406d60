"""Compositions: p-values against numbers worked out elsewhere, splits, and what may be learned from which labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import combine_pvalues, percentileofscore

from ngramscope import provenance
from ngramscope.attacks import combine
from ngramscope.attacks.base import Inputs, find_attack
from ngramscope.attacks.camia.compose import percentile_p, rank_p
from ngramscope.attacks.camia.features import GROUPS, SIGNALS, features
from ngramscope.attacks.camia.learned import REDUCTIONS, pipeline
from ngramscope.attacks.splits import ATTACK_SPLIT, attack_split, code_split, evaluated_rows, split_of
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.errors import UsageError
from tests.score_stores import Pass, write_store

Floats = np.typing.NDArray[np.float64]
COMPOSITIONS = [f"camia-{method}" for method in combine.METHODS]
LEARNED = [f"camia-lr{reduction}" for reduction in REDUCTIONS]
P = np.array([0.2, 0.5, 0.05])


@pytest.mark.parametrize(
    ("method", "total", "p"),
    [
        ("edgington", -0.75, 0.0703125),
        ("fisher", 10.596635, 0.101672),
        ("pearson", None, 0.074436),
        ("george", 4.330733, 0.080675),
        ("stouffer", None, 0.075563),
    ],
)
def test_combined_p_values(method: str, total: float | None, p: float) -> None:
    if total is not None:
        assert combine.terms(method, P).sum() == pytest.approx(total, abs=1e-6)
    assert combine.combined_p(method, P[:, None]) == pytest.approx([p], abs=1e-6)
    assert combine.mean_term("edgington", P[:, None]) == pytest.approx([-0.25])


@pytest.mark.parametrize("method", ["fisher", "pearson", "george", "stouffer"])
def test_combined_p_values_are_those_of_scipy(method: str) -> None:
    p = np.random.default_rng(0).random((75, 20))
    name = {"george": "mudholkar_george"}.get(method, method)
    assert combine.combined_p(method, p) == pytest.approx([combine_pvalues(each, method=name).pvalue for each in p.T])


def test_combined_p_values_of_few_and_many() -> None:
    for method in combine.METHODS:
        # One p-value is itself (George's is an approximation); undefined ones do not count.
        found = combine.combined_p(method, np.array([[0.3, np.nan], [np.nan, np.nan]]))
        assert found[0] == pytest.approx(0.3, abs=0.01 if method == "george" else 1e-9)
        assert np.isnan(found[1])
    assert combine.irwin_hall(37.5, 75) == pytest.approx(0.5)
    assert combine.irwin_hall(1.0, 20) == pytest.approx(1 / 2432902008176640000)


def test_scores_do_not_underflow() -> None:
    p = np.array([[1e-10, 1e-9]] * 75)
    assert (combine.combined_p("fisher", p) == 0).all()
    for method in combine.METHODS:
        first, second = combine.mean_term(method, p)
        assert first > second or method == "pearson"  # log(1 - p) hardly moves


def test_percentiles_of_the_public_code() -> None:
    population, values = np.array([1.0, 2, 2, 3, 4]), np.array([0.5, 1, 2, 2.5, 4, 9])
    assert percentile_p(population, values) == pytest.approx([0, 0.2, 0.5, 0.6, 1, 1])
    random = np.random.default_rng(1)
    population, values = random.integers(0, 9, 50).astype(float), random.integers(-1, 10, 30).astype(float)
    assert percentile_p(population, values) == pytest.approx([percentileofscore(population, each) / 100 for each in values])


def test_ranks_are_never_0_or_1() -> None:
    population = np.array([1.0, 2, 2, 3, np.nan])
    found = rank_p(population, np.array([9.0, 3, 2, 0, np.nan]))
    # (r + 1) / (m + 2) with r = 0, 1/2, 2, 4 of m = 4.
    assert found[:4] == pytest.approx([1 / 6, 1.5 / 6, 3 / 6, 5 / 6])
    assert np.isnan(found[4])
    assert np.isnan(rank_p(np.array([np.nan]), np.array([1.0]))).all()


def test_ranks_of_non_members_average_a_half() -> None:
    random = np.random.default_rng(2)
    found = [rank_p(values[:20], values[20:]).mean() for values in random.integers(0, 5, (2000, 21)).astype(float)]
    assert np.mean(found) == pytest.approx(0.5, abs=0.02)


# Splits


def test_a_split_depends_on_seed_and_ids_only() -> None:
    ids = [f"d{number}" for number in range(200)]
    labels = np.array([1.0, 0, 0, np.nan] * 50)
    chosen = attack_split(ids, labels, share=0.3, seed=4)
    assert [int(np.sum(chosen[labels == label])) for label in (1, 0)] == [15, 30]
    assert not chosen[np.isnan(labels)].any()
    order = np.random.default_rng(0).permutation(200)
    moved = attack_split([ids[each] for each in order], labels[order], share=0.3, seed=4)
    assert (moved == chosen[order]).all()
    assert (attack_split(ids, labels, share=0.3, seed=5) != chosen).any()


def test_groups_are_in_a_split_whole_or_not_at_all() -> None:
    labels = np.array([1.0, 0] * 60)
    groups = [f"g{number // 4}" if number < 100 else None for number in range(120)]
    chosen = attack_split([str(number) for number in range(120)], labels, share=0.3, seed=0, groups=groups)
    for group in set(groups) - {None}:
        assert len({bool(chosen[row]) for row in range(120) if groups[row] == group}) == 1
    for label in (0, 1):
        assert 14 <= np.sum(chosen[labels == label]) <= 18


def test_the_split_of_the_public_code() -> None:
    labels = np.array([0.0] * 10 + [1.0] * 20)
    chosen = code_split(labels, share=0.3, seed=7)
    np.random.seed(7)
    others, members = np.random.choice(np.arange(10), 3, replace=False), np.random.choice(np.arange(10, 30), 6, replace=False)
    assert sorted(np.flatnonzero(chosen)) == sorted([*others, *members])


# A store of texts: members have lower losses, by `effect` nats, and gain less from repetition


def make_inputs(folder: Path, *, effect: float = 0.0, texts: int = 120, seed: int = 0, **options: Any) -> Inputs:
    random = np.random.default_rng(seed)
    labels = [(row + 1) % 2 for row in range(texts)]
    own = [random.integers(0, 30, random.integers(16, 28)).astype(np.int32) for _ in range(texts)]
    again = []
    for row, ids in enumerate(own):
        loss = random.exponential(2, 6 * len(ids) - 1) * np.exp(random.normal(0, 0.1) - effect * labels[row])
        loss[len(ids) :] *= 0.3
        again.append(-loss)

    def make(kind: str, values: list[Any], ids: list[Any]) -> Pass:
        totals = [len(each) for each in ids]
        columns = {"token_id": [each[1:] for each in ids], "log_prob": values}
        return Pass(columns, kind=kind, head=[each[:1].tolist() for each in own], tokens_total=totals)

    plain = make("plain", [values[: len(ids) - 1] for values, ids in zip(again, own, strict=True)], own)
    repeated = make("repeated", again, [np.concatenate([each] * 6) for each in own])
    store = write_store(folder, [plain, repeated], labels=options.pop("labels", labels), **options)
    return Inputs(store, plain.label)


def auc(scores: Floats, labels: Floats) -> float:
    ours, others = scores[(labels == 1) & ~np.isnan(scores)], scores[(labels == 0) & ~np.isnan(scores)]
    return float(np.mean((ours[:, None] > others) + 0.5 * (ours[:, None] == others)))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    return make_inputs(tmp_path_factory.mktemp("planted") / "store", effect=0.5)


@pytest.mark.parametrize("name", [*COMPOSITIONS, *LEARNED])
def test_a_composition_finds_what_is_planted(planted: Inputs, name: str) -> None:
    found = find_attack(name).score(planted, splits=3)
    assert list(found) == [f"{name}@{seed}" for seed in range(3)]
    for seed, scores in enumerate(found.values()):
        # Null exactly where it has learned; the same split for every attack.
        assert (np.isnan(scores) == split_of(planted, share=0.3, seed=seed)).all()
    assert np.mean([auc(scores, planted.labels) for scores in found.values()]) > 0.7


def test_seeds_and_share_are_options(planted: Inputs) -> None:
    inputs = Inputs(planted.store, planted.model, seed=5)
    found = find_attack("camia-edgington").score(inputs, splits=2, share=0.5)
    assert list(found) == ["camia-edgington@5", "camia-edgington@6"]
    assert [int(np.isnan(each).sum()) for each in found.values()] == [60, 60]
    for options in ({"share": 0.0}, {"splits": 0}, {"procedure": "best"}, {"convention": "mine"}):
        with pytest.raises(UsageError):
            find_attack("camia-lr").score(planted, **options)


@pytest.fixture(scope="module")
def members_unknown(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """The same texts, only the non-members labelled."""
    labels = [None if row % 2 == 0 else 0 for row in range(120)]
    return make_inputs(tmp_path_factory.mktemp("unknown") / "store", effect=0.5, labels=labels)


@pytest.mark.parametrize("name", COMPOSITIONS)
def test_compositions_need_non_members_only(planted: Inputs, members_unknown: Inputs, name: str) -> None:
    with_members = find_attack(name).score(planted, splits=1)[f"{name}@0"]
    without = find_attack(name).score(members_unknown, splits=1)[f"{name}@0"]
    both = ~np.isnan(with_members)
    assert with_members[both] == pytest.approx(without[both])
    assert not np.isnan(without[planted.labels == 1]).any()


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_what_is_learned_comes_from_the_attack_split_only(planted: Inputs, reduction: str) -> None:
    chosen = split_of(planted, share=0.3, seed=0)
    values, groups = features(planted, "paper"), np.array([GROUPS.index(each.group) for each in SIGNALS])
    model = pipeline(reduction, groups, 36, scaled=True).fit(values[chosen], planted.labels[chosen])
    name = f"camia-lr{reduction}"
    found = find_attack(name).score(planted, splits=1)[f"{name}@0"]
    assert found[~chosen] == pytest.approx(model.decision_function(values[~chosen]))


def test_too_few_labels(tmp_path: Path) -> None:
    few = make_inputs(tmp_path / "few", texts=4)
    with pytest.raises(UsageError, match=r"2 known non-members, and share 0\.3 leaves none"):
        find_attack("camia-fisher").score(few)
    with pytest.raises(UsageError, match="no members with scores"):
        find_attack("camia-lr").score(few)


def test_undefined_signals_do_not_take_a_candidate_away(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    own = [random.integers(0, 30, 5 if row % 3 == 0 else 20).astype(np.int32) for row in range(60)]
    values = [-random.exponential(2, len(each) - 1) for each in own]
    columns = {"token_id": [each[1:] for each in own], "log_prob": values}
    heads = [each[:1].tolist() for each in own]
    one, two = (Pass(columns, kind=kind, head=heads) for kind in ("plain", "repeated"))
    inputs = Inputs(write_store(tmp_path / "store", [one, two]), one.label)
    # The context was too short for any copy, and every third text is too short for an entropy.
    for name in ("camia-edgington", *LEARNED):
        scores = find_attack(name).score(inputs, splits=1)[f"{name}@0"]
        assert (np.isnan(scores) == split_of(inputs, share=0.3, seed=0)).all()


def test_the_public_code_leaks_labels_and_says_so(tmp_path: Path) -> None:
    leaking, fixed = [], []
    for seed in range(4):
        inputs = make_inputs(tmp_path / str(seed), texts=40, seed=seed)  # nothing to find
        found = find_attack("camia-edgington").score(inputs, splits=3, **find_attack("camia-edgington").compat["camia-code"])  # type: ignore[arg-type]
        assert list(found) == [f"camia-edgington.leaking@{number}" for number in range(3)]
        leaking += [auc(scores, inputs.labels) for scores in found.values()]
        fixed += [auc(scores, inputs.labels) for scores in find_attack("camia-edgington").score(inputs, splits=3).values()]
    assert np.mean(leaking) > 0.53
    assert np.mean(leaking) > np.mean(fixed) + 0.02


@pytest.mark.parametrize("name", [*COMPOSITIONS, *LEARNED])
def test_the_preset_of_the_public_code(planted: Inputs, name: str) -> None:
    preset = find_attack(name).compat["camia-code"]
    assert isinstance(preset, dict)
    found = find_attack(name).score(planted, splits=2, **preset)
    for seed, scores in enumerate(found.values()):
        assert (np.isnan(scores) == code_split(planted.labels, share=0.3, seed=seed)).all()
        # Combined p-values underflow or are clipped to ties: Cauchy's are the worst.
        assert auc(scores, planted.labels) > (0.6 if name == "camia-cauchy" else 0.75)


def test_evaluated_rows(planted: Inputs) -> None:
    columns = []
    for name in ("camia-edgington", "camia-lr"):
        for column, scores in find_attack(name).score(planted, splits=2).items():
            reasons = [ATTACK_SPLIT if undefined else None for undefined in np.isnan(scores)]
            columns.append(ScoreColumn(column, planted.model, "target", scores, reasons))
    columns.append(ScoreColumn("loss", planted.model, "target", np.zeros(120), [None] * 120))
    header = provenance.stamp("score-table", version=SCORES_VERSION, settings={}, inputs=[])
    table = ScoreTable(planted.store.documents, tuple(columns), header)
    assert isinstance(table.documents, pa.Table)
    for seed in (0, 1):
        assert (evaluated_rows(table, seed) == ~split_of(planted, share=0.3, seed=seed)).all()
    with pytest.raises(UsageError, match="seed 2"):
        evaluated_rows(table, 2)


def test_the_groups_of_the_group_components() -> None:
    model = pipeline("-group-pca", np.array([0, 0, 0, 1, 1, 2]), 20, scaled=True)
    model.fit(np.random.default_rng(0).normal(size=(20, 6)), np.arange(20) % 2)
    assert model[-1].coef_.shape == (1, 3)
