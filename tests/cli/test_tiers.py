"""Leave-one-out overlap from an index of two tiers, as a user asks for it."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from ngramscope import Index, QueryOptions, Scan, UsageError
from tests.conftest import WORDS, Cli, read_jsonl, write_jsonl

N = 3


def fresh(name: str, count: int = 30) -> str:
    return " ".join(f"{name}{number}" for number in range(count))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two files: a document that is there once, one twice, and one of which another has half."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    write_jsonl(folder / "1.jsonl", [fresh("once"), fresh("twice"), fresh("half"), " ".join(WORDS)])
    write_jsonl(folder / "2.jsonl", [fresh("twice"), fresh("half", 15) + " " + fresh("more")])
    return folder


@pytest.fixture
def candidates(tmp_path: Path) -> Path:
    texts = [
        fresh("once"),
        fresh("once", 20),
        fresh("twice"),
        fresh("half"),
        fresh("half", 15) + " " + fresh("new"),
        fresh("new"),
        "a b",
    ]
    return write_jsonl(tmp_path / "candidates.jsonl", texts)


WANTED = [
    {"hits": 28, "twice_hits": 0, "in_corpus": True, "loo_hits": 0},
    {"hits": 18, "twice_hits": 0, "in_corpus": True, "loo_hits": 0},
    {"hits": 28, "twice_hits": 28, "in_corpus": True, "loo_hits": 28},
    {"hits": 28, "twice_hits": 13, "in_corpus": True, "loo_hits": 13},
    {"hits": 13, "twice_hits": 13, "in_corpus": False, "loo_hits": 13},
    {"hits": 0, "twice_hits": 0, "in_corpus": False, "loo_hits": 0},
    {"hits": 0, "twice_hits": 0, "in_corpus": False, "loo_hits": 0},
]


@pytest.mark.parametrize("kind", [["--filter", "exact"], ["--filter-fpr", "1e-6"]], ids=["exact", "blocked"])
def test_leave_one_out_from_the_index_alone(cli: Cli, corpus: Path, candidates: Path, tmp_path: Path, kind: list[str]) -> None:
    built = cli("build-index", corpus, "--n", N, "--tiers", 2, *kind, "--out", "index")
    assert built.returncode == 0, built.stderr
    assert re.search(rb"(41|about 4[0-2]) in at least two documents", built.stderr)
    done = cli("overlap", candidates, "--index", "index")
    rows = read_jsonl(done.stdout)
    assert [{key: row[key] for key in WANTED[0]} for row in rows] == WANTED
    assert [row["loo_overlap"] for row in rows] == [0, 0, 1, 13 / 28, 13 / 43, 0, None]
    assert [row["twice_overlap"] for row in rows] == [0, 0, 1, 13 / 28, 13 / 43, 0, None]
    assert b"leave-one-out: mean" in done.stderr
    assert b"4 candidates with a document of their own" in done.stderr
    assert b"tiers       2" in cli("inspect", "index").stdout
    assert b"in at least two documents" in cli("inspect", "index").stdout
    assert cli("verify", "index").returncode == 0

    explained = cli("explain", fresh("half", 16), "--index", "index", "--json")
    grams = json.loads(explained.stdout)["ngrams"]["3"]
    assert [(each["hit"], each["twice"]) for each in grams] == [(True, True)] * 13 + [(True, False)]
    shown = cli("explain", fresh("half", 16), "--index", "index").stdout
    assert b"14 found, 13 in at least two documents (hit+)" in shown
    assert b"hit+  'half12 half13 half14'\n    14  hit   'half13 half14 half15'" in shown


def test_the_index_and_a_scan_agree_where_no_document_comes_twice(
    cli: Cli, corpus: Path, candidates: Path, tmp_path: Path
) -> None:
    index = Index.build(corpus, out=tmp_path / "index", n=N, tiers=2, filter="exact")
    asked = next(index.overlap_files(candidates))
    scanned = Scan(candidates, corpus, query=QueryOptions(n=(N,))).table()
    assert asked.loo_hits is not None
    assert scanned.loo_hits is not None
    # A scan knows the second copy for another document of the candidate's own; an index cannot.
    assert np.flatnonzero(asked.loo_hits != scanned.loo_hits).tolist() == [2]
    assert scanned.loo_hits[2] == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_other_formats(cli: Cli, corpus: Path, candidates: Path, tmp_path: Path, ending: str) -> None:
    assert cli("build-index", corpus, "--n", N, "--tiers", 2, "--filter", "exact", "--out", "index").returncode == 0
    done = cli("overlap", candidates, "--index", "index", "--out", f"t.{ending}", "--own-share", 0.3)
    assert done.returncode == 0, done.stderr
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        import pyarrow.parquet as pq

        rows = pq.read_table(path).to_pylist()
        assert rows[6]["loo_overlap"] is None
    else:
        with path.open() as file:
            rows = list(csv.DictReader(file))
    # By that share even the candidate with half of another document is taken for one of the corpus.
    assert [str(row["in_corpus"]) for row in rows] == ["True"] * 5 + ["False"] * 2
    assert [int(row["loo_hits"]) for row in rows] == [0, 0, 28, 13, 13, 0, 0]


def test_one_tier_has_none_of_these_columns(corpus: Path, candidates: Path, tmp_path: Path) -> None:
    index = Index.build(corpus, out=tmp_path / "index", n=N)
    table = next(index.overlap_files(candidates, query=QueryOptions(flags=True)))
    assert index.tiers == 1
    assert (table.twice_hits, table.twice_overlap, table.in_corpus, table.loo_hits) == (None,) * 4
    assert table.flags is not None
    assert "2" not in "".join(table.flags[:6])
    assert index.explain(fresh("once"))["ngrams"][N][0].keys() == {"text", "start", "end", "hit"}


def test_parts_with_two_tiers_come_out_as_one_build(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    options = ["--n", N, "--tiers", 2]
    assert cli("plan", corpus, *options, "--save", "plan.json").returncode == 0
    assert json.loads((tmp_path / "plan.json").read_text())["tiers"] == 2
    for part in (1, 2):
        done = cli("build-index", corpus, *options, "--plan", "plan.json", "--part", f"{part}/2", "--out", f"{part}")
        assert done.returncode == 0, done.stderr
    assert cli("merge", "1", "2", "--out", "merged").returncode == 0
    assert cli("build-index", corpus, *options, "--out", "whole").returncode == 0
    merged, whole = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("merged", "whole"))
    assert merged == whole
    refused = cli("build-index", corpus, "--n", N, "--plan", "plan.json", "--out", "x")
    assert refused.returncode == 2
    assert b"--tiers: 1 is not possible; the plan is for --tiers 2" in refused.stderr


def test_two_tiers_take_twice_the_size(cli: Cli) -> None:
    facts = [
        json.loads(cli("plan", "--expected-ngrams", 10**9, "--memory", "1GiB", "--tiers", tiers, "--json").stdout)
        for tiers in (1, 2)
    ]
    assert facts[1]["index_bytes"] == pytest.approx(2 * facts[0]["index_bytes"], rel=1e-4)
    assert [each["passes"] for each in facts] == [2, 3]
    assert b", two tiers" in cli("plan", "--expected-ngrams", 10**9, "--tiers", 2).stdout


@pytest.mark.parametrize("tiers", [0, 3, True, "2"])
def test_other_numbers_of_tiers_are_refused(tmp_path: Path, tiers: int) -> None:
    with pytest.raises(UsageError, match="--tiers"):
        Index.build(texts=["a"], out=tmp_path / "index", tiers=tiers)
