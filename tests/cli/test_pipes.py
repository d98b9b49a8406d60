"""Standard output is data, standard error is for people, and neither surprises a shell."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import WORDS, Cli, clean_environment, read_jsonl, write_jsonl

TEXT = " ".join(WORDS)
C_LOCALE = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """More rows than any pipe holds."""
    return write_jsonl(tmp_path_factory.mktemp("many") / "many.jsonl", (f"{TEXT} {number}" for number in range(30_000)))


def shell(line: str, folder: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    program = f"{sys.executable} -m ngramscope"
    return subprocess.run(
        ["bash", "-c", line.replace("NGRAMSCOPE", program)],
        cwd=folder, env=clean_environment(env), capture_output=True, timeout=120, check=False,
    )  # fmt: skip


def test_head_leads_to_a_quiet_end(many: Path, small_index: Path, tmp_path: Path) -> None:
    done = shell(f"NGRAMSCOPE overlap {many} --index {small_index} 2> log | head -1; echo ${{PIPESTATUS[0]}} > code", tmp_path)
    assert len(read_jsonl(done.stdout)) == 1
    assert (tmp_path / "log").read_bytes() == b""
    assert (tmp_path / "code").read_text().strip() == "141"


def test_a_json_reader_can_read_along(many: Path, small_index: Path, tmp_path: Path) -> None:
    reader = f"{sys.executable} -c 'import sys, json; print(sum(json.loads(line)[\"hits\"] for line in sys.stdin))'"
    done = shell(f"NGRAMSCOPE overlap {many} --n 3 --index {small_index} | {reader}", tmp_path)
    assert int(done.stdout) == 30_000 * (len(WORDS) - 2)


def test_a_log_has_no_carriage_returns_and_no_colours(many: Path, tmp_path: Path) -> None:
    done = shell(
        f"NGRAMSCOPE build-index {many} --out index 2> log && NGRAMSCOPE overlap {many} --index index > rows 2>> log", tmp_path
    )
    assert done.returncode == 0
    log = (tmp_path / "log").read_bytes()
    assert log
    assert b"\r" not in log
    assert b"\x1b" not in log
    assert len(read_jsonl(tmp_path / "rows")) == 30_000


def on_terminal(command: list[str | Path], folder: Path, **env: str) -> bytes:
    """Run with standard error on a pseudo-terminal and return what came out of it."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "ngramscope", *map(str, command)],
        cwd=folder, env=clean_environment({"TERM": "xterm", **env}), stdout=subprocess.DEVNULL, stderr=slave,
    )  # fmt: skip
    os.close(slave)
    output = b""
    while True:
        try:
            chunk = os.read(master, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        output += chunk
    os.close(master)
    assert process.wait(timeout=60) == 0, output
    return output


def test_a_terminal_gets_a_live_line_and_colours_unless_told_otherwise(many: Path, tmp_path: Path) -> None:
    plain = on_terminal(["build-index", many, "--out", "a"], tmp_path, NO_COLOR="1")
    assert b"\r" in plain
    assert b"\x1b[K" in plain
    assert b"\x1b[3" not in plain
    (tmp_path / "empty.jsonl").write_text("")
    coloured = on_terminal(["build-index", "empty.jsonl", "--out", "b"], tmp_path)
    assert b"\x1b[33m" in coloured  # a warning
    assert b"\x1b[33m" not in on_terminal(["build-index", "empty.jsonl", "--out", "c"], tmp_path, NO_COLOR="1")


def test_output_is_utf8_in_every_locale(cli: Cli, tmp_path: Path, small_index: Path) -> None:
    path = write_jsonl(tmp_path / "größe.jsonl", [{"id": "ключ-é-🦉", "text": "alpha beta gamma ümlaut"}])
    done = cli("overlap", path, "--index", small_index, "--n", 3, "--matches", 1, env=C_LOCALE)
    assert done.returncode == 0, done.stderr
    assert "ключ-é-🦉".encode() in done.stdout
    assert read_jsonl(done.stdout)[0]["id"] == "ключ-é-🦉"
    done = cli("overlap", path, "--index", small_index, "--out", "o.csv", env=C_LOCALE)
    assert "ключ-é-🦉" in (tmp_path / "o.csv").read_text(encoding="utf-8")
    assert "█" in done.stderr.decode("utf-8")
    done = cli("overlap", tmp_path / "fehlt-é.jsonl", "--index", small_index, env=C_LOCALE)
    assert done.returncode == 1
    assert "fehlt-é.jsonl" in done.stderr.decode("utf-8")


def test_machines_get_json_everywhere(cli: Cli, tmp_path: Path, small_index: Path) -> None:
    path = write_jsonl(tmp_path / "c.jsonl", [TEXT])
    for arguments in (
        ["build-index", path, "--out", "i", "--json"],
        ["inspect", small_index, "--json"],
        ["verify", small_index, "--json"],
        ["explain", "a b c", "--no-index", "--json"],
    ):
        done = cli(*arguments)
        assert done.returncode == 0, done.stderr
        assert isinstance(json.loads(done.stdout), dict)
        assert done.stderr == b""
