"""Dataset inference: its tests against scipy, no false alarms without a difference, and banners where there is a shift."""

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
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.cli import dataset_inference as command_module
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.setlevel.dataset_inference import InferenceOptions, dataset_inference
from ngramscope.evaluate.setlevel.dataset_inference_text import to_text
from ngramscope.evaluate.setlevel.inference import _permutation_p, halves, infer, p_values, unit_means

Floats = np.typing.NDArray[np.float64]
QUICK: dict[str, Any] = {"permutations": 99, "repeats": 0}


def table_of(labels: list[int], scores: dict[tuple[str, str, str], Floats], **documents: Any) -> ScoreTable:
    columns = tuple(
        ScoreColumn(attack, model, role, np.asarray(values, dtype=float), [None] * len(labels))
        for (attack, model, role), values in scores.items()
    )
    base = {"id": [json.dumps(f"d{number}") for number in range(len(labels))], "label": labels, **documents}
    return ScoreTable(pa.table(base), columns, provenance.stamp("score-table", version=SCORES_VERSION, settings={}, inputs=[]))


def study(
    random: np.random.Generator, n: int = 400, shift: float = 0.0, old_shift: float = 0.0, **documents: Any
) -> ScoreTable:
    """Half suspects; the target's attacks share the documents' difficulty with the placebo's."""
    labels = [number % 2 for number in range(n)]
    hard = random.normal(size=n)
    ours = shift * np.array(labels)
    scores = {
        ("loss", "big", "target"): hard + ours + random.normal(size=n),
        ("zlib", "big", "target"): hard - ours / 2 + random.normal(size=n),
        ("loss", "old", "placebo"): hard + old_shift * np.array(labels) + random.normal(size=n),
        ("zlib", "old", "placebo"): hard + random.normal(size=n),
    }
    return table_of(labels, scores, **documents)


def test_the_tests_are_those_of_scipy() -> None:
    random = np.random.default_rng(0)
    ours, others = random.normal(0.3, 2, 15), random.normal(0, 1, 24)
    t, p = p_values(ours, others, 1999, random)
    welch = stats.ttest_ind(ours, others, equal_var=False, alternative="greater")
    assert (t, p["welch"]) == (pytest.approx(welch.statistic), pytest.approx(welch.pvalue))
    assert p["mann_whitney"] == pytest.approx(stats.mannwhitneyu(ours, others, alternative="greater").pvalue)
    same = stats.permutation_test(
        (ours, others),
        lambda x, y, axis: stats.ttest_ind(x, y, equal_var=False, axis=axis).statistic,
        alternative="greater", n_resamples=1999, vectorized=True, rng=random,
    )  # fmt: skip
    assert p["permutation"] == pytest.approx(same.pvalue, abs=0.04)


def test_the_permutation_test_is_exact_where_all_permutations_can_be_counted() -> None:
    random = np.random.default_rng(1)
    values = random.normal(size=8)
    ours, others = values[:4], values[4:]

    def t(chosen: tuple[int, ...]) -> float:
        rest = [each for each in range(8) if each not in chosen]
        return float(stats.ttest_ind(values[list(chosen)], values[rest], equal_var=False).statistic)

    observed = t((0, 1, 2, 3))
    exact = np.mean([t(each) >= observed - 1e-9 for each in itertools.combinations(range(8), 4)])
    assert _permutation_p(ours, others, 20_000, random) == pytest.approx(exact, abs=0.015)


def test_groups_stay_in_one_half_and_count_once() -> None:
    random = np.random.default_rng(2)
    unit = random.integers(0, 60, 500)
    suspects = unit < 30
    train = halves(unit, suspects, random)
    assert {unit[train][row] for row in range(train.sum())} & set(unit[~train].tolist()) == set()
    assert len(np.unique(unit[train & suspects])) == len(np.unique(unit[~train & suspects])) == 15
    scores = random.normal(size=500)
    assert unit_means(scores, unit, suspects) == pytest.approx([scores[unit == each].mean() for each in range(30)])
    # Copies of documents are no new evidence.
    features = random.normal(size=(120, 2))
    sides, once = np.arange(120) < 60, np.arange(120)
    alone = infer(features, sides, once, random=np.random.default_rng(3))
    copied = infer(np.repeat(features, 7, axis=0), np.repeat(sides, 7), np.repeat(once, 7), random=np.random.default_rng(3))
    assert copied.p["welch"] == pytest.approx(alone.p["welch"], abs=0.03)


def test_the_second_half_has_no_say_in_what_is_learned() -> None:
    random = np.random.default_rng(4)
    features = random.normal(size=(200, 3))
    suspects, unit = np.arange(200) < 100, np.arange(200)
    train = halves(unit, suspects, np.random.default_rng(5))
    before = infer(features, suspects, unit, random=np.random.default_rng(5), permutations=19)
    moved = features.copy()
    last = np.flatnonzero(~train & suspects)[-1]
    moved[last] = 1e9
    after = infer(moved, suspects, unit, random=np.random.default_rng(5), permutations=19)
    # One suspect of the second half has changed, clipped to what the first half knows: one placement of 50 x 50.
    assert before.auc is not None
    assert after.auc is not None
    assert abs(after.auc - before.auc) <= 1 / 50 + 1e-9


def test_p_is_uniform_without_a_difference() -> None:
    random = np.random.default_rng(6)
    found: dict[str, list[float]] = {"permutation": [], "welch": [], "mann_whitney": []}
    unit = np.repeat(np.arange(90), 2)
    for _ in range(150):
        # Documents of a group are alike, groups are labelled at random, attacks are skewed.
        features = np.exp(random.normal(size=(90, 3)))[unit] + random.normal(0, 0.1, (180, 3))
        tested = infer(features, random.permutation(90)[unit] < 45, unit, permutations=99, random=random)
        for name, each in tested.p.items():
            assert each is not None
            found[name].append(each)
    for name, each in found.items():
        assert stats.kstest(each, "uniform").pvalue > 0.001, name
        assert sum(p <= 0.05 for p in each) <= stats.binom.ppf(0.999, 150, 0.05), name


def test_a_suspect_set_is_found_and_its_placebo_is_not() -> None:
    report = dataset_inference(study(np.random.default_rng(7), shift=0.6), InferenceOptions(permutations=199, repeats=40))
    (row,) = report["rows"]
    assert row["p"]["permutation"] == row["p_holm"] == 0.005
    assert row["p"]["welch"] < 0.001
    assert row["attacks"] == ["loss", "zlib"]
    assert row["placebos"][0]["p"]["welch"] > 0.01
    assert not row["shift_found"]
    for split in row["a_a"].values():
        assert split["splits"] == 40
        assert split["alarms"]["permutation"]["count"] <= 8


def test_what_differs_beside_the_scores_is_a_banner() -> None:
    random = np.random.default_rng(8)
    labels = np.arange(400) % 2
    overlap = random.normal(0.2 + 0.05 * labels, 0.05)
    for table, what in (
        (study(random, shift=0.5, overlap_7=overlap), "overlap_7"),
        (study(random, shift=0.5, old_shift=1.0), "placebo old"),
    ):
        report = dataset_inference(table, InferenceOptions(**QUICK))
        assert report["rows"][0]["shift_found"]
        assert any("SHIFT" in each and what in each for each in report["banner"])
        assert next(iter(report)) == "banner"
        first, *rest = to_text(report).splitlines()
        assert first == f"!! {report['banner'][0]}"
        assert any(" SHIFT" in line for line in rest)
    table = study(random, shift=0.5)
    texts = {f'"d{row}"': f"{'old' if row % 2 else 'new'} words about thing {row % 7}" for row in range(400)}
    (row,) = dataset_inference(table, InferenceOptions(**QUICK), texts=texts)["rows"]
    assert row["shift_found"]
    assert row["shift"][0]["name"] == "words"
    same = {f'"d{each}"': f"words about thing {each % 7}" for each in range(400)}
    nothing = dataset_inference(table, InferenceOptions(**QUICK), texts=same)
    assert not nothing["rows"][0]["shift_found"]
    assert nothing["banner"] == []
    assert to_text(nothing).startswith("200 suspect documents")


def test_several_suspects_are_corrected_and_held_out_documents_chosen() -> None:
    domains = [["a", "b", "c"][number // 2 % 3] for number in range(600)]
    table = study(np.random.default_rng(9), 600, shift=0.8, domain=domains)
    report = dataset_inference(table, InferenceOptions(by="domain", **QUICK))
    assert [row["suspect"] for row in report["rows"]] == ["a", "b", "c"]
    assert all(row["p_holm"] == pytest.approx(min(1, 3 * row["p"]["permutation"])) for row in report["rows"][:1])
    assert [row["suspects"] for row in report["rows"]] == [row["held_out"] for row in report["rows"]] == [50, 50, 50]
    against_all = dataset_inference(table, InferenceOptions(by="domain", held_out="all", **QUICK))
    assert [row["held_out"] for row in against_all["rows"]] == [150, 150, 150]


def test_one_attack_without_learning_is_the_t_test_of_collections() -> None:
    table = study(np.random.default_rng(10), shift=0.3)
    options = InferenceOptions(attacks=("loss",), learner="none", group=None, **QUICK)
    (row,) = dataset_inference(table, options)["rows"]
    scores = table.columns[0].scores
    low, high = np.quantile(scores, (0.025, 0.975))
    clipped = np.clip(scores, low, high)
    welch = stats.ttest_ind(clipped[1::2], clipped[::2], equal_var=False, alternative="greater")
    assert row["t"] == pytest.approx(welch.statistic)
    assert row["p"]["welch"] == pytest.approx(welch.pvalue)
    assert (row["suspects"], row["held_out"]) == (200, 200)


def test_corner_cases_are_null_with_a_reason() -> None:
    (few,) = dataset_inference(study(np.random.default_rng(11), 30), InferenceOptions(**QUICK))["rows"]
    assert (few["reason"], few["p_holm"], few["a_a"]["suspect"]["reason"]) == (
        "fewer_than_20_units",
        None,
        "fewer_than_40_units",
    )
    constant = table_of([0, 1] * 50, {("loss", "big", "target"): np.ones(100)})
    (flat,) = dataset_inference(constant, InferenceOptions(permutations=99, repeats=3))["rows"]
    assert (flat["t"], flat["p_holm"], flat["auc"]) == (None, None, 0.5)
    nothing = table_of([0, 1] * 50, {("loss", "big", "target"): np.full(100, np.nan)})
    assert dataset_inference(nothing, InferenceOptions(**QUICK))["rows"][0]["reason"] == "no_scores"
    with pytest.raises(InputError, match="no document has label 1"):
        dataset_inference(table_of([0, 0], {("loss", "big", "target"): np.ones(2)}))
    with pytest.raises(UsageError, match="--learner"):
        InferenceOptions(learner="forest")


def test_the_report_does_not_depend_on_the_order_of_the_documents() -> None:
    table = study(np.random.default_rng(12), 200, shift=0.3)
    shuffled = np.random.default_rng(13).permutation(200)
    columns = tuple(ScoreColumn(c.attack, c.model, c.role, c.scores[shuffled], c.reasons) for c in table.columns)
    options = InferenceOptions(permutations=99, repeats=3)
    assert dataset_inference(table, options) == dataset_inference(
        ScoreTable(table.documents.take(shuffled), columns, table.header), options
    )


def test_the_command(tmp_path: Path) -> None:
    random = np.random.default_rng(14)
    lines = [f"d{row},{row % 2},{random.normal()},{random.normal()}" for row in range(120)]
    (tmp_path / "scores.csv").write_text("id,label,loss @ big,loss @ old\n" + "\n".join(lines) + "\n")
    texts = [json.dumps({"id": f"d{row}", "text": f"text {row % 2}{row % 3}", "label": row % 2}) for row in range(120)]
    (tmp_path / "set.jsonl").write_text("\n".join(texts) + "\n")
    arguments = [str(tmp_path / "scores.csv"), "--placebo", "old", "--permutations", "99", "--repeats", "5"]
    arguments += ["--texts", str(tmp_path / "set.jsonl")]
    done = CliRunner().invoke(command_module.command, [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["rows"][0]["shift"][0]["name"] == "words"
    assert done.stdout.lstrip("{ \n").startswith('"banner": [')
    assert report["banner"][0] in report["warnings"]
    assert [each["option"] for each in report["inputs"]] == ["scores", "texts"]
    shown = CliRunner().invoke(command_module.command, arguments).output
    assert "60 suspect documents, 60 held-out ones" in shown
    assert shown.lstrip().startswith("!! all @ big: SHIFT between suspect and held-out documents: words")
