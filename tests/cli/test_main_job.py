"""The main job, as a stranger runs it: no argument but n, and a file of candidates."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Cli, clean_environment, read_jsonl, write_jsonl


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `ngramscope build-index --n 7` was run."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, "-m", "ngramscope", "build-index", "--n", "7"],
        cwd=folder, env=clean_environment(), capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no corpus was named: indexing the embedded demonstration corpus" in done.stderr
    assert "DEMONSTRATION index" in done.stderr
    assert done.stdout == ""
    return folder


def test_the_embedded_corpus_is_found_where_overlap_looks(demo: Path, cli: Cli) -> None:
    done = cli("overlap", ROOT / "examples" / "candidates.jsonl", cwd=demo)
    assert done.returncode == 0, done.stderr
    rows = {row["id"]: row for row in read_jsonl(done.stdout)}
    assert rows["verbatim"]["overlap"] == 1.0
    assert 0.05 < rows["edited"]["overlap"] < 0.95
    assert 0.05 < rows["quoted"]["overlap"] < 0.95
    assert rows["fresh"]["overlap"] <= 0.05
    assert rows["short"]["overlap"] is None
    assert rows["short"]["null_reason"] == "fewer_than_n_words"


def test_a_demonstration_never_reads_as_a_result(demo: Path, cli: Cli) -> None:
    candidates = ROOT / "examples" / "candidates.jsonl"
    done = cli("overlap", candidates, cwd=demo)
    assert all(row["index_is_demo"] is True for row in read_jsonl(done.stdout))
    assert done.stderr.decode().count("DEMONSTRATION") == 2  # before the table, and after it
    done = cli("overlap", candidates, "--json", cwd=demo)
    summary = json.loads(done.stderr)
    assert summary["index_is_demo"] is True
    assert "DEMONSTRATION" in summary["warnings"][0]
    done = cli("overlap", candidates, "--out", "t.csv", cwd=demo)
    assert (demo / "t.csv").read_text().splitlines()[0].endswith(",index_is_demo")
    assert json.loads((demo / "t.csv.meta.json").read_text())["settings"]["index_is_demo"] is True
    done = cli("inspect", cwd=demo)
    assert b"(DEMONSTRATION)" in done.stdout


def test_inspect_shows_the_digest_taken_at_build_time(demo: Path, cli: Cli) -> None:
    facts = json.loads(cli("inspect", "--json", cwd=demo).stdout)["indexes"][0]
    assert facts["demo"] is True
    (source,) = facts["sources"]
    assert source["name"] == "python-stdlib.jsonl"
    assert len(source["blake3"]) == 64
    assert source["documents"] > 300


def test_the_environment_variable_names_the_index(demo: Path, cli: Cli, tmp_path: Path) -> None:
    env = {"NGRAMSCOPE_INDEX": str(demo / "ngramscope-index")}
    done = cli("overlap", ROOT / "examples" / "candidates.jsonl", env=env)
    assert done.returncode == 0, done.stderr
    done = cli("build-index", write_jsonl(tmp_path / "a.jsonl", ["a b c"]), "--n", 2, env={"NGRAMSCOPE_INDEX": "elsewhere"})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "elsewhere" / "index.json").is_file()


def test_a_second_build_does_not_overwrite(demo: Path, cli: Cli) -> None:
    before = (demo / "ngramscope-index" / "index.json").read_bytes()
    done = cli("build-index", "--n", 7, cwd=demo)
    assert done.returncode == 2
    assert b"--force" in done.stderr
    assert (demo / "ngramscope-index" / "index.json").read_bytes() == before


def test_verify_reads_every_byte(demo: Path, cli: Cli) -> None:
    done = cli("verify", cwd=demo)
    assert done.returncode == 0
    assert done.stdout.startswith(b"sound: ")


def test_a_manifest_names_the_corpus(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_jsonl(tmp_path / "data" / "a.jsonl", [{"key": 1, "body": "one two three"}])
    manifest = tmp_path / "mine.toml"
    manifest.write_text(
        'format = 1\nname = "mine"\n[corpus]\nkind = "files"\npaths = ["data"]\ntext_key = "body"\nid_key = "key"\n'
    )
    for number, arguments in enumerate([[manifest], ["--manifest", manifest]]):
        done = cli("build-index", *arguments, "--n", 2, "--json", "--out", f"i{number}")
        assert done.returncode == 0, done.stderr
        facts = json.loads(done.stdout)["manifest"]
        assert (facts["name"], facts["demo"], facts["counts"]["documents"]) == ("mine", False, 1)
    assert cli("build-index", manifest, "other", "--out", "i").returncode == 2


def test_standard_input_is_a_corpus_and_a_candidate(cli: Cli, tmp_path: Path) -> None:
    rows = '{"id": 1, "text": "one two three"}\n'
    done = cli("build-index", "-", "--n", 2, stdin=rows)
    assert done.returncode == 2
    assert b"--expected-ngrams" in done.stderr
    assert b"--spool" in done.stderr
    several = ["--expected-ngrams", 150_000_000, "--memory", "64MiB"]
    done = cli("build-index", "-", "--n", 2, *several, stdin=rows)
    assert done.returncode == 2
    assert b"passes: give more --memory, or --spool" in done.stderr
    for option in (["--expected-ngrams", 10], ["--spool"]):
        done = cli("build-index", "-", "--n", 2, *option, "--out", option[0], stdin=rows)
        assert done.returncode == 0, done.stderr
        done = cli("overlap", "-", "--index", option[0], stdin=rows)
        assert [row["hits"] for row in read_jsonl(done.stdout)] == [2]
