"""``overlap --scan`` and ``--verify-hits`` as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import WORDS, Cli, read_jsonl, write_jsonl

LINE = " ".join(WORDS)


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    """Two files: the alphabet, its first half, and something else."""
    return [
        write_jsonl(tmp_path / "one.jsonl", [{"id": "all", "text": LINE}, {"id": "half", "text": " ".join(WORDS[:10])}]),
        write_jsonl(tmp_path / "two.jsonl", [{"id": "other", "text": "nothing of that sort is written here"}]),
    ]


@pytest.fixture
def candidates(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "candidates.jsonl", [{"id": "all", "text": LINE}, {"id": "x", "text": "one two"}])


def test_a_scan_takes_several_files_and_needs_no_index(cli: Cli, candidates: Path, corpus: list[Path]) -> None:
    done = cli("overlap", candidates, "--scan", *corpus, "--n", 3, "--counts")
    assert done.returncode == 0, done.stderr
    rows = read_jsonl(done.stdout)
    assert [row["id"] for row in rows] == ["all", "x"]
    first = rows[0]
    assert (first["hits"], first["ngrams"], first["overlap"]) == (18, 18, 1.0)
    assert (first["loo_hits"], first["own_documents"], first["exact_duplicates"]) == (8, 1, 1)
    assert first["documents"] == [2] * 8 + [1] * 10 == first["occurrences"]
    assert [(each["source"], each["id"], each["shared"], each["own"]) for each in first["top_sources"]] == [
        ("one.jsonl", "all", 18, True),
        ("one.jsonl", "half", 8, False),
    ]
    assert rows[1]["null_reason"] == "fewer_than_n_words"
    assert rows[1]["loo_overlap"] is None
    assert b"leave-one-out: mean 0.4444" in done.stderr
    assert b"1 candidate with a document of their own" in done.stderr


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_every_format_has_the_columns_of_a_scan(
    cli: Cli, candidates: Path, corpus: list[Path], tmp_path: Path, ending: str
) -> None:
    done = cli("overlap", "--n", 3, candidates, "--out", f"t.{ending}", "--scan", *corpus)
    assert done.returncode == 0, done.stderr
    path = tmp_path / f"t.{ending}"
    assert f"wrote t.{ending}\n".encode() in done.stderr
    assert b"no false hits" in done.stderr
    if ending == "parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        meta = json.loads(pq.read_metadata(path).metadata[b"ngramscope"])
        assert table["loo_hits"].to_pylist() == [8, 0]
        assert table["loo_overlap"].to_pylist() == [8 / 18, None]
        assert table["top_sources"][0].as_py()[0]["id"] == "all"
    else:
        meta = json.loads((tmp_path / f"t.{ending}.meta.json").read_text())
        assert "loo_overlap" in path.read_text().splitlines()[0]
        assert "nan" not in path.read_text().lower()
    scan = meta["settings"]["scan"]
    assert (meta["settings"]["own_share"], scan["own_cap"], scan["words"]["words"]) == (0.9, 64, "uax29")
    assert [each["name"] for each in scan["corpus"]] == ["one.jsonl", "two.jsonl"]
    assert all(each["blake3"] for each in scan["corpus"])


def test_hits_of_an_index_are_verified(cli: Cli, candidates: Path, corpus: list[Path], tmp_path: Path) -> None:
    corpus.append(write_jsonl(tmp_path / "fill.jsonl", [" ".join(f"w{number}" for number in range(2000))]))
    assert cli("build-index", *corpus, "--n", 3, "--expected-ngrams", 1, "--accept-overfull", "--out", "i").returncode == 0
    write_jsonl(candidates, [{"id": "false", "text": " ".join(reversed(WORDS * 5))}, {"id": "true", "text": LINE}])
    asked = read_jsonl(cli("overlap", candidates, "--index", "i").stdout)
    assert asked[0]["hits"] > 0  # one block, all bits set
    verified = read_jsonl(cli("overlap", candidates, "--index", "i", "--verify-hits", *corpus).stdout)
    assert [row["hits"] for row in verified] == [0, 18]
    assert list(tmp_path.glob("*.tmp")) == []


def test_the_corpus_of_verified_hits_is_that_of_the_index(
    cli: Cli, candidates: Path, corpus: list[Path], tmp_path: Path
) -> None:
    corpus.append(write_jsonl(tmp_path / "three.jsonl", ["a third file of the corpus"]))
    assert cli("build-index", *corpus, "--n", 3, "--out", "i").returncode == 0
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes(corpus[0].read_bytes())
    ask = ("overlap", candidates, "--index", "i", "--out", "t.jsonl")

    def verify(*scanned: Path) -> tuple[list[str], dict[str, object]]:
        done = cli(*ask, "--json", "--verify-hits", *scanned)
        assert done.returncode == 0, done.stderr
        facts = json.loads(done.stderr)
        scan = json.loads((tmp_path / "t.jsonl.meta.json").read_text())["settings"]["scan"]
        assert scan["index_files"] == facts["index_files"]
        return facts["warnings"], facts["index_files"]

    warnings, files = verify(*corpus[1:], moved)  # names do not matter
    assert (warnings, files) == (
        [],
        {"files": 3, "not_scanned": 0, "first_not_scanned": None, "not_indexed": 0},
    )
    warnings, files = verify(moved, candidates)
    assert files == {"files": 3, "not_scanned": 2, "first_not_scanned": "three.jsonl", "not_indexed": 1}
    assert "2 of 3 files of the index not scanned (the first by name: three.jsonl)" in warnings[0]
    assert "the index was not built from 1 file of those scanned" in warnings[1]
    told = cli(*ask, "--verify-hits", moved)
    assert (told.returncode, told.stderr.count(b"true hits may have been removed")) == (0, 1)

    (tmp_path / "t.jsonl").unlink()
    refused = cli(*ask, "--verify-hits", candidates)
    assert (refused.returncode, refused.stdout) == (1, b"")
    assert b"none of the 3 files of the index was scanned" in refused.stderr
    assert not (tmp_path / "t.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scan", "one.jsonl", "--index", "i"], "--scan: reads the corpus instead of an index"),
        (["--scan", "one.jsonl", "--verify-hits", "one.jsonl"], "--scan: reads the corpus instead of an index"),
        (["--scan", "one.jsonl", "--own-share", "0"], "--own-share: 0.0 is not possible"),
        (["--scan", "one.jsonl", "--own-cap", "0"], "--own-cap: 0 is not possible"),
        (["--scan", "one.jsonl", "--n", "0"], "--n: 0 is not possible"),
        (["--scan", "--n", "3"], "--scan: no value given"),
        (["--scan"], "--scan: no value given"),
    ],
)
def test_contradicting_options_are_refused(
    cli: Cli, candidates: Path, corpus: list[Path], arguments: list[str], message: str
) -> None:
    done = cli("overlap", candidates, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()


def test_files_behind_the_corpus_are_asked_for_before_it(cli: Cli, candidates: Path, corpus: list[Path]) -> None:
    done = cli("overlap", "--scan", *corpus, candidates)
    assert done.returncode == 2
    assert b"FILES: none given; --scan takes all words up to the next option, so name them before it" in done.stderr
    assert b"FILES" in cli("overlap", "--n", 3).stderr


def test_an_empty_corpus_is_a_loud_nothing(cli: Cli, candidates: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    assert b"the scanned corpus is EMPTY" in cli("overlap", candidates, "--scan", "empty.jsonl").stderr
    done = cli("sets", "thresholded", candidates, "--scan", "empty.jsonl", "--n", 2, "--out", "set.jsonl")
    assert b"the scanned corpus is EMPTY" in done.stderr
    (warning, *_) = json.loads((tmp_path / "set.jsonl.meta.json").read_text())["history"][-1]["facts"]["warnings"]
    assert "EMPTY" in warning


def test_standard_input_serves_one_side(cli: Cli, candidates: Path, corpus: list[Path]) -> None:
    done = cli("overlap", candidates, "--scan", "-", "--n", 3, stdin=corpus[0].read_bytes())
    assert done.returncode == 0, done.stderr
    assert read_jsonl(done.stdout)[0]["hits"] == 18
    done = cli("overlap", "-", "--scan", *corpus, "--n", 3, stdin=candidates.read_bytes())
    assert read_jsonl(done.stdout)[0]["hits"] == 18
    done = cli("overlap", "-", "--scan", "-")
    assert done.returncode == 2
    assert b"it can be read once" in done.stderr


def test_a_bad_record_of_the_corpus_is_not_passed_over(cli: Cli, candidates: Path, corpus: list[Path]) -> None:
    with corpus[1].open("a") as file:
        file.write("{broken\n")
    done = cli("overlap", candidates, "--scan", *corpus)
    assert done.returncode == 1
    assert b"two.jsonl:2" in done.stderr
    done = cli("overlap", candidates, "--scan", *corpus, "--max-bad-records", 1)
    assert done.returncode == 3
    assert b"two.jsonl" in done.stderr
    assert len(read_jsonl(done.stdout)) == 2
