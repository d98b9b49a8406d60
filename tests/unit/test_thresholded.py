"""Sets filtered by overlap: the limit, what has no overlap, members, what the header says of the shift."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope import Index
from ngramscope.errors import InputError, UsageError
from ngramscope.sets import Candidate, Keys, OverlapOptions, Overlaps, RecordSource, SetFile, Step, open_header
from ngramscope.sets.classifier import MAX_TEXTS
from ngramscope.sets.removal import FilterShift, histogram
from ngramscope.sets.thresholded import PRESETS, RULES, ThresholdRule, threshold
from tests.conftest import read_jsonl, write_jsonl
from tests.overlapping import adds_up, make_corpus, make_index, with_hits, words

WHOLE = ThresholdRule(whole_document=True)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return make_corpus(tmp_path / "corpus.jsonl")


@pytest.fixture
def index(tmp_path: Path, corpus: Path) -> Path:
    return make_index(tmp_path / "index", corpus)


def filtered(
    path: Path | Iterable[Path], overlaps: OverlapOptions, rule: ThresholdRule = RULES["thresholded"], **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]:
    """Rows of the set, its last step, its header."""
    paths = (path,) if isinstance(path, Path) else tuple(path)
    out = options.pop("out", paths[0].parent / "out.jsonl")
    source = RecordSource(paths, keys=options.pop("keys", None), read=options.pop("read", None))
    threshold(source, overlaps, out, rule=rule, **{"permutations": 10, **options})
    header = open_header(out)
    assert header is not None
    adds_up(header)
    return read_jsonl(out), header["history"][-1], header


def ids(rows: Iterable[Mapping[str, Any]]) -> list[Any]:
    return [row["id"] for row in rows]


@pytest.mark.parametrize("by", ["index", "scan", "flags", "list"])
@pytest.mark.parametrize(("limit", "border"), [(0.2, 40), (0.8, 160)])
def test_the_limit_itself_is_out_unless_inclusive(
    tmp_path: Path, index: Path, corpus: Path, by: str, limit: float, border: int
) -> None:
    documents = [with_hits(f"h{hits}", hits) for hits in (border - 1, border, border + 1)]
    for each, hits in zip(documents, (border - 1, border, border + 1), strict=True):
        flags = "1" * hits + "0" * (200 - hits)
        each["flags"] = flags if by == "flags" else [flag == "1" for flag in flags]
    path = write_jsonl(tmp_path / "in.jsonl", documents)
    overlaps = {
        "index": OverlapOptions(indexes=(index,)),
        "scan": OverlapOptions(scan=(corpus,)),
        "flags": OverlapOptions(flags=("flags",)),
        "list": OverlapOptions(flags=("flags",)),
    }[by]
    for whole in (False, True):
        rule = ThresholdRule(max_overlap=limit, whole_document=whole)
        rows, _, header = filtered(path, overlaps, rule)
        assert ids(rows) == [f"h{border - 1}"]
        assert header["overlap"]["7"]["by"] == by.replace("list", "flags")
        rows, _, _ = filtered(path, overlaps, ThresholdRule(max_overlap=limit, whole_document=whole, max_inclusive=True))
        assert ids(rows) == [f"h{border - 1}", f"h{border}"]
        assert rows[1]["overlap"] == rows[1]["overlap_first"] == {"7": limit}


def test_the_first_ngrams_decide_and_the_whole_document_stands_beside(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "in.jsonl",
        [
            {"id": "low first", "text": "a", "f": "0" * 200 + "1" * 200},
            {"id": "high first", "text": "b", "f": "1" * 60 + "0" * 740},
        ],
    )
    overlaps = OverlapOptions(flags=("f",))
    (row,), _, _ = filtered(path, overlaps)
    assert (row["id"], row["overlap"], row["overlap_first"]) == ("low first", {"7": 0.5}, {"7": 0.0})
    (row,), _, header = filtered(path, overlaps, WHOLE)
    assert (row["id"], row["overlap"], row["overlap_first"]) == ("high first", {"7": 0.075}, {"7": 0.3})
    assert "f" not in row
    assert (header["overlap"]["7"]["of"], header["columns"]) == ("flagged_text", ["overlap_first"])
    assert ids(filtered(path, overlaps, ThresholdRule(first=400))[0]) == ["high first"]


def test_what_has_no_overlap_is_never_a_nonmember(tmp_path: Path, index: Path) -> None:
    path = write_jsonl(
        tmp_path / "in.jsonl",
        [
            {"id": "fine", "text": words("z", 30)},
            {"id": "short", "text": "one two three"},
            {"id": "twelve", "text": words("z", 12)},
            {"id": "empty", "text": ""},
            {"id": "null", "text": None},
            {"id": "member", "text": "too short", "label": 1},
        ],
    )
    every = {"max_overlap": 1.0, "max_inclusive": True}
    rows, step, _ = filtered(path, OverlapOptions(indexes=(index,)), ThresholdRule(**every))
    assert ids(rows) == ["fine", "twelve", "member"]
    assert step["counts"]["nonmembers"]["left_out"] == {"fewer_than_n_words": 2}
    assert step["counts"]["records"]["left_out"] == {"fewer_than_n_words": 2, "null_text": 1}
    assert (rows[2]["overlap"], rows[2]["overlap_null"]) == ({"7": None}, {"7": "fewer_than_n_words"})
    # Of several lengths the limit holds for each, and so does this.
    rows, _, _ = filtered(path, OverlapOptions(indexes=(index,)), ThresholdRule(n=(13, 7), **every))
    assert ids(rows) == ["fine", "member"]


def test_several_columns_of_flags_are_ored(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "in.jsonl",
        [
            {"id": "or", "text": "a", "x": {"f": "1100000000"}, "y": [0, 0, 0, 0, 0, 0, 0, 0, 1, True]},
            {"id": "one", "text": "b", "x": {"f": "0000000001"}},
            {"id": "none", "text": "c"},
            {"id": "short", "text": "d", "y": []},
            {"id": "twice", "text": "e", "x": {"f": "0200000000"}},
        ],
    )
    rows, step, header = filtered(path, OverlapOptions(flags=("x.f", "y")), ThresholdRule(max_overlap=0.5))
    assert [(row["id"], row["overlap"]["7"]) for row in rows] == [("or", 0.4), ("one", 0.1), ("twice", 0.1)]
    assert step["counts"]["nonmembers"]["left_out"] == {"fewer_than_n_words": 1, "no_flags": 1}
    assert header["overlap"]["7"]["flags"] == ["x.f", "y"]
    assert "is not known here" in step["facts"]["claim"]


def test_flags_that_cannot_be(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", [{"text": "a", "f": "01", "g": "011", "h": "yes", "i": [2]}])
    for flags, said in (
        (("f", "g"), r"in\.jsonl, record 1: f, g have 2, 3 flags"),
        (("h",), r"in\.jsonl, record 1: h holds no flags"),
        (("i",), r"in\.jsonl, record 1: i holds no flags"),
        (("absent",), r"in\.jsonl: no record has flags under absent"),
    ):
        with pytest.raises(InputError, match=said):
            filtered(path, OverlapOptions(flags=flags))
        assert not (tmp_path / "out.jsonl").exists()
    with pytest.raises(UsageError, match="flags of one length"):
        filtered(path, OverlapOptions(flags=("f",)), ThresholdRule(n=(7, 13)))


def test_members_pass_and_what_has_no_label_becomes_a_nonmember(tmp_path: Path, index: Path) -> None:
    labels = {"member": 1, "clean": 0, "copy": "nonmember", "unknown": None}
    path = write_jsonl(
        tmp_path / "in.jsonl",
        [with_hits(name, 0 if name in ("clean", "unknown") else 200, label=label, site="s") for name, label in labels.items()],
    )
    rows, step, header = filtered(path, OverlapOptions(indexes=(index,)), keys=Keys(domain="site", fields=("site",)))
    assert [(row["id"], row["label"], row["overlap"]["7"]) for row in rows] == [
        ("member", 1, 1.0),
        ("clean", 0, 0.0),
        ("unknown", 0, 0.0),
    ]
    assert step["counts"]["nonmembers"] == {"read": 3, "used": 2, "left_out": {"too_much_overlap": 1}}
    assert step["counts"]["members"] == {"read": 1, "used": 1, "left_out": {}}
    assert all("overlap_loo" not in row and row["site"] == row["domain"] == "s" for row in rows)
    (described,) = header["overlap"]["7"]["indexes"]
    assert (described["name"], described["ngrams"]["7"], described["inputs"][0]["name"]) == ("mine", 438, "corpus.jsonl")
    assert "files listed under overlap" in step["facts"]["claim"]
    assert step["settings"]["preset"] == "ngram_7_0.2"


def test_a_scan_and_an_exact_index_agree(tmp_path: Path, index: Path, corpus: Path) -> None:
    documents = [with_hits(f"d{number}", 11 * number, ngrams=150 + number, label=number % 2) for number in range(12)]
    documents[4]["text"] = None
    first = write_jsonl(tmp_path / "a.jsonl", documents[:7])
    second = write_jsonl(tmp_path / "b.jsonl", [{"text": "x" * 9, "id": "short"}, *documents[7:]])
    rule = ThresholdRule(n=(7, 13), max_overlap=0.5)
    indexed = filtered([first, second], OverlapOptions(indexes=(index,)), rule)
    scanned = filtered([first, second], OverlapOptions(scan=(corpus,), threads=1), rule)
    assert [row.pop("overlap_loo") for row in scanned[0]] == [row["overlap"] for row in indexed[0]]  # nothing is a copy
    assert scanned[0] == indexed[0]
    assert scanned[1]["counts"] == indexed[1]["counts"]
    assert 5 < len(indexed[0]) < 11
    scan = scanned[2]["overlap"]["7"]["scan"]
    assert (scan["corpus"][0]["name"], scan["words"]["words"]) == ("corpus.jsonl", "uax29")


def test_leave_one_out_of_members(tmp_path: Path) -> None:
    # A document that stands alone in the corpus, one of whose first half there is a second, and one that is not there.
    shared_half = words("s", 106)
    alone, half = words("a", 206), f"{shared_half} {words('h', 100)}"
    corpus = write_jsonl(tmp_path / "corpus.jsonl", [alone, half, shared_half])
    Index.build(corpus, out=tmp_path / "two", tiers=2, filter="exact", threads=1)
    path = write_jsonl(
        tmp_path / "in.jsonl",
        [
            {"id": "alone", "text": alone, "label": 1},
            {"id": "half", "text": half, "label": 1},
            {"id": "new", "text": words("n", 206)},
            {"id": "copy", "text": alone},
        ],
    )
    for overlaps, rule in (
        (OverlapOptions(indexes=(tmp_path / "two",)), ThresholdRule()),
        (OverlapOptions(scan=(corpus,)), WHOLE),
    ):
        rows, _, _ = filtered(path, overlaps, rule)
        assert ids(rows) == ["alone", "half", "new"]
        assert [row["overlap"]["7"] for row in rows] == [1.0, 1.0, 0.0]
        assert [row["overlap_loo"]["7"] for row in rows] == [0.0, 0.5, 0.0]
        # The non-member that is in the corpus stays out: its copy is what the filter looks for.
        rows, step, _ = filtered(path, overlaps, ThresholdRule(**{**vars(rule), "all_sides": True}))
        assert ids(rows) == ["alone", "new"]
        assert step["facts"]["members"]["removed"] == step["facts"]["nonmembers"]["removed"] == 1
        assert step["settings"]["preset"] is None if rule is WHOLE else "ngram_7_0.2"
    rows, _, header = filtered(path, OverlapOptions(indexes=(tmp_path / "two",)))
    assert [row["overlap_loo_first"]["7"] for row in rows] == [0.0, 0.5, 0.0]
    assert header["columns"] == ["overlap_first", "overlap_loo", "overlap_loo_first"]
    with pytest.raises(UsageError, match="--whole-document"):
        filtered(path, OverlapOptions(scan=(corpus,)), ThresholdRule(all_sides=True))
    Index.build(corpus, out=tmp_path / "one", filter="exact", threads=1)
    rows, step, _ = filtered(path, OverlapOptions(indexes=(tmp_path / "one",)), ThresholdRule(all_sides=True))
    assert ids(rows) == ["new"]
    assert any("leave-one-out overlap is not known" in each for each in step["facts"]["warnings"])


def test_nothing_left_is_said(tmp_path: Path, index: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", [with_hits("copy", 200)])
    Index.build(texts=[words("c", 12)], out=tmp_path / "short", n=[7, 13], filter="exact", threads=1)
    rows, step, header = filtered(path, OverlapOptions(indexes=(index, tmp_path / "short")))
    assert rows == []
    assert not any("EMPTY" in each for each in step["facts"]["warnings"])  # it is for n = 13, which nobody asked for
    assert any("no non-member is left" in each for each in step["facts"]["warnings"])
    assert step["facts"]["nonmembers"]["kept_against_removed"]["null_reason"] == "fewer_texts_than_folds"
    assert header["counts"]["nonmembers"] == 0


def test_histories_compose(tmp_path: Path, index: Path) -> None:
    documents = [with_hits(f"d{number}", 20 * number, ngrams=100) for number in range(6)]
    cut = tmp_path / "cut.jsonl"
    with SetFile(cut) as file:
        file.add(Candidate(each["id"], each["text"], 0, extra={"twin": 1}) for each in documents)
        file.commit(Step("sample", {"max_words": 200}, [], {"used": 6}, seed=5))
    clean = tmp_path / "clean.jsonl"
    overlaps = OverlapOptions(indexes=(index,))
    filtered(cut, overlaps, RULES["decontaminated"], name="decontaminated", out=clean)
    rows, _, header = filtered(clean, overlaps, seed=3)
    assert [(each["rule"], each["seed"]) for each in header["history"]] == [
        ("sample", 5),
        ("decontaminated", 0),
        ("thresholded", 3),
    ]
    assert header["history"][1]["counts"]["nonmembers"]["left_out"] == {"too_much_overlap": 1}
    assert header["history"][2]["counts"]["nonmembers"]["read"] == 5
    assert header["inputs"][0]["name"] == "clean.jsonl"
    assert {n: each["of"] for n, each in header["overlap"].items()} == {"13": "cut_text", "7": "cut_text"}
    assert ids(rows) == ["d0"]
    assert rows[0]["overlap"] == rows[0]["overlap_first"] == {"13": 0.0, "7": 0.0}
    assert (rows[0]["twin"], header["columns"]) == (1, ["twin", "overlap_first"])
    assert set(header["balance"]["covariates"]) == {"words", "characters", "overlap_13", "overlap_7"}
    # Measured once more, the new numbers hold, and no old one stays beside them.
    corpus = write_jsonl(tmp_path / "nothing.jsonl", [words("nothing", 9)])
    rows, _, header = filtered(clean, OverlapOptions(scan=(corpus,)), ThresholdRule(n=(13,)))
    assert len(rows) == 5
    assert all(row["overlap"] == row["overlap_loo"] == {"13": 0.0} for row in rows)
    assert header["overlap"]["13"]["by"] == "scan"


def test_order_and_threads_have_no_say(tmp_path: Path, index: Path) -> None:
    documents = [with_hits(f"d{number}", number % 80, label=None) for number in range(60)]
    facts = []
    for name, rows, threads in (("one", documents, 1), ("two", documents[::-1], 2)):
        path = write_jsonl(tmp_path / f"{name}.jsonl", rows)
        kept, step, _ = filtered(path, OverlapOptions(indexes=(index,), threads=threads))
        facts.append((sorted(ids(kept)), step["facts"], step["counts"]))
    assert facts[0] == facts[1]
    assert facts[0][1]["nonmembers"]["kept_against_removed"]["auc"] is not None


def test_the_sample_of_texts_is_bounded_and_by_content() -> None:
    candidates = [Candidate(number, f"text {number} " + "word " * 500) for number in range(MAX_TEXTS + 300)]
    forwards, backwards, other = FilterShift(1), FilterShift(1), FilterShift(2)
    for each in candidates:
        forwards.add(each, {}, kept=True, judged=True)
        other.add(each, {}, kept=True, judged=True)
    for each in reversed(candidates):
        backwards.add(each, {}, kept=True, judged=True)
    texts = [each._texts[True].texts() for each in (forwards, backwards, other)]
    assert texts[0] == texts[1]
    assert set(texts[0]) != set(texts[2])
    assert [len(set(each)) for each in texts] == [MAX_TEXTS] * 3
    assert all(len(each.split()) == 200 for each in texts[0])


def test_bins_hold_their_lower_bound() -> None:
    assert histogram(np.array([number / 20 for number in range(21)])) == [1] * 19 + [2]


def test_presets_are_the_splits_of_mimir() -> None:
    assert {name: (rule.n, rule.max_overlap) for name, rule in PRESETS.items()} == {
        "ngram_7_0.2": ((7,), 0.2),
        "ngram_13_0.2": ((13,), 0.2),
        "ngram_13_0.8": ((13,), 0.8),
    }
    for name, rule in PRESETS.items():
        assert (rule.first, rule.whole_document, rule.max_inclusive, rule.all_sides) == (200, False, False, False)
        assert ThresholdRule.of(name, all_sides=True).preset == name
    assert ThresholdRule(max_inclusive=True).preset is None
    with pytest.raises(UsageError, match=r"known: ngram_7_0\.2"):
        ThresholdRule.of("ngram_5")


def test_overlaps_of_sets_know_their_texts(tmp_path: Path, index: Path) -> None:
    for name, settings in (("cut", {"window_words": 512}), ("whole", {"max_words": None})):
        with SetFile(tmp_path / f"{name}.jsonl") as file:
            file.add([Candidate(name, words("z", 20))])
            file.commit(Step("sample", settings, [], {}))
    for paths, of in ((("cut",), "cut_text"), (("whole",), "document"), (("cut", "whole"), "document_or_cut_text")):
        source = RecordSource(tuple(tmp_path / f"{name}.jsonl" for name in paths))
        overlaps = Overlaps(source, OverlapOptions(indexes=(index,)))
        assert sum(len(batch) for batch, _ in overlaps) == len(paths)
        assert {each["of"] for each in overlaps.facts().values()} == {of}
