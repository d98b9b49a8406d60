"""Blind baselines: what they learn with, folds, permutations, the stack, the gain of an attack."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import MultinomialNB

from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.base import Baseline, BlindInputs, NoFeaturesError, baselines
from ngramscope.blind.characters import character_counts
from ngramscope.blind.dates import dates, years, years_cited
from ngramscope.blind.folds import FoldRule, folds_of
from ngramscope.blind.gain import conditional_gain
from ngramscope.blind.learners import NaiveBayes, NumberLogistic, SparseLogistic, apply, newton, ranked
from ngramscope.blind.run import run_blind, score_blind
from ngramscope.blind.study import BlindStudy, blind_study
from ngramscope.blind.texts import NO_LOO, blind_inputs
from ngramscope.errors import UsageError
from ngramscope.evaluate.permute import bins, permuted_labels
from ngramscope.sets.base import Candidate
from ngramscope.sets.records import RecordSource
from tests.conftest import write_jsonl

Floats = NDArray[np.float64]
QUICK = FoldRule(permutations=19)


def random_texts(count: int, words: int = 30, vocabulary: int = 80, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(f"w{each}" for each in random.integers(0, vocabulary, words)) for _ in range(count)]


def numbers(**columns: Floats) -> dict[str, Baseline]:
    """A baseline of one number each."""

    def made(values: Floats) -> Any:
        return lambda _: values[:, None]

    return {name: Baseline(name, made(values), NumberLogistic, "", "") for name, values in columns.items()}


def alone(members: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.arange(len(members))


def test_naive_bayes_is_that_of_scikit_learn() -> None:
    counts = CountVectorizer().fit_transform(random_texts(60))
    labels = np.random.default_rng(1).random((60, 3)) < 0.4
    train, test = np.arange(40), np.arange(40, 60)
    found = NaiveBayes(counts).scores(labels, train, test)
    for column in range(3):
        model = MultinomialNB(fit_prior=False).fit(counts[train], labels[train, column])
        odds = model.predict_joint_log_proba(counts[test])
        np.testing.assert_allclose(found[:, column], odds[:, 1] - odds[:, 0], rtol=1e-4, atol=1e-4)


def test_logistic_regression_of_words_is_that_of_scikit_learn() -> None:
    features = TfidfVectorizer().fit_transform(random_texts(200))
    random = np.random.default_rng(1)
    signal = features.toarray()[:, 0] > 0.1
    labels = np.column_stack([random.random(200) < 0.5, signal])
    train, test = np.arange(0, 200, 2), np.arange(1, 200, 2)
    found = SparseLogistic(features).scores(labels, train, test)
    # The constant is a feature like others.
    with_constant = np.column_stack([features.toarray(), np.ones(200)])
    for column in range(2):
        model = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8).fit(with_constant[train], labels[train, column])
        np.testing.assert_allclose(found[:, column], model.decision_function(with_constant[test]), atol=2e-3)


def test_logistic_regressions_by_newton_are_those_of_scikit_learn() -> None:
    random = np.random.default_rng(0)
    design = random.normal(size=(40, 70, 3))
    labels = random.random((40, 70)) < 1 / (1 + np.exp(-design[:, :, 0]))
    weights = newton(design, labels)
    shared = newton(design[:1], labels)
    for row in (0, 33, 39):
        for found, features in ((weights, design[row]), (shared, design[0])):
            model = LogisticRegression(C=1.0, tol=1e-10).fit(features, labels[row])
            np.testing.assert_allclose(found[row, 1:], model.coef_[0], atol=1e-4)
            np.testing.assert_allclose(found[row, 0], model.intercept_[0], atol=1e-4)
            np.testing.assert_allclose(apply(features[None], found[[row]])[0], model.decision_function(features), atol=1e-3)
    separated = newton(np.linspace(-1, 1, 50)[None, :, None], (np.arange(50) >= 25)[None])
    assert np.isfinite(separated).all()
    assert separated[0, 1] > 0


@pytest.mark.parametrize("chunk", [1, 12, 1000])
def test_character_counts_are_those_of_scikit_learn(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ngramscope.blind.characters._CHUNK", chunk)
    texts = ["Abc abc.", "abc é\n𝒳!", "", "x", "no abc here", "é𝒳", "𝒳𝒳𝒳 𝒳𝒳𝒴", "𝒳𝒳𝒴 𝒳𝒳𝒵", "𝒳𝒳𝒵"]
    for lengths in ((1,), (2,), (1, 2, 3)):
        vectorizer = CountVectorizer(analyzer="char", ngram_range=(lengths[0], lengths[-1]), lowercase=False, min_df=2)
        expected = vectorizer.fit_transform(texts).toarray()
        found = character_counts(texts, lengths, 10_000).toarray()
        assert sorted(map(tuple, found.T.tolist())) == sorted(map(tuple, expected.T.tolist()))
    most = character_counts(texts, (1, 2), 5).toarray()
    assert most.shape == (9, 5)
    assert most.sum(axis=0).min() >= 3  # the five most frequent
    with pytest.raises(NoFeaturesError, match="nothing_in_two_texts"):
        character_counts(["ab", "cd"], (1, 2), 10)


def test_numbers_count_by_their_ranks_and_missing_ones_are_a_feature() -> None:
    values = np.array([[3.0], [1.0], [np.nan], [1000.0]])
    design = ranked(values)
    np.testing.assert_allclose(design[:, 0], [0, -2 / 3, 0, 2 / 3])
    np.testing.assert_allclose(design[:, 1], [-1 / 3, 1 / 9, 0, 1 / 9])
    np.testing.assert_allclose(design[:, 2], [0, 0, 1, 0])
    assert ranked(np.full((4, 2), np.nan)).tolist() == [[0.0]] * 4


def test_years_and_dates_are_found() -> None:
    assert years("In 1999 and 2023-05-01, not 12345, 20230501 or x2020y; 999, 2100.") == [1999, 2023, 2023, 2020]
    assert years_cited(r"\citep[see][]{smith2019deep, doe:99} \cite{a20} \ref{b2001} \cite{arXiv:1706.03762}") == [
        2019,
        1999,
        2020,
    ]
    features = dates(BlindInputs([r"May 5, 2021 \cite{x2018}", "nothing"]))
    assert features[0].tolist() == [2021, 2021, 2021, 1, 2018, 2018, 1, 1]
    np.testing.assert_array_equal(features[1], [np.nan, np.nan, np.nan, 0, np.nan, np.nan, 0, 0])


def test_folds_keep_groups_whole_and_are_stratified() -> None:
    random = np.random.default_rng(0)
    unit = np.repeat(np.arange(60), random.integers(1, 6, 60))
    members = unit % 3 == 0
    for division in folds_of(members, unit, FoldRule(repeats=2)):
        assert all(len(np.unique(division[unit == each])) == 1 for each in range(60))
        shares = [members[division == each].mean() for each in range(5)]
        assert max(shares) - min(shares) < 0.15
    single = folds_of(members, np.arange(len(members)), FoldRule(repeats=2))
    assert not np.array_equal(single[0], single[1])
    assert {int((members & (single[0] == each)).sum()) for each in range(5)} <= {
        int(members.sum()) // 5, int(members.sum()) // 5 + 1,
    }  # fmt: skip


def test_permuted_labels_keep_to_units_and_strata() -> None:
    # Sorted, as a table is whose ids begin with the side: ties in size must not keep labels where they are.
    members = np.arange(200) < 100
    strata = np.arange(200) % 5
    labels = permuted_labels(members, alone(members), strata, 50, np.random.default_rng(0))
    assert np.array_equal(labels[:, 0], members)
    for each in range(5):
        assert (labels[strata == each].sum(axis=0) == 20).all()
    assert 0.4 < labels[members, 1:].mean() < 0.6
    # Groups of one side keep one label, also where no two are of a size; mixed ones keep how many they have of each.
    unit = np.repeat(np.arange(30), np.arange(1, 31))
    members = (unit % 2 == 0) | ((unit == 29) & (np.arange(len(unit)) % 2 == 0))
    labels = permuted_labels(members, unit, np.zeros(len(unit), np.int64), 50, np.random.default_rng(0))
    assert all(len(np.unique(labels[unit == each], axis=0)) == 1 for each in range(29))
    assert (labels[unit == 29].sum(axis=0) == members[unit == 29].sum()).all()
    assert 0.3 < labels[unit == 10, 1:].mean() < 0.7
    assert len(np.unique(labels[unit == 29, 1:], axis=1).T) > 10


def test_bins_keep_ties_together_and_are_never_small() -> None:
    strata = np.zeros(100, np.int64)
    assert len(np.unique(bins(np.ones(100), strata))) == 1
    values = np.r_[np.zeros(90), np.arange(10.0)]
    assert len(np.unique(bins(values, strata))) == 1  # nine of a bin of their own would be too few
    found = bins(np.arange(100.0), strata, 3)
    assert np.bincount(found).min() >= 20
    assert len(np.unique(found)) == 3
    assert (np.diff(found) >= 0).all()


def test_what_says_nothing_is_near_one_half_and_what_says_all_is_near_one() -> None:
    texts = random_texts(120)
    members = np.arange(120) % 2 == 0
    shown = [f"{each} {'old' if member else 'new'}" for each, member in zip(texts, members, strict=True)]
    blank, told = (blind_study(BlindInputs(each), members, alone(members), QUICK) for each in (texts, shown))
    assert told.ceiling.auc is not None
    assert blank.ceiling.auc is not None
    assert told.ceiling.auc > 0.95
    assert told.ceiling.p == 1 / 20
    assert abs(blank.ceiling.auc - 0.5) < 0.15
    assert blank.ceiling.p is not None
    assert blank.ceiling.p > 0.05
    by_name = {each.name: each for each in told.baselines}
    assert set(by_name) == set(baselines())
    assert by_name["words-nb"].auc == pytest.approx(1.0, abs=0.05)
    assert (by_name["overlap"].auc, by_name["overlap"].reason) == (None, "no_overlap")
    assert told.ceiling.interval is None or told.ceiling.interval[0] > 0.9


def test_groups_in_two_folds_would_be_taken_for_a_signal() -> None:
    """Texts of a book have a topic in common, and chance decided which books are members."""
    random = np.random.default_rng(3)
    unit = np.repeat(np.arange(40), 6)
    members = random.permutation(np.arange(40) < 20)[unit]
    texts = [f"{text} {3 * chr(0x4E00 + group)}" for text, group in zip(random_texts(240), unit, strict=True)]
    whole = blind_study(BlindInputs(texts), members, unit, QUICK).ceiling
    torn = blind_study(BlindInputs(texts), members, alone(members), QUICK).ceiling
    assert torn.auc is not None
    assert torn.auc > 0.9
    assert whole.auc is not None
    assert whole.auc < 0.7
    assert whole.p is not None
    assert whole.p > 0.05


def test_small_and_one_sided_sets_are_null_with_a_reason() -> None:
    def reason(members: list[bool], unit: list[int] | None = None) -> str | None:
        sides = np.array(members, dtype=np.bool_)
        study = blind_study(BlindInputs(["a b"] * len(members)), sides, alone(sides) if unit is None else np.array(unit), QUICK)
        assert study.ceiling.auc is None
        assert {each.reason for each in study.baselines} == {study.reason}
        gain = conditional_gain(study, np.zeros((1, len(members))), sides, alone(sides))
        assert (gain.gain, gain.reason) == (None, study.reason)
        return study.reason

    assert reason([]) == "no_members"
    assert reason([True] * 30) == "no_nonmembers"
    assert reason([True] * 30 + [False] * 9) == "too_few_nonmembers"
    assert reason([True] * 30 + [False] * 30, [0] * 30 + [1] * 30) == "too_few_members"


def test_repeats_average_over_divisions() -> None:
    members = np.arange(80) % 2 == 0
    values = np.random.default_rng(0).normal(size=80) + members
    chosen = numbers(value=values)
    once = [blind_study(BlindInputs([""] * 80), members, alone(members), FoldRule(seed=seed), chosen=chosen) for seed in (0, 1)]
    twice = blind_study(BlindInputs([""] * 80), members, alone(members), FoldRule(repeats=2), chosen=chosen)
    assert twice.ceiling.auc == pytest.approx(np.mean([each.ceiling.auc for each in once if each.ceiling.auc is not None]))
    assert twice.scores.shape == (2, 80)


def studies(count: int, size: int, group: int, slope: float) -> Iterator[tuple[BlindStudy, Floats, Any, Any]]:
    """Simulated sets: a number that the label depends on by `slope`, and an attack that sees that number and noise."""
    for seed in range(count):
        random = np.random.default_rng([seed, size, group])
        unit = np.repeat(np.arange(size // group), random.integers(1, 2 * group, size // group))
        number = random.normal(size=size // group)
        members = (random.random(size // group) < 1 / (1 + np.exp(-slope * number)))[unit]
        values, common = number[unit], random.normal(size=size // group)[unit]
        rule = FoldRule(folds=3, permutations=19, seed=seed)
        study = blind_study(BlindInputs([""] * len(unit)), members, unit, rule, chosen=numbers(value=values))
        yield study, 0.8 * values + common + 0.5 * random.normal(size=len(unit)), members, unit


@pytest.mark.parametrize("group", [1, 4])
def test_permutation_tests_raise_few_false_alarms(group: int) -> None:
    """At a level of 5 %; 200 studies of more sizes are in the benchmarks."""
    found = list(studies(30, 50 * group, group, 0.0))
    labels = [study.ceiling.p for study, *_ in found if study.ceiling.p is not None]
    assert len(labels) > 26
    assert np.count_nonzero(np.array(labels) <= 0.05) <= 5
    aucs = [study.ceiling.auc for study, *_ in found if study.ceiling.auc is not None]
    assert abs(np.mean(aucs) - 0.5) < 0.06  # nothing leaks; half of that is their standard error
    gains = [
        conditional_gain(study, scores[None], members, unit, permutations=19)
        for study, scores, members, unit in studies(30, 50 * group, group, 1.5)
    ]
    tested = [each.p for each in gains if each.p is not None]
    assert len(tested) > 26
    assert np.count_nonzero(np.array(tested) <= 0.05) <= 5


def test_the_gain_sees_what_text_does_not_and_only_that() -> None:
    random = np.random.default_rng(5)
    shift = random.normal(size=400)
    members = random.random(400) < 1 / (1 + np.exp(-2 * shift))
    study = blind_study(BlindInputs([""] * 400), members, alone(members), FoldRule(permutations=39), chosen=numbers(x=shift))
    ceiling = study.ceiling.auc
    assert ceiling is not None
    text_only, both = shift + 0.3 * random.normal(size=400), shift + 1.5 * members + random.normal(size=400)
    nothing = conditional_gain(study, text_only[None], members, alone(members), permutations=39)
    assert nothing.gain is not None
    assert abs(nothing.gain) < 0.01
    assert nothing.p is not None
    assert nothing.p > 0.05
    found = conditional_gain(study, both[None], members, alone(members), permutations=39)
    assert found.gain is not None
    assert found.gain > 0.03
    assert (found.p, found.permutations) == (1 / 196, 195)  # five batches, since it is small
    # Like an AUC it depends on ranks alone; and a score that is turned round says so.
    turned = conditional_gain(study, -np.exp(both)[None], members, alone(members), permutations=39)
    assert turned.gain == pytest.approx(found.gain)
    assert turned.weight == pytest.approx(-(found.weight or 0.0))
    holes = np.where(np.arange(400) % 10 == 0, np.nan, both)
    assert conditional_gain(study, np.stack([holes, both]), members, alone(members), permutations=0).p is None
    assert (
        conditional_gain(study, np.full((1, 400), np.nan), members, alone(members)).reason == "fewer_than_10_scores_on_a_side"
    )


def candidate(label: int, overlap: float | None, loo: float | None) -> Candidate:
    return Candidate(
        "x", "text", label, overlap={"7": overlap}, extra={"tokens": 3, **({} if loo is None else {"overlap_loo": {"7": loo}})}
    )


def test_a_members_own_document_is_no_overlap() -> None:
    inputs = blind_inputs([candidate(1, 1.0, 0.2), candidate(0, 0.3, None), candidate(0, None, None)])
    np.testing.assert_array_equal(inputs.overlaps["7"], [0.2, 0.3, np.nan])
    assert inputs.tokens is not None
    assert inputs.tokens.tolist() == [3, 3, 3]
    without = blind_inputs([candidate(1, 1.0, None), candidate(0, 0.3, None)])
    assert (dict(without.overlaps), without.no_overlap) == ({}, NO_LOO)
    assert blind_inputs([candidate(1, 1.0, 0.1), candidate(0, None, None)]).no_overlap == "no_overlap"


def records(count: int = 60) -> list[dict[str, Any]]:
    return [
        {"id": f"d{row}", "text": text, "label": row % 2, "group": f"g{row // 3}" if row % 4 else None}
        for row, text in enumerate(random_texts(count))
    ]


def test_a_report_does_not_depend_on_the_order_of_records(tmp_path: Path) -> None:
    rows = [*records(), {"id": "u", "text": "no label", "label": None}, {"id": "e", "text": "", "label": 1}]
    there = run_blind(RecordSource((write_jsonl(tmp_path / "a.jsonl", rows),)), FoldRule(folds=3, permutations=5))
    back = run_blind(RecordSource((write_jsonl(tmp_path / "b.jsonl", rows[::-1]),)), FoldRule(folds=3, permutations=5))
    for each in (there, back):
        json.dumps(each, allow_nan=False)
        each.pop("inputs")
    assert there == back
    counts = there["counts"]
    assert (counts["members"], counts["nonmembers"], counts["unlabelled"]) == (31, 30, 1)
    assert (counts["records"], counts["unusable"]) == (62, {})  # an empty text is one
    assert there["ceiling"]["p"] is not None


def test_scores_of_documents_are_those_of_the_report(tmp_path: Path) -> None:
    rows = [{**each, "group": f"g{number // 2}"} for number, each in enumerate(records())]
    rows.insert(7, {"id": "alone", "text": "without a label"})
    source = RecordSource((write_jsonl(tmp_path / "set.jsonl", rows),))
    report, table = score_blind(source, FoldRule(folds=3, permutations=0, seed=2))
    assert run_blind(source, FoldRule(folds=3, permutations=0, seed=2)) == report
    table.save(tmp_path / "blind.parquet")
    read = ScoreTable.open(tmp_path / "blind.parquet")
    assert read.documents["id"].to_pylist() == [json.dumps(each["id"]) for each in rows]
    assert read.header["settings"]["seed"] == 2
    assert read.header["inputs"] == report["inputs"]
    assert {each.role for each in read.columns} == {"blind"}
    folds = np.array(read.documents["blind_fold"].to_pylist(), dtype=float)
    labels = read.labels
    results = {each["name"]: each for each in (*report["baselines"], report["ceiling"])}
    assert list(results) == [each.attack for each in read.columns]
    for each in read.columns:
        auc = results[each.attack]["auc"]
        if auc is None:
            assert set(each.reasons) == {results[each.attack]["reason"], "no_label"}
            continue
        assert each.reasons == ["no_label" if row == 7 else None for row in range(len(rows))]
        inside = [roc_auc_score(labels[folds == fold], each.scores[folds == fold]) for fold in range(3)]
        assert auc == pytest.approx(np.mean(inside))
    groups = np.array(read.documents["group"].to_pylist())
    assert all(len(np.unique(folds[groups == name])) == 1 for name in set(groups[~np.isnan(labels)]))
    # The order of records has no say, and several divisions are averaged.
    turned = score_blind(
        RecordSource((write_jsonl(tmp_path / "turned.jsonl", rows[::-1]),)), FoldRule(folds=3, permutations=0, seed=2)
    )[1]
    assert np.array_equal(turned.columns[-1].scores[::-1], read.columns[-1].scores, equal_nan=True)
    twice = score_blind(source, FoldRule(folds=3, permutations=0, seed=2, repeats=2))[1]
    assert "blind_fold" not in twice.documents.column_names
    assert np.isfinite(twice.columns[-1].scores).sum() == len(rows) - 1
    nothing = score_blind(RecordSource((write_jsonl(tmp_path / "one.jsonl", rows[:3]),)), FoldRule(folds=3, permutations=0))[1]
    assert {reason for each in nothing.columns for reason in each.reasons} <= {"too_few_members", "no_members", "no_nonmembers"}


def test_a_baseline_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "vowels.py").write_text(
        '"""Vowels."""\n'
        "import numpy as np\n"
        "from ngramscope.blind.base import baseline\n"
        "from ngramscope.blind.learners import NumberLogistic\n"
        '@baseline("vowels", learner=NumberLogistic, summary="Vowels.", source="this test")\n'
        "def vowels(inputs):\n"
        '    return np.array([[sum(each in "aeiou" for each in text)] for text in inputs.texts], dtype=float)\n'
    )
    monkeypatch.setenv("NGRAMSCOPE_BLIND", str(tmp_path))
    members = np.arange(60) % 2 == 0
    # Nothing else tells these texts apart: every one has letters of its own.
    texts = [("ae" if member else "bc") + chr(0x4E00 + 2 * row) for row, member in enumerate(members)]
    try:
        study = blind_study(BlindInputs(texts), members, alone(members), QUICK)
        found = {each.name: each.auc for each in study.baselines}
        assert found["vowels"] == 1.0
    finally:
        from ngramscope.blind import base

        base._registry.pop("vowels", None)
    assert "vowels" not in baselines()


def test_impossible_rules_are_refused_by_option_name() -> None:
    for options, name in (({"folds": 2}, "--folds"), ({"repeats": 0}, "--repeats"), ({"permutations": -1}, "--permutations")):
        with pytest.raises(UsageError, match=name):
            FoldRule(**options)
