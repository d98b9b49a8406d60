"""D01, D02, D04: scoring changes nothing, what the numbers mean, evidence."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from ngramscope import Index
from tests import reference
from tests.conftest import ROOT, Cli, read_jsonl, write_jsonl
from tests.trials.support import build, contents, finished

KINDS: dict[str, dict[str, Any]] = {"exact": {"filter": "exact"}, "blocked": {"filter": "blocked", "filter_fpr": 1e-6}}


@pytest.fixture(params=KINDS)
def index(request: pytest.FixtureRequest, trials: Path, tmp_path: Path) -> Path:
    build(tmp_path / "index", trials / "D" / "corpus.jsonl", n=[7, 13], **KINDS[request.param])
    return tmp_path / "index"


def test_d01_scoring_does_not_change_the_index(cli: Cli, trials: Path, index: Path, tmp_path: Path) -> None:
    candidates = trials / "D" / "candidates.jsonl"
    before = contents(index)
    for path in (*index.iterdir(), index):
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    first, again = (cli("overlap", candidates, "--index", index) for _ in range(2))
    finished(first)
    assert first.stdout == again.stdout
    backwards = write_jsonl(tmp_path / "backwards.jsonl", read_jsonl(candidates)[::-1])
    reversed_rows = read_jsonl(cli("overlap", backwards, "--index", index).stdout)
    for row in (*reversed_rows, *(rows := read_jsonl(first.stdout))):
        del row["position"]
    key = lambda row: (row["id"], row["n"])  # noqa: E731
    assert sorted(reversed_rows, key=key) == sorted(rows, key=key)
    assert [row["overlap"] for row in rows if row["id"] in ("new_twice_a", "new_twice_b")] == [0.0] * 4
    assert contents(index) == before
    index.chmod(0o700)


def test_d02_hits_total_and_share_as_stated(cli: Cli, trials: Path, expected: dict[str, Any], index: Path) -> None:
    done = cli("overlap", trials / "D" / "candidates.jsonl", "--index", index)
    finished(done)
    rows = {(row["id"], row["n"]): row for row in read_jsonl(done.stdout)}
    assert set(rows) == {(name, n) for name in expected["D01_D02"] for n in (7, 13)}
    names = {
        "total": "ngrams", "hits": "hits", "fraction": "overlap", "distinct_total": "distinct_ngrams",
        "distinct_hits": "distinct_hits", "distinct_fraction": "distinct_overlap",
    }  # fmt: skip
    for (name, n), row in rows.items():
        right = expected["D01_D02"][name][str(n)]
        assert {ours: row[ours] for ours in names.values()} == {ours: right[theirs] for theirs, ours in names.items()}, (
            name,
            n,
        )
        assert (row["null_reason"] is None) == (right["total"] > 0)
    known = rows["repeats_known", 7]
    assert (known["hits"], known["ngrams"], known["distinct_hits"], known["distinct_ngrams"]) == (8, 70, 1, 27)


def test_d02_python_gives_the_same(trials: Path, expected: dict[str, Any], index: Path) -> None:
    texts = {row["id"]: row["text"] for row in read_jsonl(trials / "D" / "candidates.jsonl")}
    table = Index.open(index).overlap(texts.values())
    right = [expected["D01_D02"][name][str(n)] for name in texts for n in (7, 13)]
    for ours, theirs in (
        ("ngrams", "total"),
        ("hits", "hits"),
        ("distinct_ngrams", "distinct_total"),
        ("distinct_hits", "distinct_hits"),
    ):
        assert getattr(table, ours).tolist() == [each[theirs] for each in right]


def test_d02_the_manual_states_the_definition() -> None:
    manual = (ROOT / "docs" / "overlap.md").read_text(encoding="utf-8")
    for part in ("`hits / ngrams`", "occurrences counted", "`overlap >= 0.2` or `> 0.2`", "counted once"):
        assert part in manual


def test_d04_every_row_is_there_with_its_evidence(cli: Cli, trials: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    build(tmp_path / "index", trials / "D" / "boilerplate_corpus.jsonl", n=13)
    candidates = trials / "D" / "boilerplate_candidates.jsonl"
    inputs = read_jsonl(candidates)
    done = cli("overlap", candidates, "--index", "index", "--matches", 20, "--spans")
    finished(done)
    rows = read_jsonl(done.stdout)
    right = expected["D04"]
    assert len(rows) == right["rows_out"]
    assert [row["position"] for row in rows] == [0, 1, 2, 3]
    assert [row["id"] for row in rows] == [each.get("id") for each in inputs] == ["x", "x", None, "y"]
    assert [row["hits"] for row in rows] == right["hits_by_row"]
    for row, given in zip(rows, inputs, strict=True):
        assert sorted(row["matches"]) == (right["shared_13grams"] if row["hits"] else [])
        covered = [given["text"][start:end] for start, end in row["spans"]]
        licence = "permission is hereby granted free of charge to any person obtaining a copy of this file"
        assert covered == ([licence] if row["hits"] else [])


def test_d04_evidence_is_bounded_and_the_bound_is_stated(cli: Cli, trials: Path, tmp_path: Path) -> None:
    build(tmp_path / "index", trials / "D" / "boilerplate_corpus.jsonl", n=1)
    row = read_jsonl(trials / "D" / "boilerplate_candidates.jsonl")[3]
    words = reference.whitespace_words(row["text"])
    holed = write_jsonl(tmp_path / "holed.jsonl", [" qqq ".join(words)])
    done = cli("overlap", holed, "--index", "index", "--matches", 2, "--spans", "--max-spans", 3)
    (found,) = read_jsonl(done.stdout)
    assert found["matches"] == words[:2]
    assert (len(found["spans"]), found["spans_total"]) == (3, len(words))
    text = cli("overlap", "--help").stdout.decode()
    assert "--max-spans" in text
    assert "1000" in text
    assert "--matches" in text


def test_d04_decontamination_shows_the_match_and_its_items(cli: Cli, trials: Path, expected: dict[str, Any]) -> None:
    benchmark = trials / "D" / "boilerplate_corpus.jsonl"
    candidates = trials / "D" / "boilerplate_candidates.jsonl"
    done = cli("decontaminate", candidates, "--reference", benchmark, "--max-hits", 0)
    finished(done)
    rows = read_jsonl(done.stdout)
    right = expected["D04"]
    assert [row["position"] for row in rows] == [0, 1, 2, 3]
    assert [row["hits"] for row in rows] == right["hits_by_row"]
    ids = [each["id"] for each in read_jsonl(benchmark)]
    for row, given in zip(rows, read_jsonl(candidates), strict=True):
        assert row["contaminated"] is (row["hits"] > 0)
        for each in row["evidence"]:
            matched = given["text"][each["start"] : each["end"]]
            assert (
                matched
                == each["text"]
                == "permission is hereby granted free of charge to any person obtaining a copy of this file"
            )
            assert {item["id"] for item in each["items"]} <= set(ids)
            assert (each["ngrams"], each["items_total"] > 0) == (4, True)
        assert len(row["evidence"]) == row["evidence_total"] == (1 if row["hits"] else 0)
    # A bounded amount, and the bound is an option.
    done = cli("decontaminate", candidates, "--reference", benchmark, "--max-hits", 0, "--evidence", 0)
    assert next((row["evidence"], row["evidence_total"]) for row in read_jsonl(done.stdout)) == ([], 1)
