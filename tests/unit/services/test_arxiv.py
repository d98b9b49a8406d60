"""Papers of arXiv: which, with what dates, whatever its pages of results are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ngramscope.corpus.services import ArxivQuery, arxiv
from ngramscope.errors import InputError, UsageError
from tests.conftest import read_jsonl
from tests.services_server import Paper, Services, error_feed, feed
from tests.unit.services.conftest import Run, counts_add_up, papers


def test_months(run_arxiv: Run, tmp_path: Path) -> None:
    header = run_arxiv()
    rows = read_jsonl(tmp_path / "out.jsonl")
    assert [each["id"] for each in rows] == [
        *(f"2301.0000{number}" for number in (1, 2, 5, 6, 7)), "2302.00001", "2302.00002",
    ]  # fmt: skip
    assert rows[1] == {
        "id": "2301.00002",
        "title": "A title & its end",
        "date": "2023-01-02T12:00:00Z",
        "text": "A title & its end\n\nFirst line.\nSecond <b>.",
        "categories": ["cs.CL"],
        "url": "https://arxiv.org/abs/2301.00002",
        "version": 3,
        "updated": "2024-02-02T10:00:00Z",
        "primary_category": "cs.CL",
        "domain": "ArXiv",
    }
    # Both ends of a month's query are included: one paper comes twice, one is of March.
    assert header["counts"]["left_out"] == {"empty": 1, "outside_dates": 2, "withdrawn": 1}
    counts_add_up(header, tmp_path / "out.jsonl")
    assert header["settings"]["first_month"] == "2023-01"
    assert header["service"]["name"] == "arxiv"


def test_three_seconds_between_requests(run_arxiv: Run, services: Services) -> None:
    run_arxiv()
    assert len(services.times) > 3
    assert all(after - before >= 3 for before, after in zip(services.times, services.times[1:], strict=False))
    with pytest.raises(UsageError, match="--interval: 1 is too short for arXiv"):
        run_arxiv(api_url=arxiv.API_URL, options={"interval": 1})


def test_some_of_each_month(run_arxiv: Run, tmp_path: Path) -> None:
    header = run_arxiv(per_month=2, seed=4)
    assert header["months"] == {"2023-01": 2, "2023-02": 2}
    assert header["counts"]["left_out"]["not_chosen"] == 3
    whole = (tmp_path / "out.jsonl").read_bytes()
    run_arxiv(per_month=2, seed=4, page_size=2000, categories=("cs.CL", "cs.CL"))
    assert (tmp_path / "out.jsonl").read_bytes() == whole
    chosen = set()
    for seed in range(6):
        run_arxiv(per_month=2, seed=seed)
        chosen.add((tmp_path / "out.jsonl").read_bytes())
    assert len(chosen) > 1


def test_which_papers(run_arxiv: Run) -> None:
    assert run_arxiv(primary_only=True)["counts"]["left_out"]["other_primary_category"] == 1
    assert run_arxiv(unrevised_only=True)["counts"]["left_out"]["revised"] == 1
    assert run_arxiv(min_words=3)["counts"]["left_out"]["too_short"] == 6
    assert run_arxiv(categories=("x", "cs.CL"))["counts"]["used"] == 8


def test_an_old_id_and_a_malformed_entry(run_arxiv: Run, services: Services, tmp_path: Path) -> None:
    services.papers = [
        Paper("hep-th/9301001", "2023-01-01T00:00:00Z"), Paper("no id", "2023-01-02T00:00:00Z"),
        Paper("2301.00009", "2023-01-03"), Paper("2301.00008", "2023-01-04T25:00:00Z"),
    ]  # fmt: skip
    header = run_arxiv(last_month="2023-01")
    assert [each["id"] for each in read_jsonl(tmp_path / "out.jsonl")] == ["hep-th/9301001", "2301.00009"]
    assert header["counts"]["left_out"] == {"malformed_page": 1, "missing_date": 1}


@pytest.mark.parametrize("total", [0, 7], ids=["as if there were none", "of seven"])
def test_an_empty_page_in_the_middle_is_asked_for_again(run_arxiv: Run, services: Services, tmp_path: Path, total: int) -> None:
    run_arxiv()
    whole = (tmp_path / "out.jsonl").read_bytes()
    services.faults = [None, lambda *_: feed([], total).encode(), None, lambda *_: feed([], total).encode()]
    run_arxiv("again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == whole
    services.always = {'"start": "3"': lambda *_: feed([], total).encode()}
    with pytest.raises(InputError, match="a page of 0 results, where 3 were due, 6 times in a row"):
        run_arxiv("never.jsonl")
    assert not (tmp_path / "never.jsonl").exists()


def test_an_empty_month_is_asked_for_twice_and_kept(run_arxiv: Run, services: Services, tmp_path: Path) -> None:
    services.faults = [lambda *_: feed([], 0).encode()]  # a lie
    assert run_arxiv(last_month="2023-01")["counts"]["used"] == 5
    services.asked.clear()
    for _ in range(2):
        assert run_arxiv(first_month="2020-01", last_month="2020-01", options={"cache": tmp_path / "kept"})["months"] == {}
    assert len(services.asked) == 2


def test_a_page_that_stays_short(run_arxiv: Run, services: Services, tmp_path: Path) -> None:
    services.always = {'"start": "3"': lambda *_: feed(papers()[3:5], 8).encode()}
    header = run_arxiv()
    assert header["counts"]["left_out"]["not_sent"] == 1
    counts_add_up(header, tmp_path / "out.jsonl")


def test_too_many_for_one_query(run_arxiv: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_arxiv()
    whole = (tmp_path / "out.jsonl").read_bytes()
    monkeypatch.setattr(arxiv, "_MAX_RESULTS", 2)
    run_arxiv()
    assert (tmp_path / "out.jsonl").read_bytes() == whole


def test_what_arxiv_refuses(run_arxiv: Run, services: Services) -> None:
    services.faults = [lambda *_: error_feed("max_results must be non-negative")]
    with pytest.raises(InputError, match="the service refuses: max_results must be non-negative"):
        run_arxiv()


def test_entities_are_refused(run_arxiv: Run, services: Services) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    services.always = {"cs.CL": lambda _, body: body.replace(b"<feed", bomb.encode() + b"<feed", 1)}
    with pytest.raises(InputError, match="an answer with a document type"):
        run_arxiv()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"categories": ()}, "--category"),
        ({"categories": ("cs.CL OR all:x",)}, "--category"),
        ({"last_month": "2022-12"}, "--to: 2022-12 comes before --from 2023-01"),
        ({"first_month": "January"}, "--from: 'January'"),
        ({"per_month": 0}, "--per-month"),
        ({"page_size": 5000}, "--page-size"),
    ],
)
def test_arxiv_queries_that_cannot_be(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ArxivQuery(**{"categories": ("cs.CL",), "first_month": "2023-01", "last_month": "2023-02", **changes})
