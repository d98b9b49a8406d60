"""What users give to an audit and a report that nobody planned for: odd names, empty sides, wrong folders, numbers that are none."""

from __future__ import annotations

import errno
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ngramscope.blind.texts import blind_inputs
from ngramscope.cli._run import run
from ngramscope.errors import InputError, ResourceError
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.run import evaluate
from ngramscope.report.results import SetResults, StudyResults
from ngramscope.report.write import _prefixes, write_report
from ngramscope.study import load_study
from ngramscope.study.plan import Plan
from tests.conftest import write_jsonl
from tests.studies import random_scores, random_set, write_set
from tests.unit.test_report_page import HOLES, drawn, plain
from tests.unit.test_study import documents

SETS = '[[sets]]\nname = "s"\nset = ["members.jsonl"]\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "members.jsonl", documents(12, 1))
    write_jsonl(tmp_path / "nonmembers.jsonl", documents(12, 2))
    return tmp_path


@pytest.mark.parametrize("years", [True, False])
def test_a_set_that_gives_itself_away_says_so_on_its_page(tmp_path: Path, years: bool) -> None:
    """Trial G04, as its readers see it: scores of a random model; members mention older years than non-members."""
    random = np.random.default_rng(4)
    chosen = plain(200 if years else 100)
    for each in chosen:
        year = random.integers(2010, 2017) if each.label else random.integers(2023, 2025)
        each.text = " ".join(f"word{word}" for word in random.integers(0, 300, 60)) + (
            f" In {year} it was so." if years else ""
        )
        each.date = None
    table = random_scores(chosen, ("loss",), effect=0.0)
    options = EvaluationOptions(bootstrap=0, permutations=39 if years else 19)
    report = evaluate(table, options, texts=blind_inputs(chosen)).to_json()
    page = drawn(
        tmp_path,
        SetResults(name="one", scores=table, evaluation=report, candidates=write_set(tmp_path / "set.jsonl", chosen)),
    )
    ceiling = report["blind"]["ceiling"]["auc"]
    shown = [float(each["data-value"]) for row in page.tables["blind"] for each in row if "data-value" in each]
    assert ceiling in shown
    if years:
        assert ceiling > 0.95
        assert "Shift: this benchmark separates the sets by their texts, not by membership" in page.text
        assert f"Text alone reaches {ceiling:.2f}" in page.text
        assert "Text alone distinguishes these two sets" in page.text
    else:
        assert abs(ceiling - 0.5) < 0.2
        assert "Nothing detectable" in page.text
        assert "Text alone distinguishes" not in page.text


def test_sets_whose_names_look_alike_as_files_keep_their_own(tmp_path: Path) -> None:
    names = ["ü", "ö", "😀", "a b", "a-b", "A-B", "a-b-2"]
    assert _prefixes(names) == ["set-", "set-2-", "set-3-", "a-b-", "a-b-2-", "A-B-3-", "a-b-2-2-"]
    sets = [random_set(name, random_scores(plain(12, seed), ("loss",), seed)) for seed, name in enumerate(("ü", "ö"))]
    page = drawn(tmp_path, *sets)
    ids = re.findall(r' id="([^"]*)"', page.source)
    assert len(ids) == len(set(ids))
    for prefix, each in zip(("set-", "set-2-"), sets, strict=True):
        (row,) = (each.evaluation or {})["rows"]
        assert f"{row['auc']:.3f}" in (tmp_path / "report-files" / "tables" / f"{prefix}attacks.tex").read_text()


def test_a_page_that_the_disk_does_not_take_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = plain(12)
    results = StudyResults(title="t", sets=(random_set("s", random_scores(chosen)),))

    def full(_: str) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("ngramscope.report.write.sound", full)
    with pytest.raises(ResourceError, match=r"r\.html: cannot write the report: No space left"):
        write_report(tmp_path / "r.html", results)
    assert list(tmp_path.iterdir()) == []


def test_without_an_attack_nothing_is_said_to_be_undetectable(
    tmp_path: Path, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "s.toml").write_text(
        '[evaluation]\nbootstrap = 0\npermutations = 0\n[[sets]]\nname = "s"\nmembers = ["members.jsonl"]\n'
        'nonmembers = ["nonmembers.jsonl"]\nmin_words = 5\nallow_fewer = true\n', encoding="utf-8-sig",
    )  # fmt: skip
    assert run(["audit", "s.toml", "--out", "out"]) == 0
    said = capsys.readouterr().err
    assert "s: nothing known. No attack has an AUC" in said
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Nothing known: no attack was evaluated on this set." in page
    assert "Nothing detectable" not in page
    # Drawn again it is the same; of a folder that lacks something there is no report of a part.
    assert run(["report", "out"]) == 0
    assert (tmp_path / "out" / "report.html").read_text() == page
    (tmp_path / "out" / "s" / "set" / "candidates.jsonl").unlink()
    assert run(["report", "out"]) == 1
    assert "candidates.jsonl: missing, or not as study.json has it" in capsys.readouterr().err


def test_one_side_alone_is_called_that(tmp_path: Path) -> None:
    chosen = [replace(each, label=1) for each in plain(12)]
    page = drawn(tmp_path, random_set("one", random_scores(chosen, ("loss",))))
    assert "The set has no non-members, so there is nothing to tell apart." in page.text
    assert "without a score of any attack" not in page.text
    assert not HOLES.search(page.text)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--min-words", "100"], "set natural: it has no members and no nonmembers (members: 12 read, 12 too_short; nonmembers: 12"),
        (["--nonmembers", "members.jsonl", "--min-words", "5"], "set natural: it has no nonmembers (members: 12 read; nonmembers: 12"),
        (["--min-words", "5", "--model", "./missing"], "./missing: no such file or folder"),
        (["--min-words", "5", "--model", "members.jsonl"], "members.jsonl: not a model"),
        (["--min-words", "5", "--index", "."], ".: no index here"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_said_first(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    sides = ["--members", "members.jsonl", *([] if "--nonmembers" in arguments else ["--nonmembers", "nonmembers.jsonl"])]
    assert run(["audit", *sides, *arguments, "--out", "out"]) == 1
    assert message in capsys.readouterr().err
    assert not list((here / "out").rglob("step.json"))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (SETS + "at = nan\n", 4, "at has a number that is none"),
        (SETS + "[attacks.options.min-k]\nk = inf\n", 5, "k has a number that is none"),
        (SETS + "[evaluation]\nfprs = [0.1, nan]\n", 5, "fprs has a number that is none"),
        (SETS + '[[models]]\nname = ""\n', 4, "has no name"),
        (SETS + '[[models]]\nname = "m"\nrevisions = []\n', 6, "revisions is empty"),
        *((SETS.replace('"s"', f'"{name}"'), 1, "a folder is named after it")
          for name in ("study.json", "Study.toml", "report.html", "report-files", r"a\\nb", r"a\nb", r"\u0000")),
    ],
)  # fmt: skip
def test_descriptions_that_would_fail_at_the_end_fail_at_once(here: Path, text: str, line: int, message: str) -> None:
    path = here / "study.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        load_study(path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")


def test_a_model_in_the_home_folder_is_known_by_its_content(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here))
    (here / "model").mkdir()
    (here / "model" / "pytorch_model.bin").write_bytes(b"weights")
    (here / "study.toml").write_text(SETS + '[[models]]\nname = "~/model"\n')

    def key(content: str) -> str:
        (here / "model" / "config.json").write_text(content)
        tasks = Plan(load_study(here / "study.toml"), here / "out").tasks
        return next(each.key for each in tasks if "/passes/" in each.name)

    keys: list[str] = list(map(key, ("{}", "{ }", "{}")))
    assert keys[0] == keys[2] != keys[1]
