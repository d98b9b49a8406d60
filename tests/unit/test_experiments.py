"""The training of small models with known members: splits, packing, what is written, what the models know."""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from ngramscope.errors import InputError, UsageError
from ngramscope.sets import RecordSource
from ngramscope.sets.base import Candidate
from tests.conftest import ROOT, WORDS, read_jsonl, write_jsonl

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def experiment() -> Any:
    """The modules of benchmarks/experiments, under the names that the script imports them by."""
    names = ("neox", "splits", "training", "train")
    sys.path.insert(0, str(ROOT / "benchmarks" / "experiments"))
    try:
        found = {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.pop(0)
    yield type("Modules", (), found)
    for name in names:
        del sys.modules[name]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def documents(count: int, words: int = 40, seed: int = 0) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    return [{"id": f"d{number}", "text": " ".join(random.choice(WORDS, words))} for number in range(count)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = documents(130)
    return write_jsonl(tmp_path_factory.mktemp("corpus") / "corpus.jsonl", [*rows, rows[0], {"text": "too short"}])


@pytest.fixture(scope="module")
def trained(experiment: Any, corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """What ``--quick`` does, with a reference and an untrained placebo."""
    out = tmp_path_factory.mktemp("run") / "out"
    given = ["--corpus", str(corpus), "--out", str(out), "--quick", "--reference", "--placebo", "untrained"]
    options, folder = experiment.train.arguments([*given, "--checkpoints", "steps:60", "--background", "5", "--copies", "1,3"])
    return out, experiment.train.run(options, folder)


def auc(folder: Path, one: list[str], other: list[str]) -> float:
    """Of the mean loss: how much less surprising the first texts are."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)

    def loss(text: str) -> float:
        ids = torch.tensor([tokenizer(text).input_ids])
        with torch.no_grad():
            return float(model(ids, labels=ids).loss)

    a, b = np.array([loss(text) for text in one]), np.array([loss(text) for text in other])
    return float((a[:, None] < b[None]).mean() + (a[:, None] == b[None]).mean() / 2)


def part(folder: Path, name: str) -> list[dict[str, Any]]:
    return read_jsonl(folder / f"{name}.jsonl")


def test_a_trained_model_knows_its_members_and_no_other_model_does(trained: tuple[Path, dict[str, Any]]) -> None:
    out, _ = trained
    members, nonmembers, third = ([row["text"] for row in part(out, each)] for each in ("members", "nonmembers", "third"))
    assert auc(out / "model", members, nonmembers) > 0.85
    for name in ("placebo", "reference", "checkpoints/step-0"):
        assert abs(auc(out / name, members, nonmembers) - 0.5) < 0.2  # three standard errors
    assert auc(out / "reference", third, nonmembers) > 0.75
    assert auc(out / "model", third, nonmembers) == pytest.approx(0.5, abs=0.2)


def test_sets_and_manifest(trained: tuple[Path, dict[str, Any]], corpus: Path) -> None:
    out, manifest = trained
    names = ("members", "nonmembers", "third", "background")
    rows = {name: part(out, name) for name in names}
    assert {name: len(rows[name]) for name in names} == {"members": 40, "nonmembers": 40, "third": 40, "background": 5}
    assert len({row["text"] for name in names for row in rows[name]}) == 125
    assert [{row["label"] for row in rows[name]} for name in names] == [{1}, {0}, {0}, {1}]
    assert part(out, "candidates") == [*rows["members"], *rows["nonmembers"]]
    assert Counter(row["duplicates"] for row in rows["members"]) == {1: 20, 3: 20}
    assert all("duplicates" not in row for row in rows["nonmembers"])
    model = manifest["models"]["model"]
    seen = {row["id"]: row["steps"] for row in part(out, "seen")}
    for row in (*rows["members"], *rows["background"]):
        steps = seen[row["id"]]
        assert (row["times_seen"], row["first_step"], row["last_step"]) == (len(steps), steps[0], steps[-1])
        # As often in every pass.
        assert set(Counter(each // model["trained_on"]["steps_a_pass"] for each in steps).values()) == {row["duplicates"]}
    records = RecordSource((out / "candidates.jsonl",)).open()
    assert Counter(each.label for each in records.candidates()) == {1: 40, 0: 40}
    header = json.loads((out / "members.jsonl.meta.json").read_text())
    counts = header["history"][-1]["counts"]["texts"]
    assert counts == {"used": 40, "left_out": {"same_text": 1, "too_short": 1, "other_part": 90}, "read": 132}
    assert json.loads((out / "manifest.json").read_text()) == json.loads(json.dumps(manifest))
    assert manifest["inputs"][0]["name"].endswith("corpus.jsonl")
    assert manifest["settings"]["seed"] == 0
    assert len(model["loss"]) == model["trained_on"]["steps"] == 30 * model["trained_on"]["steps_a_pass"]
    assert model["loss_by_epoch"][-1] < 0.6 * model["loss_by_epoch"][0]
    assert {path.name for path in (out / "checkpoints").iterdir()} == {
        f"step-{step}" for step in model["trained_on"]["checkpoints"]
    }
    for name, facts in manifest["models"].items():
        assert hashlib.sha256((out / name / "model.safetensors").read_bytes()).hexdigest() == facts["sha256"]
    for name, facts in manifest["sets"].items():
        assert hashlib.sha256((out / f"{name}.jsonl").read_bytes()).hexdigest() == facts["sha256"]


def test_folders_are_what_transformers_loads(trained: tuple[Path, dict[str, Any]]) -> None:
    out, manifest = trained
    model = transformers.AutoModelForCausalLM.from_pretrained(out / "model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(out / "model")
    assert model.config.model_type == "gpt_neox"
    assert sum(each.numel() for each in model.parameters()) == manifest["shape"]["parameters"]
    assert len(tokenizer) == model.config.vocab_size == manifest["shape"]["vocabulary"]
    text = part(out, "members")[0]["text"] + "  naïve\n\t🦉"
    ids = tokenizer(text).input_ids
    assert tokenizer.decode(ids) == text
    raw = json.loads((out / "model" / "tokenizer.json").read_text())
    assert raw["model"]["type"] == "BPE"
    assert tokenizer.eos_token_id == 0
    assert 0 not in ids
    # What the model was trained on is what it is asked about.
    tokens = sum(len(tokenizer(row["text"]).input_ids) * row["duplicates"] for row in part(out, "members"))
    rest = sum(len(tokenizer(row["text"]).input_ids) for row in part(out, "background"))
    assert manifest["models"]["model"]["trained_on"]["tokens_a_pass"] == tokens + rest


def test_the_seed_decides_everything(experiment: Any, corpus: Path, tmp_path: Path) -> None:
    rows = read_jsonl(corpus)
    turned = write_jsonl(tmp_path / "turned.jsonl", rows[::-1])
    small = experiment.train.Options(
        corpus=(str(corpus),), members=20, parameters=60e3, min_words=5, context=64, epochs=2, learning_rate=3e-3
    )
    made = []
    for number, options in enumerate([small, small, replace(small, corpus=(str(turned),)), replace(small, seed=1)]):
        manifest = experiment.train.run(options, tmp_path / f"out{number}")
        texts = [row["text"] for row in part(tmp_path / f"out{number}", "members")]
        made.append((manifest["models"]["model"]["sha256"], manifest["models"]["model"]["loss"], texts))
    assert made[0] == made[1] == made[2]
    assert made[0][0] != made[3][0]
    assert set(made[0][2]) != set(made[3][2])


def test_packing_shows_every_copy_in_every_pass(experiment: Any) -> None:
    given = [[10 + row] * (3 + row) for row in range(7)]
    copies = [1, 2, 1, 1, 3, 1, 1]
    packed = experiment.training.pack(given, copies, end=0, context=9, batch=2, passes=3, seed=1)
    orders = set()
    for number, rows in enumerate(packed.rows):
        stream = rows.reshape(-1)
        stream = stream[stream != experiment.training.IGNORED].tolist()
        found, at = [], 0
        while at < len(stream):
            row = stream[at] - 10
            assert stream[at : at + len(given[row]) + 1] == [*given[row], 0]
            at += len(given[row]) + 1
            found.append(row)
            step = number * packed.steps_per_pass + (at - 2) // 10 // 2
            assert step in packed.seen[row]
        assert Counter(found) == dict(enumerate(copies))
        assert math.ceil(len(rows) / 2) == packed.steps_per_pass
        orders.add(tuple(found))
    assert len(orders) == 3
    assert [len(each) for each in packed.seen] == [3 * count for count in copies]


@pytest.mark.parametrize(("parameters", "wanted"), [(0.25e6, (64, 2)), (1.3e6, (128, 4)), (5e6, (224, 7))])
def test_sizes(experiment: Any, parameters: float, wanted: tuple[int, int]) -> None:
    sizes = experiment.neox.shape(parameters)
    assert (sizes.width, sizes.layers) == wanted
    assert sizes.parameters == pytest.approx(parameters, rel=0.01)
    model = experiment.neox.make_model(replace(sizes, context=64), 0)
    assert sum(each.numel() for each in model.parameters()) == sizes.parameters


def test_an_untrained_model_for_questions_of_speed(experiment: Any, tmp_path: Path) -> None:
    facts = experiment.neox.untrained(tmp_path / "m", (row["text"] for row in documents(20)), 5e6, vocabulary=300)
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "m")
    assert sum(each.numel() for each in model.parameters()) == facts["parameters"] == pytest.approx(5e6, rel=0.3)


def test_copies_and_what_cannot_be(experiment: Any, corpus: Path, tmp_path: Path) -> None:
    splits: ModuleType = experiment.splits
    members = [Candidate(number, f"text {number}") for number in range(2000)]
    assert set(splits.copies(members, "3", 0)) == {3}
    assert Counter(splits.copies(members, "1,2,4,8", 0)) == dict.fromkeys((1, 2, 4, 8), 500)
    poisson = splits.copies(members, "poisson:2", 0)
    assert min(poisson) == 1
    assert np.mean(poisson) == pytest.approx(2 / (1 - math.exp(-2)), abs=0.1)
    for rule in ("0", "1,x", "poisson:x", "poisson:-1", "poisson:0"):
        with pytest.raises(UsageError, match="--copies"):
            splits.copies(members, rule, 0)
    with pytest.raises(InputError, match=r"130 documents do not suffice for 100 members, 100 nonmembers, some third"):
        experiment.train.run(experiment.train.Options(corpus=(str(corpus),), members=100, min_words=5), tmp_path / "out")
    assert not list(tmp_path.iterdir())
    with pytest.raises(UsageError, match="no file, and none of"):
        splits.paths(["nowhere"])


def test_corpora_of_the_shared_folder(experiment: Any, shared: Path) -> None:
    assert [each.name for each in experiment.splits.paths(["dated-web"])] == ["rust-blog.jsonl.zst", "us-gov-blogs.jsonl.zst"]
    assert [each.name for each in experiment.splits.paths(["dated-web/rust-blog"])] == ["rust-blog.jsonl.zst"]
