"""C02, C06, C07: other processes, threads, remembered rules."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope import Index, IndexFormatError, MismatchError
from tests.conftest import Cli, read_jsonl, write_jsonl
from tests.trials.support import build, contents, finished, refused

REPEATS = 20
ORDERS = [(0, 1, 2, 3, 4), (4, 3, 2, 1, 0), (2, 0, 4, 1, 3)]


@pytest.fixture(scope="module")
def candidates(trials: Path) -> list[str]:
    return [row["text"] for row in read_jsonl(trials / "D" / "candidates.jsonl")]


@pytest.fixture(scope="module", params=["exact", "blocked"])
def index_folder(request: pytest.FixtureRequest, trials: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("index") / "d"
    build(folder, trials / "D" / "corpus.jsonl", n=[7, 13], filter=request.param)
    return folder


def test_c02_other_processes_see_the_same(cli: Cli, trials: Path, index_folder: Path, tmp_path: Path) -> None:
    command = ["overlap", trials / "D" / "candidates.jsonl", "--index", index_folder, "--flags"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    outputs = [cli(*command, env={"PYTHONHASHSEED": seed}, cwd=elsewhere) for seed in ("0", "1", "random")]
    for done in outputs:
        finished(done)
    assert len({done.stdout for done in outputs}) == 1
    here = Index.open(index_folder).overlap([row["text"] for row in read_jsonl(trials / "D" / "candidates.jsonl")])
    rows = read_jsonl(outputs[0].stdout)
    assert [row["hits"] for row in rows] == here.hits.tolist()
    assert all(row["overlap"] == 1.0 for row in rows if row["id"] in ("copy", "same_again"))


def test_c02_other_processes_build_the_same(cli: Cli, trials: Path, index_folder: Path, tmp_path: Path) -> None:
    kind = json.loads((index_folder / "index.json").read_bytes())["sets"][0]["kind"]
    for seed in ("0", "random"):
        command = ["build-index", trials / "D" / "corpus.jsonl", "--n", "13", "--n", "7", "--filter", kind, "--out", seed]
        finished(cli(*command, env={"PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo"}))
        assert contents(tmp_path / seed) == contents(index_folder)


def test_c02_a_moved_copy_and_a_link_are_the_same_index(index_folder: Path, candidates: list[str], tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    for name, data in contents(index_folder).items():
        (moved / name).write_bytes(data)
    (tmp_path / "link").symlink_to(index_folder)
    hits = [Index.open(folder).overlap(candidates).hits.tolist() for folder in (index_folder, moved, tmp_path / "link")]
    assert hits[0] == hits[1] == hits[2]


@pytest.mark.parametrize("load", [False, True])
def test_c02_pickles_and_copies_lose_nothing(
    index_folder: Path, candidates: list[str], load: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(index_folder.parent)
    index = Index.open(index_folder.name, load=load)
    hits = index.overlap(candidates).hits
    data = pickle.dumps(index)
    monkeypatch.chdir(tmp_path)  # the path was relative
    for other in (pickle.loads(data), copy.copy(index), copy.deepcopy(index)):
        assert np.array_equal(other.overlap(candidates).hits, hits)


@pytest.mark.parametrize("kind", ["exact", "blocked"])
def test_c06_threads_and_file_order_do_not_change_the_index(trials: Path, tmp_path: Path, kind: str) -> None:
    shards = [trials / "D" / "shards" / f"part-{number}.jsonl" for number in range(5)]
    first: dict[str, bytes] | None = None
    for threads, repeat in itertools.product((1, 2, 8), range(REPEATS)):
        order = ORDERS[repeat % len(ORDERS)]
        folder = tmp_path / f"{threads}-{repeat}"
        build(folder, *(shards[each] for each in order), threads=threads, filter=kind, n=[7, 13])
        found = contents(folder)
        first = first or found
        assert found == first
    assert first is not None
    manifest = json.loads(first["index.json"])
    assert manifest["counts"]["documents"] == 50
    assert [keys["occurrences"] for keys in manifest["sets"]] == [2700, 2400]


def test_c06_the_same_file_given_twice_counts_once(trials: Path, tmp_path: Path) -> None:
    shards = trials / "D" / "shards"
    (tmp_path / "link.jsonl").symlink_to(shards / "part-0.jsonl")
    once = build(tmp_path / "once", shards)
    twice = build(tmp_path / "twice", shards, shards / "part-0.jsonl", shards)
    assert once["counts"] == twice["counts"]
    assert contents(tmp_path / "once") == contents(tmp_path / "twice")
    linked = build(tmp_path / "linked", tmp_path / "link.jsonl", shards / "part-0.jsonl")
    assert linked["counts"]["documents"] == 10


def test_c06_threads_do_not_change_scores_or_their_order(cli: Cli, trials: Path, index_folder: Path, tmp_path: Path) -> None:
    many = write_jsonl(
        tmp_path / "many.jsonl",
        [dict(row, id=number) for number, row in enumerate(read_jsonl(trials / "D" / "candidates.jsonl") * 500)],
    )
    outputs = [
        cli("overlap", many, "--index", index_folder, "--flags", "--spans", "--threads", threads).stdout
        for threads in (1, 2, 8)
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    assert [row["id"] for row in read_jsonl(outputs[0])][::2] == list(range(13 * 500))


def test_c06_one_object_answers_four_threads(index_folder: Path, candidates: list[str]) -> None:
    index = Index.open(index_folder)
    right = index.overlap(candidates, threads=1)
    wrong: list[int] = []

    def ask(number: int) -> None:
        for repeat in range(REPEATS):
            table = index.overlap(candidates, threads=1 + (number + repeat) % 3)
            if not np.array_equal(table.hits, right.hits) or not np.array_equal(table.distinct_hits, right.distinct_hits):
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_c07_a_length_that_the_index_lacks_is_refused_with_both_values(cli: Cli, trials: Path, tmp_path: Path) -> None:
    build(tmp_path / "index", trials / "D" / "corpus.jsonl", n=13)
    done = cli("overlap", trials / "D" / "candidates.jsonl", "--index", "index", "--n", 7)
    refused(done, "index", "n = 7", "n = 13")
    with pytest.raises(MismatchError):
        Index.open(tmp_path / "index").overlap(["a"], n=7)


@pytest.mark.parametrize(
    ("option", "asked", "has"),
    [("--words", "whitespace", "uax29"), ("--normalize", "nfc", "none"), ("--lowercase", "", "has off")],
)
def test_c07_another_word_rule_is_refused_with_both_values(
    cli: Cli, trials: Path, small_index: Path, option: str, asked: str, has: str
) -> None:
    arguments = [option, asked] if asked else [option]
    done = cli("overlap", trials / "D" / "candidates.jsonl", "--index", small_index, *arguments)
    refused(done, small_index, option, asked, has)


def test_c07_an_empty_index_is_loud(cli: Cli, trials: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    assert "EMPTY" in finished(cli("build-index", "empty.jsonl", "--out", "index"))
    done = cli("overlap", trials / "D" / "candidates.jsonl", "--index", "index", "--json")
    assert any("EMPTY" in warning for warning in json.loads(finished(done))["warnings"])
    assert "EMPTY" in finished(cli("overlap", trials / "D" / "candidates.jsonl", "--index", "index"))


@pytest.mark.parametrize("version", [0, 2, 99])
def test_c07_unknown_versions_are_refused(cli: Cli, trials: Path, tmp_path: Path, version: int) -> None:
    build(tmp_path / "index", trials / "D" / "corpus.jsonl")
    path = tmp_path / "index" / "index.json"
    path.write_text(path.read_text().replace('"format_version": 1', f'"format_version": {version}'))
    for command in (
        ["inspect", "index"],
        ["verify", "index"],
        ["overlap", trials / "D" / "candidates.jsonl", "--index", "index"],
    ):
        refused(cli(*command), path.relative_to(tmp_path), f"version {version}", "version 1")
    with pytest.raises(IndexFormatError):
        Index.open(tmp_path / "index")


def test_c07_a_planted_copy_is_found(trials: Path, tmp_path: Path, candidates: list[str]) -> None:
    benchmark = candidates[3]  # a new text
    corpus = read_jsonl(trials / "D" / "corpus.jsonl")
    planted = write_jsonl(tmp_path / "planted.jsonl", [*corpus, {"id": "planted", "text": f"before {benchmark} after"}])
    build(tmp_path / "without", trials / "D" / "corpus.jsonl", n=13)
    build(tmp_path / "with", planted, n=13)
    overlaps = [Index.open(tmp_path / name).overlap([benchmark]).overlap.tolist() for name in ("without", "with")]
    assert overlaps == [[0.0], [1.0]]


def test_c07_the_index_tells_its_rules(cli: Cli, trials: Path, tmp_path: Path) -> None:
    corpus = trials / "D" / "corpus.jsonl"
    finished(
        cli("build-index", corpus, "--out", "index", "--words", "gpt3", "--normalize", "nfkc", "--lowercase", "--name", "d")
    )
    facts: dict[str, Any] = json.loads(cli("inspect", "index", "--json").stdout)["indexes"][0]
    assert (facts["words"]["mode"], facts["words"]["normalization"], facts["words"]["lowercase"]) == ("gpt3", "nfkc", True)
    assert (facts["name"], facts["counts"]["documents"]) == ("d", 50)
    assert [(source["name"], source["bytes"]) for source in facts["sources"]] == [("corpus.jsonl", corpus.stat().st_size)]
    assert len(facts["sources"][0]["blake3"]) == 64
    text = cli("inspect", "index").stdout.decode()
    for part in ("gpt3", "nfkc", "lower-cased", "corpus.jsonl", "xxh3-64"):
        assert part in text
