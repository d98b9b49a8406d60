"""Articles of a MediaWiki: which, with what dates, with what text."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from ngramscope.corpus.services import WikipediaQuery, client
from ngramscope.corpus.services.html import page_text
from ngramscope.errors import InputError, UsageError
from ngramscope.sets import RecordSource
from tests.conftest import read_jsonl
from tests.services_server import Services
from tests.unit.services.conftest import Run, article, counts_add_up


def test_a_category_with_all_below_it(wikipedia: Run, services: Services, tmp_path: Path) -> None:
    header = wikipedia(options={"contact": "me@example.org"})
    rows = {each["id"]: each for each in read_jsonl(tmp_path / "out.jsonl")}
    assert sorted(rows) == ["1", "2", "3", "9"]
    assert rows["1"] == {
        "id": "1",
        "title": "Page 1",
        "date": "2023-01-05T10:00:00Z",
        "text": "Page 1\n\nThis is what page 1 says.\n\nHistory\nMore of it.",
        "categories": ["2023 events", "A", "B", "C", "Floods"],  # five come in two answers
        "url": "https://wiki.test/wiki/Page 1",
        "revision": 11,
        "revision_date": None,
        "domain": "Wikipedia (en)",
    }
    assert rows["9"]["text"].startswith("Ende gut: alles – «gut»\n\n")
    assert header["counts"] == {
        "found": 10,
        "used": 4,
        "left_out": {
            "disambiguation": 1, "duplicate": 1, "empty": 1, "missing_creation_date": 1, "not_an_article": 1, "redirect": 1,
        },
    }  # fmt: skip
    counts_add_up(header, tmp_path / "out.jsonl")
    assert header == json.loads((tmp_path / "out.jsonl.meta.json").read_bytes())
    assert (header["artefact"], header["format_version"]) == ("fetched-documents", 1)
    assert header["service"] == {"name": "mediawiki", "url": services.wiki}
    assert header["settings"]["categories"] == ["2023 events"]
    assert header["fetched"]["first"] <= header["fetched"]["last"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["out.jsonl", "out.jsonl.meta.json"]
    assert all("ngramscope/" in each and "(me@example.org)" in each for each in services.agents)
    assert all(each["maxlag"] == "5" for each in services.asked)


def test_other_commands_read_the_file(wikipedia: Run, tmp_path: Path) -> None:
    wikipedia("out.jsonl.gz")
    found = list(RecordSource((tmp_path / "out.jsonl.gz",)).open().candidates())
    assert {(each.id, each.date, each.domain) for each in found if each.id == "3"} == {
        ("3", "2023-02-05T10:00:00Z", "Wikipedia (en)")
    }
    assert len(found) == 4


def test_depth(wikipedia: Run) -> None:
    assert sorted(wikipedia(depth=0)["months"]) == ["2022-12", "2023-01"]
    assert sorted(wikipedia(depth=1)["months"]) == ["2022-12", "2023-01", "2023-02"]
    assert wikipedia(depth=9)["counts"] == wikipedia(depth=2)["counts"]  # nothing twice, round in a circle


def test_a_wiki_in_another_language_has_other_prefixes(wikipedia: Run, services: Services) -> None:
    services.prefix = "Kategorie"
    assert wikipedia()["counts"]["used"] == 4


def test_the_order_of_the_wiki_says_nothing(wikipedia: Run, services: Services, tmp_path: Path) -> None:
    wikipedia("a.jsonl", limit=3, seed=5)
    random.Random(3).shuffle(services.articles)
    wikipedia("b.jsonl", limit=3, seed=5)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    chosen = {
        tuple(sorted(each["id"] for each in read_jsonl(tmp_path / f"{seed}.jsonl")))
        for seed in range(8)
        if wikipedia(f"{seed}.jsonl", limit=2, seed=seed)["counts"]["used"] == 2
    }
    assert len(chosen) > 1


def test_dates_of_creation(wikipedia: Run) -> None:
    header = wikipedia(created_after="2023-01-05T11:00:00+01:00", created_before="2023-03-05T10:00:00")
    assert sorted(header["months"]) == ["2023-01", "2023-02"]  # the first is included, the second is not
    assert header["counts"]["left_out"]["outside_dates"] == 2


def test_titles(wikipedia: Run, tmp_path: Path) -> None:
    names = tmp_path / "titles.txt"
    names.write_text("Page 1\nPage_2\n\nNobody\nPage 5\n[x\nPage 2|Page 3\nPage 2\n", encoding="utf-8")
    header = wikipedia(titles=names)
    assert header["counts"] == {
        "found": 7, "used": 2, "left_out": {"duplicate": 1, "invalid_title": 2, "missing": 1, "redirect": 1},
    }  # fmt: skip
    (entry,) = header["inputs"]
    assert entry["bytes"] == names.stat().st_size
    followed = wikipedia(titles=names, follow_redirects=True)["counts"]
    assert followed["left_out"] == {"duplicate": 2, "invalid_title": 2, "missing": 1}
    names.write_text("\n")
    with pytest.raises(InputError, match=r"titles\.txt: has no titles"):
        wikipedia(titles=names)
    names.write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"titles\.txt: is no list of titles: not UTF-8 at byte 1"):
        wikipedia(titles=names)


def test_months_of_creation(wikipedia: Run, services: Services, tmp_path: Path) -> None:
    services.articles += [article(number, "2023-02", categories=()) for number in range(20, 30)]
    services.articles.append(article(30, "2021-01", title="Moved here"))

    def event(number: int, time: str, **changes: Any) -> dict[str, Any]:
        ids = {"logid": number, "ns": 0, "title": f"Page {number}", "pageid": number, "logpage": number}
        return {**ids, "params": {}, "type": "create", "action": "create", "timestamp": time, **changes}

    services.log = [event(number, f"2023-02-{number - 10}T00:00:00Z") for number in range(20, 30)]
    services.log += [
        event(1, "2023-01-05T10:00:00Z"),
        event(3, "2023-02-28T23:59:59Z", pageid=77),
        event(9, "2023-03-01T00:00:00Z"),
        event(31, "2023-02-11T00:00:00Z", pageid=0, logpage=0),
        event(30, "2023-02-11T00:00:00Z"),
        event(32, "2023-02-11T00:00:00Z"),
        {"logid": 33, "ns": 0, "timestamp": "2023-02-11T00:00:00Z", "actionhidden": True},
    ]
    header = wikipedia(first_month="2023-01", last_month="2023-02")
    assert header["months"] == {"2023-01": 1, "2023-02": 11}
    assert header["counts"]["left_out"] == {"malformed_page": 1, "missing": 2, "outside_dates": 1}
    counts_add_up(header, tmp_path / "out.jsonl")
    asked = len(services.asked)
    header = wikipedia(first_month="2023-01", last_month="2023-02", per_month=2, seed=1)
    assert header["months"] == {"2023-01": 1, "2023-02": 2}
    assert header["counts"]["left_out"]["not_chosen"] >= 9
    assert len(services.asked) - asked < asked, "pages of a month that is full are not asked for"
    with pytest.raises(InputError, match=r"no article created in these months \(on Wikimedia's wikis it begins in 2018\)"):
        wikipedia("none.jsonl", first_month="2001-01", last_month="2001-01")
    assert not (tmp_path / "none.jsonl.partial").exists()


def test_the_text_as_it_was(wikipedia: Run, services: Services, tmp_path: Path) -> None:
    header = wikipedia(as_of="2023-01-20T10:00:00Z")
    rows = {each["id"]: each for each in read_jsonl(tmp_path / "out.jsonl")}
    assert rows["1"]["text"] == "Page 1\n\nThis is what page 1 says. At first."
    assert (rows["1"]["revision"], rows["1"]["revision_date"]) == (10, "2023-01-05T10:00:00Z")
    assert rows["1"]["categories"] == ["2023 events", "A", "B", "C", "Floods"]
    assert rows["2"]["text"].endswith("Later on.")
    assert header["counts"]["left_out"]["not_yet_created"] == 2
    assert header["settings"]["text_source"] == "parse"
    newest = wikipedia(text_source="parse")
    assert all(each["text"].endswith("Later on.") for each in read_jsonl(tmp_path / "out.jsonl"))
    assert newest["counts"]["used"] == 5  # the empty extract had a text
    services.always = {'"oldid": "10"': lambda *_: json.dumps({"error": {"code": "permissiondenied", "info": ""}}).encode()}
    assert wikipedia(as_of="2023-01-20T10:00:00Z")["counts"]["left_out"]["hidden_revision"] == 1


def test_short_articles(wikipedia: Run) -> None:
    assert wikipedia(min_words=10)["counts"]["used"] == 4
    assert wikipedia(min_words=11)["counts"]["left_out"]["too_short"] == 4


def test_a_wiki_without_plain_text(wikipedia: Run, services: Services) -> None:
    services.extracts = False
    with pytest.raises(InputError, match=r"lacks TextExtracts.*--text-source parse"):
        wikipedia()


def test_a_category_that_there_is_not(wikipedia: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no page is in 2032 events; write the name as on the wiki"):
        wikipedia(categories=("2032 events",))
    assert list(tmp_path.iterdir()) == [], "the next run may ask for something else"


def test_what_the_wiki_refuses(wikipedia: Run, services: Services) -> None:
    services.faults = [lambda *_: b'{"error": {"code": "badvalue", "info": "Unrecognized value."}}']
    with pytest.raises(InputError, match="the wiki refuses: badvalue: Unrecognized value"):
        wikipedia()
    assert len(services.asked) == 1


def test_a_list_that_does_not_end(wikipedia: Run, services: Services) -> None:
    def again(_: Any, body: bytes) -> bytes:
        return json.dumps({**json.loads(body), "continue": {"cmcontinue": "page|0", "continue": "-||"}}).encode()

    services.always = {"categorymembers": again}
    with pytest.raises(InputError, match="categorymembers does not end"):
        wikipedia()


def test_a_page_that_is_malformed_for_good(wikipedia: Run, services: Services, tmp_path: Path) -> None:
    services.always = {'"pageids": "3"': "truncated"}
    header = wikipedia()
    assert header["counts"]["left_out"]["malformed_page"] == 1
    assert sum(each.get("pageids") == "3" for each in services.asked) == client.TRIES
    counts_add_up(header, tmp_path / "out.jsonl")
    services.articles += [article(number, categories=("Many",)) for number in range(100, 114)]
    services.always = {'"pageids": "10[0-5]"': "truncated"}
    assert wikipedia(categories=("Many",))["counts"]["left_out"] == {"malformed_page": 6}, "but not six in a row"
    services.always = {'"pageids"': lambda *_: b'{"query": {"pages": [{"pageid": 1, "ns": 0}]}}'}
    with pytest.raises(InputError, match=r"a page without pageid, ns or lastrevid, 6 times in a row"):
        wikipedia("other.jsonl")
    assert not (tmp_path / "other.jsonl").exists()


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({}, "which articles"),
        ({"categories": ("x",), "first_month": "2023-01", "last_month": "2023-02"}, "one of these"),
        ({"first_month": "2023-01"}, "--from and --to: give both"),
        ({"first_month": "2023-13", "last_month": "2023-13"}, "--from: '2023-13'"),
        ({"first_month": "2023-02", "last_month": "2023-01"}, "no article can be created in that time"),
        ({"categories": ("x",), "created_after": "soon"}, "--created-after: 'soon'"),
        ({"categories": ("x",), "created_after": "2023-02", "created_before": "2023-02-01"}, "no article can be created"),
        ({"categories": ("x",), "as_of": "2023-02-30"}, "--as-of: '2023-02-30'"),
        ({"categories": ("x",), "as_of": "2023-02", "text_source": "extracts"}, "--as-of needs parse"),
        ({"categories": ("x",), "language": "en.evil.org/"}, "--language"),
        ({"categories": ("x",), "limit": 0}, "--limit"),
        ({"titles": Path("x"), "depth": 1}, "--depth"),
        ({"categories": (" ",)}, "--category"),
    ],
)
def test_queries_that_cannot_be(query: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        WikipediaQuery(**query)


def test_the_text_of_a_page() -> None:
    html = """<div class="mw-content-ltr mw-parser-output" lang="en"><div class="hatnote">See also X.</div>
    <table class="infobox"><tbody><tr><th>Box</th></tr></tbody></table><style>.a{}</style>
    <p>An <b>earthquake</b>, of 7.8&#160;M<sup id="cite" class="reference"><a href="#n">[1]</a></sup>,
    struck<br />Turkey &amp; Syria.
    </p><p>It was <span class="noprint">(edit)</span>strong.</p>
    <div class="mw-heading mw-heading2"><h2 id="Damage">Damage</h2><span class="mw-editsection">[edit]</span></div>
    <ul><li>Houses</li><li>Roads<ul><li>long ones</li></ul></li></ul>
    <p>With <math><mi>x</mi><annotation>{\\displaystyle x}</annotation></math><img src="x"> it.</p></b>
    <ol class="references"><li>A note.</li></ol><div class="navbox"><div>Menu</div></div><!-- a comment --></div>"""
    assert page_text(html) == (
        "An earthquake, of 7.8 M, struck\nTurkey & Syria.\nIt was strong.\n\nDamage\nHouses\nRoads\nlong ones\nWith x it."
    )
    assert page_text("<p>not <b>closed<table><tr><td>x") == "not closed"
    assert page_text("") == ""
