"""I02: a full disk leaves what was there, says how much is needed, and nothing under a final name."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import WORDS, Cli, write_jsonl
from tests.trials.support import contents, finished, refused


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no file system can be mounted here: {mounted.stderr.decode().strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


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
