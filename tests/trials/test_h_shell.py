"""H01, H02: signals, pipes, logs and exit codes. tests/cli has more of both."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ngramscope import Index, Progress
from tests.conftest import Cli, clean_environment, read_jsonl, wait_until_started, write_jsonl
from tests.trials.support import build, contents, finished, refused

LIMIT = 2.0


@pytest.fixture(scope="module")
def large(trials: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus of group D, until building and scoring take seconds."""
    texts = " ".join(row["text"] for row in read_jsonl(trials / "D" / "corpus.jsonl"))
    path = tmp_path_factory.mktemp("large") / "large.jsonl"
    line = json.dumps({"id": 1, "text": texts}) + "\n"
    with path.open("w") as file:
        for _ in range(10_000):
            file.write(line)
    return path


@pytest.mark.parametrize("phase", ["count", "insert", "write", "sync"])
def test_h01_a_session_can_stop_a_build_in_every_phase(trials: Path, large: Path, tmp_path: Path, phase: str) -> None:
    """As Ctrl-C does: an exception between two steps. What was there before is there afterwards."""
    build(tmp_path / "index", trials / "D" / "corpus.jsonl")
    before = contents(tmp_path / "index")
    seen: list[str] = []

    def stop(step: Progress) -> None:
        seen.append(step.phase)
        if step.phase == phase:
            raise KeyboardInterrupt

    # Two sets of 300 MB: writing takes some time too. Counting is skipped, but for its own case, since it comes first.
    given = None if phase == "count" else 250_000_000
    started = time.perf_counter()
    try:
        Index.build(large, out=tmp_path / "index", n=[7, 13], expected_ngrams=given, force=True, progress=stop)
    except KeyboardInterrupt:
        assert time.perf_counter() - started < 60
    else:
        assert phase not in seen  # over before it was asked: possible for the disk's phases only
        assert phase in ("write", "sync")
        pytest.skip(f"this disk is too fast to be stopped while {phase} lasts")
    assert contents(tmp_path / "index") == before
    assert Index.open(tmp_path / "index").overlap(["a"]).ngrams.tolist() == [0]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("command", ["build-index", "overlap"])
def test_h01_signals_end_it_within_two_seconds(
    trials: Path, small_index: Path, tmp_path: Path, command: str, number: signal.Signals, code: int
) -> None:
    """Work that never ends by itself: the first line of the corpus for ever, on standard input."""
    options = ["--expected-ngrams", "1000", "--out", "index"] if command == "build-index" else ["--index", str(small_index)]
    with (trials / "D" / "corpus.jsonl").open() as file:
        line = file.readline().rstrip("\n")
    source = subprocess.Popen(["yes", line], stdout=subprocess.PIPE)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "ngramscope", command, "-", *options],
            cwd=tmp_path, env=clean_environment(), stdin=source.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert source.stdout is not None
        source.stdout.close()
        wait_until_started(process)
        time.sleep(1.0)
        assert process.poll() is None
        sent = time.perf_counter()
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
    finally:
        source.kill()
        source.wait()
    assert time.perf_counter() - sent < LIMIT
    assert process.returncode == code
    assert len(errors.decode().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_h01_other_threads_go_on(large: Path, tmp_path: Path) -> None:
    counted: list[float] = []
    stop = threading.Event()

    def count() -> None:
        while not stop.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.005)

    thread = threading.Thread(target=count)
    thread.start()
    started = time.perf_counter()
    Index.build(large, out=tmp_path / "index", threads=1)
    seconds = time.perf_counter() - started
    stop.set()
    thread.join()
    during = [each for each in counted if started <= each <= started + seconds]
    assert len(during) > seconds / 0.005 / 20
    gaps = [later - earlier for earlier, later in itertools.pairwise(during)]
    assert max(gaps) < seconds / 2  # the interpreter was free


def shell(line: str, folder: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", line.replace("NGRAMSCOPE", f"{sys.executable} -m ngramscope")],
        cwd=folder, env=clean_environment(env), stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False,
    )  # fmt: skip


def test_h02_standard_output_is_only_data(trials: Path, tmp_path: Path) -> None:
    build(tmp_path / "index", trials / "D" / "corpus.jsonl", n=[7, 13])
    program = (
        "import json, sys; rows = [json.loads(line) for line in sys.stdin]; print(len(rows), sum(row['hits'] for row in rows))"
    )
    done = shell(
        f'NGRAMSCOPE overlap {trials / "D" / "candidates.jsonl"} --index index 2> log | {sys.executable} -c "{program}"',
        tmp_path,
    )
    assert done.returncode == 0
    rows, _ = map(int, done.stdout.split())
    assert rows == 26
    log = (tmp_path / "log").read_bytes()
    assert log
    assert b"\r" not in log
    assert b"\x1b" not in log


def test_h02_head_ends_quietly(trials: Path, tmp_path: Path) -> None:
    build(tmp_path / "index", trials / "D" / "corpus.jsonl")
    rows = [dict(row, id=number) for number, row in enumerate(read_jsonl(trials / "D" / "candidates.jsonl") * 2000)]
    write_jsonl(tmp_path / "many.jsonl", rows)
    done = shell("NGRAMSCOPE overlap many.jsonl --index index 2> log | head -1", tmp_path)
    assert len(read_jsonl(done.stdout)) == 1
    assert (tmp_path / "log").read_bytes() == b""


def test_h02_exit_codes_tell_success_failure_and_wrong_usage(cli: Cli, trials: Path, tmp_path: Path) -> None:
    corpus = trials / "D" / "corpus.jsonl"
    finished(cli("build-index", corpus, "--out", "index"), 0)
    refused(cli("build-index", "absent.jsonl", "--out", "other"), "absent.jsonl", code=1)
    refused(cli("build-index", corpus, "--out", "index"), "--force", code=2)
    for wrong in (["overlap"], ["overlap", corpus, "--nonsense"], ["nonsense"], ["build-index", corpus, "--n", "seven"]):
        done = cli(*wrong)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"Error: " in done.stderr
        assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_h02_a_log_has_a_plain_progress_line_now_and_then(large: Path, tmp_path: Path) -> None:
    """A line every ten seconds; standard input sets the pace here."""
    with large.open("rb") as file:
        lines = [file.readline() for _ in range(100)]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "ngramscope", "build-index", "-", "--expected-ngrams", "5000", "--out", "index"],
            cwd=tmp_path, env=clean_environment(), stdin=subprocess.PIPE, stdout=log, stderr=log,
        )  # fmt: skip
        assert process.stdin is not None
        process.stdin.writelines(lines)
        process.stdin.flush()
        time.sleep(11)
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    text = (tmp_path / "log").read_bytes().decode()
    assert "\r" not in text
    assert "\x1b" not in text
    assert sum(each.startswith("indexing") for each in text.splitlines()) == 1


def test_h02_utf8_in_any_locale(cli: Cli, trials: Path, tmp_path: Path) -> None:
    build(tmp_path / "index", trials / "D" / "corpus.jsonl")
    text = read_jsonl(trials / "D" / "corpus.jsonl")[0]["text"]
    path = write_jsonl(tmp_path / "ids.jsonl", [{"id": "naïve-日本-🦉", "text": text}])
    env = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = cli("overlap", path, "--index", "index", env=env)
    finished(done)
    assert "naïve-日本-🦉".encode() in done.stdout
    assert read_jsonl(done.stdout)[0]["overlap"] == 1.0
