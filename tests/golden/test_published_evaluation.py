"""Numbers of public results that an evaluation alone can reproduce."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.power import detectable_auc, hanley_mcneil
from ngramscope.evaluate.run import evaluate
from tests.scoring import score_table

TOFU = {  # own loss; neighbourhood of perturbed answers; of one paraphrase
    ("llama2-7b", "retain90"): (0.9968, 0.9813, 0.9596),
    ("phi", "retain90"): (0.9988, 0.9674, 0.9539),
    ("llama2-7b", "full"): (0.4787, 0.5241, 0.5042),
    ("phi", "full"): (0.4829, 0.5071, 0.5142),
}


def rows(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        return [json.loads(line) for line in io.TextIOWrapper(stream, encoding="utf-8")]


@pytest.fixture(scope="module")
def tofu(shared: Path) -> list[dict[str, Any]]:
    return rows(shared / "data" / "tofu-scores" / "tofu-losses.jsonl.zst")


def study(tofu: list[dict[str, Any]], model: str, finetuned_on: str) -> list[dict[str, Any]]:
    """Retained pairs and the last tenth of a run without weight decay."""
    chosen = [
        each for each in tofu if (each["model"], each["finetuned_on"], each["weight_decay"]) == (model, finetuned_on, "0")
    ]
    return [each for each in chosen if each["part"] == "retain" or each["forget_pct"] in (10, "10")]


@pytest.mark.parametrize(("model", "finetuned_on"), list(TOFU))
def test_tofu_losses_have_the_aucs_that_were_published_with_them(
    tofu: list[dict[str, Any]], model: str, finetuned_on: str
) -> None:
    chosen = study(tofu, model, finetuned_on)
    retained = np.array([each["part"] == "retain" for each in chosen])
    own = np.array([each["loss_mean"] for each in chosen])
    scores = {
        "loss": -own,
        "neighbourhood": np.array([np.mean(each["perturbed_loss_mean"]) for each in chosen]) - own,
        "paraphrase": np.array([each["paraphrase_loss_mean"] for each in chosen]) - own,
    }
    report = evaluate(score_table(retained.astype(int), scores), EvaluationOptions(bootstrap=100))
    for name, expected in zip(scores, TOFU[model, finetuned_on], strict=True):
        row = report.row(name)
        assert row.auc == pytest.approx(expected, abs=5e-5)
        assert row.interval is not None
        if finetuned_on == "full":  # every pair is a member: nothing is to be found
            assert row.interval[0] < 0.5 < row.interval[1]
        else:
            assert row.interval[0] > 0.9


def test_a_reference_that_saw_all_of_it_is_a_placebo_for_tofu(tofu: list[dict[str, Any]]) -> None:
    """The same pairs under a model fine-tuned on all: what separates the sides there is no membership."""
    losses = {
        run: {(each["part"], each["idx"]): each["loss_mean"] for each in study(tofu, "phi", run)}
        for run in ("retain90", "full")
    }
    assert losses["retain90"].keys() == losses["full"].keys()
    keys = sorted(losses["full"])
    columns = {
        f"loss @ {run} @ {role}": [-losses[run][key] for key in keys]
        for run, role in (("retain90", "target"), ("full", "placebo"))
    }
    report = evaluate(score_table([int(part == "retain") for part, _ in keys], columns), EvaluationOptions(bootstrap=100))
    (placebo,) = report.row("loss").placebos
    assert placebo.auc == pytest.approx(0.4829, abs=5e-5)
    assert placebo.difference.difference == pytest.approx(0.9988 - 0.4829, abs=1e-4)
    assert placebo.difference.low is not None
    assert placebo.difference.low > 0.4


def test_standard_errors_are_those_that_mimir_found_by_bootstrap(shared: Path) -> None:
    published = [
        each
        for each in rows(shared / "data" / "mimir-published-auc" / "mimir-auc.jsonl.zst")
        if each["std"] is not None and each["file"] == "mia_unified_mia_v5_results"
    ]
    assert len(published) == 7 * 40
    for each in published:  # rates of a thousand members a side are thousandths
        for name in ("tpr_at_fpr_0.001", "tpr_at_fpr_0.01"):
            assert 1000 * each[name] == pytest.approx(round(1000 * each[name]), abs=1e-9)
    ratios = [each["std"] / hanley_mcneil(each["roc_auc"], 1000, 1000) for each in published]
    assert np.mean(ratios) == pytest.approx(1, abs=0.03)
    assert np.quantile(ratios, [0.025, 0.975]) == pytest.approx([1, 1], abs=0.12)
    least = detectable_auc(1000, 1000)
    assert least is not None
    assert least == pytest.approx(0.536, abs=1e-3)
