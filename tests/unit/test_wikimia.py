"""The rule of WikiMIA: who is taken, how texts are cut, and what chance decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ngramscope import InputError, UsageError
from ngramscope.cli._run import run
from ngramscope.sets import RecordSource, open_header
from ngramscope.sets.dates import DateRule
from ngramscope.sets.wikimia import WikimiaOptions, wikimia
from tests.conftest import read_jsonl, write_jsonl

RULE = DateRule(latest="2030")


def options(**more: Any) -> WikimiaOptions:
    return WikimiaOptions(members_before="2017-01-01", nonmembers_after="2023-01-01", dates=RULE, **more)


def page(number: int, when: str | None, words: int = 300, **more: Any) -> dict[str, Any]:
    text = " ".join(f"p{number}w{word}" for word in range(words))
    return {"id": number, "title": f"Page {number}", "date": when, "text": text, **more}


def make(tmp_path: Path, pages: list[dict[str, Any]], given: WikimiaOptions, name: str = "out") -> dict[str, Any]:
    return wikimia(RecordSource((write_jsonl(tmp_path / f"{name}.jsonl", pages),)), tmp_path / name, given)


def sides(rows: list[dict[str, Any]]) -> tuple[set[int], set[int]]:
    members, nonmembers = ({row["id"] for row in rows if row["label"] == label} for label in (1, 0))
    return members, nonmembers


def counts(path: Path) -> dict[str, Any]:
    header = open_header(path)
    assert header is not None
    found: dict[str, Any] = header["history"][-1]["counts"]["documents"]
    assert found["read"] == found["used"] + sum(found["left_out"].values())
    return found


def test_who_is_taken(tmp_path: Path) -> None:
    pages = [
        page(0, "2016-12-31T23:59:59Z"),
        page(1, "2017-01-01"),
        page(2, "2022-12-31"),
        page(3, "2023-01-01"),
        page(4, "2016", title="List of owls"),
        page(5, "2024", title="timeline of owls"),
        page(6, "2024", title="The List of owls"),
        page(7, "2024", title="Listing of owls"),
        page(8, "2024", title=None),
        page(9, None),
        page(10, "2015"),
        page(11, "2014"),
        page(12, "2016-12-31T23:00:00-05:00"),
    ]
    header = make(tmp_path, pages, options())
    assert [each["file"] for each in header["sets"]] == [f"WikiMIA_length{length}.jsonl" for length in (32, 64, 128, 256)]
    rows = read_jsonl(tmp_path / "out" / "WikiMIA_length32.jsonl")
    assert sides(rows) == ({0, 10, 11}, {3, 6, 7})
    assert counts(tmp_path / "out" / "WikiMIA_length32.jsonl") == {
        "read": 13, "used": 6, "left_out": {"between_sides": 3, "excluded_title": 2, "no_date": 1, "no_title": 1}
    }  # fmt: skip
    assert json.loads((tmp_path / "out" / "series.json").read_bytes()) == header
    assert rows[0]["title"] == "Page 0"
    assert rows[0]["date_utc"] == "2016-12-31T23:59:59Z"


def test_texts_are_cut_to_their_first_words(tmp_path: Path) -> None:
    spaced = "  one\ttwo\n\nthree\u00a0four  five "
    pages = [page(0, "2015", text=spaced), page(1, "2024", 5), page(2, "2024", 4), page(3, "2014", 2)]
    header = make(tmp_path, pages, options(lengths=(3, 5, 2)))
    texts = {
        length: {row["id"]: row["text"] for row in read_jsonl(tmp_path / "out" / f"WikiMIA_length{length}.jsonl")}
        for length in (3, 5, 2)
    }
    assert texts[5] == {0: "one\ttwo\n\nthree\u00a0four  five", 1: "p1w0 p1w1 p1w2 p1w3 p1w4"}
    assert texts[3][0] == "one\ttwo\n\nthree"
    assert set(texts[2]) == {0, 1, 2, 3}
    assert [(each["length"], each["members"], each["nonmembers"]) for each in header["sets"]] == [
        (3, 1, 1),
        (5, 1, 1),
        (2, 2, 2),
    ]
    wanted = {"fewer_than_3_words": 1, "not_drawn": 1}
    assert counts(tmp_path / "out" / "WikiMIA_length3.jsonl") == {"read": 4, "used": 2, "left_out": wanted}


def test_both_sides_are_drawn_equally_by_the_seed_alone(tmp_path: Path) -> None:
    pages = [page(number, "2015", 40) for number in range(60)] + [page(number, "2024", 40) for number in range(60, 80)]
    found = {}
    for name, given, seed in (("a", pages, 1), ("b", pages[::-1], 1), ("c", pages, 2)):
        make(tmp_path, given, options(seed=seed, lengths=(32, 8)), name)
        members, nonmembers = sides(read_jsonl(tmp_path / name / "WikiMIA_length32.jsonl"))
        assert (len(members), nonmembers) == (20, set(range(60, 80)))
        # All are long enough for both lengths, so that the same are drawn.
        assert sides(read_jsonl(tmp_path / name / "WikiMIA_length8.jsonl"))[0] == members
        found[name] = members
    assert found["a"] == found["b"] != found["c"]
    assert sum(number < 30 for number in found["a"]) not in (0, 20)
    assert counts(tmp_path / "a" / "WikiMIA_length32.jsonl")["left_out"] == {"not_drawn": 40}


def test_one_text_counts_once_and_is_not_new_if_it_is_old(tmp_path: Path) -> None:
    pages = [page(0, "2015"), page(1, "2024"), page(2, "2014"), page(3, "2024")]
    again = [{**pages[0], "id": 10}, {**pages[1], "date": "2012", "id": 11}, {**pages[0], "id": 12}]
    make(tmp_path, pages + again, options(lengths=(32,)))
    members, nonmembers = sides(read_jsonl(tmp_path / "out" / "WikiMIA_length32.jsonl"))
    assert nonmembers == {3}
    assert counts(tmp_path / "out" / "WikiMIA_length32.jsonl")["left_out"] == {
        "duplicate_text": 2, "text_of_a_member": 1, "not_drawn": 2
    }  # fmt: skip
    make(tmp_path, (pages + again)[::-1], options(lengths=(32,)), "reversed")
    assert sides(read_jsonl(tmp_path / "reversed" / "WikiMIA_length32.jsonl")) == (members, nonmembers)


def test_pages_of_a_category(tmp_path: Path) -> None:
    pages = [
        page(0, "2015", categories=["2015 in sports", "Owls"]),
        page(1, "2024", categories="2024 in sports"),
        page(2, "2024", categories=["Owls"]),
        page(3, "2024", categories=[]),
        page(4, "2024"),
    ]
    make(tmp_path, pages, options(category=r"^\d{4} in ", lengths=(32,)))
    rows = read_jsonl(tmp_path / "out" / "WikiMIA_length32.jsonl")
    assert sides(rows) == ({0}, {1})
    assert counts(tmp_path / "out" / "WikiMIA_length32.jsonl")["left_out"] == {"no_category": 2, "other_category": 1}
    assert "categories" not in rows[0]


def test_a_paraphrased_twin_has_the_same_pages(tmp_path: Path) -> None:
    pages = [page(number, "2015" if number % 2 else "2024", 40) for number in range(10)]
    for each in pages:
        each["other"] = " ".join(f"said{each['id']}x{word}" for word in range(6 if each["id"] == 3 else 50))
    pages += [page(20, "2015", 40, other=None), page(21, "2024", 40, other=" "), page(22, "2024", 40)]
    header = make(tmp_path, pages, options(paraphrase_key="other", lengths=(4, 32)))
    assert [(each["length"], each["text"], each["members"]) for each in header["sets"]] == [
        (4, "original", 5), (4, "paraphrased", 5), (32, "original", 4), (32, "paraphrased", 4)
    ]  # fmt: skip
    rows = read_jsonl(tmp_path / "out" / "WikiMIA_length4.jsonl")
    twins = read_jsonl(tmp_path / "out" / "WikiMIA_length4_paraphrased.jsonl")
    assert [row["id"] for row in rows] == [row["id"] for row in twins] == [row["paraphrase_of"] for row in twins]
    for row, twin in zip(rows, twins, strict=True):
        number = row["id"]
        assert row["text"] == f"p{number}w0 p{number}w1 p{number}w2 p{number}w3"
        assert twin["text"] == f"said{number}x0 said{number}x1 said{number}x2 said{number}x3"
        assert (row["label"], row["position"]) == (twin["label"], twin["position"])
        assert not {"other", "paraphrase_of"} & row.keys()
        assert "other" not in twin
    left = counts(tmp_path / "out" / "WikiMIA_length32_paraphrased.jsonl")["left_out"]
    assert left == {"no_paraphrase": 3, "fewer_than_32_words": 1, "not_drawn": 1}


def test_a_length_that_no_page_has(tmp_path: Path) -> None:
    pages = [page(0, "2015", 100), page(1, "2024", 40)]
    header = make(tmp_path, pages, options())
    assert [each["file"] for each in header["sets"]] == ["WikiMIA_length32.jsonl", None, None, None]
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == [
        "WikiMIA_length32.jsonl", "WikiMIA_length32.jsonl.meta.json", "series.json"
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"no length has pages on both sides: 1 members and 1 non-members"):
        make(tmp_path, pages, options(lengths=(64,)), "none")
    with pytest.raises(InputError, match=r"0 members and 0 non-members were found \(left out: 2 no_title\)"):
        make(tmp_path, pages, options(title_key="name"), "none")
    assert not (tmp_path / "none").exists()
    assert make(tmp_path, pages, options(title_key="name", exclude_title=""), "any")["sets"][0]["members"] == 1


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"lengths": ()}, "--length"),
        ({"lengths": (32, 32)}, "--length"),
        ({"lengths": (0,)}, "--length"),
        ({"seed": -1}, "--seed"),
        ({"category": "("}, "--category"),
        ({"exclude_title": "["}, "--exclude-title"),
        ({"members_before": "2024"}, "--members-before"),
        ({"nonmembers_after": "12/31/2023"}, "--nonmembers-after"),
    ],
)
def test_options_that_cannot_be(more: dict[str, Any], why: str) -> None:
    given = {"members_before": "2017", "nonmembers_after": "2023", "dates": RULE, **more}
    with pytest.raises(UsageError, match=why):
        WikimiaOptions(**given)


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "pages.jsonl", [page(0, "2015", created="2015"), page(1, "1999", created="2024-05"), page(2, None)])
    given = [
        "sets",
        "wikimia",
        "pages.jsonl",
        "--members-before",
        "2017",
        "--nonmembers-after",
        "2023",
        "--date-key",
        "created",
    ]
    assert run([*given, "--out-dir", "a", "--left-out", "left.jsonl", "--seed", "5", "--length", "16"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "WikiMIA_length16.jsonl: 1 member, 1 non-member" in said.err
    assert [row["reason"] for row in read_jsonl(tmp_path / "left.jsonl")] == ["no_date"]
    assert run([*given, "--out-dir", "b", "--length", "16", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["sets"] == [
        {"length": 16, "text": "original", "file": "WikiMIA_length16.jsonl", "members": 1, "nonmembers": 1}
    ]
    assert run([*given, "--out-dir", "a"]) == 2
    assert "--out-dir: a is not empty" in capsys.readouterr().err
