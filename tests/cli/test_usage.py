"""Wrong usage, names shared with the library, help that is quick and true."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import ngramscope
from ngramscope.cli._run import cli as program
from ngramscope.cli._run import run
from tests.conftest import ROOT, Cli, commands, write_jsonl

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


def test_modules_and_commands_have_the_same_names() -> None:
    everything = [program, *(each for each in commands(program).values() if isinstance(each, click.Group))]
    for group in everything:
        assert {name: each.name for name, each in commands(group).items()} == {name: name for name in commands(group)}
    assert program.get_command(click.Context(program), "no-such-command") is None


def parameters(command: click.Command) -> dict[str, Any]:
    return {parameter.name: parameter for parameter in command.params if parameter.name}


def test_build_has_the_names_and_defaults_of_the_command_line() -> None:
    api = inspect.signature(ngramscope.Index.build).parameters
    options = parameters(commands(program)["build-index"])
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
    options = parameters(commands(program)["overlap"])
    for name in set(api) - {"self", "texts"}:
        ours, theirs = api[name].default, options[name].to_info_dict()["default"]
        assert ours == theirs or (not ours and not theirs), name


def test_what_is_not_utf8_is_refused_by_option_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def options(command: click.Command, *words: str) -> Iterator[tuple[tuple[str, ...], click.Parameter]]:
        for name, each in commands(command).items() if isinstance(command, click.Group) else ():
            yield from options(each, *words, name)
        yield from ((words, each) for each in command.params)

    tried = 0
    for words, option in options(program):
        if option.metavar in ("KEY", "GLOB", "TEXT", "NAME") and option.name != "tokenizer":
            assert run([*words, option.opts[0], "a\udcff"]) == 2
            assert f"Invalid value for '{option.opts[0]}'" in capfd.readouterr().err
            tried += 1
    assert tried > 50


def test_every_command_and_option_has_help_and_every_command_an_example() -> None:
    groups = [each for each in commands(program).values() if isinstance(each, click.Group)]
    for name, command in [*commands(program).items(), *(each for group in groups for each in commands(group).items())]:
        assert "Example:" in (command.help or ""), name
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, (name, parameter.name)
        # Of two options with one name inside, one would be given the other's value.
        names = [parameter.name for parameter in command.params]
        assert len(set(names)) == len(names), name


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


@pytest.mark.parametrize(
    "command",
    [
        "overlap - --scan FILE",
        "overlap FILE --scan -",
        "overlap - --index INDEX",
        "build-index - --out OUT",
        "build-index - --out OUT --spool --expected-ngrams 10",
        "decontaminate FILE --reference -",
        "decontaminate - --reference FILE",
        "explain - --no-index",
    ],
)
def test_a_closed_standard_input_is_not_an_empty_one(small_index: Path, tmp_path: Path, command: str) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a b c d e f g h"}\n')
    words = command.replace("FILE", "a.jsonl").replace("INDEX", str(small_index)).replace("OUT", "out")
    run = f"{sys.executable} -m ngramscope {words}"
    done = subprocess.run(["bash", "-c", f"{run} <&-"], capture_output=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"ngramscope: error: standard input is closed; ")
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_who_reads_files_needs_no_standard_input(small_index: Path) -> None:
    run = f"{sys.executable} -m ngramscope inspect {small_index}"
    assert subprocess.run(["bash", "-c", f"{run} <&-"], capture_output=True, check=False).returncode == 0


def test_explain_takes_no_broken_text_and_follows_the_index(cli: Cli, small_index: Path) -> None:
    done = cli("explain", "-", "--no-index", stdin=b"a \xff b")
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"standard input: not UTF-8 at byte 3" in done.stderr
    assert b"the index has uax29" in cli("explain", "a b", "--index", small_index, "--words", "gpt3").stderr
    assert b"is not a token id" in cli("explain", "a b", "--no-index", "--words", "ids").stderr
    assert cli("explain", "a b", env={"NGRAMSCOPE_INDEX": "nowhere"}).returncode == 1
    assert cli("explain", "a b", "--no-index", "--index", small_index).returncode == 2
