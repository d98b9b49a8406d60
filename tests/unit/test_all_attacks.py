"""Every attack end to end, on a real tiny model and on a GPT-NeoX trained on the spot; what experiments make of seeds."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope.attacks.base import attacks
from tests.conftest import ROOT, WORDS, write_jsonl

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def modules() -> Iterator[Any]:
    """Scripts of benchmarks/, under the names that they import each other by."""
    torch.set_num_threads(1)
    folders = [str(ROOT / "benchmarks" / "experiments"), str(ROOT / "benchmarks")]
    known = set(sys.modules)
    sys.path[:0] = folders
    try:
        found = {name: importlib.import_module(name) for name in ("t_all_attacks", "language_models", "tables", "train")}
        yield type("Modules", (), found)
    finally:
        sys.path[:] = [each for each in sys.path if each not in folders]
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(folders[1]):
                del sys.modules[name]


def texts(count: int, words: int) -> list[str]:
    """Words in one fixed order with jumps: easy to be sure of, and sometimes a surprise."""
    random = np.random.default_rng(1)
    steps = np.where(random.random((count, words)) < 0.2, random.integers(1, len(WORDS), (count, words)), 1)
    return [" ".join(WORDS[place % len(WORDS)] for place in row) for row in np.cumsum(steps, axis=1)]


def check(ran: Any) -> None:
    assert ran.table.header["skipped"] == []
    assert ran.missing == []
    assert ran.nowhere == []
    assert ran.difference < 1e-4
    columns = {each.attack for each in ran.table.columns}
    assert len(columns) > len(attacks())
    assert {each.model for each in ran.table.columns} == {"target"}


def test_all_attacks_on_a_real_tiny_model(modules: Any, shared: Path, tmp_path: Path) -> None:
    loaded = modules.language_models.stories260k(shared / "data")
    check(modules.t_all_attacks.run(loaded, modules.language_models.texts(shared / "data", 12, 30), tmp_path / "out"))


def test_all_attacks_on_a_model_trained_on_the_spot(modules: Any, tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [{"text": text} for text in texts(60, 30)])
    options = modules.train.Options(
        corpus=(str(corpus),),
        members=20,
        nonmembers=20,
        min_words=5,
        parameters=30e3,
        context=640,
        batch=1,
        epochs=150,
        learning_rate=1e-2,
    )
    modules.train.run(options, tmp_path / "run")
    loaded = modules.t_all_attacks.load_model(modules.t_all_attacks.ModelOptions(str(tmp_path / "run" / "model"), threads=1))
    check(modules.t_all_attacks.run(loaded, texts(12, 25), tmp_path / "out"))


def test_seeds_become_one_row(modules: Any) -> None:
    rows = [
        {"set": name, "AUC": auc, "blind": blind} for name, auc, blind in [("a", 0.5, None), ("b", 0.9, 0.6), ("a", 0.7, 0.4)]
    ]
    merged = modules.tables.over_seeds(rows, ("set",))
    assert [row["set"] for row in merged] == ["a", "b"]
    assert merged[0]["AUC"] == {"median": pytest.approx(0.6), "min": 0.5, "max": 0.7, "runs": 2}
    assert merged[0]["blind"]["runs"] == 1
    assert modules.tables.median(merged, "AUC", set="b") == 0.9
    with pytest.raises(ValueError, match="unpack"):
        modules.tables.median(merged, "AUC", set="c")


def test_an_auc_by_counting_pairs(modules: Any) -> None:
    scores, members = np.array([3.0, 1.0, 1.0, 0.0]), np.array([True, True, False, False])
    assert modules.tables.by_hand(scores, members) == (1 + 1 + 0.5 + 1) / 4
