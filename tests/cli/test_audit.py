"""The command ``audit``, and ``report``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from ngramscope.cli._run import _MAP, cli, main
from ngramscope.cli._run import run as program
from ngramscope.study.cache import STEP_FILE
from tests.conftest import clean_environment, write_jsonl
from tests.unit.test_study import documents

QUICK = "[evaluation]\nbootstrap = 0\npermutations = 0\n[validation]\nn = 3\npermutations = 99\nresamples = 99\nmax_texts = 0\ndescribe = [3]\n"
SET = ["--members", "members.jsonl", "--nonmembers", "nonmembers.jsonl", "--min-words", "5"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "members.jsonl", documents(30, 1))
    write_jsonl(tmp_path / "nonmembers.jsonl", documents(30, 2))
    return tmp_path


NO_MODEL = """
import sys
from ngramscope.cli._run import run
code = run(sys.argv[1:])
assert not sys.modules.keys() & {"torch", "transformers"}, "a model's libraries were loaded"
sys.exit(code)
"""


def test_without_a_model_to_a_report_and_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "free.toml").write_text(
        f'{QUICK}[overlap]\nscan = ["members.jsonl"]\nn = [3]\n[[sets]]\nname = "s"\nmembers = ["members.jsonl"]\n'
        'nonmembers = ["nonmembers.jsonl"]\nmin_words = 5\nallow_fewer = true\n'
    )
    done = subprocess.run(
        [sys.executable, "-c", NO_MODEL, "audit", "free.toml"],
        cwd=here, env=clean_environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert [line.split(": ")[0] for line in lines if line.startswith("[")] == [
        "[1/4] s/set", "[2/4] s/overlap", "[3/4] s/validation", "[4/4] s/evaluation",
    ]  # fmt: skip
    assert any("No attack has an AUC" in line for line in lines)
    page = here / "free" / "report.html"
    assert lines[-1] == "wrote free/report.html"
    first = page.read_bytes()
    assert b"<html" in first
    assert b"overlap of 3-grams: non-members, 30 documents, reference, 30 documents" in first
    page.unlink()
    assert program(["report", "free"]) == 0
    assert page.exists()
    capsys.readouterr()
    # In its own folder, from there.
    assert program(["audit", "free/study.toml", "--json", "--no-report"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["kept"] == ["s/set", "s/overlap", "s/validation", "s/evaluation"]
    assert result["report"] is None
    assert page.exists()


def test_interrupted_it_ends_at_once_and_goes_on_from_there(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Long enough that the signal comes in the middle.
    write_jsonl(here / "members.jsonl", documents(300, 1, 100))
    write_jsonl(here / "nonmembers.jsonl", documents(300, 2, 100))
    command = [sys.executable, "-m", "ngramscope", "audit", *SET, "--scan", "members.jsonl", "--out", "study"]
    process = subprocess.Popen(command, cwd=here, env=clean_environment(), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (here / "study" / "natural" / "overlap" / STEP_FILE).exists():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the study is unfinished; the same command goes on with the finished steps in study" in said
    assert not list((here / "study").rglob("*.partial"))
    kept = (here / "study" / "natural" / "overlap" / STEP_FILE).stat().st_mtime_ns
    # The same command would go on from there.
    from ngramscope.study import load_study
    from ngramscope.study.cache import computed
    from ngramscope.study.plan import Plan

    plan = Plan(load_study(here / "study" / "study.toml"), here / "study")
    assert [computed(each, here / "study").kept for each in plan.tasks[:2]] == [True, True]
    assert (here / "study" / "natural" / "overlap" / STEP_FILE).stat().st_mtime_ns == kept


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give --members and --nonmembers, or --set, or the description of a study"),
        (SET, "--out: not given"),
        ([*SET, "--set", "x.jsonl", "--out", "o"], "--set: is taken as it is"),
        ([*SET, "--n", "5", "--out", "o"], "--n: says how overlap is looked at; name the training corpus"),
        ([*SET, "--heldout", "h.jsonl", "--out", "o"], "--heldout: says how overlap is looked at"),
        ([*SET, "--reference", "m", "--out", "o"], "reference models only"),
        ([*SET, "--model", "m", "--attack", "lose", "--out", "o"], "no attack 'lose'"),
        ([*SET, "--model", "m", "--attack", "dc-pdd", "--out", "o"], "attack dc-pdd: needs the token counts"),
        ([*SET, "--model", "m", "--compat", "mimi", "--out", "o"], "--compat: 'mimi' is not known; known: "),
        ([*SET, "--model", "m", "--pass", "plane", "--out", "o"], "--pass: 'plane' is not known; known: "),
        ([*SET, "--model", "m", "--attack", "recall", "--compat", "sok", "--out", "o"], "--compat: sok is not possible for"),
        ([*SET, "--model", "m", "--workers", "0", "--out", "o"], "--workers: 0 is not possible"),
        ([*SET, "--model", "m", "--placebo", "m", "--out", "o"], "--placebo: m is the model that --model names; name another"),
        ([*SET, "--model", "", "--out", "o"], "--model: '' is not possible"),
        ([*SET, "--out", ""], "--out: '' is not possible; name the folder"),
        ([*SET, "--out", "members.jsonl"], "--out: members.jsonl is a file"),
        ([*SET, "--out", "no/where"], "there is no folder"),
        (["a.toml", "--model", "m"], "--model: the description says that"),
        (["a.toml", "--seed", "0"], "--seed: the description says that"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_before_anything_is_done(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (here / "a.toml").write_text('[[sets]]\nname = "s"\nset = ["members.jsonl"]\n')
    assert program(["audit", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert not (here / "o").exists()


def test_a_report_needs_a_finished_study(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert program(["report", "."]) == 1
    assert "no finished study, study.json is missing; ngramscope audit makes one" in capsys.readouterr().err


def test_the_help_is_a_map(capsys: pytest.CaptureFixture[str]) -> None:
    assert program(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"\n{heading}:\n") for heading in _MAP]
    assert places == sorted(places)
    named = [name for names in _MAP.values() for name in names]
    assert len(named) == len(set(named))
    context = click.Context(cli)
    for name in named:
        assert cli.get_command(context, name) is not None, name
        assert f"\n  {name} " in shown
    for name in cli.list_commands(context):
        assert f"\n  {name} " in shown


def test_a_shell_can_ask_what_comes_next(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["ngramscope"])
    for words, found in (
        ("ngramscope aud", "audit"),
        ("ngramscope score --as pla", "placebo"),
        ("ngramscope audit --plac", "--placebo"),
    ):
        monkeypatch.setenv("_NGRAMSCOPE_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
        with pytest.raises(SystemExit):
            main()
        assert f"plain,{found}" in capsys.readouterr().out.splitlines()
