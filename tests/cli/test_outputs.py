"""What a command writes never takes the place of what it reads, nor of what is no file."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._run import cli as program
from ngramscope.cli._run import run
from ngramscope.errors import UsageError
from ngramscope.index.output import whole_file
from tests.conftest import commands, write_jsonl

TEXTS = ["alpha beta gamma delta epsilon zeta eta theta"]
SCAN = ("--n", "3", "--scan")
MANIFEST = 'format = 1\nname = "m"\n[corpus]\nkind = "files"\npaths = ["folder"]\n'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "texts.jsonl", TEXTS)
    for name in ("a.jsonl", "b.jsonl.meta.json", "figure.svg", "counts.parquet", "index.json", "x\udcff.jsonl"):
        (tmp_path / "folder").mkdir(exist_ok=True)
        write_jsonl(tmp_path / "folder" / name, TEXTS)
    (tmp_path / "link").symlink_to("folder")
    (tmp_path / "linked.jsonl").symlink_to("folder/a.jsonl")
    (tmp_path / "corpus.toml").write_text(MANIFEST, encoding="utf-8")
    write_jsonl(tmp_path / "tokenizer.parquet", TEXTS)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


@pytest.mark.parametrize(
    "arguments",
    [
        ("overlap", "texts.jsonl", *SCAN, "folder/a.jsonl", "--out", "folder/a.jsonl"),
        ("overlap", "texts.jsonl", *SCAN, "folder", "--out", "linked.jsonl"),
        ("overlap", "texts.jsonl", *SCAN, "link", "--out", "folder/b.jsonl"),
        ("overlap", "texts.jsonl", *SCAN, "fol*/{a,c}.jsonl", "--out", "folder/a.jsonl"),
        ("overlap", "texts.jsonl", *SCAN, "folder", "--out", "folder/x\udcff.jsonl"),
        ("overlap", "texts.jsonl", *SCAN, "corpus.toml", "--plot", "folder/figure.svg"),
        ("overlap", "texts.jsonl", "--index", "i", "--verify-hits", "folder", "--plot", "folder/figure.svg"),
        ("decontaminate", "texts.jsonl", "--reference", "folder", "--out", "folder/a.jsonl"),
        ("plan", "folder", "--save", "folder/a.jsonl"),
        ("plan", "corpus.toml", "--save", "corpus.toml"),
        ("token-counts", "folder", "--tokenizer", "t.json", "--out", "folder/counts.parquet"),
        ("token-counts", "texts.jsonl", "--tokenizer", "tokenizer.parquet", "--out", "tokenizer.parquet"),
        ("validate", "texts.jsonl", *SCAN[2:], "folder", "--html", "folder/a.jsonl"),
        ("sets", "hubble", "texts.jsonl", "--out", "texts.jsonl"),
        ("build-index", "folder", "--out", "folder", "--force"),
    ],
    ids=" ".join,
)
def test_no_input_is_replaced(here: Path, arguments: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    before = contents(here)
    assert run(arguments) == 2
    assert "is one of the inputs" in capfd.readouterr().err
    assert contents(here) == before


def test_what_is_left_out_of_a_folder_may_be_replaced(here: Path) -> None:
    for left_out in (("--exclude", "a.jsonl", "--exclude", "linked.*"), ("--include", "texts.jsonl")):
        write_jsonl(here / "folder" / "a.jsonl", TEXTS)
        assert run(["plan", ".", "--save", "folder/a.jsonl", *left_out, "--quiet"]) == 0
        assert "sets" in json.loads((here / "folder" / "a.jsonl").read_text())


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "texts.jsonl", "--save", "pipe.parquet"),
        ("token-counts", "texts.jsonl", "--tokenizer", "t.json", "--out", "pipe.parquet"),
        ("overlap", "texts.jsonl", *SCAN, "folder", "--out", "pipe.parquet"),
        ("overlap", "texts.jsonl", *SCAN, "folder", "--plot", "pipe.svg"),
        ("validate", "texts.jsonl", *SCAN[2:], "folder", "--out", "pipe.parquet"),
    ],
    ids=" ".join,
)
def test_what_is_no_file_stays(here: Path, arguments: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(here / "pipe.parquet")
    (here / "pipe.svg").symlink_to("pipe.parquet")
    assert run(arguments) == 2
    assert "no regular file" in capfd.readouterr().err
    assert stat.S_ISFIFO((here / arguments[-1]).stat().st_mode)


def test_a_folder_that_takes_no_file_is_refused_at_once(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Also for those who may write anywhere, as in a container.
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place).name != "folder" or mode != os.W_OK)
    assert run(["overlap", "missing.jsonl", *SCAN, "texts.jsonl", "--out", "folder/new.jsonl"]) == 2
    assert "--out: nothing can be written in the folder folder; choose another place" in capsys.readouterr().err
    assert run(["overlap", "texts.jsonl", *SCAN, "texts.jsonl", "--out", "new.jsonl"]) == 0


def test_what_renames_into_place_refuses_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="no regular file"), whole_file(tmp_path / "pipe") as temporary:
        temporary.touch()
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_no_option_that_writes_is_forgotten() -> None:
    def options(command: click.Command) -> Iterator[tuple[str, click.Parameter]]:
        for each in commands(command).values() if isinstance(command, click.Group) else ():
            yield from options(each)
        yield from ((each.opts[0], each) for each in command.params)

    read = {
        *("--plan", "--manifest", "--titles", "--gguf", "--neighbours", "--shots-file", "--member-shots-file"),
        *("--token-counts", "--pool", "--blind-scores", "--texts", "--key"),
    }
    everything = list(options(program))
    assert len(everything) > 300
    for name, option in everything:
        assert (option.metavar == "FILE") <= (isinstance(option, OutputOption) or name in read), name
