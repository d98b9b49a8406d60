"""Samples: cutting, duplicates, quotas, windows, and that only content and seed decide."""

from __future__ import annotations

import itertools
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ngramscope.errors import InputError, UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.sets.cut import cut, windows
from ngramscope.sets.duplicates import PERMUTATIONS, near_duplicates, signatures
from ngramscope.sets.quotas import allot
from ngramscope.sets.records import Keys
from ngramscope.sets.sample import SampleOptions, sample
from tests.conftest import read_jsonl, write_jsonl

Row = dict[str, Any]
WORDS = [f"w{number}" for number in range(4000)]
SPACES = [" ", "\n", "\t", "  ", " \r\n", "\u00a0", "\u2003", "\u3000", "\x1c", "\x85"]


def text(chance: random.Random, words: int = 30) -> str:
    return " ".join(chance.choices(WORDS, k=words))


def documents(count: int, seed: int, **more: Any) -> list[Row]:
    chance = random.Random(seed)
    return [{"id": f"{seed}-{number}", "text": text(chance), **more} for number in range(count)]


def drawn(folder: Path, members: Iterable[Row] = (), nonmembers: Iterable[Row] = (), **options: Any) -> tuple[list[Row], Row]:
    """Rows and header of a sample of these documents, after checking that its counts add up."""
    keys = options.pop("keys", None)
    sides: dict[str, list[Path]] = {}
    for name, rows in (("members", list(members)), ("nonmembers", list(nonmembers))):
        sides[name] = [write_jsonl(folder / f"{name}.jsonl", rows)] if rows else []
    options = {"min_words": 1, **options}
    header = sample(folder / "set.jsonl", **sides, options=SampleOptions(**options), keys=keys)
    rows = read_jsonl(folder / "set.jsonl")
    adds_up(header, rows)
    return rows, header


def adds_up(header: Mapping[str, Any], rows: list[Row]) -> None:
    counts = header["history"][-1]["counts"]
    for each in counts.values():
        assert each["read"] == each["used"] + sum(each["left_out"].values())
        assert all(count > 0 for count in each["left_out"].values())
    for name, label in (("members", 1), ("nonmembers", 0)):
        read = sum(each["records"] for each in header["inputs"] if each["side"] == name)
        if name in counts:
            assert counts[name]["read"] == read
        in_set = counts.get(f"{name}_windows", counts.get(name, {"used": 0}))["used"]
        assert in_set == header["counts"][name] == sum(row["label"] == label for row in rows)


def mimir(document: str, min_words: int, max_words: int) -> str | None:
    """Slowly, by the spans between white space, as a readable oracle."""
    spans, start = [], None
    for place, character in enumerate(document + " "):
        if character.isspace():
            if start is not None:
                spans.append((start, place))
            start = None
        elif start is None:
            start = place
    return document[: spans[min(max_words, len(spans)) - 1][1]] if len(spans) >= min_words else None


def test_documents_are_cut_as_mimir_cuts_them(tmp_path: Path) -> None:
    chance = random.Random(1)
    texts = []
    for number in range(60):
        pieces = [chance.choice(["", *SPACES])]
        for word in range(number % 30):
            pieces += [f"{number}.{word}\u00e9\u200b", "".join(chance.choices(SPACES, k=chance.choice([1, 1, 3])))]
        texts.append("".join(pieces if chance.random() < 0.5 else pieces[:-1]))
    wanted = {cut_text for each in texts if (cut_text := mimir(each, 5, 12)) is not None}
    rows, header = drawn(tmp_path, texts, min_words=5, max_words=12, per_domain=1000, allow_fewer=True, near_duplicates=None)
    assert {row["text"] for row in rows} == wanted
    assert len(wanted) == len(rows) == 50
    assert header["history"][-1]["counts"]["members"]["left_out"] == {"too_short": 10}
    assert {len(row["text"].split()) for row in rows} == {*range(5, 13)}
    assert {row["document_words"] for row in rows} == {*range(5, 30)}


def test_white_space_is_the_same_everywhere() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    spaces = set(filter(str.isspace, every))
    assert set(re.sub(r"\S", "", every)) == spaces
    assert all(cut(f"a{space}b{space}c", 2) == f"a{space}b" for space in spaces)


def test_windows_are_random_and_do_not_overlap() -> None:
    words = WORDS[:1000]
    document = "\n ".join(words)
    found = [windows(document, 5, 40, bytes([seed])) for seed in range(200)]
    for each in found:
        starts = [start for start, _ in each]
        assert all(later - before >= 40 for before, later in itertools.pairwise(starts))
        assert all(piece == "\n ".join(words[start : start + 40]) for start, piece in each)
    firsts = [each[0][0] for each in found]
    # The smallest of five uniform numbers up to 800 has a mean of 133.
    assert 100 < np.mean(firsts) < 170
    assert windows(document, 25, 40, b"") == [(start, "\n ".join(words[start : start + 40])) for start in range(0, 1000, 40)]
    with pytest.raises(ValueError, match="1000 words"):
        windows(document, 26, 40, b"")


def test_windows_of_a_set_keep_their_document(tmp_path: Path) -> None:
    chance = random.Random(3)
    books = [{"id": number, "text": text(chance, 300)} for number in range(4)]
    pages = [{"id": "page", "text": text(chance, 120), "group": "author"}, {"id": 0, "text": text(chance, 119)}]
    rows, header = drawn(tmp_path, books, pages, windows=2, window_words=60, per_domain=2, allow_fewer=True)
    assert header["history"][-1]["counts"]["nonmembers"]["left_out"] == {"too_short": 1}
    members = [row for row in rows if row["label"] == 1]
    assert Counter(row["group"] for row in rows if row["label"] == 0) == {"author": 2}
    assert sorted(Counter(row["group"] for row in members).values()) == [2, 2]
    by_id = {str(each["id"]): each["text"].split() for each in books}
    for row in members:
        book, start = row["id"].split("#")
        assert row["group"] == f"members/{book}"
        assert row["text"].split() == by_id[book][int(start) : int(start) + 60]
        assert (row["window_start"], row["document_words"]) == (int(start), 300)
    assert len({row["id"] for row in rows}) == len(rows) == 6


def test_equal_windows_are_taken_once(tmp_path: Path) -> None:
    # Documents of one window, which differ in what stands before it.
    page = text(random.Random(4), 50)
    members = [{"id": "a", "text": page}, {"id": "b", "text": "\n" + page}]
    rows, header = drawn(
        tmp_path, members, [{"id": "c", "text": " " + page}], windows=1, window_words=50, per_domain=3, allow_fewer=True,
        near_duplicates=None,
    )  # fmt: skip
    counts = header["history"][-1]["counts"]
    assert [row["text"] for row in rows] == [page]
    assert counts["members_windows"]["left_out"] == {"exact_duplicate": 1}
    assert counts["nonmembers_windows"]["left_out"] == {"on_both_sides": 1}


def edited(document: str, words: Iterable[int]) -> str:
    parts = document.split()
    for word in words:
        parts[word] = "edited"
    return " ".join(parts)


def test_duplicates_within_and_across_sides(tmp_path: Path) -> None:
    chance = random.Random(5)
    one, two, three, four = (text(chance, 200) for _ in range(4))
    members = [
        {"id": "one", "text": one},
        {"id": "one again", "text": one},
        {"id": "one edited", "text": edited(one, [0])},
        {"id": "two", "text": two},
    ]
    nonmembers = [
        {"id": "one there", "text": one},
        {"id": "two edited", "text": edited(two, [199])},
        {"id": "three", "text": three},
        {"id": "three edited", "text": edited(three, [100])},
        {"id": "three spaced", "text": three.replace(" ", "\n")},
        {"id": "four", "text": four},
        {"id": "four rewritten", "text": edited(four, range(0, 200, 4))},
    ]
    rows, header = drawn(tmp_path, members, nonmembers, per_domain=9, allow_fewer=True)
    counts = header["history"][-1]["counts"]
    assert counts["members"]["left_out"] == {"exact_duplicate": 1, "near_duplicate": 1}
    assert counts["nonmembers"]["left_out"] == {"on_both_sides": 1, "near_member": 1, "near_duplicate": 2}
    kept = {row["id"] for row in rows}
    assert {"two", "four", "four rewritten"} <= kept
    assert len(kept & {"one", "one again", "one edited"}) == 1
    assert len(kept & {"three", "three edited", "three spaced"}) == 1

    rows, header = drawn(tmp_path, members, nonmembers, per_domain=9, allow_fewer=True, near_duplicates=None)
    counts = header["history"][-1]["counts"]
    assert counts["members"]["left_out"] == {"exact_duplicate": 1}
    assert counts["nonmembers"]["left_out"] == {"on_both_sides": 1}


def test_nonmembers_like_a_member_that_went_go_too(tmp_path: Path) -> None:
    # A chain: the ends are not alike, the middle is like both.
    chance = random.Random(6)
    alike: list[bool] = []
    while alike != [True, True, False]:
        start = text(chance, 200)
        middle, end = edited(start, [20, 60]), edited(start, [20, 60, 100, 140])
        signs = signatures([each.split() for each in (start, middle, end)])
        alike = [bool((signs[one] == signs[other]).mean() >= 0.86) for one, other in ((0, 1), (1, 2), (0, 2))]
    kept = set()
    for seed in range(8):
        rows, header = drawn(
            tmp_path,
            [{"id": "start", "text": start}, {"id": "middle", "text": middle}],
            [{"id": "end", "text": end}],
            per_domain=2, allow_fewer=True, near_duplicates=0.86, seed=seed,
        )  # fmt: skip
        assert [row["label"] for row in rows] == [1]
        assert header["history"][-1]["counts"]["nonmembers"]["left_out"] == {"near_member": 1}
        kept.add(rows[0]["id"])
    assert kept == {"start", "middle"}


def families(seed: int, count: int) -> list[list[str]]:
    """Texts of which many are more or less alike."""
    chance = random.Random(seed)
    found: list[list[str]] = []
    while len(found) < count:
        base = chance.choices(WORDS, k=chance.choice([3, 20, 60]))
        for _ in range(chance.choice([1, 2, 10])):
            found.append([chance.choice(WORDS) if chance.random() < chance.choice([0, 0.02, 0.1]) else each for each in base])
    chance.shuffle(found)
    return found[:count]


@pytest.mark.parametrize(("threshold", "members"), [(0.5, 0), (0.8, 150), (0.95, 200), (1.0, 300)])
def test_the_search_misses_nothing_that_signatures_show(threshold: float, members: int) -> None:
    table = signatures(families(members, 300))
    rows = np.random.default_rng(members).permutation(300)
    found = near_duplicates(table, rows, members, threshold)

    alike: NDArray[np.bool_] = (table[rows][:, None, :] == table[rows][None, :, :]).mean(axis=2) >= threshold
    kept: list[int] = []
    for row in range(300):
        of_member = row >= members and alike[row, :members].any()
        of_kept = not of_member and bool(alike[row, kept].any())
        assert (found.of_member[row], found.of_kept[row]) == (of_member, of_kept)
        if not of_member and not of_kept:
            kept.append(row)
    assert 0 < len(kept) < 300
    assert found.capped == 0


def test_what_many_texts_have_in_common_does_not_make_the_search_quadratic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ngramscope.sets.duplicates.MAX_COMPARED", 3)
    licence = WORDS[:60]
    chance = random.Random(7)
    table = signatures([licence + chance.choices(WORDS, k=40) for _ in range(40)])
    found = near_duplicates(table, np.arange(40), 40, 0.8)
    assert found.capped > 0
    assert not found.of_kept.any()


def test_signatures_estimate_the_jaccard_similarity() -> None:
    chance = random.Random(8)
    errors = []
    for _ in range(40):
        one = chance.choices(WORDS, k=150)
        other = [chance.choice(WORDS) if chance.random() < 0.05 else each for each in one]
        shingles = [{tuple(each[place : place + 5]) for place in range(146)} for each in (one, other)]
        true = len(shingles[0] & shingles[1]) / len(shingles[0] | shingles[1])
        both = signatures([one, other])
        errors.append(float((both[0] == both[1]).mean()) - true)
    # The standard deviation of one estimate is at most 0.044.
    assert abs(np.mean(errors)) < 4 * 0.044 / np.sqrt(40)
    assert max(map(abs, errors)) < 0.2
    # Texts do not reach into their neighbours, and short ones are one shingle.
    short = [["a"], ["b", "c"], ["a"], ["c", "b"], WORDS[:5], WORDS[:6]]
    together = signatures(short)
    assert together.shape == (6, PERMUTATIONS)
    assert all((together[row] == signatures([each])[0]).all() for row, each in enumerate(short))
    assert (together[0] == together[2]).all()
    assert not (together[1] == together[3]).any()


def test_quotas_of_domains(tmp_path: Path) -> None:
    members = [*documents(30, 1, meta={"d": "a"}), *documents(20, 2, meta={"d": "b"})]
    nonmembers = [*documents(12, 3, meta={"d": "a"}), *documents(8, 4, meta={"d": "b"})]
    keys = Keys(domain="meta.d")
    rows, _ = drawn(tmp_path, members, nonmembers, per_domain=7, keys=keys)
    assert Counter((row["label"], row["domain"]) for row in rows) == {(1, "a"): 7, (1, "b"): 7, (0, "a"): 7, (0, "b"): 7}

    with pytest.raises(InputError, match=r"--per-domain 10: .* nonmembers of b: 8; .*20 read.*--allow-fewer"):
        drawn(tmp_path, members, nonmembers, per_domain=10, keys=keys)
    assert not list(tmp_path.glob(".*"))

    rows, header = drawn(tmp_path, members, nonmembers, per_domain=10, allow_fewer=True, keys=keys)
    facts = header["history"][-1]["facts"]
    assert facts["fewer_than_asked"] == [{"side": "nonmembers", "domain": "b", "asked": 10, "found": 8}]
    assert facts["domains"]["b"] == {"members": {"found": 20, "asked": 10}, "nonmembers": {"found": 8, "asked": 10}}
    assert header["counts"] == {"members": 20, "nonmembers": 18, "unlabelled": 0}


def test_sides_without_a_common_domain_are_told_how_to_go_on(tmp_path: Path) -> None:
    members, nonmembers = documents(9, 1, domain="a"), documents(9, 2, domain="b")
    for size in ({"per_domain": 5}, {"total": 5}):
        with pytest.raises(InputError, match=r"no domain has documents on both sides: .* --domain-key that no record has"):
            drawn(tmp_path, members, nonmembers, **size)
    rows, _ = drawn(tmp_path, members, nonmembers, per_domain=5, keys=Keys(domain="none"))
    assert Counter((row["label"], row["domain"]) for row in rows) == {(1, None): 5, (0, None): 5}
    with pytest.raises(InputError, match="too few documents; found nonmembers of a: 3; members"):
        drawn(tmp_path, members, documents(3, 2, domain="a"), per_domain=5)
    with pytest.raises(InputError, match="too few documents; found members of a: 9; members"):
        drawn(tmp_path, members, per_domain=10)


def test_a_domain_of_which_nothing_is_left_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="members of b: 0"):
        drawn(tmp_path, [*documents(5, 1, domain="a"), {"text": "short", "domain": "b"}], per_domain=5, min_words=3)


def test_documents_without_a_domain_are_of_one(tmp_path: Path) -> None:
    rows, header = drawn(
        tmp_path, [*documents(5, 1), *documents(5, 2, domain=""), *documents(5, 3, domain=None)], per_domain=15
    )
    assert len(rows) == 15
    assert header["history"][-1]["facts"]["domains"] == {"": {"members": {"found": 15, "asked": 15}}}


def test_a_total_has_the_domains_in_proportion(tmp_path: Path) -> None:
    members = [*documents(60, 1, domain="a"), *documents(20, 2, domain="b"), *documents(9, 3, domain="only here")]
    nonmembers = [*documents(30, 4, domain="a"), *documents(15, 5, domain="b")]
    rows, _ = drawn(tmp_path, members, nonmembers, total=12)
    assert Counter((row["label"], row["domain"]) for row in rows) == {(1, "a"): 8, (1, "b"): 4, (0, "a"): 8, (0, "b"): 4}
    with pytest.raises(InputError, match=r"--total 46: .* members: 89 \(a 60, .* nonmembers: 45 \(a 30, .* 45 of each side"):
        drawn(tmp_path, members, nonmembers, total=46)
    _, header = drawn(tmp_path, members, nonmembers, total=46, allow_fewer=True)
    assert header["counts"] == {"members": 45, "nonmembers": 45, "unlabelled": 0}
    rows, _ = drawn(tmp_path, members, total=89)
    assert len(rows) == 89


@pytest.mark.parametrize("seed", range(20))
def test_allotment_by_largest_remainders(seed: int) -> None:
    chance = np.random.default_rng(seed)
    sizes = chance.integers(0, 50, size=8)
    total = int(chance.integers(1, sizes.sum()))
    parts = allot(total, sizes)
    assert parts.sum() == total
    assert (parts <= sizes).all()
    assert (np.abs(parts - sizes * total / sizes.sum()) < 1).all()


def test_only_content_and_seed_decide(tmp_path: Path) -> None:
    members, nonmembers = documents(400, 1, domain="a"), documents(400, 2, domain="b")
    for rows in (members, nonmembers):
        rows += [{**rows[number], "id": f"copy {number}"} for number in range(0, 100, 3)]
        rows += [{"id": f"edited {number}", "text": edited(rows[number]["text"], [0]), "domain": "c"} for number in range(50)]
    files = [write_jsonl(tmp_path / f"{number}.jsonl", members[number::3]) for number in range(3)]
    files += [write_jsonl(tmp_path / f"{number}.jsonl", nonmembers[number - 3 :: 3]) for number in range(3, 6)]

    def run(options: SampleOptions, order: int = 1) -> tuple[bytes, bytes]:
        sample(tmp_path / "set.jsonl", members=files[:3][::order], nonmembers=files[3:][::order], options=options)
        return (tmp_path / "set.jsonl").read_bytes(), (tmp_path / "set.jsonl.meta.json").read_bytes()

    options: dict[str, Any] = {"min_words": 1, "per_domain": 20, "allow_fewer": True}
    first = run(SampleOptions(threads=1, **options))
    assert run(SampleOptions(threads=8, **options), order=-1) == first
    assert run(SampleOptions(**options, seed=1))[0] != first[0]

    # The same documents in another order within the files, too: only their places differ.
    for file in files:
        file.write_text("".join(reversed(file.read_text().splitlines(keepends=True))))
    without = [{name: value for name, value in row.items() if name != "position"} for row in read_jsonl(first[0])]
    again = [
        {name: value for name, value in row.items() if name != "position"}
        for row in read_jsonl(run(SampleOptions(**options))[0])
    ]
    assert again == without


def test_texts_with_many_copies_are_not_drawn_more_often(tmp_path: Path) -> None:
    copied, single = documents(10, 1), documents(10, 2)
    rows = [*single, *({**each, "id": f"{each['id']} {copy}"} for each in copied for copy in range(20))]
    texts = {each["text"] for each in copied}
    taken = [row["text"] in texts for seed in range(12) for row in drawn(tmp_path, rows, per_domain=5, seed=seed)[0]]
    # 60 draws with a chance of one half; with the copies' weight it would be 57.
    assert 18 <= sum(taken) <= 42


def test_the_choice_is_uniform(tmp_path: Path) -> None:
    rows = documents(40, 9)
    taken = Counter(row["id"] for seed in range(40) for row in drawn(tmp_path, rows, per_domain=10, seed=seed)[0])
    # Of 40 draws a quarter each: chi-squared of 39 degrees of freedom, scaled by what is drawn without replacement.
    assert sum((taken[row["id"]] - 10) ** 2 / 7.5 for row in rows) < 80


def test_labels_of_the_documents(tmp_path: Path) -> None:
    chance = random.Random(10)
    rows = [{"id": n, "text": text(chance), "label": [1, 0, "member", "nonmember", None][n % 5]} for n in range(50)]
    path = write_jsonl(tmp_path / "all.jsonl", [*rows, {"id": 50}])
    first = tmp_path / "first.jsonl"
    header = sample(
        first, candidates=[path], options=SampleOptions(min_words=1, per_domain=15), read=ReadOptions(max_bad_records=1)
    )
    counts = header["history"][0]["counts"]
    assert [each["side"] for each in header["inputs"]] == ["candidates"]
    assert counts["unlabelled"] == {"read": 11, "used": 0, "left_out": {"missing_text": 1, "unlabelled": 10}}
    assert counts["members"] == {"read": 20, "used": 15, "left_out": {"not_chosen": 5}}

    # A set is sampled anew with its labels, and its history goes on.
    again = sample(tmp_path / "again.jsonl", candidates=[first], options=SampleOptions(min_words=1, max_words=9, total=10))
    assert [step["settings"]["max_words"] for step in again["history"]] == [200, 9]
    made = read_jsonl(tmp_path / "again.jsonl")
    assert {row["document_words"] for row in made} == {30}
    assert {row["source"] for row in made} == {"all.jsonl"}
    with pytest.raises(InputError, match=r"first.jsonl, line 16: one of the nonmembers .* given as members"):
        sample(tmp_path / "no.jsonl", members=[first], options=SampleOptions(min_words=1))
    with pytest.raises(InputError, match=r"no document has a label.*1 missing_text, 50 unlabelled"):
        sample(
            tmp_path / "no.jsonl",
            candidates=[path],
            keys=Keys(label="none"),
            options=SampleOptions(min_words=1),
            read=ReadOptions(max_bad_records=1),
        )


def test_plain_text_has_no_keys(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(f"text {name}", encoding="utf-8")
    options = SampleOptions(min_words=2, total=3)
    sample(tmp_path / "set.jsonl", members=[tmp_path / "*.txt"], options=options, keys=Keys(fields=("more",)))
    rows = read_jsonl(tmp_path / "set.jsonl")
    assert {(row["text"], row["domain"], row["more"], row["source"]) for row in rows} == {
        (f"text {name}", None, None, f"{name}.txt") for name in "abc"
    }


def test_overlaps_of_a_set_are_said_to_be_older_than_the_cut(tmp_path: Path) -> None:
    first = tmp_path / "first.jsonl"
    sample(first, members=[write_jsonl(tmp_path / "a.jsonl", documents(3, 1))], options=SampleOptions(min_words=1, total=3))
    header = json.loads(Path(f"{first}.meta.json").read_text())
    header["overlap"] = {"7": {"by": "scan"}}
    Path(f"{first}.meta.json").write_text(json.dumps(header))
    again = sample(tmp_path / "b.jsonl", candidates=[first], options=SampleOptions(min_words=1, max_words=9, total=3))
    assert again["overlap"] == {"7": {"by": "scan", "measured_on": "texts before sample cut them"}}


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", documents(5, 1))
    for later in (documents(5, 2), documents(4, 1)):
        write_jsonl(path, documents(5, 1))

        def change(step: object, later: list[Row] = later) -> None:
            if getattr(step, "phase", "") == "removing duplicates":
                write_jsonl(path, later)

        with pytest.raises(InputError, match="changed between the two readings"):
            sample(
                tmp_path / "set.jsonl",
                members=[path],
                options=SampleOptions(min_words=1, total=5),
                progress=change,
            )
    assert not (tmp_path / "set.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min_words": 0}, "--min-words"),
        ({"windows": 3}, "--window-words"),
        ({"windows": 3, "window_words": 5, "max_words": 7}, "--max-words"),
        ({"per_domain": 3, "total": 3}, "--per-domain and --total"),
        ({"near_duplicates": 0.3}, "from 0.5 to 1, or off"),
        ({"seed": -1}, "--seed"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        SampleOptions(**options)


def test_inputs_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing to sample from"):
        sample(tmp_path / "set.jsonl")
    with pytest.raises(UsageError, match="standard input"):
        sample(tmp_path / "set.jsonl", members=["-"])
