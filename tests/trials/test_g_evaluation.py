"""Group G: nothing to rank, and low false positive rates; and what an evaluation makes of a model that returned NaN (F06)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope.blind.base import BlindInputs
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.report import AttackRow, Report
from ngramscope.evaluate.run import evaluate
from ngramscope.evaluate.tables import read_scores
from ngramscope.evaluate.text import to_text
from tests.scoring import score_table

RATES = (0.001, 0.01, 0.05)
OPTIONS = EvaluationOptions(fprs=RATES, bootstrap=100)


def evaluated(trials: Path, name: str) -> Report:
    return evaluate(read_scores(trials / "G" / f"{name}.csv"), OPTIONS)


def expected(trials: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((trials / "expected.json").read_text())["G"]
    return found


def test_g01_one_class_only_is_null_with_a_reason(trials: Path) -> None:
    row = evaluated(trials, "one_class").row("score")
    assert (row.auc, row.interval, row.tprs) == (None, None, ())
    assert row.reason == "no_nonmember_scores"
    assert (row.n1, row.n0) == (2, 0)


def test_g01_an_empty_table_is_null_with_a_reason(trials: Path) -> None:
    report = evaluated(trials, "empty")
    assert (report.row("score").auc, report.row("score").reason) == (None, "no_scores")
    assert report.counts["documents"] == 0
    json.dumps(report.to_json(), allow_nan=False)


def test_g01_nan_infinite_and_missing_scores_are_counted_and_never_ranked(trials: Path) -> None:
    report = evaluated(trials, "with_nan")
    row = report.row("score")
    assert row.undefined == {"nan": 1, "infinite": 2, "missing": 1}
    assert (row.n1, row.n0) == (2, 1)
    assert row.auc == 1.0  # .9 and .8 above .1; with inf on top and -inf below it would not be
    assert report.counts["left_out"] == 4
    assert "2 infinite" in to_text(report)


def test_g01_all_tied_is_one_half_with_a_note(trials: Path) -> None:
    row = evaluated(trials, "all_tied").row("score")
    assert row.auc == expected(trials)["all_tied"]["auc"]
    assert "all_tied" in row.notes


def test_g01_one_bad_attack_does_not_spoil_the_others() -> None:
    labels, scores = np.repeat([1, 0], 20), np.random.default_rng(0).normal(size=(2, 40))
    table = score_table(labels, {"loss": scores[0], "bad": np.full(40, np.nan), "zlib": scores[1]})
    report = evaluate(table, OPTIONS)
    assert (report.row("bad").auc, report.row("bad").reason, report.row("bad").undefined) == (None, "no_scores", {"nan": 40})
    for name in ("loss", "zlib"):
        assert report.row(name).auc is not None
        assert (report.row(name).n1, report.row(name).n0) == (20, 20)


@pytest.mark.parametrize("name", ["all_tied", "hundred_each", "reversed", "separable", "ties_at_top", "tiny_spread"])
def test_g02_tprs_are_those_that_a_threshold_attains(trials: Path, name: str) -> None:
    right, row = expected(trials)[name], evaluated(trials, name).row("score")
    assert row.auc == pytest.approx(right["auc"], abs=1e-12)
    for each in row.tprs:
        assert each.point_tpr == right["tpr_at_fpr_attained_by_a_threshold"][str(each.target)]
        assert each.attained_fpr is not None
        assert each.attained_fpr <= each.target
        assert each.n0 == row.n0


def test_g02_a_rate_that_so_few_nonmembers_cannot_show_is_warned_of(trials: Path) -> None:
    report = evaluated(trials, "hundred_each")
    row: AttackRow = report.row("score")
    assert [(each.tpr, each.reason) for each in row.tprs] == [
        (None, "fewer_nonmembers_than_1_in_fpr"), (0.01, None), (0.09, None),
    ]  # fmt: skip
    assert all(each.unreliable for each in row.tprs)
    assert any("unreliable" in each and "0.1 %" in each for each in report.warnings)


def test_f06_documents_of_which_the_model_made_nan_are_left_out_for_every_attack() -> None:
    labels = [1, 0] * 10
    scores = np.random.default_rng(1).normal(size=(2, 20))
    scores[0, :5] = np.nan  # the second attack, on another pass, has all of them
    table = score_table(labels, {"loss": scores[0], "zlib": scores[1]}, reasons={"loss": dict.fromkeys(range(5), "nan-logits")})
    report = evaluate(table, OPTIONS)
    assert (report.counts["used"], report.counts["left_out"]) == (15, 5)
    assert {(row.n1, row.n0) for row in report.rows} == {(7, 8)}
    assert report.row("loss").undefined == {"nan-logits": 5}
    assert "5 nan-logits" in to_text(report)
    assert any(each.startswith("5 documents without a score of some attack") for each in report.warnings)


@pytest.mark.parametrize("years", [True, False])
def test_g04_a_set_that_gives_itself_away(years: bool) -> None:
    """Members mention years 2010 to 2016, non-members 2023 and 2024; scores are those of a random model."""
    random = np.random.default_rng(4)
    labels = np.repeat([1, 0], 100)
    texts = [" ".join(f"word{each}" for each in random.integers(0, 300, 60)) for _ in labels]
    if years:
        drawn = np.where(labels == 1, random.integers(2010, 2017, 200), random.integers(2023, 2025, 200))
        texts = [f"{text} In {year} it was so." for text, year in zip(texts, drawn, strict=True)]
    table = score_table(labels, {"loss": random.normal(size=200), "zlib": random.normal(size=200)})
    report = evaluate(table, EvaluationOptions(bootstrap=0, permutations=39), texts=BlindInputs(texts))
    assert report.blind is not None
    assert report.blind.ceiling is not None
    auc = report.blind.ceiling.auc
    assert auc is not None
    warned = [each for each in report.warnings if "text alone distinguishes these two sets" in each]
    if years:
        assert auc > 0.95
        assert {each.name: each.auc for each in report.blind.baselines}["dates"] == 1.0
        assert "no attack is shown to exceed it" in warned[0]
        assert all(each.less_ceiling is not None and each.less_ceiling.difference < -0.3 for each in report.blind.attacks)
    else:
        assert abs(auc - 0.5) < 0.15
        assert not warned
    shown = to_text(report)
    for name in ("words-nb", "dates", "length", "ceiling"):
        assert name in shown
