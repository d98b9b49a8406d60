"""The library's side of decontamination."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ngramscope import Index
from ngramscope.cli._run import run
from ngramscope.decontaminate import PRESETS, Decontamination, DecontaminationRules
from ngramscope.errors import MismatchError, UsageError


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    text = " ".join(f"w{number}" for number in range(30))
    for name, rows in (("texts", [{"id": 1, "text": text}, {"id": 2, "text": "other words"}]), ("reference", [{"text": text}])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "texts.jsonl", tmp_path / "reference.jsonl"


def test_rows_and_counts(files: tuple[Path, Path]) -> None:
    texts, reference = files
    run = Decontamination(texts, reference=reference, rules=DecontaminationRules.of("gpt3"))
    assert [row["contaminated"] for row in run.rows()] == [True, None]
    assert run.summary.to_dict()["by_rule"] == {"hits": 1}
    assert run.report()["records"] == 2
    assert (run.reference_report() or {})["items"] == 1
    assert run.unprotected == []


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_can_be_changed_option_by_option(preset: str) -> None:
    assert DecontaminationRules.of(preset, n=8, max_overlap=0.5, around=None).n == 8
    assert DecontaminationRules.of(preset).n == 13


def test_units_that_are_long_enough_are_no_single_ngram() -> None:
    with pytest.raises(UsageError, match=r"--min-n: 5 is not possible; units shorter than --n \(4\)"):
        DecontaminationRules.of("bff", n=4)


def test_what_an_index_cannot_answer(files: tuple[Path, Path], tmp_path: Path) -> None:
    texts, reference = files
    index = Index.build(reference, out=tmp_path / "index", n=7, filter_fpr=1e-7)
    for rules, error, said in (
        (DecontaminationRules(n=13, max_overlap=0.8), MismatchError, "n = 13"),
        (DecontaminationRules(n=7, max_overlap=0.8, max_documents=3), UsageError, "--max-documents"),
        (DecontaminationRules(n=7, max_overlap=0.8, min_n=3), UsageError, "--min-n"),
        (DecontaminationRules(n=7, max_near=0.8), UsageError, "--max-near"),
    ):
        with pytest.raises(error, match=said):
            Decontamination(texts, index=index, rules=rules)
    run = Decontamination(texts, index=index, rules=DecontaminationRules(n=7, max_hits=0))
    (row, _) = run.rows()
    assert (row["contaminated"], row["evidence"][0]["items"], row["near_score"]) == (True, [], None)
    assert run.reference_report() is None


def test_a_preset_that_an_index_cannot_answer_is_named(
    files: tuple[Path, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    Index.build([files[1]], out=tmp_path / "i", n=13)
    assert run(["decontaminate", str(files[0]), "--index", str(tmp_path / "i"), "--preset", "gpt3"]) == 2
    assert "--preset gpt3: counts n-grams by document" in capfd.readouterr().err


def test_unknown_presets_name_the_known_ones() -> None:
    with pytest.raises(UsageError, match="mimir, bff, gpt3, none"):
        DecontaminationRules.of("gpt4")


def test_short_units_and_false_hits(files: tuple[Path, Path], tmp_path: Path) -> None:
    texts, reference = files
    for kind, warned in (("blocked", True), ("exact", False)):
        index = Index.build(reference, out=tmp_path / kind, n=13, filter=kind)
        for preset in ("bff", "mimir"):
            rules = replace(DecontaminationRules.of(preset), min_n=None)
            warnings = Decontamination(texts, index=index, rules=rules).warnings
            assert any("--unit paragraph" in each for each in warnings) == (warned and preset == "bff")
