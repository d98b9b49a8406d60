"""``ngramscope sets sample`` and ``sets show``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ngramscope.cli._run import run
from tests.conftest import write_jsonl


@pytest.fixture
def sides(tmp_path: Path) -> list[str]:
    """Arguments that sample 4 + 3 documents of two domains."""
    for name, count in (("in", 8), ("out", 6)):
        rows: list[Any] = [{"id": f"{name}{n}", "text": f"{name} {n} " * 60, "domain": "ab"[n % 2]} for n in range(count)]
        write_jsonl(tmp_path / f"{name}.jsonl", [*rows, {"id": "empty"}])
    files = [str(tmp_path / f"{name}.jsonl") for name in ("in", "out")]
    return [
        "sets",
        "sample",
        "--members",
        files[0],
        "--nonmembers",
        files[1],
        "--max-bad-records",
        "2",
        "--near-duplicates",
        "off",
    ]


def test_a_sample_is_made_and_shown(sides: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "set.jsonl.gz")
    assert run([*sides, "--per-domain", "4", "--allow-fewer", "--out", out]) == 3  # two records had no text
    data, said = capsys.readouterr()
    assert f"8 members and 6 non-members of 2 domains; wrote {out}" in said
    assert "nonmembers: 6 of 7 used; left out: 1 missing_text" in said
    assert "fewer than asked for: 3 of 4 nonmembers of a" in said
    words = next(line for line in said.splitlines() if line.startswith("words"))
    assert words.split() == ["words", "120", "(n", "8)", "120", "(n", "6)", "0.000", "0.000"]
    assert data == ""

    assert run(["sets", "show", out]) == 0
    shown = capsys.readouterr().out
    assert "1. sample, seed 0" in shown
    assert "min_words 100, max_words 200, per_domain 4" in shown
    assert "members: 8 of 9 used; left out: 1 missing_text" in shown
    assert "in.jsonl (members)" in shown
    assert "domains of nonmembers: a 3, b 3" in shown
    assert "Overlap was not measured" in shown
    assert run(["sets", "show", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(Path(f"{out}.meta.json").read_bytes())


def test_what_is_shown_of_overlaps(sides: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "set.jsonl"
    assert run([*sides, "--total", "5", "--json", "--out", str(out)]) == 3
    header = json.loads(capsys.readouterr().out)
    assert header["counts"] == {"members": 5, "nonmembers": 5, "unlabelled": 0}
    corpus = {"name": "train.jsonl", "bytes": 2048, "blake3": "ab" * 32}
    header["overlap"] = {
        "7": {"by": "index", "filter_fpr": 0.005, "indexes": [{"inputs": [corpus]}]},
        "13": {"by": "scan", "filter_fpr": 0.0, "scan": {"corpus": [corpus]}, "measured_on": "whole texts"},
    }
    header["columns"] = ["overlap_loo"]
    Path(f"{out}.meta.json").write_text(json.dumps(header))
    assert run(["sets", "show", str(out)]) == 0
    text = capsys.readouterr().out
    assert "column overlap_loo leaves it out" in text
    assert "n = 7: by index, false-positive rate 0.005" in text
    assert "n = 13: by scan, false-positive rate 0, measured on whole texts" in text
    assert text.count(f"train.jsonl: 2 KiB, blake3:{'ab' * 32}") == 2
    assert "claimed of the files listed under overlap only" in text


def test_what_is_refused(sides: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside, out = tmp_path / "in.jsonl", str(tmp_path / "set.jsonl")
    before = inside.read_bytes()
    for arguments, said in (
        ([*sides, "--out", str(inside)], "is one of the inputs"),
        ([*sides[:3], str(tmp_path), "--out", str(inside)], "is one of the inputs"),
        ([*sides[:3], str(tmp_path / "i*.jsonl"), "--out", str(inside)], "is one of the inputs"),
        ([*sides, "--near-duplicates", "none", "--out", out], "a similarity from 0.5 to 1, or off"),
        ([*sides, "--per-domain", "5", "--out", out], "members of a: 4, members of b: 4, nonmembers of a: 3"),
        (["sets", "show", str(inside)], "no candidate set"),
        (["sets", "show", str(tmp_path / "none.jsonl")], "no candidate set"),
    ):
        assert run(arguments) in (1, 2)
        assert said in " ".join(capsys.readouterr().err.split())
    assert inside.read_bytes() == before
    assert not Path(out).exists()
