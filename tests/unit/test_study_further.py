"""Steps behind the evaluation: whole sets, suspect data sets, jumps at a cutoff, in a study and in its report."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope.attacks.table import ScoreTable
from ngramscope.cli._run import run
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.discontinuity.run import RddOptions, rdd
from ngramscope.evaluate.setlevel.dataset_inference import InferenceOptions, dataset_inference
from ngramscope.study import load_study, run_study
from ngramscope.study.reading import STUDY_FILE
from tests.conftest import WORDS, read_jsonl, write_jsonl
from tests.unit.test_report_page import HOLES, Page

DESCRIPTION = """
[study]
name = "books"
[keys]
date = "date"
group = "book"
[attacks]
names = ["loss"]
[evaluation]
bootstrap = 0
permutations = 0
[setmi]
group_by = "group"
permutations = 19
bootstrap = 100
draws = 5
[dataset_inference]
permutations = 99
repeats = 5
[rdd]
cutoff = "2023-03-01"
[[sets]]
name = "books"
set = ["books.jsonl"]
[[models]]
name = "models/target"
threads = 1
[[models]]
name = "models/placebo"
threads = 1
role = "placebo"
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty books a side of three pages each, from before and after a day, and two small models."""
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib")
    from tests.tiny_models import tiny

    folder = tmp_path_factory.mktemp("further")
    random = np.random.default_rng(5)
    rows: list[dict[str, Any]] = []
    for book in range(40):
        for page in range(3):
            days = book // 2 * (1 if book % 2 else -1) * 5 + (page if book % 2 else -page - 1)
            rows.append({
                "id": f"{book}-{page}", "label": 1 - book % 2, "book": f"b{book}",
                "date": str(date(2023, 3, 1) + timedelta(days=days)), "text": " ".join(random.choice(WORDS, 40)),
            })  # fmt: skip
    write_jsonl(folder / "books.jsonl", rows)
    write_jsonl(folder / "plain.jsonl", [{key: row[key] for key in ("id", "label", "text")} for row in rows])
    for seed, name in enumerate(("target", "placebo")):
        model = tiny("gpt_neox", seed=seed)
        model.model.save_pretrained(folder / "models" / name)
        model.tokenizer.save_pretrained(folder / "models" / name)
    return folder


@pytest.fixture(scope="module")
def finished(place: Path) -> tuple[Path, dict[str, Any]]:
    (place / "small.toml").write_text(DESCRIPTION)
    return place / "out", run_study(load_study(place / "small.toml"), place / "out")


def report(folder: Path, step: str, name: str = "books") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name / step / f"{step}.json").read_bytes())
    return found


def test_the_steps_are_those_of_the_commands(finished: tuple[Path, dict[str, Any]]) -> None:
    folder, result = finished
    table = ScoreTable.open(folder / "books" / "evaluation" / "scores.parquet")
    study = load_study(folder / STUDY_FILE)
    assert study.further["setmi"].curves
    assert study.further["rdd"] == RddOptions(cutoff="2023-03-01")
    assert report(folder, "rdd")["rows"] == json.loads(json.dumps(rdd(table, study.further["rdd"])["rows"]))
    texts = {json.dumps(each["id"]): each["text"] for each in read_jsonl(folder.parent / "books.jsonl")}
    again = dataset_inference(table, InferenceOptions(permutations=99, repeats=5), texts=texts)
    assert report(folder, "dataset-inference")["rows"] == json.loads(json.dumps(again["rows"]))
    sets = report(folder, "setmi")
    assert sets["counts"]["sets"] == {"members": 20, "nonmembers": 20}
    # Beside blind scores from folds that do not divide books.
    assert any(each["name"].startswith("ceiling") for each in sets["rows"][0]["blind"])
    assert not any("fold" in each for each in sets["warnings"])
    assert {"setmi", "dataset-inference", "rdd"} <= set(result["sets"]["books"]["facts"])
    assert run_study(study, folder)["kept"] == [each["step"] for each in result["steps"]]


def test_the_page_has_their_numbers(finished: tuple[Path, dict[str, Any]]) -> None:
    folder, _ = finished
    page = Page(folder / "report.html")
    assert not HOLES.search(page.text)
    for row, shown in zip(report(folder, "setmi")["rows"], page.rows("set-level"), strict=True):
        assert (shown["AUC of sets"].get("data-value") is None) == (row["auc"] is None)
        assert row["auc"] is None or float(shown["AUC of sets"]["data-value"]) == row["auc"]
    assert (folder / "report-files" / "figures" / "set-level-documents-a-set.svg").exists()
    (tested,) = report(folder, "dataset-inference")["rows"]
    target, placebo = page.rows("dataset-inference")
    assert float(target["AUC"]["data-value"]) == tested["auc"]
    assert float(target["p, permutation"]["data-value"]) == tested["p"]["permutation"]
    assert float(placebo["AUC"]["data-value"]) == tested["placebos"][0]["auc"]
    assert placebo["role"]["text"] == "placebo"
    jumps = report(folder, "rdd")["rows"]
    for row, shown in zip(jumps, page.rows("discontinuity"), strict=True):
        assert row["at_cutoff"]["jump"] is None or float(shown["jump"]["data-value"]) == row["at_cutoff"]["jump"]


def test_what_the_only_set_lacks_is_said_before_a_model_is_loaded(place: Path) -> None:
    (place / "plain.toml").write_text(DESCRIPTION.replace("books.jsonl", "plain.jsonl"))
    with pytest.raises(InputError, match=r"plain.toml, line 13: \[setmi\] group_by: set books: no document has a group"):
        run_study(load_study(place / "plain.toml"), place / "refused", report=False)
    assert not (place / "refused" / "books" / "passes").exists()
    (place / "plain.toml").write_text(DESCRIPTION.replace('group_by = "group"', 'group_by = "author"'))
    with pytest.raises(InputError, match=r"\[setmi\] group_by: set books: no column 'author'; the table has: id, label, "):
        run_study(load_study(place / "plain.toml"), place / "refused", report=False)


def test_what_one_of_several_sets_lacks_is_left_out_there_with_a_warning(place: Path) -> None:
    other = '[[sets]]\nname = "plain"\nset = ["plain.jsonl"]\n[[models]]'
    (place / "plain.toml").write_text(DESCRIPTION.replace("[[models]]", other, 1))
    result = run_study(load_study(place / "plain.toml"), place / "without", report=False)
    assert result["sets"]["books"]["facts"]["setmi"]["reason"] is None
    facts, warnings = result["sets"]["plain"]["facts"], result["sets"]["plain"]["warnings"]
    assert facts["setmi"]["reason"]
    assert f"no setmi: {facts['setmi']['reason']}" in warnings
    assert any(each.startswith("no rdd: ") for each in warnings)
    assert not (place / "without" / "plain" / "rdd" / "rdd.json").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('group_by = "group"', ""), r"\[setmi\] needs group_by"),
        (('cutoff = "2023-03-01"', "cut = 1"), r"\[rdd\] has no key 'cut'; known: cutoff"),
        (("repeats = 5", "repeats = -5"), r"line \d+: \[dataset_inference\] repeats: -5 is not possible"),
    ],
)
def test_their_options_are_checked_when_the_description_is_read(place: Path, change: tuple[str, str], message: str) -> None:
    path = place / "wrong.toml"
    path.write_text(DESCRIPTION.replace(*change))
    with pytest.raises(InputError, match=message):
        load_study(path)


def test_without_a_model_there_is_nothing_to_look_at(place: Path) -> None:
    (place / "small.toml").write_text(DESCRIPTION)
    study = load_study(place / "small.toml")
    with pytest.raises(UsageError, match=r"\[setmi\] looks at scores of models"):
        replace(study, models=())


def test_the_command_line_asks_for_whole_sets_and_pairs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    models = ["--model", "models/target", "--placebo", "models/placebo", "--attack", "loss", "--attack", "zlib"]
    arguments = ["--set", "books.jsonl", "--group-key", "book", "--group-by", "group", "--no-report", "--out", "asked"]
    assert run(["audit", *arguments, *models]) == 0
    study = load_study(place / "asked" / STUDY_FILE)
    assert study.further["setmi"].group_by == "group"
    assert report(place / "asked", "setmi", "set")["counts"]["sets"] == {"members": 20, "nonmembers": 20}
    evaluation = json.loads((place / "asked" / "set" / "evaluation" / "evaluation.json").read_bytes())
    assert [(each["first"], each["second"]) for each in evaluation["pairs"]] == [("loss @ target", "zlib @ target")]
