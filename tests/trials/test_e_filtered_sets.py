"""B01, B06, E03 for sets: what has no overlap is no non-member; a set says exactly what it was compared with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

from ngramscope.sets import open_header
from tests.conftest import Cli, read_jsonl
from tests.trials.support import build, finished

EVERYTHING = ("--max-overlap", "1", "--max-inclusive", "--whole-document")


def step(path: Path) -> dict[str, Any]:
    header = open_header(path)
    assert header is not None
    last: dict[str, Any] = header["history"][-1]
    return last


@pytest.mark.parametrize("command", ["thresholded", "decontaminated"])
def test_b01_one_long_word_is_never_chosen(cli: Cli, trials: Path, tmp_path: Path, command: str) -> None:
    build(tmp_path / "index", trials / "B01" / "corpus.jsonl", words="whitespace", n=[7, 13])
    candidates = trials / "B01" / "candidates.jsonl"
    said = finished(cli("sets", command, candidates, "--index", "index", *EVERYTHING, "--out", "set.jsonl"))
    assert read_jsonl(tmp_path / "set.jsonl") == []
    counts = {"read": 4, "used": 0, "left_out": {"fewer_than_n_words": 4}}
    assert step(tmp_path / "set.jsonl")["counts"]["nonmembers"] == counts
    assert "4 fewer_than_n_words" in said
    assert "no non-member is left" in said
    assert "EMPTY" in said


def test_b01_unicode_words_tell_the_copies(cli: Cli, trials: Path, tmp_path: Path) -> None:
    build(tmp_path / "index", trials / "B01" / "corpus.jsonl")
    candidates = trials / "B01" / "candidates.jsonl"
    finished(cli("sets", "thresholded", candidates, "--index", "index", "--max-overlap", "0.8", "--out", "set.jsonl"))
    rows = read_jsonl(tmp_path / "set.jsonl")
    assert [row["id"] for row in rows] == ["zh-half"]
    counts = {"read": 4, "used": 1, "left_out": {"too_much_overlap": 3}}
    assert step(tmp_path / "set.jsonl")["counts"]["nonmembers"] == counts
    header = open_header(tmp_path / "set.jsonl")
    assert header is not None
    assert header["overlap"]["7"]["indexes"][0]["words"]["mode"] == "uax29"  # the unit is named


@pytest.mark.parametrize("n", [7, 13])
def test_b06_short_documents_are_never_chosen(cli: Cli, trials: Path, expected: dict[str, Any], tmp_path: Path, n: int) -> None:
    build(tmp_path / "index", trials / "B06" / "corpus.jsonl", n=[7, 13], words="whitespace")
    candidates = trials / "B06" / "candidates.jsonl"
    finished(cli("sets", "thresholded", candidates, "--index", "index", "--n", n, *EVERYTHING, "--out", "set.jsonl"))
    right = {name: each[str(n)]["fraction"] for name, each in expected["B06"].items()}
    rows = read_jsonl(tmp_path / "set.jsonl")
    assert {row["id"]: row["overlap"][str(n)] for row in rows} == {
        name: share for name, share in right.items() if share is not None
    }
    counts = step(tmp_path / "set.jsonl")["counts"]["records"]
    assert counts["left_out"] == {"fewer_than_n_words": sum(share is None for share in right.values())}
    assert counts["read"] == len(right)


def test_e03_a_set_names_what_it_was_compared_with(cli: Cli, trials: Path, tmp_path: Path) -> None:
    shards = sorted((trials / "D" / "shards").glob("part-*.jsonl"))
    used, left = shards[:4], shards[4]
    finished(cli("build-index", *used, "--n", 7, "--name", "four of five", "--filter-fpr", 1e-6, "--out", "index"))
    manifest = json.loads((tmp_path / "index" / "index.json").read_bytes())
    said = finished(cli("sets", "thresholded", left, "--index", "index", "--out", "set.jsonl"))
    assert "files that are not listed it says nothing" in said
    rows = read_jsonl(tmp_path / "set.jsonl")
    assert [row["id"] for row in rows] == [row["id"] for row in read_jsonl(left)]  # the tool cannot know better
    assert {row["label"] for row in rows} == {0}
    header = open_header(tmp_path / "set.jsonl")
    assert header is not None
    measured = header["overlap"]["7"]
    assert (measured["by"], measured["of"]) == ("index", "document")
    (index,) = measured["indexes"]
    assert (index["content_id"], index["name"]) == (manifest["content_id"], "four of five")
    assert [(each["name"], each["bytes"], each["blake3"], each["documents"]) for each in index["inputs"]] == [
        (path.name, path.stat().st_size, blake3(path.read_bytes()).hexdigest(), len(read_jsonl(path))) for path in used
    ]
    assert index["documents"] == sum(len(read_jsonl(path)) for path in used)
    assert index["ngrams"] == {"7": manifest["sets"][0]["occurrences"]}
    assert [each["n"] for each in index["sets"]] == [7]
    assert index["words"]["mode"] == "uax29"
    assert index["partial"] is False
    assert "listed under overlap" in header["history"][-1]["facts"]["claim"]
    assert header["inputs"][0]["blake3"] == blake3(left.read_bytes()).hexdigest()


def test_e03_a_partial_shard_is_visible_in_the_set(cli: Cli, trials: Path, tmp_path: Path) -> None:
    shards = sorted((trials / "D" / "shards").glob("part-*.jsonl"))
    (tmp_path / "cut.jsonl").write_bytes(shards[0].read_bytes()[:-40])
    finished(cli("build-index", "cut.jsonl", shards[1], "--max-bad-records", 1, "--out", "index"), 3)
    said = finished(cli("sets", "thresholded", shards[4], "--index", "index", "--out", "set.jsonl"))
    assert "INCOMPLETE" in said
    header = open_header(tmp_path / "set.jsonl")
    assert header is not None
    (index,) = header["overlap"]["7"]["indexes"]
    assert index["partial"] is True
    assert [each["unusable"] for each in index["inputs"] if each["unusable"]] == [{"invalid_json": 1}]
    assert any("INCOMPLETE" in each for each in header["history"][-1]["facts"]["warnings"])
