"""Parts and merging as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ngramscope import Index, UsageError
from tests.conftest import WORDS, Cli, read_jsonl, write_jsonl


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for number in range(5):
        write_jsonl(folder / f"{number}.jsonl", [" ".join(f"w{(number * 40 + place) % 230}" for place in range(60))])
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_parts_come_out_as_one_build(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    options = ["--n", 3, "--n", 7, "--expected-ngrams", 1000]
    for part in (1, 2, 3):
        done = cli("build-index", corpus, *options, "--part", f"{part}/3", "--out", f"part-{part}")
        assert done.returncode == 0, done.stderr
    done = cli("merge", "part-3", "part-1", "part-2", "--out", "merged")
    assert done.returncode == 0, done.stderr
    assert b"read 5 documents" in done.stderr
    assert cli("build-index", corpus, *options, "--out", "whole").returncode == 0
    assert files(tmp_path / "merged") == files(tmp_path / "whole")
    assert cli("verify", "merged").returncode == 0
    assert json.loads((tmp_path / "part-2" / "index.json").read_text())["part"] == {"part": 2, "of": 3}
    assert b"part 2 of 3" in cli("inspect", "part-2").stdout
    assert b"PART 2 of 3: without the others" in cli("inspect", "part-2").stderr
    assert b"PART" not in cli("inspect", "part-1", "part-2", "part-3").stderr


def test_a_damaged_part_is_refused_as_verify_refuses_it(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    for part in (1, 2):
        options = ["--n", 3, "--n", 7, "--expected-ngrams", 50_000, "--part", f"{part}/2"]
        assert cli("build-index", corpus, *options, "--out", f"part-{part}").returncode == 0
    (shard,) = (tmp_path / "part-1").glob("n7-*.ngs")
    with shard.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(40_000))
    done = cli("merge", "part-1", "part-2", "--out", "merged")
    assert (done.returncode, done.stderr) == (1, cli("verify", "part-1").stderr)
    assert b"MiB 0 of the payload does not match its checksum" in done.stderr
    assert not (tmp_path / "merged").exists()


def test_data_is_added_to_an_index_by_one_that_is_like_it(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    more = write_jsonl(tmp_path / "more.jsonl", [" ".join(WORDS)])
    assert cli("build-index", corpus, "--n", 3, "--filter-fpr", 0.01, "--out", "first").returncode == 0
    refused = cli("build-index", more, "--n", 3, "--like", "first", "--out", "second")
    assert refused.returncode == 2
    assert b"the plan is for --filter-fpr 0.01" in refused.stderr
    assert cli("build-index", more, "--filter-fpr", 0.01, "--like", "first", "--out", "second").returncode == 0  # and --n
    assert cli("merge", "first", "second", "--out", "both", "--accept-overfull").returncode == 0
    assert read_jsonl(cli("overlap", more, "--index", "both").stdout)[0]["overlap"] == 1.0


def test_a_plan_counts_once_for_all_parts(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    options = ["--n", 3, "--n", 7]
    done = cli("plan", corpus, *options, "--save", "plan.json")
    assert done.returncode == 0, done.stderr
    assert b"read 5 documents" in done.stdout
    assert b"distinct n-grams, standard error" in done.stdout
    assert not list(tmp_path.glob("*index*"))
    for part in (1, 2):
        built = cli("build-index", corpus, *options, "--plan", "plan.json", "--part", f"{part}/2", "--out", f"{part}")
        assert built.returncode == 0, built.stderr
    assert cli("merge", "1", "2", "--out", "merged").returncode == 0
    assert cli("build-index", corpus, *options, "--out", "whole").returncode == 0
    assert files(tmp_path / "merged") == files(tmp_path / "whole")
    facts = json.loads(cli("plan", *options, "--expected-ngrams", 10**9, "--memory", "256MiB", "--json").stdout)
    assert facts["report"] is None
    assert facts["passes"] > 8
    assert facts["index_bytes"] == pytest.approx(2 * 11.6e9 / 8, rel=0.01)
    assert cli("plan", *options).returncode == 2
    refused = cli("build-index", corpus, "--plan", "plan.json", "--out", "x")
    assert refused.returncode == 2
    assert b"the plan is for --n 3 --n 7" in refused.stderr
    refused = cli("build-index", corpus, "--plan", "plan.json", "--tiers", 2, "--filter-fpr", 0.01, "--out", "x")
    assert refused.returncode == 2
    assert b"a build with --n 7, --tiers 2, --filter-fpr 0.01 is not possible; the plan is for --n 3 --n 7, --tiers 1, " in (
        refused.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--part", "1/2"], "give all of them the same --expected-ngrams, --plan or --like"),
        (["--part", "3/2", "--expected-ngrams", "9"], "--part: '3/2' is not possible"),
        (["--part", "x", "--expected-ngrams", "9"], "--part: 'x' is not possible; write i/k"),
        (["--part", "1/9", "--expected-ngrams", "9"], "there are only 5 files"),
        (["--plan", "nowhere.json"], "nowhere.json"),
        (["--plan", "a", "--like", "b"], "--plan, --like: give one of them"),
    ],
)
def test_what_makes_no_part_is_refused(cli: Cli, corpus: Path, tmp_path: Path, arguments: list[str], message: str) -> None:
    done = cli("build-index", corpus, "--out", "out", *arguments)
    assert done.returncode in (1, 2)
    assert message in done.stderr.decode()
    assert not (tmp_path / "out").exists()


def test_merging_from_python(corpus: Path, tmp_path: Path) -> None:
    for part in (1, 2):
        Index.build(corpus, out=tmp_path / f"{part}", n=3, filter="exact", expected_ngrams=100, part=(part, 2))
    with pytest.raises(UsageError, match="parts are missing: 2/2"):
        Index.merge([tmp_path / "1"], tmp_path / "merged")
    index = Index.merge([tmp_path / "1", tmp_path / "2"], tmp_path / "merged", name="all")
    assert index.manifests[0]["name"] == "all"
    assert index.manifests[0]["counts"]["documents"] == 5
    assert index.build_report is not None
