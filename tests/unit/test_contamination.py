"""Benchmark items against fresh and rephrased ones: against plain code, scipy, and where there is nothing to find."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from ngramscope.attacks.table import ScoreTable
from ngramscope.cli import contamination as command_module
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.auc import auc
from ngramscope.evaluate.setlevel.contamination import ContaminationOptions, contamination, joined
from tests.unit.test_dataset_inference import table_of


def items(
    random: np.random.Generator, count: int = 60, versions: int = 3, learned: float = 0.0, wording: float = 0.0
) -> ScoreTable:
    """Items of two benchmarks, each with rephrased versions, which are less likely to any model by `wording`."""
    labels, item, benchmark, scores, old = [], [], [], [], []
    for number in range(count):
        hard = random.normal(0, 2)
        for version in range(versions + 1):
            labels.append(int(version == 0))
            item.append(f"i{number:03}")
            benchmark.append("quiz" if number % 2 else "maths")
            common = hard + (wording if version == 0 else 0)
            scores.append(common + (learned if version == 0 else 0) + random.normal())
            old.append(common + random.normal())
    columns = {("loss", "big", "target"): np.array(scores), ("loss", "old", "placebo"): np.array(old)}
    return table_of(labels, columns, item=item, domain=benchmark)


def test_numbers_are_those_of_plain_code() -> None:
    table = items(np.random.default_rng(0), learned=0.8)
    (row,) = contamination(table, ContaminationOptions(item="item"))["rows"]
    scores = table.columns[0].scores
    assert row["auc"] == pytest.approx(auc(scores, table.labels == 1))
    values = scores.reshape(60, 4)[:, 0] - scores.reshape(60, 4)[:, 1:].mean(axis=1)
    paired = row["paired"]
    expected = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
    assert (paired["items"], paired["difference"]) == (60, pytest.approx(values.mean()))
    assert paired["interval"] == pytest.approx(expected)
    assert paired["above_all"]["count"] == sum(each[0] > each[1:].max() for each in scores.reshape(60, 4))
    assert paired["above_all_by_chance"] == 0.25
    assert row["p_paired"] < 0.01


def test_rephrasing_that_any_model_dislikes_is_not_contamination() -> None:
    table = items(np.random.default_rng(1), 100, wording=1.0)
    report = contamination(table, ContaminationOptions(item="item"))
    (row,) = report["rows"]
    assert row["p_paired"] < 0.01
    (placebo,) = row["paired"]["placebos"]
    assert placebo["placebo"]["p"] < 0.01
    low, high = placebo["difference"]["interval"]
    assert low < 0 < high
    assert placebo["difference"]["difference"] == pytest.approx(row["paired"]["difference"] - placebo["placebo"]["difference"])
    assert any("rephrasing" in each for each in report["warnings"])


def test_false_alarms_of_both_tests() -> None:
    random = np.random.default_rng(2)
    unpaired, paired, studies = 0, 0, 60
    for _ in range(studies):
        (row,) = contamination(items(random, 40, 1), ContaminationOptions(item="item", permutations=99))["rows"]
        unpaired += row["p"] <= 0.05
        paired += row["p_paired"] <= 0.05
    bound = stats.binom.ppf(0.999, studies, 0.05)
    assert unpaired <= bound
    assert paired <= bound


def test_several_benchmarks_are_corrected_together() -> None:
    table = items(np.random.default_rng(3), learned=0.5)
    rows = contamination(table, ContaminationOptions(by="domain", item="item"))["rows"]
    assert [row["benchmark"] for row in rows] == ["maths", "quiz"]
    first, second = sorted(rows, key=lambda row: row["p"])
    assert first["p_holm"] == pytest.approx(min(1, 2 * first["p"]))
    assert second["p_holm"] == pytest.approx(max(first["p_holm"], second["p"]))
    assert [row["paired"]["items"] for row in rows] == [30, 30]


def test_two_tables_are_joined_by_what_both_scored() -> None:
    random = np.random.default_rng(4)
    ours = table_of([0] * 20, {("loss", "m", "target"): random.normal(1, 1, 20), ("zlib", "m", "target"): np.ones(20)})
    theirs = table_of([1] * 30, {("loss", "m", "target"): random.normal(0, 1, 30)}, overlap_7=random.random(30))
    table = joined(ours, theirs)
    assert table.labels.tolist() == [1.0] * 20 + [0.0] * 30
    assert [each.name for each in table.columns] == ["loss @ m"]
    (row,) = contamination(table)["rows"]
    pooled = np.concatenate([ours.columns[0].scores, theirs.columns[0].scores])
    assert row["auc"] == pytest.approx(auc(pooled, np.arange(50) < 20))
    with pytest.raises(InputError, match="no attack on the same model in common"):
        joined(ours, table_of([0], {("loss", "other", "target"): np.ones(1)}))


def test_a_shift_is_a_banner_and_corner_cases_are_null() -> None:
    random = np.random.default_rng(5)
    labels = np.arange(100) % 2
    shifted = table_of(
        labels.tolist(),
        {("loss", "m", "target"): random.normal(size=100)},
        overlap_7=labels + random.random(100),
        overlap_null_7=["too_short", *[None] * 99],
    )
    report = contamination(shifted)
    assert report["shift"]["all"][0]["name"] == "overlap_7"
    assert any("SHIFT" in each for each in report["warnings"])
    constant = table_of(labels.tolist(), {("loss", "m", "target"): np.ones(100)}, item=[str(row // 2) for row in range(100)])
    (flat,) = contamination(constant, ContaminationOptions(item="item"))["rows"]
    assert (flat["auc"], flat["interval"], flat["p"], flat["p_paired"]) == (0.5, None, None, 1.0)
    assert flat["paired"]["reason"] == "too_few_or_no_spread"
    alone = table_of(labels.tolist(), {("loss", "m", "target"): random.normal(size=100)}, item=[str(row) for row in range(100)])
    (no_pairs,) = contamination(alone, ContaminationOptions(item="item"))["rows"]
    assert no_pairs["paired"]["reason"] == "no_item_with_versions"
    assert no_pairs["p_paired_holm"] is None
    (few,) = contamination(table_of([1, 0, 0], {("loss", "m", "target"): np.arange(3.0)}))["rows"]
    assert few["reason"] == "too_few_items"
    with pytest.raises(InputError, match="none is of a benchmark"):
        contamination(table_of([0, 0], {("loss", "m", "target"): np.ones(2)}))
    with pytest.raises(UsageError, match="no column 'exam'"):
        contamination(shifted, ContaminationOptions(by="exam"))


def test_a_column_of_items_that_is_not_there_is_named_by_its_option() -> None:
    table = items(np.random.default_rng(3), 30)
    with pytest.raises(UsageError, match=r"^--item: no column 'group'; the table has: "):
        contamination(table, ContaminationOptions(item="group"))


def test_the_command(tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    for name, shift in (("benchmark", 1.0), ("fresh", 0.0)):
        lines = [f"{row},,i{row},{random.normal(shift)},{random.normal()}" for row in range(60)]
        (tmp_path / f"{name}.csv").write_text("id,label,item,loss @ big,loss @ old\n" + "\n".join(lines) + "\n")
    arguments = [str(tmp_path / "benchmark.csv"), "--fresh", str(tmp_path / "fresh.csv"), "--placebo", "old", "--item", "item"]
    done = CliRunner().invoke(command_module.command, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["counts"] == {"documents": 120, "benchmark": 60, "fresh": 60, "left_out": {}}
    assert report["rows"][0]["interval"][0] > 0.5
    assert report["rows"][0]["paired"]["items"] == 60
    assert [each["option"] for each in report["inputs"]] == ["scores", "fresh"]
    assert "each item less its rephrased versions" in CliRunner().invoke(command_module.command, arguments).stdout
