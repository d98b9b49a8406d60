"""`ngramscope fetch`: results, kills, Ctrl-C, messages."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ngramscope.cli._run import run
from tests.conftest import Cli, clean_environment, read_jsonl, wait_until_started
from tests.services_server import Article, Paper, Services, serve

pytest.importorskip("requests")

LIMIT = 2.0


@pytest.fixture
def services() -> Iterator[Services]:
    articles = [
        Article(
            number, f"Page {number}", [(number, f"2023-0{number}-01T00:00:00Z", f"<p>Text {number}.</p>")],
            ("2023 events",), extract=f"Text {number}." if number != 4 else "",
        )
        for number in range(1, 9)
    ]  # fmt: skip
    papers = [Paper(f"2301.0000{number}", f"2023-01-0{number}T00:00:00Z") for number in range(1, 8)]
    with serve(Services(articles=articles, papers=papers)) as running:
        yield running


def wikipedia(services: Services, *more: str, out: str = "out.jsonl") -> list[str]:
    where = ["--api-url", services.wiki, "--interval", "0.01", "--out", out]
    return ["fetch", "wikipedia", "--category", "2023 events", *where, *more]


def arxiv(services: Services, *more: str, out: str = "out.jsonl") -> list[str]:
    where = ["--api-url", services.arxiv, "--interval", "0.01", "--out", out]
    return ["fetch", "arxiv", "--category", "cs.CL", "--from", "2023-01", "--to", "2023-01", "--page-size", "3", *where, *more]


Commands = Callable[..., "list[str]"]
Here = Callable[..., "tuple[int, list[str]]"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """Run a command in this process, which takes less time: its exit code and what it says."""
    monkeypatch.chdir(tmp_path)

    def run_here(*arguments: str) -> tuple[int, list[str]]:
        code = run(arguments)
        out, errors = capsys.readouterr()
        assert out == ""
        return code, errors.splitlines()

    return run_here


def start(arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "ngramscope", *arguments],
        cwd=folder, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for(process: subprocess.Popen[bytes], what: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not what():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)


def test_documents_and_what_is_said_of_them(cli: Cli, services: Services, tmp_path: Path) -> None:
    done = cli(*wikipedia(services))
    assert (done.returncode, done.stdout) == (0, b""), done.stderr
    assert done.stderr.decode().splitlines() == ["7 documents of 8 found; wrote out.jsonl", "left out 1: empty"]
    assert len(read_jsonl(tmp_path / "out.jsonl")) == 7
    done = cli(*arxiv(services, "--json", out="papers.jsonl.zst"))
    result = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (result["counts"], result["months"]) == ({"found": 7, "used": 7, "left_out": {}}, {"2023-01": 7})


def test_what_a_service_should_have_sent_is_a_warning(services: Services, here: Here) -> None:
    services.always = {'"start": "0"': lambda _, body: body.replace(b"<id>http://arxiv.org/abs/2301.00002v1", b"<id>what")}
    code, lines = here(*arxiv(services))
    assert code == 3
    assert "warning: left out 1: malformed page" in lines
    assert here(*arxiv(services, "--quiet")) == (3, [])


@pytest.mark.parametrize(("command", "at"), [(wikipedia, (2, 9)), (arxiv, (2,))], ids=["wikipedia", "arxiv"])
def test_killed_runs_go_on(services: Services, here: Here, tmp_path: Path, command: Commands, at: tuple[int, ...]) -> None:
    assert here(*command(services, out="whole.jsonl"))[0] == 0
    once = sorted(map(json.dumps, services.asked))
    services.asked.clear()
    for before, number in zip((1, *at), at, strict=False):  # killed while this request of all hangs
        services.faults = [*[None] * (number - before), "hang"]
        process = start(command(services), tmp_path)
        wait_for(process, lambda: not services.faults)
        process.kill()
        process.communicate()
        assert not (tmp_path / "out.jsonl").exists()
    assert here(*command(services))[0] == 0
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    # Asked once more is only what had no answer when the run was killed.
    assert len(services.asked) == len(once) + len(at)
    assert sorted(set(map(json.dumps, services.asked))) == once
    assert sorted(each.name for each in tmp_path.iterdir() if each.name.startswith((".", "out"))) == [
        "out.jsonl", "out.jsonl.meta.json",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("while_", "number", "code", "word"),
    [
        ("a request hangs", signal.SIGINT, 130, "interrupted"),
        ("a request hangs", signal.SIGTERM, 143, "terminated"),
        ("waiting for the next one", signal.SIGINT, 130, "interrupted"),
        ("a busy server wants to be left alone", signal.SIGINT, 130, "interrupted"),
    ],
)
def test_ctrl_c(services: Services, tmp_path: Path, while_: str, number: signal.Signals, code: int, word: str) -> None:
    more = []
    if while_ == "a request hangs":
        services.faults = [None, "hang"]
    elif while_ == "waiting for the next one":
        more = ["--interval", "300"]
    else:
        services.faults = [None, (429, {"Retry-After": "300"})]
    process = start(wikipedia(services, *more), tmp_path)
    wait_until_started(process)
    wait_for(process, lambda: len(services.asked) >= (1 if more else 2))
    if more:
        wait_for(process, lambda: any((tmp_path / "out.jsonl.partial").glob("answers/*/*.gz")))
    time.sleep(0.2)
    sent = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - sent < LIMIT
    assert process.returncode == code
    lines = errors.decode().splitlines()
    assert lines[0] == "not finished; the same command goes on from out.jsonl.partial"
    assert lines[1].startswith(f"ngramscope: {word}")
    assert [each.name for each in tmp_path.iterdir()] == ["out.jsonl.partial"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["wikipedia"], 2, "which articles?"),
        (["wikipedia", "--titles", "none.txt"], 1, "none.txt: cannot be read: No such file or directory"),
        (["wikipedia", "--titles", "out.jsonl"], 2, "--out: out.jsonl is one of the inputs"),
        (["wikipedia", "--category", "x", "--api-url", "URL/none"], 1, "/none: the server answers 404; no API is there"),
        (["arxiv", "--category", "cs.CL", "--from", "2023-1", "--to", "2023-02"], 2, "--from: '2023-1'"),
    ],
)
def test_errors_are_one_message(
    services: Services, here: Here, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "out.jsonl").write_text("Page 1\n")
    returned, lines = here("fetch", *(each.replace("URL", services.url) for each in arguments), "--out", "out.jsonl")
    assert returned == code
    assert message in lines[-1]
    assert sum("rror: " in each for each in lines) == 1
    assert (tmp_path / "out.jsonl").read_text() == "Page 1\n"
    assert [each.name for each in tmp_path.iterdir()] == ["out.jsonl"]
