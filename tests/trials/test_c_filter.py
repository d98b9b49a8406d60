"""C01: too small, too big, impossible."""

from __future__ import annotations

import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope import Index
from tests import reference
from tests.conftest import Cli, read_jsonl
from tests.trials.support import contents, finished, measured, refused

ROOM = 1000
TARGET = 0.01
NGRAMS = 2700
HEADER = 4096
HUGE = 2_001_794_995_090


@pytest.fixture(scope="module")
def overfull(trials: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("overfull") / "index"
    corpus = trials / "D" / "corpus.jsonl"
    Index.build(corpus, out=folder, expected_ngrams=ROOM, filter_fpr=TARGET, accept_overfull=True, threads=1)
    return folder


def payload(folder: Path, entry: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The bits of a shard, shape (blocks, 64)."""
    data = np.fromfile(folder / entry["file"], dtype=np.uint8)
    return data[HEADER : HEADER + 64 * entry["blocks"]].reshape(-1, 64)


def test_c01_too_little_room_is_refused_with_the_real_count(cli: Cli, trials: Path, tmp_path: Path) -> None:
    command = [
        "build-index",
        trials / "D" / "corpus.jsonl",
        "--out",
        "index",
        "--expected-ngrams",
        ROOM,
        "--filter-fpr",
        TARGET,
    ]
    message = refused(cli(*command), "--accept-overfull", "1000")
    count = int(re.findall(r"about (\d{4})", message)[0])
    assert count == pytest.approx(NGRAMS, rel=0.05)
    assert not (tmp_path / "index").exists()
    errors = finished(cli(*command, "--accept-overfull"))
    assert "warning: " in errors
    assert "--accept-overfull" in errors


def test_c01_fill_and_rate_follow_the_blocked_formula(overfull: Path) -> None:
    (keys,) = json.loads((overfull / "index.json").read_bytes())["sets"]
    assert keys["overfull"] is True
    assert keys["sizing"]["sized_for"] == ROOM
    # The size: the smallest whole number of blocks whose rate at ROOM n-grams is at most the target.
    assert reference.blocked_rate(ROOM / keys["blocks"], keys["k"]) <= TARGET * 1.001
    assert reference.blocked_rate(ROOM / (keys["blocks"] - 1), keys["k"]) > TARGET
    # What the bits say.
    (entry,) = keys["shards"]
    set_bits = np.unpackbits(payload(overfull, entry), axis=1).sum(axis=1)
    assert keys["fill"] == pytest.approx(set_bits.mean() / 512, abs=1e-12)
    assert keys["measured_rate"] == pytest.approx(((set_bits / 512) ** keys["k"]).mean(), rel=1e-9)
    # The realised count and rate.
    per_key = 1 - (1 - 1 / 512) ** keys["k"]
    assert keys["distinct"] == pytest.approx(-keys["blocks"] * math.log1p(-keys["fill"]) / per_key, rel=1e-9)
    assert keys["distinct"] == pytest.approx(NGRAMS, rel=0.05)
    assert keys["rate"] == pytest.approx(reference.blocked_rate(keys["distinct"] / keys["blocks"], keys["k"]), rel=0.01)
    load = NGRAMS / keys["blocks"]
    assert keys["fill"] == pytest.approx(-math.expm1(-load * per_key), rel=0.02)
    assert keys["rate"] == pytest.approx(reference.blocked_rate(load, keys["k"]), rel=0.05)
    assert keys["rate"] > 20 * TARGET


def test_c01_the_measured_rate_is_the_one_that_absent_ngrams_meet(overfull: Path) -> None:
    index = Index.open(overfull)
    rng = np.random.default_rng(1)
    words = [f"{word:08x}" for word in rng.permutation(40_000).tolist()]
    table = index.overlap([" ".join(words)])
    rate = index.manifests[0]["sets"][0]["measured_rate"]
    found, asked = int(table.distinct_hits[0]), int(table.distinct_ngrams[0])
    assert asked == len(words) - 6
    assert found / asked == pytest.approx(rate, abs=4 * math.sqrt(rate * (1 - rate) / asked))


def test_c01_an_over_full_index_says_so_everywhere(cli: Cli, trials: Path, overfull: Path) -> None:
    assert "OVER-FULL" in finished(cli("inspect", overfull))
    done = cli("overlap", trials / "D" / "candidates.jsonl", "--index", overfull, "--json")
    summary = json.loads(finished(done))
    assert any("OVER-FULL" in warning for warning in summary["warnings"])
    assert summary["indexes"][0]["sets"][0]["overfull"] is True
    rows = {row["id"]: row for row in read_jsonl(done.stdout)}
    assert rows["copy"]["overlap"] == 1.0  # nothing is lost
    rate = summary["by_n"][0]["filter_fpr"]
    for row in rows.values():
        if row["overlap"] is not None:
            assert row["overlap_corrected"] == pytest.approx(reference.corrected(row["overlap"], [rate]))


@pytest.mark.parametrize(
    ("option", "value"),
    [("--filter-fpr", value) for value in ("0", "1", "1.5", "-0.1", "nan", "inf")]
    + [("--expected-ngrams", value) for value in ("0", "-5", "9223372036854775808", "many")]
    + [("--n", "0"), ("--n", "-1"), ("--shards", "0"), ("--threads", "0"), ("--memory", "0"), ("--memory", "10 apples")],
)
def test_c01_impossible_values_are_refused_by_name(cli: Cli, trials: Path, tmp_path: Path, option: str, value: str) -> None:
    done = cli("build-index", trials / "D" / "corpus.jsonl", "--out", "index", f"{option}={value}")
    refused(done, option, code=2)
    assert not (tmp_path / "index").exists()


def test_c01_two_terabytes_are_refused_before_anything_is_allocated(trials: Path, tmp_path: Path) -> None:
    if shutil.disk_usage(tmp_path).free > 2 << 40:
        pytest.skip("this disk has room for it")
    run = measured(
        tmp_path, "build-index", trials / "D" / "corpus.jsonl", "--out", "index", "--expected-ngrams", str(HUGE),
        "--filter-fpr", str(TARGET), "--threads", "1",
    )  # fmt: skip
    message = refused(run.done, str(HUGE), "the disk", "of memory")
    (needed,) = re.findall(r"the index needs ([0-9.]+) TiB", message)
    assert float(needed) == pytest.approx(2.25, rel=0.01)
    assert best_rate(float(needed)) <= TARGET < best_rate(2.2)
    assert "--filter-fpr" in message
    assert run.peak_bytes < 200 << 20
    assert not (tmp_path / "index").exists()


def best_rate(tebibytes: float) -> float:
    """The lowest rate that a blocked filter of this size has with HUGE n-grams."""
    return min(reference.blocked_rate(HUGE / (tebibytes * 2**40 / 64), k) for k in range(5, 9))


def test_c01_beyond_64_bits_a_key_the_exact_set_is_recommended(cli: Cli, trials: Path) -> None:
    corpus = trials / "D" / "corpus.jsonl"
    refused(cli("build-index", corpus, "--out", "index", "--filter-fpr", "1e-12"), "--filter-fpr", "--filter exact", code=2)
    done = cli("build-index", corpus, "--out", "index", "--filter-fpr", "1e-8", "--expected-ngrams", str(1 << 40))
    refused(done, "--filter-fpr", "64-bit keys", code=2)


def test_c01_the_program_counts_first_unless_told_the_number(cli: Cli, trials: Path, tmp_path: Path) -> None:
    assert "counts" in finished_help(cli)
    Index.build(trials / "D" / "corpus.jsonl", out=tmp_path / "index", filter_fpr=TARGET, threads=1)
    (keys,) = json.loads((tmp_path / "index" / "index.json").read_bytes())["sets"]
    sizing = keys["sizing"]
    assert sizing["method"] == "counted"
    assert sizing["ngrams"] == pytest.approx(NGRAMS, rel=0.01)
    assert sizing["sized_for"] == math.ceil(sizing["ngrams"] + 3 * sizing["standard_error"])
    assert keys["overfull"] is False


def finished_help(cli: Cli) -> str:
    done = cli("build-index", "--help")
    finished(done)
    return str(done.stdout.decode())


def test_c01_memory_and_passes_do_not_change_the_index(trials: Path, tmp_path: Path) -> None:
    """A filter of 200 MiB in 64 MiB of memory: several passes, same bytes."""
    corpus = trials / "D" / "corpus.jsonl"
    for name, memory in (("one", "1GiB"), ("several", "64MiB")):
        index = Index.build(corpus, out=tmp_path / name, expected_ngrams=150_000_000, memory=memory, threads=2)
        report = index.build_report
        assert report is not None
        assert (report.details["passes"] > 1) == (name == "several")
        assert bool(report.warnings) == (name == "several")  # announced
    assert contents(tmp_path / "one") == contents(tmp_path / "several")
