"""Building on a real local cluster of two workers: the bytes of one build, whatever happens to a worker."""

from __future__ import annotations

import bz2
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ngramscope import Index, InputError, MissingExtraError, ResourceError, UsageError
from ngramscope.distributed.ray_helpers import ray_helpers
from tests.conftest import Cli, clean_environment, write_jsonl

ray: Any = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """The address of a cluster that runs two tasks of one thread at a time."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    handler = signal.getsignal(signal.SIGTERM)
    context = ray.init(
        num_cpus=2, include_dashboard=False, object_store_memory=80 << 20, log_to_driver=False, logging_level="ERROR"
    )
    yield context.address_info["gcs_address"]
    ray.shutdown()
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eleven files of different sizes that share some of their n-grams."""
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(11):
        texts = [" ".join(f"w{(number * 70 + place) % 900}" for place in range(40 + 5 * number)) for _ in range(1 + number % 3)]
        write_jsonl(folder / f"{number:02}.jsonl", texts)
    return folder


@pytest.fixture(scope="module")
def slow_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four files that take a second or so each."""
    folder = tmp_path_factory.mktemp("slow")
    for number in range(4):
        lines = [
            " ".join(f"{place * 7919 % 999983:x}" for place in range(start, start + 5000))
            for start in range(number, 500_000, 5000)
        ]
        (folder / f"{number}.txt.bz2").write_bytes(bz2.compress("\n".join(lines).encode(), 9))
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"n": (3, 7), "tiers": 2}, 11),  # counted by the tasks; two levels of merges
        ({"n": 5, "expected_ngrams": 20_000, "shards": 2, "name": "numbers"}, 3),
        ({"n": 4, "filter": "exact"}, 1),
    ],
    ids=["tree", "sized", "one-part"],
)
def test_the_index_is_that_of_one_build(
    cluster: str, corpus: Path, tmp_path: Path, options: dict[str, Any], parts: int
) -> None:
    Index.build(corpus, out=tmp_path / "one", **options)
    steps: list[Any] = []
    index = Index.build(
        corpus, out=tmp_path / "many", engine="ray", threads=1, ray_parts=parts, progress=steps.append, **options
    )
    assert files(tmp_path / "many") == files(tmp_path / "one")
    assert index.build_report is not None
    assert index.build_report.warnings == []
    assert index.build_report.details["report"]["documents"] == 21
    assert sum(path.stat().st_size for path in corpus.iterdir()) in {step.bytes_total for step in steps}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many", "one"]


def test_a_part_whose_worker_is_killed_is_made_again(cluster: str, slow_corpus: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {"n": 5, "expected_ngrams": 2_000_000, "text_lines": True, "tiers": 2}
    killed: list[Path] = []

    def kill(_step: Any) -> None:
        # Temporary files are named after the process that writes them: this one has its part half done.
        for path in tmp_path.glob("many.ray-*/part-*/.tmp-*") if not killed else ():
            os.kill(int(path.name.split("-")[1]), signal.SIGKILL)
            killed.append(path.parent)
            break

    Index.build(slow_corpus, out=tmp_path / "many", engine="ray", threads=1, ray_parts=4, progress=kill, **options)
    assert killed
    Index.build(slow_corpus, out=tmp_path / "one", **options)
    assert files(tmp_path / "many") == files(tmp_path / "one")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["many", "one"]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["interrupt", "terminate"])
def test_a_signal_ends_the_tasks(cluster: str, slow_corpus: Path, tmp_path: Path, number: int, code: int) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [
        *(sys.executable, "-m", "ngramscope", "build-index", slow_corpus, "--text-lines", "--expected-ngrams", "2000000"),
        *(
            "--engine",
            "ray",
            "--ray-address",
            cluster,
            "--threads",
            "1",
            "--ray-parts",
            "4",
            "--scratch",
            scratch,
            "--out",
            "index",
        ),
    ]
    process = subprocess.Popen(list(map(str, command)), cwd=tmp_path, env=clean_environment(), stderr=subprocess.PIPE)
    while process.poll() is None and not list(scratch.glob("index.ray-*/part-*/.tmp-*")):
        time.sleep(0.02)
    process.send_signal(number)
    _, message = process.communicate(timeout=30)
    assert process.returncode == code, message
    assert b"Traceback" not in message
    assert list(scratch.iterdir()) == []
    assert not (tmp_path / "index").exists()
    # The workers are free again: a task of both processors runs.
    assert ray.get(ray.remote(num_cpus=2)(lambda: "free").remote(), timeout=30) == "free"


def test_what_goes_wrong_in_a_task_is_said_as_ever(cluster: str, corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.jsonl").write_text('{"text": "one two three four"}\n{"text": 5}\n')
    options: dict[str, Any] = {"n": 3, "expected_ngrams": 100, "engine": "ray", "threads": 1, "ray_parts": 3}
    with pytest.raises(InputError, match=r"/bad/\d\.jsonl:2: the text is not a string") as caught:
        Index.build(folder, out=tmp_path / "index", **options)
    assert "Traceback" not in str(caught.value)
    with pytest.raises(InputError, match="unusable records in all parts, more than --max-bad-records 2"):
        Index.build(folder, out=tmp_path / "index", max_bad_records=2, **options)
    index = Index.build(folder, out=tmp_path / "index", max_bad_records=3, **options)
    assert index.build_report is not None
    assert index.build_report.partial
    with pytest.raises(UsageError, match="holds an index already"):
        Index.build(folder, out=tmp_path / "index", max_bad_records=3, **options)
    with pytest.raises(ResourceError, match="over-full"):
        Index.build(corpus, out=tmp_path / "full", **{**options, "expected_ngrams": 10})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "index"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-", "--engine", "ray"], "standard input cannot be read by several workers"),
        (["https://localhost/a.jsonl", "--engine", "ray"], "is no file that every machine sees"),
        (["a.jsonl", "--engine", "ray", "--part", "1/2"], "Ray makes the parts"),
        (["a.jsonl", "--engine", "ray", "--scratch", "nowhere"], "--scratch: nowhere: there is no such folder"),
        (["a.jsonl", "--ray-parts", "2"], "--ray-parts: is for --engine ray"),
        (["a.jsonl", "--engine", "ray", "--ray-parts", "0"], "--ray-parts: 0 is not possible"),
    ],
)
def test_what_ray_cannot_do_is_refused(cli: Cli, tmp_path: Path, arguments: list[str], message: str) -> None:
    write_jsonl(tmp_path / "a.jsonl", ["a b c"])
    done = cli("build-index", *arguments, "--out", "index", stdin="")
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


def test_ray_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    path = write_jsonl(tmp_path / "a.jsonl", ["a b c"])
    with pytest.raises(MissingExtraError, match=r"pip install 'ngramscope\[ray\]'"):
        Index.build(path, out=tmp_path / "index", engine="ray")
    with pytest.raises(UsageError, match="write them to files"):
        Index.build(texts=["a b c"], out=tmp_path / "index", engine="ray")


def test_shares_of_scoring_run_where_the_command_does(cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with ray_helpers([(Path.touch, (Path(name),)) for name in "ab"], cluster) as tasks:
        tasks.wait(lambda: None)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a", "b"]


def test_a_share_that_fails_ends_the_scoring(cluster: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"), ray_helpers([(int, ("x",))], cluster) as tasks:
        tasks.wait(lambda: None)
    with (
        pytest.raises(ResourceError, match="--engine ray: a task died"),
        ray_helpers([(time.sleep, (60,)), (os._exit, (1,))], cluster) as tasks,
    ):
        tasks.wait(lambda: None)
