"""Ctrl-C and SIGTERM end long work within two seconds and leave nothing under a final name."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ngramscope import Index, Progress
from tests.conftest import clean_environment, wait_until_started

LIMIT = 2.0
MEMBER_BYTES = 8 << 20
MEMBERS = 4000


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """32 GB of text in a small file: one gzip member of 8 MiB, thousands of times. Far more than a minute's work."""
    line = b'{"id": 1, "text": "' + b" ".join(b"word%d" % (number % 977) for number in range(1000)) + b'"}\n'
    member = gzip.compress(line * (MEMBER_BYTES // len(line)), compresslevel=6)
    path = tmp_path_factory.mktemp("endless") / "endless.jsonl.gz"
    with path.open("wb") as file:
        for _ in range(MEMBERS):
            file.write(member)
    return path


Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    def run(*arguments: str | Path, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "ngramscope", *map(str, arguments)],
            cwd=tmp_path, env=clean_environment(), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return run


def end(process: subprocess.Popen[bytes], number: signal.Signals, after: float = 1.5) -> tuple[int, float, list[str]]:
    """Send the signal and return exit code, seconds until the end, and the lines of standard error."""
    wait_until_started(process)
    time.sleep(after)
    assert process.poll() is None, "the work was over before the signal came"
    sent = time.perf_counter()
    process.send_signal(number)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, time.perf_counter() - sent, errors.decode().splitlines()


@pytest.fixture(scope="module")
def long_line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One record of 300 MB."""
    path = tmp_path_factory.mktemp("long") / "line.jsonl"
    words = b" ".join(b"%x" % (number * 2654435761 % 4294967296) for number in range(1 << 17))
    with path.open("wb") as file:
        file.write(b'{"id": 1, "text": "')
        for _ in range(300_000_000 // len(words)):
            file.write(words + b" ")
        file.write(b'"}\n')
    return path


@pytest.fixture(scope="module")
def packed_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One text of 32 GB in a small file."""
    import zstandard

    frame = zstandard.ZstdCompressor().compress(b"one word and another\n" * (MEMBER_BYTES // 21))
    path = tmp_path_factory.mktemp("packed") / "text.txt.zst"
    with path.open("wb") as file:
        for _ in range(MEMBERS):
            file.write(frame)
    return path


@pytest.mark.parametrize("options", [[], ["--spans"], ["--load"]], ids=lambda each: " ".join(each) or "plain")
def test_scoring_one_long_record_ends_at_once(start: Start, small_index: Path, long_line: Path, options: list[str]) -> None:
    returned, seconds, _ = end(start("overlap", long_line, "--index", small_index, *options), signal.SIGINT, after=0.6)
    assert returned == 130
    assert seconds < LIMIT


@pytest.mark.parametrize("command", ["build-index", "overlap"])
def test_reading_one_long_text_ends_at_once(start: Start, small_index: Path, packed_text: Path, command: str) -> None:
    options = ["--index", small_index] if command == "overlap" else ["--out", "index"]
    returned, seconds, _ = end(start(command, packed_text, *options), signal.SIGINT)
    assert returned == 130
    assert seconds < LIMIT


SIGNALS = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]


@pytest.mark.parametrize(("number", "code", "word"), SIGNALS)
@pytest.mark.parametrize("sizing", [[], ["--expected-ngrams", "10000000"]], ids=["counting", "inserting"])
def test_a_build_ends_at_once(
    start: Start, endless: Path, tmp_path: Path, sizing: list[str], number: signal.Signals, code: int, word: str
) -> None:
    returned, seconds, lines = end(start("build-index", endless, *sizing, "--out", "index"), number)
    assert returned == code
    assert seconds < LIMIT
    assert len(lines) == 1
    assert lines[0].startswith(f"ngramscope: {word}")
    assert not (tmp_path / "index" / "index.json").exists()
    assert not list(tmp_path.rglob("*.ngs"))


@pytest.mark.parametrize(("number", "code", "word"), SIGNALS)
def test_a_build_that_can_be_continued_says_how(
    start: Start, endless: Path, tmp_path: Path, number: signal.Signals, code: int, word: str
) -> None:
    process = start("build-index", endless, "--out", "index", "--resume")
    state = tmp_path / "index.partial" / "state.json"
    while process.poll() is None and not (state.exists() and b'"checkpoint":null' not in state.read_bytes()):
        time.sleep(0.02)
    returned, seconds, lines = end(process, number, after=0.0)
    assert returned == code
    assert seconds < LIMIT
    assert [line.split(";")[0] for line in lines] == ["the build is unfinished", f"ngramscope: {word}"]
    assert "the same command continues it from index.partial" in lines[0]
    assert [path.name for path in tmp_path.iterdir()] == ["index.partial"]
    assert [path.name for path in state.parent.iterdir()] == ["state.json"]


@pytest.mark.parametrize(("number", "code", "word"), SIGNALS)
def test_scoring_ends_at_once(
    start: Start, endless: Path, tmp_path: Path, small_index: Path, number: signal.Signals, code: int, word: str
) -> None:
    returned, seconds, lines = end(start("overlap", endless, "--index", small_index, "--out", "table.jsonl"), number)
    assert returned == code
    assert seconds < LIMIT
    assert [line for line in lines if word in line] == lines
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [["build-index", "-", "--expected-ngrams", "1000"], ["build-index", "-", "--spool"], ["overlap", "-"]],
    ids=["build", "spool", "overlap"],
)
def test_waiting_for_standard_input_ends_at_once(start: Start, small_index: Path, command: list[str]) -> None:
    options = ["--index", small_index] if command[0] == "overlap" else []
    process = start(*command, *options, stdin=subprocess.PIPE)
    returned, seconds, _ = end(process, signal.SIGINT)
    assert returned == 130
    assert seconds < LIMIT


def test_loading_ends_at_once(tmp_path: Path) -> None:
    # An import of the program that lasts until the signal has come.
    (tmp_path / "click.py").write_text("import sys, time\nprint(flush=True)\ntime.sleep(60)\n", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "ngramscope", "--help"], cwd=tmp_path,
        env=clean_environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors.decode()) == (130, "ngramscope: interrupted\n")


def test_an_interrupted_build_keeps_the_index_that_was_there(start: Start, endless: Path, tmp_path: Path) -> None:
    Index.build(texts=["one two three"], out=tmp_path / "index", n=2)
    before = {path.name: path.read_bytes() for path in (tmp_path / "index").iterdir()}
    returned, _, _ = end(start("build-index", endless, "--force", "--out", "index"), signal.SIGINT)
    assert returned == 130
    assert {path.name: path.read_bytes() for path in (tmp_path / "index").iterdir()} == before


def test_a_session_survives_and_other_threads_go_on(endless: Path, tmp_path: Path, small_index: Path) -> None:
    stop = threading.Event()
    counts = [0]

    def count() -> None:
        while not stop.is_set():
            counts[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    sent: list[tuple[float, int]] = []

    def interrupt() -> None:
        sent.append((time.perf_counter(), counts[0]))
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.5, interrupt)
    counter.start()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        Index.build(endless, out=tmp_path / "index", n=7)
    seconds = time.perf_counter() - sent[0][0]
    stop.set()
    counter.join()
    assert seconds < LIMIT
    assert sent[0][1] > 100  # it counted while the core worked
    assert not (tmp_path / "index" / "index.json").exists()
    assert Index.open(small_index).overlap(["alpha beta gamma"], n=3).hits.tolist() == [1]


@pytest.mark.parametrize("phase", ["write", "sync"])
def test_writing_half_a_gibibyte_ends_at_once(phase: str, tmp_path: Path) -> None:
    sent: list[float] = []

    def progress(step: Progress) -> None:
        if step.phase == phase and not sent:
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        Index.build(texts=["one two three"], out=tmp_path / "index", n=2, expected_ngrams=400_000_000, progress=progress)
    assert time.perf_counter() - sent[0] < LIMIT
    assert not (tmp_path / "index" / "index.json").exists()
    assert not list(tmp_path.rglob("*.ngs"))


FORGOTTEN = """
import os, signal, sys, time
from ngramscope.cli import _run

class Late:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        time.sleep(0.1)  # the signal comes here, where an exception is printed and forgotten

def work(context):
    late = Late()
    del late
    for _ in range(300):
        time.sleep(0.1)
    return 0

_run.cli.invoke = work
sys.exit(_run.run(["inspect", "index"]))
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_that_a_destructor_swallows_is_not_lost(name: str, code: int) -> None:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", FORGOTTEN.replace("{name}", name)],
        env=clean_environment(), capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == code
    assert time.perf_counter() - began < 20
    assert "Traceback" not in done.stderr
