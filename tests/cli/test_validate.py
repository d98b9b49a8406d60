"""``ngramscope validate``: text, JSON, files, refusals."""

from __future__ import annotations

import json
import random
import re
from html import escape
from pathlib import Path

import pytest

from ngramscope import Index
from ngramscope.cli._run import run as run_here
from ngramscope.report import validation as pages
from tests.conftest import Cli, read_jsonl, write_jsonl

WORDS = [f"w{number}" for number in range(80)]
QUICK = ("--permutations", "199", "--resamples", "199", "--max-texts", "40")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of passages, a held-out sample of its kind, and candidates that have fewer of them."""
    folder = tmp_path_factory.mktemp("validate")
    chance = random.Random(1)
    passages = [" ".join(chance.choices(WORDS, k=12)) for _ in range(150)]

    def texts(count: int, share: float) -> list[str]:
        return [
            " ".join(
                chance.choice(passages) if chance.random() < share else " ".join(chance.choices(WORDS, k=12)) for _ in range(10)
            )
            for _ in range(count)
        ]

    corpus = write_jsonl(folder / "corpus.jsonl", texts(300, 0.5))
    Index.build(corpus, out=folder / "index", n=[3, 7], filter="exact", threads=1)
    write_jsonl(folder / "heldout.jsonl", texts(100, 0.5))
    lower = [{"id": number, "text": text, "date": "<2019>"} for number, text in enumerate(texts(80, 0.3))]
    write_jsonl(folder / "lower.jsonl", lower)
    return folder


def test_text_json_and_files_say_the_same(cli: Cli, world: Path, tmp_path: Path) -> None:
    arguments = ("validate", world / "lower.jsonl", "--reference", world / "heldout.jsonl", "--index", world / "index", *QUICK)
    done = cli(*arguments, "--out", "report.json", "--html", "report.html", "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    (report,) = read_jsonl(done.stdout)
    assert report == json.loads((tmp_path / "report.json").read_text())
    assert (report["artefact"], report["format_version"], report["verdict"]) == ("validation", 1, "shifted_lower")
    assert report["declared"]["n"] == 7
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "report.html"}
    page = (tmp_path / "report.html").read_text()
    assert page.count("<svg") == page.count('role="img"') == page.count("aria-label=") == 4  # shifts, two lengths, words
    assert "Shifted towards lower overlap" in page
    for name, side in (("lower", "candidates"), ("heldout", "reference"), ("corpus", "corpus")):
        assert re.search(rf"<td[^>]*>{name}\.jsonl</td>\s*<td[^>]*>{side}</td>", page)
    assert escape(pages.sentence(report)) in page
    # What is not in the page is not asked for.
    assert not re.findall(r'(?:src|href)="(?!#)[^"]*"', page)
    assert page == pages.to_html(report)
    (dates,) = (each for each in report["quantities"] if each["name"] == "date")
    dates["candidates"]["mean"] = 2019.5
    assert re.search(r"\ndate +2019\.50 +- ", pages.to_text(report))


def test_the_text_is_for_people(world: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sides = (str(world / "lower.jsonl"), "--reference", str(world / "heldout.jsonl"))
    assert run_here(["validate", *sides, "--index", str(world / "index"), *QUICK]) == 0
    out = capfd.readouterr().out
    assert out.startswith("SHIFTED TOWARDS LOWER OVERLAP\nThe candidates' mean overlap of 7-grams is ")
    assert "candidates: 80 of 80 records\n" in out
    assert "declared test: permutation test" in out
    assert "seed 0; leave-one-out: no\n" in out
    assert re.search(r"\noverlap: by index .*content id [0-9a-f]{32}.*; files of the corpus: corpus\.jsonl\n", out)
    assert "A classifier that sees only the words" in out
    # The same by a scan, which is exact as the index is; there are more lengths.
    assert run_here(["validate", *sides, "--scan", str(world / "corpus.jsonl"), "--describe", "5", *QUICK]) == 0
    scanned = capfd.readouterr().out
    assert scanned.splitlines()[:2] == out.splitlines()[:2]
    assert "\noverlap: by scan; files of the corpus: corpus.jsonl\n" in scanned
    assert "overlap 5" in scanned
    assert (
        run_here(["validate", *sides, "--index", str(world / "index"), "--min-shift", "0.5", "--min-ratio", "1", *QUICK]) == 0
    )
    assert capfd.readouterr().out.startswith("REPRESENTATIVE\n")


def test_too_little_to_tell(world: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    flat = write_jsonl(tmp_path / "flat.jsonl", ["x " * 20] * 12)
    other = write_jsonl(tmp_path / "other.jsonl", ["y " * 20] * 15)
    alone = write_jsonl(tmp_path / "alone.jsonl", ["x " * 20])
    short = write_jsonl(tmp_path / "short.jsonl", ["x y z"])
    for candidates, said in (
        (flat, "The overlap of 7-grams is 0.0 % for every text on both sides"),
        (alone, "too few texts with 7-grams: 1 and 15"),
        (short, "too few texts with 7-grams: 0 and 15"),
    ):
        arguments = [str(candidates), "--reference", str(other), "--index", str(world / "index"), "--html", str(page), *QUICK]
        assert run_here(["validate", *arguments]) == 0
        assert capfd.readouterr().out.startswith(f"CANNOT TELL\n{said if candidates is flat else 'There are ' + said}")
        assert said in page.read_text()


def test_what_cannot_be(world: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world)
    sides = ("lower.jsonl", "--reference", "heldout.jsonl")
    for arguments, said in (
        ((*sides,), "--index, --scan or --flags"),
        ((*sides, "--index", "index", "--n", "5"), "3, 7 words, not of 5"),
        ((*sides, "--index", "index", "--alpha", "1"), "--alpha"),
        ((*sides, "--index", "index", "--min-ratio", "2"), "--min-ratio"),
        ((*sides, "--index", "index", "--leave-one-out"), "--tiers 2"),
        (("lower.jsonl", "--scan", "corpus.jsonl"), "labels on both sides"),
        ((*sides, "--index", "index", "--out", "lower.jsonl"), "one of the inputs"),
        ((*sides, "--index", "index", "--html", "no/where.html"), "folder that there is"),
        ((*sides, "--index", "index", "--html", "x", "--out", "x"), "same file"),
    ):
        before = {path: path.stat().st_mtime_ns for path in world.iterdir()}
        code = run_here(["validate", *arguments, *QUICK])
        streams = capfd.readouterr()
        assert (code, said in streams.err, streams.out) == (2, True, ""), (arguments, streams.err)
        assert {path: path.stat().st_mtime_ns for path in world.iterdir()} == before
    monkeypatch.setattr(pages.importlib.util, "find_spec", lambda _: None)
    assert run_here(["validate", *sides, "--index", "index", "--html", "page.html"]) == 1
    assert "ngramscope[plot]" in capfd.readouterr().err


def test_records_that_cannot_be_read_are_told(world: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text((world / "lower.jsonl").read_text() + "not json\n")
    arguments = [str(bad), "--reference", str(world / "heldout.jsonl"), "--index", str(world / "index"), *QUICK]
    assert run_here(["validate", *arguments]) == 1
    assert "bad.jsonl" in capfd.readouterr().err
    assert run_here(["validate", *arguments, "--max-bad-records", "1"]) == 3
    streams = capfd.readouterr()
    assert "candidates: 80 of 81 records; left out: 1 invalid_json\n" in streams.out
    assert "line 81" in streams.err
