"""Candidates, the files they come from and go to, and how sides compare."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ngramscope import Index
from ngramscope.errors import InputError, UsageError
from ngramscope.sets import Candidate, Keys, OverlapOptions, Overlaps, Records, RecordSource, SetFile, Step, open_header
from ngramscope.sets.balance import Balance, compare, ks_distance, moments, to_text
from ngramscope.sets.base import COLUMNS
from ngramscope.sets.classifier import two_sample_test
from ngramscope.sets.writer import Counts


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def step(**facts: Any) -> Step:
    return Step("test", {"option": 1}, [], Counts(used=1).to_dict(), facts=facts)


def words(start: int, end: int) -> str:
    return " ".join(f"w{number}" for number in range(start, end))


def test_records_have_what_is_known_of_them(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "in.jsonl",
        [
            {"id": 7, "body": "one", "seen": "member", "meta": {"set": "A"}, "book": 3, "when": 2020.5, "more": [1]},
            {"id": "b", "body": None, "seen": 0},
            {"body": "three", "seen": False, "meta": {}, "when": "2021-01-01"},
        ],
    )
    keys = Keys(label="seen", domain="meta.set", group="book", date="when", fields=("more",))
    from ngramscope import ReadOptions

    records = Records([path], read=ReadOptions(text_key="body"), keys=keys)
    first, third = records.candidates()
    assert (first.id, first.text, first.label, first.domain, first.group, first.date) == (7, "one", 1, "A", "3", 2020.5)
    assert (first.source, first.position, first.extra) == ("in.jsonl", 0, {"more": [1]})
    assert (third.id, third.label, third.domain, third.position, third.extra) == (None, 0, None, 2, {"more": None})
    assert records.left_out() == {"null_text": 1}


def test_what_is_no_number_is_null(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "a", "date": 1e999, "more": [NaN, -1e999, 0.5]}\n')
    (candidate,) = Records([path], keys=Keys(fields=("more",))).candidates()
    assert (candidate.date, candidate.extra) == (None, {"more": [None, None, 0.5]})


@pytest.mark.parametrize("label", [2, "yes", [1], {"a": 1}, -1, 0.5])
def test_what_is_no_label_is_refused_with_its_line(tmp_path: Path, label: Any) -> None:
    path = lines(tmp_path / "in.jsonl", [{"text": "a", "label": 1}, {"text": "b", "label": label}])
    with pytest.raises(InputError, match=r"in\.jsonl, line 2: label"):
        list(Records([path]))
    assert [each.label for each in Records([path], label=0).candidates()] == [0, 0]


def test_halves_of_surrogate_pairs_are_replaced_wherever_they_stand(tmp_path: Path) -> None:
    half = r"\ud83d"
    names = ("id", "text", "domain", "group", "date", "more")
    (tmp_path / "in.jsonl").write_text("{" + ", ".join(f'"{name}": "a {half}"' for name in names) + "}")
    source = RecordSource((tmp_path / "in.jsonl",), keys=Keys(fields=("more",)))
    with SetFile(tmp_path / "out.jsonl") as file:
        file.add(source.open().candidates())
        file.commit(step())
    row = json.loads((tmp_path / "out.jsonl").read_text())
    assert [row[name] for name in names] == ["a \ufffd"] * len(names)


def test_keys_that_hide_a_column_are_refused() -> None:
    with pytest.raises(UsageError, match="--field: 'overlap'"):
        Keys(fields=("overlap",))
    with pytest.raises(UsageError, match="--group-key"):
        Keys(group="")


@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_a_set_comes_back_as_it_was_written(tmp_path: Path, ending: str) -> None:
    rows = [
        Candidate(
            "a", "text é \u2028 \n line", 1, "d", "g", "2020", {"7": 0.25, "13": None}, {"13": "fewer_than_n_words"}, "x", 4
        ),
        Candidate(12345678901234567890, "b", 0, extra={"twin": "a", "weight": 0.5}),
        Candidate(None, "", None, date=5),
    ]
    path = tmp_path / f"set{ending}"
    with SetFile(path) as file:
        file.add(rows)
        header = file.commit(step(), overlap={"7": {"by": "index"}})
    assert open_header(path) == header
    assert header["counts"] == {"members": 1, "nonmembers": 1, "unlabelled": 1}
    assert header["columns"] == ["twin", "weight"]
    records = RecordSource((path,)).open()
    back = list(records.candidates())
    for each in rows:
        each.extra = {"twin": each.extra.get("twin"), "weight": each.extra.get("weight")}
    assert back == rows
    assert records.headers[0]["history"][0]["settings"] == {"option": 1}


def test_rows_have_all_columns_in_order(tmp_path: Path) -> None:
    with SetFile(tmp_path / "set.jsonl") as file:
        file.add([Candidate("a", "b", extra={"more": 1})])
        file.commit(step())
    (row,) = (json.loads(line) for line in (tmp_path / "set.jsonl").read_text().splitlines())
    assert list(row) == [*COLUMNS, "more"]


def test_nothing_appears_before_it_is_whole(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), SetFile(tmp_path / "set.jsonl") as file:
        file.add([Candidate("a", "b")])
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="JSON"), SetFile(tmp_path / "set.jsonl") as file:
        file.commit(step(share=float("nan")))
    assert list(tmp_path.iterdir()) == []


def test_histories_follow_each_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with SetFile(tmp_path / f"{name}.jsonl") as file:
            file.add([Candidate(name, "text")])
            file.commit(step(name=name), overlap={"7": {"by": "index"}})
    records = Records([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])
    with SetFile(tmp_path / "c.jsonl") as file:
        file.add(records.candidates())
        header = file.commit(step(name="c"), before=records.headers)
    assert [each["facts"]["name"] for each in header["history"]] == ["a", "b", "c"]
    assert header["overlap"] == {"7": {"by": "index"}}


def test_overlaps_of_different_measurements_do_not_mix(tmp_path: Path) -> None:
    headers = []
    for by in ("index", "scan"):
        with SetFile(tmp_path / f"{by}.jsonl") as file:
            headers.append(file.commit(step(), overlap={"7": {"by": by}}))
    with SetFile(tmp_path / "both.jsonl") as file, pytest.raises(UsageError, match="7-grams differently"):
        file.commit(step(), before=headers)


def test_sets_and_documents_are_not_read_together(tmp_path: Path) -> None:
    with SetFile(tmp_path / "set.jsonl") as file:
        file.commit(step())
    plain = lines(tmp_path / "plain.jsonl", [{"text": "a"}])
    with pytest.raises(UsageError, match=r"plain\.jsonl: no candidate set"):
        Records([tmp_path / "set.jsonl", plain])


def test_headers_of_other_versions_and_artefacts(tmp_path: Path) -> None:
    path = lines(tmp_path / "set.jsonl", [{"text": "a"}])
    header = tmp_path / "set.jsonl.meta.json"
    assert open_header(path) is None
    header.write_text('{"artefact": "overlap-table", "format_version": 1}')
    assert open_header(path) is None
    header.write_text('{"artefact": "candidate-set", "format_version": 99}')
    with pytest.raises(InputError, match="version 99"):
        open_header(path)
    header.write_text("{")
    with pytest.raises(InputError, match="cannot be read"):
        open_header(path)


def measured(options: OverlapOptions, path: Path) -> tuple[list[float], list[float], list[str | None], Overlaps]:
    overlaps = Overlaps(RecordSource((path,)), options)
    whole: list[float] = []
    first: list[float] = []
    reasons: list[str | None] = []
    for batch, found in overlaps:
        assert len(batch) == len(found[3].overlap)
        whole += found[3].overlap.tolist()
        first += [] if found[3].first is None else found[3].first.tolist()
        reasons += found[3].null_reason
    return whole, first, reasons, overlaps


def test_index_scan_and_flags_agree(tmp_path: Path) -> None:
    corpus = lines(tmp_path / "corpus.jsonl", [{"text": words(0, 20)}, {"text": words(30, 35)}])
    Index.build(corpus, out=tmp_path / "index", n=3, filter="exact")
    texts = [f"{words(0, 10)} {words(50, 60)}", "too short", None, words(100, 110), words(0, 20)]
    flags = ["1" * 8 + "0" * 10, "", None, "0" * 8, "1" * 18]
    halves = [None if each is None else [number % 2 == 0 and flag == "1" for number, flag in enumerate(each)] for each in flags]
    rest = [None if each is None else [number % 2 == 1 and flag == "1" for number, flag in enumerate(each)] for each in flags]
    rows = [{"text": t, "flags": f, "a": a, "b": b} for t, f, a, b in zip(texts, flags, halves, rest, strict=True)]
    path = lines(tmp_path / "in.jsonl", rows)
    expected = [8 / 18, np.nan, 0.0, 1.0]
    first = [8 / 9, np.nan, 0.0, 1.0]
    for options in (
        OverlapOptions(indexes=(tmp_path / "index",), first=9),
        OverlapOptions(scan=(corpus,), n=(3,), first=9),
        OverlapOptions(flags=("flags",), n=(3,), first=9),
        OverlapOptions(flags=("a", "b"), n=(3,), first=9),
    ):
        whole, head, reasons, overlaps = measured(options, path)
        np.testing.assert_allclose(whole, expected)
        np.testing.assert_allclose(head, first)
        assert reasons == [None, "fewer_than_n_words", None, None]
        assert overlaps.facts()["3"]["by"] == ("index" if options.indexes else "scan" if options.scan else "flags")


def test_a_scan_leaves_a_documents_own_copy_out(tmp_path: Path) -> None:
    corpus = lines(tmp_path / "corpus.jsonl", [{"text": words(0, 20)}, {"text": words(15, 40)}])
    overlaps = Overlaps(RecordSource((corpus,)), OverlapOptions(scan=(corpus,), n=(3,)))
    (_, found) = next(overlaps)
    assert found[3].loo is not None
    assert found[3].loo.tolist() == [3 / 18, 3 / 23]


def test_where_overlaps_come_from_is_one_place() -> None:
    for values in ({}, {"indexes": ("a",), "flags": ("b",)}):
        with pytest.raises(UsageError, match="--index, --scan or --flags"):
            OverlapOptions(**values)
    with pytest.raises(UsageError, match="one length"):
        OverlapOptions(flags=("a",), n=(3, 5))


def test_the_demonstration_corpus_is_refused(tmp_path: Path) -> None:
    Index.build(out=tmp_path / "demo", n=7)
    path = lines(tmp_path / "in.jsonl", [{"text": "a"}])
    with pytest.raises(UsageError, match="--accept-demo"):
        Overlaps(RecordSource((path,)), OverlapOptions(indexes=(tmp_path / "demo",)))
    accepted = Overlaps(RecordSource((path,)), OverlapOptions(indexes=(tmp_path / "demo",), accept_demo=True))
    assert accepted.warnings


@pytest.mark.parametrize("flags", ["013", [1, 2], {"a": 1}, [True, "no"]])
def test_what_are_no_flags_is_refused(tmp_path: Path, flags: Any) -> None:
    path = lines(tmp_path / "in.jsonl", [{"text": "a", "hits": flags}])
    with pytest.raises(InputError, match=r"in\.jsonl, record 1: hits"):
        measured(OverlapOptions(flags=("hits",), n=(3,)), path)


def test_flags_of_other_ngrams_are_not_combined(tmp_path: Path) -> None:
    path = lines(tmp_path / "in.jsonl", [{"text": "a", "x": "01", "y": "011"}])
    with pytest.raises(InputError, match="2, 3 flags"):
        measured(OverlapOptions(flags=("x", "y"), n=(3,)), path)


def test_compared_like_scipy() -> None:
    random = np.random.default_rng(3)
    one, other = random.normal(size=200), random.normal(0.5, 2, size=150).round(1)
    row = compare(one, other)
    assert row["ks"] == pytest.approx(stats.ks_2samp(one, other).statistic)
    pooled = np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 2)
    assert row["smd"] == pytest.approx((one.mean() - other.mean()) / pooled)
    assert row["members"]["quartiles"][1] == pytest.approx(np.quantile(one, 0.5, method="inverted_cdf"))


def test_a_whole_weight_is_a_copy() -> None:
    values, weights = np.array([1.0, 2.0, 5.0]), np.array([3, 1, 2])
    copies = np.repeat(values, weights)
    assert moments(values, weights)["mean"] == copies.mean()
    assert moments(values, weights)["quartiles"] == moments(copies)["quartiles"]
    assert ks_distance(values, [2.0, 4.0], weights) == ks_distance(copies, [2.0, 4.0])


def test_what_cannot_be_compared_is_null() -> None:
    assert compare([], [1.0, 2.0])["smd"] is None
    assert compare([], [1.0])["ks"] is None
    assert compare([1.0, 1.0], [1.0, 1.0])["smd"] == 0.0
    assert compare([1.0, 1.0], [2.0, 2.0])["smd"] is None
    assert moments([4.0]) == {"n": 1, "mean": 4.0, "sd": None, "quartiles": [4.0, 4.0, 4.0]}


def test_the_balance_table_for_people() -> None:
    balance = Balance()
    for label, text in ((1, "a b c"), (1, "a b"), (0, "a"), (0, "a b c d"), (None, "x")):
        balance.add(Candidate(None, text, label, domain="d", group=text, overlap={"7": 0.5 if label else None}))
    assert balance.counts() == {"members": 2, "nonmembers": 2, "unlabelled": 1}
    table = balance.to_dict()
    assert table["groups"] == {"members": 2, "nonmembers": 2, "unlabelled": 1}
    assert table["covariates"]["words"]["members"]["mean"] == 2.5
    assert table["covariates"]["overlap_7"]["nonmembers"]["n"] == 0
    assert "overlap_7" in to_text(table)


def test_years_are_shown_to_the_hundredth() -> None:
    balance = Balance()
    for label, date in ((1, "2023-03-01"), (1, "2023-03-01"), (0, "2023-10-01"), (0, "2023-10-01")):
        balance.add(Candidate(None, "a", label, date=date))
    assert re.search(r"year +2023\.16 \(n 2\) +2023\.75 \(n 2\)", to_text(balance.to_dict()))


def texts(topic: str, number: int, random: np.random.Generator) -> list[str]:
    common = [f"w{each}" for each in range(200)]
    return [" ".join([*random.choice(common, 40), *([topic] if random.random() < 0.6 else [])]) for _ in range(number)]


def test_sides_with_their_own_words_are_told_apart() -> None:
    random = np.random.default_rng(1)
    found = two_sample_test(texts("apple", 60, random), texts("pear", 80, random), permutations=99)
    assert found.auc is not None
    assert found.auc > 0.7
    assert found.p == 0.01
    assert two_sample_test(texts("apple", 60, random), texts("pear", 80, random), permutations=0).p is None


def test_false_alarms_of_the_classifier_test_are_as_many_as_promised() -> None:
    random = np.random.default_rng(2)
    values = []
    for seed in range(60):
        each = texts("apple", 60, random)
        values.append(two_sample_test(each[:30], each[30:], permutations=39, seed=seed).p)
    assert sum(p is not None and p <= 0.05 for p in values) <= 8  # 3 are expected; 9 or more in one of 500 such tests


def test_groups_stay_in_one_fold() -> None:
    random = np.random.default_rng(4)
    # Each group has a word of its own: with the group in both folds it would give the side away.
    one = [f"{text} {f'g{number // 4} ' * 3}" for number, text in enumerate(texts("x", 40, random))]
    other = [f"{text} {f'h{number // 4} ' * 3}" for number, text in enumerate(texts("x", 40, random))]
    names = [f"g{number // 4}" for number in range(40)], [f"h{number // 4}" for number in range(40)]
    torn = two_sample_test(one, other, permutations=19)
    whole = two_sample_test(one, other, groups=names, permutations=199)
    assert torn.auc is not None
    assert torn.auc > 0.8
    assert whole.auc is not None
    assert whole.auc < 0.65
    assert whole.p is not None
    assert whole.p > 0.05


def test_too_few_texts_for_the_folds() -> None:
    found = two_sample_test(["a"] * 3, ["b"] * 30)
    assert (found.auc, found.p, found.null_reason) == (None, None, "fewer_texts_than_folds")
