"""p-values by design: exact against enumeration, and not too small when nothing was learned."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from scipy import stats

from ngramscope import provenance
from ngramscope.attacks.conformal import benjamini_hochberg, conformal_p
from ngramscope.attacks.reading import AttackScores, read_scores
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.cli import conformal as conformal_command
from ngramscope.cli import paired as paired_command
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.conformal import conformal
from ngramscope.evaluate.paired import differences, paired, permutation_p
from ngramscope.evaluate.ranktest import rank, rank_sum_p, ranktest
from ngramscope.evaluate.twins import Family, families
from tests.conftest import Cli
from tests.score_stores import Pass, write_store

Floats = np.typing.NDArray[np.float64]


def scores_of(rows: list[tuple[Any, int | None, float | None]], name: str = "scores.parquet") -> AttackScores:
    """Scores from (group, label, score)."""
    groups, labels, scores = zip(*rows, strict=True)
    documents = pa.table(
        {
            "id": [json.dumps(f"{name}-{number}") for number in range(len(rows))],
            "label": pa.array(labels, pa.int8()),
            "group": pa.array(groups),
        }
    )
    values = np.array([np.nan if each is None else each for each in scores], dtype=float)
    return AttackScores(documents, values, "loss", "model", {}, {"name": name})


def simulated(random: np.random.Generator, documents: int, twins: int, effect: float = 0.0) -> AttackScores:
    """Documents of their own difficulty and spread; one of `twins` + 1 versions is the published one."""
    rows: list[tuple[Any, int | None, float | None]] = []
    for number in range(documents):
        # Perplexities: skewed, and of very different size from document to document.
        values = -np.exp(
            random.normal(random.normal(3, 0.5), random.uniform(0.05, 0.3), twins + 1) - effect * (np.arange(twins + 1) == 0)
        )
        rows += [(f"g{number}", int(version == 0), value) for version, value in enumerate(values.tolist())]
    random.shuffle(rows)  # type: ignore[arg-type]
    return scores_of(rows)


def test_the_rank_counts_ties_against_the_document() -> None:
    assert rank(Family("g", 2.0, np.array([1.0, 2.0, 3.0]))) == 3
    report = ranktest(scores_of([("g", 1, 2.0), ("g", 0, 1.0), ("g", 0, 2.0), ("g", 0, 3.0)]))
    (document,) = report["documents"]
    assert (document["rank"], document["p"], document["resolution"]) == (3, 0.75, 0.25)
    assert report["combined"] == {"p": pytest.approx(0.75), "documents": 1, "smallest": pytest.approx(0.25)}


def test_the_sum_of_ranks_is_exact() -> None:
    twins = [2, 3, 1, 4]
    sums = [sum(each) for each in itertools.product(*(range(1, k + 2) for k in twins))]
    for ranks in ([1, 1, 1, 1], [1, 2, 1, 3], [3, 4, 2, 5], [2, 2, 2, 2]):
        assert rank_sum_p(ranks, twins) == pytest.approx(np.mean(np.array(sums) <= sum(ranks)))


def test_one_twin_each_is_the_sign_test() -> None:
    report = ranktest(simulated(np.random.default_rng(0), 30, 1, effect=0.1))
    wins = sum(each["rank"] == 1 for each in report["documents"])
    assert report["combined"]["p"] == pytest.approx(stats.binomtest(wins, 30, alternative="greater").pvalue)


def test_fisher_of_ranks() -> None:
    read = simulated(np.random.default_rng(1), 8, 4, effect=0.1)
    report = ranktest(read, combine="fisher")
    shares = [each["p"] for each in report["documents"]]
    assert report["combined"]["p"] == pytest.approx(stats.combine_pvalues(shares, method="fisher").pvalue)
    assert report["combined"]["smallest"] == pytest.approx(stats.combine_pvalues([0.2] * 8, method="fisher").pvalue)
    with pytest.raises(UsageError, match="known: ranks, fisher"):
        ranktest(read, combine="best")


def test_false_alarms_of_rank_tests_and_paired_tests() -> None:
    random = np.random.default_rng(2)
    alarms: dict[str, int] = dict.fromkeys(["ranks", "fisher", "permutation", "t_test", "rank", "one"], 0)
    for number in range(200):
        read = simulated(random, 20, 1 + number % 4)
        tested = paired(read, permutations=99, seed=number)
        p = {
            "ranks": ranktest(read)["combined"]["p"],
            "fisher": ranktest(read, combine="fisher")["combined"]["p"],
            **{name: tested[name]["p"] for name in ("permutation", "t_test", "rank")},
            "one": ranktest(simulated(random, 1, 19))["combined"]["p"],
        }
        for name, value in p.items():
            alarms[name] += value <= 0.05
    assert max(alarms.values()) <= 16, alarms


def test_what_was_learned_is_found() -> None:
    read = simulated(np.random.default_rng(3), 60, 4, effect=0.15)
    assert ranktest(read)["combined"]["p"] < 0.001
    report = paired(read)
    assert report["permutation"]["p"] < 0.01
    assert report["t_test"]["p"] < 0.01
    assert report["rank"]["p"] < 0.001
    assert report["mean_difference"] > 0
    # Less likely than its twins is no sign of membership.
    assert ranktest(simulated(np.random.default_rng(3), 60, 4, effect=-0.15))["combined"]["p"] > 0.99


def test_the_t_test_is_that_of_the_paper() -> None:
    read = simulated(np.random.default_rng(4), 40, 3, effect=0.05)
    report = paired(read)
    versions = families(read).families
    public = [-each.document for each in versions]
    private = [float(np.mean(-each.twins)) for each in versions]
    expected = stats.ttest_rel(public, private, alternative="less")  # perplexities
    assert report["t_test"]["p"] == pytest.approx(expected.pvalue)
    assert report["t_test"]["t"] == pytest.approx(-expected.statistic)
    assert report["mean_difference"] == pytest.approx(np.mean(private) - np.mean(public))
    assert report["t_test"]["df"] == 39
    assert report["positive"] == sum(ours < theirs for ours, theirs in zip(public, private, strict=True))


def test_the_permutation_p_is_the_share_of_all_choices() -> None:
    versions = families(simulated(np.random.default_rng(5), 5, 2, effect=0.2)).families
    scores = [np.append(each.document, each.twins) for each in versions]
    means = [
        sum(values[place] - np.delete(values, place).mean() for values, place in zip(scores, places, strict=True))
        for places in itertools.product(range(3), repeat=5)
    ]
    exact = float(np.mean(np.array(means) >= differences(versions).sum() - 1e-9))
    assert permutation_p(versions, 40_000, 0) == pytest.approx(exact, abs=4 * np.sqrt(exact / 40_000))


def test_a_t_test_without_spread_is_undefined() -> None:
    rows = [(group, label, float(label)) for group in "abc" for label in (1, 0)]
    report = paired(scores_of(rows), permutations=99)
    assert report["t_test"] == {"t": None, "p": None, "df": None, "reason": "too_few_or_no_spread"}
    assert report["permutation"]["p"] == pytest.approx(1 / 8, abs=0.08)
    json.dumps(report, allow_nan=False)


def test_every_record_is_used_or_counted() -> None:
    rows: list[tuple[Any, int | None, float | None]] = [
        ("a", 1, 2.0), ("a", 0, 1.0), ("a", 0, None),
        ("b", 1, 2.0),
        ("c", 0, 2.0), ("c", 0, 1.0),
        ("d", 1, 2.0), ("d", 1, 3.0), ("d", 0, 1.0),
        (None, 1, 2.0), ("a", None, 2.0),
        ("e", 1, None), ("e", 0, 1.0),
    ]  # fmt: skip
    found = families(scores_of(rows))
    assert [each.name for each in found.families] == ["a"]
    assert found.left_out == {
        "no_document": 3, "no_group": 1, "no_label": 1, "no_twin": 1, "several_documents": 3, "undefined_score": 2
    }  # fmt: skip
    used = sum(1 + len(each.twins) for each in found.families)
    assert used + sum(found.left_out.values()) == found.records == len(rows)
    with pytest.raises(InputError, match="no group of column 'group' has one record of label 1"):
        families(scores_of(rows[3:6]))
    with pytest.raises(UsageError, match="no column 'pair'"):
        families(scores_of(rows), "pair")


def test_reports_do_not_depend_on_the_order_of_records() -> None:
    read = simulated(np.random.default_rng(6), 12, 3, effect=0.1)
    order = np.random.default_rng(0).permutation(len(read.scores))
    moved = AttackScores(read.documents.take(pa.array(order)), read.scores[order], "loss", "model", {}, read.source)
    assert ranktest(moved) == ranktest(read)
    one, other = paired(moved, permutations=499), paired(read, permutations=499)
    for test in ("permutation", "t_test", "rank"):
        assert one[test]["p"] == pytest.approx(other[test]["p"])


# Conformal p-values


def test_conformal_p_values() -> None:
    found = conformal_p(np.array([1.0, 2, 2, 3, np.nan]), np.array([9.0, 2, 0, np.nan]))
    assert found[:3] == pytest.approx([1 / 5, 4 / 5, 1])
    assert np.isnan(found[3])
    with pytest.raises(UsageError, match="no non-member with a score"):
        conformal_p(np.array([np.nan]), np.array([1.0]))


def test_benjamini_hochberg() -> None:
    found = benjamini_hochberg(np.array([0.01, np.nan, 0.04, 0.03, 0.5]))
    assert found[[0, 2, 3, 4]] == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])
    assert np.isnan(found[1])
    assert np.isnan(benjamini_hochberg(np.array([np.nan]))).all()


def test_false_flags_are_as_rare_as_said() -> None:
    random = np.random.default_rng(7)
    singles, false_shares, found = [], [], []
    for _ in range(300):
        members = np.arange(60) < 20
        scores = random.normal(3.0 * members, 1)
        p = conformal_p(random.normal(0, 1, 400), scores)
        flagged = benjamini_hochberg(p) <= 0.2
        singles.append(np.mean(p[~members] <= 0.1))
        false_shares.append(np.sum(flagged & ~members) / max(1, flagged.sum()))
        found.append(np.mean(flagged[members]))
    assert np.mean(singles) == pytest.approx(0.1, abs=0.01)
    assert np.mean(false_shares) <= 0.2
    assert np.mean(found) > 0.5


def test_the_conformal_table() -> None:
    rows: list[tuple[Any, int | None, float | None]] = [
        *((None, 0, float(number)) for number in range(98)), (None, 0, None),
        (None, 1, 500.0), (None, None, 500.0), (None, 1, 3.5), (None, 1, None),
    ]  # fmt: skip
    found = conformal(scores_of(rows), alpha=0.05)
    assert found.table["p"].to_pylist() == [pytest.approx(1 / 99), pytest.approx(1 / 99), pytest.approx(95 / 99), None]
    assert found.table["flagged"].to_pylist() == [True, True, False, None]
    assert found.header["resolution"] == 1 / 99
    counts = found.header["counts"]
    assert counts == {
        "records": 103, "pool": 98, "pool_undefined": 1, "pool_other_labels": 0,
        "tested": 3, "tested_undefined": 1, "flagged": 2,
    }  # fmt: skip
    own = scores_of(rows, "pool.parquet")
    apart = conformal(scores_of(rows[99:]), own)
    assert apart.table["p"].to_pylist() == found.table["p"].to_pylist()
    assert apart.header["counts"]["pool_other_labels"] == 4
    with pytest.raises(InputError, match="also among the candidates"):
        conformal(own, own)
    with pytest.raises(InputError, match="none is left to test"):
        conformal(scores_of(rows[:99]))
    with pytest.raises(UsageError, match="score both alike"):
        conformal(own, AttackScores(own.documents, own.scores, "zlib", "model", {}, own.source))
    with pytest.raises(UsageError, match="--alpha"):
        conformal(own, alpha=1.0)


# Files and commands


def save(read: AttackScores, path: Path, model: str = "model") -> Path:
    reasons = ["too-short" if each else None for each in np.isnan(read.scores)]
    columns = [
        ScoreColumn(name, each, role, read.scores * sign, reasons)
        for name, sign in (("loss", 1), ("perplexity", 2))
        for each, role in ((model, "target"), ("old", "placebo"))
    ]
    header = provenance.stamp("score-table", version=SCORES_VERSION, settings={}, inputs=[])
    ScoreTable(read.documents, tuple(columns), header).save(path)
    return path


def test_scores_are_read_by_name(tmp_path: Path) -> None:
    read = simulated(np.random.default_rng(8), 4, 2)
    path = save(read, tmp_path / "scores.parquet")
    found = read_scores(path, "perplexity")
    assert (found.attack, found.model, found.source["name"]) == ("perplexity", "model", "scores.parquet")
    assert found.scores == pytest.approx(2 * read.scores)
    assert read_scores(path, "loss", "old").model == "old"
    with pytest.raises(UsageError, match="--attack is needed; there are: loss, perplexity"):
        read_scores(path)
    with pytest.raises(UsageError, match="no model 'new'; there are: model, old"):
        read_scores(path, "loss", "new")


def test_scores_are_computed_from_a_store(tmp_path: Path) -> None:
    columns = {"token_id": [[1, 2], [3], [4, 5]], "log_prob": [[-1.0, -3.0], [-0.5], [-4.0, -4.0]]}
    write_store(tmp_path / "store", [Pass(columns)], labels=[1, 0, 0], group=["a", "a", "a"])
    found = read_scores(tmp_path / "store", "loss")
    assert found.scores == pytest.approx([-2.0, -0.5, -4.0])
    assert ranktest(found)["documents"][0]["rank"] == 2
    with pytest.raises(UsageError, match="name one with --attack"):
        read_scores(tmp_path / "store")


def test_the_command_ranktest(cli: Cli, tmp_path: Path) -> None:
    save(simulated(np.random.default_rng(9), 20, 3, effect=0.3), tmp_path / "scores.parquet")
    done = cli("ranktest", "scores.parquet", "--attack", "loss", "--out", "ranks.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"20 documents against 60 twins, loss on model: p = ")
    report = json.loads((tmp_path / "ranks.json").read_text())
    assert report["artefact"] == "ranktest"
    assert report["inputs"][0]["name"] == "scores.parquet"
    assert len(report["inputs"][0]["blake3"]) == 64


def test_the_commands_paired_and_conformal(tmp_path: Path) -> None:
    path = str(save(simulated(np.random.default_rng(10), 20, 3, effect=0.3), tmp_path / "scores.parquet"))
    done = CliRunner().invoke(paired_command.command, [path, "--attack", "perplexity", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["settings"]["attack"] == "perplexity"
    said = CliRunner().invoke(paired_command.command, [path, "--attack", "perplexity"]).output
    assert said.startswith("20 documents, perplexity on model: mean difference +")
    out = tmp_path / "flagged.parquet"
    done = CliRunner().invoke(conformal_command.command, [path, "--attack", "loss", "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.output)
    assert summary["resolution"] == 1 / 61
    metadata = pa.parquet.read_table(out).schema.metadata[b"ngramscope"]
    assert json.loads(metadata)["counts"] == summary["counts"]
    with pytest.raises(UsageError, match=r"FILE\.parquet"):
        CliRunner().invoke(conformal_command.command, [path, "--out", "x.csv"], catch_exceptions=False)
