"""Real losses with certain membership: the AUCs that were computed apart from this program."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from sklearn.metrics import roc_auc_score

from ngramscope.attacks.base import find_attack
from tests.score_stores import Pass, inputs_of


@pytest.fixture(scope="module")
def rows(shared: Path) -> list[dict[str, Any]]:
    with (shared / "data" / "tofu-scores" / "tofu-losses.jsonl.zst").open("rb") as file:
        return [json.loads(line) for line in io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")]


@pytest.mark.parametrize(
    ("model", "finetuned_on", "loss", "perturbed", "paraphrase"),
    [
        ("llama2-7b", "retain90", 0.9968, 0.9813, 0.9596),
        ("phi", "retain90", 0.9988, 0.9674, 0.9539),
        ("llama2-7b", "full", 0.4787, 0.5241, 0.5042),
        ("phi", "full", 0.4829, 0.5071, 0.5142),
    ],
)
def test_published_losses_give_their_aucs(
    rows: list[dict[str, Any]], tmp_path: Path, model: str, finetuned_on: str, loss: float, perturbed: float, paraphrase: float
) -> None:
    mine = [
        each for each in rows
        if each["model"] == model and each["finetuned_on"] == finetuned_on and each["weight_decay"] == "0"
        and (each["part"] == "retain" or each["forget_pct"] == 10)
    ]  # fmt: skip
    kept = [each["part"] == "retain" for each in mine]
    own = Pass({"log_prob": [[-each["loss_mean"]] for each in mine]})
    false = [[-value] for each in mine for value in each["perturbed_loss_mean"]]
    owners = [row for row, each in enumerate(mine) for _ in each["perturbed_loss_mean"]]

    def auc(name: str, where: str, *neighbours: Pass) -> float:
        (scores,) = find_attack(name).score(inputs_of(tmp_path / where, own, *neighbours)).values()
        return float(roc_auc_score(kept, scores))

    assert auc("loss", "a") == pytest.approx(loss, abs=5e-5)
    assert auc("neighbourhood", "b", Pass({"log_prob": false}, kind="neighbours", rows=owners)) == pytest.approx(
        perturbed, abs=5e-5
    )
    others = Pass({"log_prob": [[-each["paraphrase_loss_mean"]] for each in mine]}, kind="neighbours")
    assert auc("neighbourhood", "c", others) == pytest.approx(paraphrase, abs=5e-5)
