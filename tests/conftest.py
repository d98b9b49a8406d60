"""Fixtures for all tests; nothing here knows an answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import ngramscope
from tests.program import Program, can_fork

ROOT = Path(__file__).resolve().parents[1]

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


# A shell that starts the tests in the background has them ignore SIGINT, and so all that they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    return f"ngramscope {ngramscope.__version__} from {Path(ngramscope.__file__).parent}"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data: NGRAMSCOPE_SHARED, else beside the repository."""
    folder = Path(os.environ.get("NGRAMSCOPE_SHARED") or ROOT.parent / "shared")
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}; set NGRAMSCOPE_SHARED to run this test")
    return folder


@pytest.fixture(scope="session")
def trials(shared: Path) -> Path:
    """The trial files."""
    return shared / "trials" / "files"


@pytest.fixture(scope="session")
def program() -> Iterator[Program]:
    """The program, loaded once."""
    loaded = Program()
    yield loaded
    loaded.close()


@pytest.fixture
def cli(tmp_path: Path, program: Program) -> Cli:
    """Run the program in `tmp_path`: ``cli("overlap", path, stdin=..., env=...)``."""

    def run(
        *arguments: str | Path,
        stdin: str | bytes | None = None,
        env: dict[str, str] | None = None,
        cwd: Path = tmp_path,
        timeout: float = 120,
    ) -> Any:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        words, environment = [str(each) for each in arguments], clean_environment(env)
        if can_fork(env or {}):
            return program.run(words, stdin=given, cwd=cwd, env=environment, timeout=timeout)
        command = [sys.executable, "-m", "ngramscope", *words]
        return subprocess.run(command, input=given, capture_output=True, cwd=cwd, env=environment, timeout=timeout, check=False)

    return run


def clean_environment(extra: dict[str, str] | None = None) -> dict[str, str]:
    """This process's environment without what would change the program's behaviour."""
    keep = {key: value for key, value in os.environ.items() if not key.startswith("NGRAMSCOPE_INDEX")}
    return {**keep, **(extra or {})}


def wait_until_started(process: subprocess.Popen[bytes]) -> None:
    """Wait until the program has come as far as catching SIGTERM, or is over; a busy machine takes seconds to load it."""
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        time.sleep(3.0)
    while process.poll() is None and status.exists():
        caught = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("SigCgt:"))
        if int(caught, 16) >> (signal.SIGTERM - 1) & 1:
            return
        time.sleep(0.05)


def write_jsonl(path: Path, records: Iterable[Any]) -> Path:
    """Write records (or bare texts) as JSON Lines."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number, record in enumerate(records):
            row = record if isinstance(record, dict) else {"id": f"d{number}", "text": record}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return path


def read_jsonl(data: str | bytes | Path) -> list[dict[str, Any]]:
    """Rows of JSON Lines, refusing what JSON does not know (NaN, Infinity)."""

    def refuse(constant: str) -> None:
        raise ValueError(f"not JSON: {constant}")

    text = data.read_bytes() if isinstance(data, Path) else data
    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "omicron",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
]


@pytest.fixture(scope="session")
def small_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exact index, n = 3 and 5, of one document: the Greek alphabet as far as upsilon."""
    folder = tmp_path_factory.mktemp("small") / "index"
    ngramscope.Index.build(texts=[" ".join(WORDS)], out=folder, n=[3, 5], filter="exact", name="greek", threads=1)
    return folder


def commands(group: click.Group) -> dict[str, click.Command]:
    """The commands of a group, by name."""
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: each for name, each in found.items() if each is not None}
