"""`--resume`: killed builds go on, and what they make is what unbroken builds make."""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ngramscope import Index, Progress, ResourceError, UsageError
from tests.conftest import Cli, clean_environment, write_jsonl
from tests.kills import build_with_kills, command, seconds_of
from tests.trials.support import contents, finished, refused

KILLS = 20
SETTINGS = (
    ["--n", "7", "--n", "13"],
    ["--n", "7", "--expected-ngrams", "1500000", "--threads", "3"],
    ["--n", "5", "--filter", "exact", "--shards", "3"],
)


def texts(seed: int, count: int, words: int) -> list[str]:
    """Texts of common and rare words."""
    dice = random.Random(seed)
    return [" ".join(f"w{int(dice.paretovariate(0.7)) % 50_000}" for _ in range(words)) for _ in range(count)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four files, 12 MB."""
    folder = tmp_path_factory.mktemp("corpus")
    return [write_jsonl(folder / f"part-{number}.jsonl", texts(number, 700, 350) * 2) for number in range(4)]


def test_twenty_kills_change_nothing(corpus: list[Path], tmp_path: Path) -> None:
    dice = random.Random(20)
    kills = number = 0
    whole: dict[int, dict[str, bytes]] = {}
    seconds: dict[int, float] = {}
    while kills < KILLS:
        setting = number % len(SETTINGS)
        if setting not in whole:
            seconds[setting] = seconds_of(command(corpus, tmp_path / f"whole-{setting}", *SETTINGS[setting]))
            whole[setting] = contents(tmp_path / f"whole-{setting}")
        out = tmp_path / f"out-{number}"
        killed = build_with_kills(command(corpus, out, *SETTINGS[setting]), out, seconds[setting], dice, KILLS - kills)
        assert contents(out) == whole[setting], SETTINGS[setting]
        kills += killed
        number += 1


def test_without_the_option_the_state_is_named_and_kept(cli: Cli, corpus: list[Path], tmp_path: Path) -> None:
    unfinished(corpus, tmp_path / "index")
    before = contents(tmp_path / "index.partial")
    done = cli("build-index", *corpus, "--n", 7, "--out", "index")
    refused(done, "index.partial", "--resume continues it", "removing this folder", code=2)
    assert contents(tmp_path / "index.partial") == before
    done = cli("build-index", *corpus, "--n", 7, "--out", "index", "--resume", "--verify-inputs", "--json")
    assert b'"resumed": "' in done.stdout


@pytest.mark.parametrize("damage", [b"", b"{}\n"])
def test_a_damaged_state_has_one_message_with_what_to_do(cli: Cli, corpus: list[Path], tmp_path: Path, damage: bytes) -> None:
    unfinished(corpus, tmp_path / "index")
    (tmp_path / "index.partial" / "state.json").write_bytes(damage)
    done = cli("build-index", *corpus, "--n", 7, "--out", "index", "--resume")
    refused(done, "state.json", "remove its folder to start anew")
    assert b"continues it" not in done.stderr


def unfinished(corpus: list[Path], out: Path) -> None:
    """A build of n = 7 that is stopped after counting."""

    def progress(step: Progress) -> None:
        if step.phase == "insert":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Index.build(corpus, out=out, n=7, resume=True, progress=progress)


def test_what_cannot_be_read_again_is_refused(cli: Cli, tmp_path: Path) -> None:
    for options in ([], ["--spool"], ["--expected-ngrams", "10"]):
        done = cli("build-index", "-", "--out", "index", "--resume", *options, stdin='{"text": "a b"}\n')
        refused(done, "--resume: standard input is not possible", "write it to a file first", code=2)
    done = cli("build-index", "--out", "index", "--resume")
    assert "--resume: the embedded corpus" in done.stderr.decode()
    with pytest.raises(UsageError, match="--resume: texts is not possible"):
        Index.build(texts=["a b c"], out=tmp_path / "index", n=2, resume=True)
    with pytest.raises(UsageError, match="--verify-inputs: it goes with --resume"):
        Index.build(texts=["a b c"], out=tmp_path / "index", n=2, verify_inputs=True)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_at_a_checkpoint_keeps_the_old_index_and_the_state(small_disk: Path, tmp_path: Path) -> None:
    import zstandard

    index = small_disk / "index"
    Index.build(texts=["one two three"], out=index, n=2)
    before = contents(index)
    plain = write_jsonl(tmp_path / "plain.jsonl", texts(5, 1000, 80))
    corpus = tmp_path / "corpus.jsonl.zst"
    corpus.write_bytes(zstandard.compress(plain.read_bytes()) * 120)
    phases: set[str] = set()

    def fill(step: Progress) -> None:
        phases.add(step.phase)
        if step.phase == "insert":
            with contextlib.suppress(OSError), (small_disk / "filler").open("ab", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass

    def build(out: Path, **options: Any) -> Index:
        return Index.build(corpus, out=out, n=7, expected_ngrams=100_000, threads=1, **options)

    with pytest.raises(ResourceError, match=r"disk is full|No space left on device"):
        build(index, force=True, resume=True, progress=fill)
    assert "write" not in phases, "it was a checkpoint that had no room"
    assert contents(index) == before
    assert Index.open(index).overlap(["one two three"]).hits.tolist() == [2]
    (small_disk / "filler").unlink()
    build(index, force=True, resume=True)
    build(tmp_path / "whole")
    assert contents(index) == contents(tmp_path / "whole")
    assert list(small_disk.iterdir()) == [index]


READER = """
import sys
from ngramscope import Index
index = Index.open(sys.argv[1])
print("open", flush=True)
for line in sys.stdin:
    print(index.overlap([line]).hits.tolist()[0], flush=True)
"""


def test_an_index_that_is_replaced_while_it_is_mapped_answers_on(cli: Cli, corpus: list[Path], tmp_path: Path) -> None:
    index = tmp_path / "index"
    text = " ".join(texts(0, 1, 350)).encode() + b"\n"
    finished(cli("build-index", *corpus, "--n", 7, "--out", index))
    with subprocess.Popen(
        [sys.executable, "-c", READER, index], env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        assert reader.stdout.readline() == b"open\n"
        answers = []
        for replacement in ([], ["--resume"], ["--filter", "exact"]):
            other = write_jsonl(tmp_path / "other.jsonl", [f"{replacement} other words than there were in the index before"])
            finished(cli("build-index", other, "--n", 7, "--out", index, "--force", *replacement))
            reader.stdin.write(text)
            reader.stdin.flush()
            answers.append(reader.stdout.readline())
        assert answers == [b"344\n"] * 3
        reader.stdin.close()
        assert reader.wait(timeout=60) == 0
    assert Index.open(index).overlap([text.decode()]).hits.tolist() == [0]
