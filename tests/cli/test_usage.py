"""Wrong usage, names shared with the library, help that is quick and true."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import ngramscope
from ngramscope.cli._run import cli as program
from tests.conftest import ROOT, Cli, write_jsonl

HEAVY = ("torch", "transformers", "pyarrow", "pandas", "matplotlib", "datasets")


@pytest.mark.parametrize(
    "code", ["import ngramscope", "import ngramscope.cli", "from ngramscope.cli._run import run; run(['--help'])"]
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    script = f"import sys\n{code}\nprint([m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[]"


def test_help_comes_within_a_second(cli: Cli) -> None:
    cli("--help")  # bytecode may have to be written once
    # Processor seconds: what the program needs, also on a machine that is busy with something else.
    before = os.times()
    assert cli("--help").returncode == 0
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 1


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["--filter-fpr", "0"], "--filter-fpr"),
        (["--filter-fpr", "1"], "--filter-fpr"),
        (["--filter-fpr", "1.5"], "--filter-fpr"),
        (["--filter-fpr", "-0.1"], "--filter-fpr"),
        (["--filter-fpr", "nan"], "--filter-fpr"),
        (["--expected-ngrams", "0"], "--expected-ngrams"),
        (["--expected-ngrams", "-5"], "--expected-ngrams"),
        (["--expected-ngrams", str(1 << 63)], "--expected-ngrams"),
        (["--n", "0"], "--n"),
        (["--n", "x"], "--n"),
        (["--memory", "lots"], "--memory"),
        (["--words", "bpe"], "--words"),
        (["--shards", "0"], "--shards"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_impossible_values_are_refused_by_option_name(cli: Cli, tmp_path: Path, arguments: list[str], name: str) -> None:
    done = cli("build-index", write_jsonl(tmp_path / "c.jsonl", ["a b c"]), *arguments, "--out", "i")
    assert done.returncode == 2
    assert name in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert not (tmp_path / "i").exists()


@pytest.mark.parametrize("arguments", [["overlap"], ["nonsense"], []])
def test_no_or_unknown_commands_are_wrong_usage(cli: Cli, arguments: list[str]) -> None:
    assert cli(*arguments).returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["overlap", "missing.jsonl"],
        ["overlap", "c.jsonl", "--index", "nowhere"],
        ["inspect", "c.jsonl"],
        ["verify", "nowhere"],
        ["build-index", "gone/*.jsonl"],
    ],
)
def test_a_failure_is_one_message_that_names_the_path(
    cli: Cli, tmp_path: Path, arguments: list[str], small_index: Path
) -> None:
    write_jsonl(tmp_path / "c.jsonl", ["a b c"])
    done = cli(*arguments, env={"NGRAMSCOPE_INDEX": str(small_index)} if "missing.jsonl" in arguments else None)
    message = done.stderr.decode()
    assert done.returncode == 1
    assert arguments[-1].split("/")[0] in message
    assert message.startswith("ngramscope: error: ")
    assert message.count("\n") == 1
    assert done.stdout == b""


def test_quiet_says_nothing_and_verbose_does_not_change_the_data(cli: Cli, tmp_path: Path, small_index: Path) -> None:
    path = write_jsonl(tmp_path / "c.jsonl", ["alpha beta gamma"])
    quiet = cli("overlap", path, "--index", small_index, "--quiet")
    verbose = cli("overlap", path, "--index", small_index, "-v")
    assert quiet.stderr == b""
    assert quiet.stdout == verbose.stdout != b""
    assert f"opened {small_index}; false-positive rate n = 3: " in verbose.stderr.decode()


def parameters(command: click.Command) -> dict[str, Any]:
    return {parameter.name: parameter for parameter in command.params if parameter.name}


def test_build_has_the_names_and_defaults_of_the_command_line() -> None:
    api = inspect.signature(ngramscope.Index.build).parameters
    options = parameters(program.commands["build-index"])
    only_cli = {"corpus", "manifest", "as_json", "quiet", "verbose"}
    only_api = {"sources", "texts", "progress"}
    assert set(options) - only_cli == set(api) - only_api
    for name in set(options) - only_cli:
        ours, theirs = api[name].default, options[name].to_info_dict()["default"]
        if name in ("n", "include", "exclude"):
            ours, theirs = tuple(ours), tuple(theirs or ())
        assert ours == theirs or (not ours and not theirs), name


def test_overlap_has_the_names_and_defaults_of_the_command_line() -> None:
    api = inspect.signature(ngramscope.Index.overlap).parameters
    options = parameters(program.commands["overlap"])
    for name in set(api) - {"self", "texts"}:
        ours, theirs = api[name].default, options[name].to_info_dict()["default"]
        assert ours == theirs or (not ours and not theirs), name


def test_every_command_and_option_has_help_and_every_command_an_example() -> None:
    groups = [each for each in program.commands.values() if isinstance(each, click.Group)]
    for name, command in [*program.commands.items(), *(each for group in groups for each in group.commands.items())]:
        assert "Example:" in (command.help or ""), name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, (name, parameter.name)


def test_the_manual_of_the_command_line_is_what_help_prints() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "cli_docs.py", "--check"], capture_output=True, text=True, timeout=60, check=False,
        env={**os.environ, "NGRAMSCOPE_INDEX": "set"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", [["inspect", "INDEX"], ["--version"], ["explain", "abc", "--no-index"]])
def test_closed_and_full_streams_are_named(small_index: Path, command: list[str]) -> None:
    words = " ".join(command).replace("INDEX", str(small_index))
    words = f"{sys.executable} -m ngramscope {words}"
    done = subprocess.run(["bash", "-c", f"{words} >&-"], capture_output=True, check=False)
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert b"standard output is closed" in done.stderr
    done = subprocess.run(["bash", "-c", f"{words} > /dev/full"], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr == b"ngramscope: error: standard output: No space left on device\n"
    assert subprocess.run(["bash", "-c", f"{words} 2>&-"], capture_output=True, check=False).returncode == 0


def test_explain_takes_no_broken_text_and_follows_the_index(cli: Cli, small_index: Path) -> None:
    done = cli("explain", "-", "--no-index", stdin=b"a \xff b")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"standard input: not UTF-8 at byte 3" in done.stderr
    assert b"the index has uax29" in cli("explain", "a b", "--index", small_index, "--words", "gpt3").stderr
    assert b"is not a token id" in cli("explain", "a b", "--no-index", "--words", "ids").stderr
    assert cli("explain", "a b", env={"NGRAMSCOPE_INDEX": "nowhere"}).returncode == 1
    assert cli("explain", "a b", "--no-index", "--index", small_index).returncode == 2
