"""``ngramscope sets thresholded`` and ``decontaminated``: rules, warnings, refusals, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ngramscope import Index, ReadOptions, WordRule
from ngramscope.cli._run import run as run_here
from ngramscope.index.build import build_index
from ngramscope.index.options import BuildOptions
from ngramscope.sets import open_header
from tests.conftest import read_jsonl, write_jsonl
from tests.overlapping import adds_up, make_corpus, make_index, with_hits, words


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return make_corpus(tmp_path / "corpus.jsonl")


@pytest.fixture
def index(tmp_path: Path, corpus: Path) -> Path:
    return make_index(tmp_path / "index", corpus)


def test_removing_more_than_a_fifth_warns_and_is_described(
    tmp_path: Path, index: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = [{"id": f"k{number}", "text": f"red apple {words(f'k{number}', 30)}"} for number in range(40)]
    removed = [{"id": f"r{number}", "text": f"blue car r{number} {words('c', 80, number)}"} for number in range(11)]
    member = {"id": "m", "text": words("c", 40), "label": 1}
    write_jsonl(tmp_path / "fifth.jsonl", [*kept, *removed[:10], member])
    write_jsonl(tmp_path / "more.jsonl", [*kept, *removed, member])
    arguments = ["--index", str(index), "--permutations", "19"]
    for name in ("fifth", "more"):
        out = tmp_path / f"{name}-out.jsonl"
        assert run_here(["sets", "thresholded", str(tmp_path / f"{name}.jsonl"), *arguments, "--out", str(out)]) == 0
        said = capfd.readouterr()
        assert said.out == ""
        header = open_header(out)
        assert header is not None
        facts = header["history"][-1]["facts"]
        warned = [each for each in facts["warnings"] if "more than 20%" in each]
        assert len(warned) == (name == "more")
        assert ("21.6% of the non-members" in said.err) == (name == "more")
        assert all(each in said.err for each in warned)
        assert "too_much_overlap" in said.err
    assert header["rule"] == "thresholded"
    side = facts["nonmembers"]
    assert (side["judged"], side["removed"], side["share_removed"]) == (51, 11, 11 / 51)
    assert side["kept_against_removed"]["auc"] > 0.95  # by "red" and "blue"
    assert side["kept_against_removed"]["p"] == 1 / 20
    before, after = side["distributions"]["overlap_7"]["before"], side["distributions"]["overlap_7"]["after"]
    assert (before["n"], after["n"], after["mean"]) == (51, 40, 0.0)
    assert before["mean"] == pytest.approx(11 * 74 / 77 / 51)
    assert before["histogram"] == [40, *[0] * 18, 11]
    assert after["histogram"] == [40, *[0] * 19]
    assert facts["members"]["distributions"]["overlap_7"]["before"]["n"] == 1
    assert facts["members"]["judged"] == 0
    # On the machine-readable way out everything is data.
    assert run_here(["sets", "thresholded", str(tmp_path / "more.jsonl"), *arguments, "--out", str(out), "--json"]) == 0
    said = capfd.readouterr()
    summary = json.loads(said.out)
    assert said.err == ""
    assert summary["warnings"] == facts["warnings"]
    assert summary["counts"]["nonmembers"]["left_out"] == {"too_much_overlap": 11}


def test_the_demonstration_corpus_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = BuildOptions(read=ReadOptions(), rule=WordRule(), n=(7,), filter="exact", threads=1, demo=True)
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [words("c", 50)])
    build_index((corpus,), tmp_path / "demo", options)
    path = write_jsonl(tmp_path / "in.jsonl", [words("z", 50)])
    arguments = ["sets", "thresholded", str(path), "--index", str(tmp_path / "demo"), "--out", str(tmp_path / "out.jsonl")]
    assert run_here(arguments) == 2
    assert "--accept-demo" in capfd.readouterr().err
    assert not (tmp_path / "out.jsonl").exists()
    assert run_here([*arguments, "--accept-demo"]) == 0
    assert "DEMONSTRATION" in capfd.readouterr().err
    header = open_header(tmp_path / "out.jsonl")
    assert header is not None
    assert header["overlap"]["7"]["indexes"][0]["demo"] is True


def test_the_command_takes_its_rule_from_preset_or_options(tmp_path: Path, index: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", [with_hits("d", 100)])
    out = tmp_path / "out.jsonl"
    for command, more, wanted in (
        ("thresholded", [], ([7], 0.2, False, 200, "ngram_7_0.2")),
        ("decontaminated", [], ([13], 0.8, False, 200, "ngram_13_0.8")),
        ("decontaminated", ["--preset", "ngram_13_0.2"], ([13], 0.2, False, 200, "ngram_13_0.2")),
        ("decontaminated", ["--n", "7", "--max-inclusive"], ([7], 0.8, False, 200, None)),
        ("thresholded", ["--whole-document", "--max-overlap", "0.5"], ([7], 0.5, True, 200, None)),
        ("thresholded", ["--first", "100", "--n", "13", "--words", "uax29"], ([13], 0.2, False, 100, None)),
    ):  # fmt: skip
        assert run_here(["sets", command, str(path), "--index", str(index), *more, "--out", str(out), "-q"]) == 0
        header = open_header(out)
        assert header is not None
        settings = header["settings"]
        names = ("n", "max_overlap", "whole_document", "first", "preset")
        assert (header["rule"], tuple(settings[each] for each in names)) == (command, wanted)


def test_what_cannot_be(tmp_path: Path, index: Path, corpus: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = str(write_jsonl(tmp_path / "in.jsonl", [with_hits("d", 0)]))
    out = str(tmp_path / "out.jsonl")
    here = ["--index", str(index)]
    for arguments, said, code in (
        ([path, "--out", out], "--index, --scan or --flags", 2),
        ([path, *here, "--flags", "f", "--out", out], "--index and --flags", 2),
        ([path, *here, "--preset", "ngram_7_0.2", "--n", "13", "--out", out], "leave out --n", 2),
        ([path, *here, "--preset", "mimir", "--out", out], "ngram_13_0.8", 2),
        ([path, *here, "--first", "9", "--whole-document", "--out", out], "--first, --whole-document", 2),
        ([path, *here, "--max-overlap", "1.5", "--out", out], "between 0 and 1", 2),
        ([path, *here, "--max-overlap", "nan", "--out", out], "between 0 and 1", 2),
        ([path, *here, "--n", "9", "--out", out], "9", 1),
        ([path, *here, "--words", "whitespace", "--out", out], "the index has uax29", 1),
        ([path, "--flags", "f", "--words", "uax29", "--out", out], "a rule of their own", 2),
        ([path, *here, "--seed", "-1", "--out", out], "--seed", 2),
        ([path, *here, "--out", path], "one of the inputs", 2),
        ([str(tmp_path), *here, "--out", path], "one of the inputs", 2),
        ([f"{tmp_path}/*.jsonl", *here, "--out", path], "one of the inputs", 2),
        ([path, "--scan", str(corpus), "--out", str(corpus)], "one of the inputs", 2),
        (["-", "--scan", str(corpus), "--out", out], "standard input", 2),
        ([path, *here, "--out", "out.csv"], ".jsonl", 2),
        (["absent.jsonl", *here, "--out", out], "absent.jsonl", 1),
    ):
        assert (run_here(["sets", "thresholded", *arguments]), said in (err := capfd.readouterr().err)) == (code, True), (
            arguments,
            err,
        )
        assert not Path(out).exists()
    assert len(read_jsonl(Path(path))) == 1


def test_what_was_left_out_of_candidates_or_corpus_makes_it_partial(
    tmp_path: Path, index: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good = write_jsonl(tmp_path / "good.jsonl", [with_hits("d", 0)])
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(good.read_bytes() + b"{broken\n")
    out = str(tmp_path / "out.jsonl")
    lenient = ["--max-bad-records", "1", "--out", out]
    assert run_here(["sets", "thresholded", str(bad), "--index", str(index), *lenient]) == 3
    assert "invalid_json" in capfd.readouterr().err
    header = open_header(out)
    assert header is not None
    adds_up(header)
    assert header["history"][-1]["counts"]["records"]["left_out"] == {"invalid_json": 1}
    assert run_here(["sets", "thresholded", str(good), "--scan", str(bad), *lenient]) == 3
    assert "invalid_json" in capfd.readouterr().err
    header = open_header(out)
    assert header is not None
    assert header["overlap"]["7"]["scan"]["corpus"][0]["unusable"] == {"invalid_json": 1}
    assert header["history"][-1]["facts"]["partial"] is True
    # An index that lacks inputs is no fault of this run, but the set says so.
    Index.build(bad, out=tmp_path / "lacking", max_bad_records=1, threads=1, filter="exact")
    assert run_here(["sets", "thresholded", str(good), "--index", str(tmp_path / "lacking"), "--out", out]) == 0
    assert "INCOMPLETE" in capfd.readouterr().err
    header = open_header(out)
    assert header is not None
    assert header["overlap"]["7"]["indexes"][0]["partial"] is True
    assert any("INCOMPLETE" in each for each in header["history"][-1]["facts"]["warnings"])
