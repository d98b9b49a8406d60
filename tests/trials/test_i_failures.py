"""I01: a build that is killed goes on or says why not. I02: a full disk leaves what was there, says how much is needed, and nothing
under a final name."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import WORDS, Cli, read_jsonl, write_jsonl
from tests.kills import command, kill_when
from tests.trials.support import contents, finished, refused

TIMES = 80
"""How often the corpus of the trials stands in each of ten shards."""


@pytest.fixture(scope="module")
def shards(trials: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Ten shards of the trials' corpus, over and over with new ids."""
    folder = tmp_path_factory.mktemp("shards")
    records = read_jsonl(trials / "D" / "corpus.jsonl")

    def shard(number: int) -> Path:
        again = ({**record, "id": f"{record['id']}-{number}-{time}"} for time in range(TIMES) for record in records)
        return write_jsonl(folder / f"shard-{number}.jsonl", again)

    return [shard(number) for number in range(10)]


MOMENTS = {
    "nothing": b'"planned":null',  # at the beginning
    "threads": b'"sources":{"0"',  # while counting
    "order": b'"planned":{',  # before inserting
    "n": b'"planned":{',
    "a shard": b'"sketches":null',  # while inserting
}
"""What is changed before the rerun, and what the state has when the build is killed."""


def test_i01_a_killed_build_is_continued_or_says_why_not(cli: Cli, shards: list[Path], tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    lengths = range(3, 18, 2)  # many, so that a small corpus takes long enough to be killed
    options = [each for n in lengths for each in ("--n", str(n))]
    finished(cli("build-index", *shards, *options, "--out", whole))
    wanted = contents(whole)
    for change, moment in MOMENTS.items():
        out = tmp_path / f"index-{change.split()[-1]}"
        kill_when(command(shards, out, *options, "--threads", "1"), out, moment)
        assert not (out / "index.json").exists()
        if change == "n":
            done = cli("build-index", *shards, "--n", 5, "--out", out, "--resume")
            refused(done, f"{out.name}.partial", "--n is 5, but was 3, 5, 7", code=2)
        if change == "a shard":
            with shards[3].open("a", encoding="utf-8") as file:
                file.write('{"id": "one more", "text": "one more"}\n')
            done = cli("build-index", *shards, *options, "--out", out, "--resume")
            refused(done, "the input shard-3.jsonl has", "remove this folder to start anew", code=2)
            shutil.rmtree(out.with_name(f"{out.name}.partial"))
            finished(cli("build-index", *shards, *options, "--out", whole, "--force"))
            wanted = contents(whole)
        again = shards[::-1] if change == "order" else shards
        more = ["--threads", "3"] if change == "threads" else ["--threads", "1"]
        done = cli("build-index", *again, *options, *more, "--out", out, "--resume")
        finished(done)
        # At the beginning nothing was kept yet, and the state that another shard made useless is gone.
        assert (b"continued an unfinished build" in done.stderr) is (change in ("threads", "order", "n")), change
        assert contents(out) == wanted, change
        assert not out.with_name(f"{out.name}.partial").exists()


def test_i02_a_full_disk_keeps_the_old_index(cli: Cli, small_disk: Path, tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [" ".join(WORDS)])
    index = small_disk / "index"
    finished(cli("build-index", corpus, "--n", 3, "--out", index))
    before = contents(index)
    done = cli("build-index", corpus, "--n", 3, "--out", index, "--force", "--expected-ngrams", 1_500_000)
    refused(done, "the disk", "2.", "MiB")
    assert contents(index) == before
    # Room enough by the plan, but not for the table that somebody else writes meanwhile.
    filler = small_disk / "filler"
    filler.write_bytes(bytes(900_000))
    done = cli("build-index", corpus, "--n", 3, "--out", index, "--force", "--expected-ngrams", 100_000)
    refused(done, "the disk", "KiB")
    assert contents(index) == before
    filler.unlink()
    finished(cli("verify", index))
    assert b'"overlap": 1.0' in cli("overlap", corpus, "--index", index).stdout


def test_i02_a_table_that_does_not_fit_leaves_no_file(cli: Cli, small_disk: Path, tmp_path: Path, small_index: Path) -> None:
    candidates = write_jsonl(tmp_path / "candidates.jsonl", [" ".join(WORDS)] * 20_000)
    for name in ("table.jsonl", "table.csv"):
        done = cli("overlap", candidates, "--index", small_index, "--flags", "--out", small_disk / name)
        refused(done, name, "No space left on device")
        assert list(small_disk.iterdir()) == []
