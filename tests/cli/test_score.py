"""The command ``score``: killed, gone on with, in two processes; what it says."""

from __future__ import annotations

import json
import multiprocessing
import time
from pathlib import Path

import pytest

from ngramscope.cli._run import run as program
from ngramscope.models import run
from ngramscope.models.load import ModelOptions
from ngramscope.models.score import ScoreOptions, score_set
from ngramscope.models.store import ScoreStore
from ngramscope.sets.records import RecordSource
from tests.conftest import write_jsonl
from tests.tiny_models import tiny
from tests.unit.test_score_store import assert_same, texts

TEXTS = 2000  # four chunks


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model, as a folder."""
    model = tiny("gpt_neox")
    path = tmp_path_factory.mktemp("models") / "tiny"
    model.model.save_pretrained(path)
    model.tokenizer.save_pretrained(path)
    return path


def test_killed_then_gone_on_with_in_two_processes(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write_jsonl(tmp_path / "set.jsonl", [{"id": n, "text": text, "label": n % 2} for n, text in enumerate(texts(TEXTS))])
    arguments = ["score", "set.jsonl", "--model", str(folder), "--out", "store", "--threads", "1"]
    store = tmp_path / "store"
    # Forked: it has torch already.
    process = multiprocessing.get_context("fork").Process(target=program, args=(arguments,))
    process.start()
    while process.is_alive() and not list(store.glob("*/chunk-*.arrow")):
        time.sleep(0.001)
    process.kill()
    process.join()
    kept = {each: each.stat().st_mtime_ns for each in store.glob("*/chunk-*.arrow")}
    assert kept
    assert not list(store.glob("*/pass.json"))
    capsys.readouterr()
    assert program([*arguments, "--workers", "2", "--json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)["passes"]
    assert facts["chunks"] > len(kept)
    assert {each: each.stat().st_mtime_ns for each in kept} == kept
    fresh = score_set(RecordSource((path,)), tmp_path / "fresh", ScoreOptions(model=ModelOptions(str(folder), threads=1)))
    assert facts["folder"] == fresh["passes"][0]["folder"]
    assert_same(ScoreStore(store).passes[0].stats, ScoreStore(tmp_path / "fresh").passes[0].stats)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """Of a set of six texts; in this process."""
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "set.jsonl", [{"id": n, "text": text, "label": n % 2} for n, text in enumerate(texts(6))])
    return ["score", "set.jsonl", "--model", str(folder), "--out", "store", "--threads", "1"]


def test_it_says_what_became_of_the_texts(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert program([*asked, "--pass", "plain", "--pass", "prefix", "--shots", "2"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    plain, prefix, store = err.splitlines()
    assert plain.startswith("tiny, plain: 6 texts scored, ")
    assert prefix.startswith("tiny, prefix: 6 texts scored, ")
    assert "2 candidates are shots, and no longer to be evaluated" in prefix
    assert store == "the store is store"
    assert program([*asked, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert program([*asked, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    facts = json.loads(out)
    assert facts["passes"][0]["chunks_kept"] == facts["passes"][0]["chunks"] == 1
    assert facts["set"]["members"] == facts["set"]["nonmembers"] == 3


def test_an_interrupted_run_says_how_to_go_on(
    asked: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ngramscope.models.chunks._LEAST", 20)
    original = run.Runner.score

    def once(self: run.Runner, chunk: object) -> object:
        monkeypatch.setattr(run.Runner, "score", interrupted)
        return original(self, chunk)  # type: ignore[arg-type]

    def interrupted(self: run.Runner, chunk: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(run.Runner, "score", once)
    assert program(asked) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0] == "scoring is unfinished; the same command goes on with the finished chunks in store"
    monkeypatch.setattr(run.Runner, "score", original)
    assert program([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passes"][0]["chunks_kept"] == 1


def test_a_name_for_the_model_changes_nothing_else(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert program([*asked, "--name", "mine"]) == 0
    store = ScoreStore("store")
    assert store.passes[0].model == "mine"
    assert store.labels.tolist() == [0, 1, 0, 1, 0, 1]
    capsys.readouterr()
    assert program([*asked, "--name", " "]) == 2
    assert "--name: is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (["--pass", "other"], 2, "--pass: 'other' is not known"),
        (["--shots", "3"], 2, "--shots: no option of --pass plain"),
        (["--pass", "prefix"], 2, "--shots 12: the set has 3 different texts of nonmembers"),
        (["--pass", "neighbours"], 2, "the set has no column neighbors"),
        (["--pass", "neighbours", "--neighbours", "no.jsonl"], 1, "no.jsonl: cannot be read"),
        (["--max-tokens", "1000"], 2, "--max-tokens: 1000, but tiny sees 128 at most"),
        (["--device", "cuda:77"], 2, "--device: cuda:77 is not here"),
        (["--out", "set.jsonl"], 2, "--out: set.jsonl is a file"),
    ],
)
def test_what_cannot_be_is_told(
    asked: list[str], capsys: pytest.CaptureFixture[str], more: list[str], code: int, message: str
) -> None:
    assert program([*asked, *more]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert "Traceback" not in err
    assert not list(Path("store").glob("*/pass.json"))
