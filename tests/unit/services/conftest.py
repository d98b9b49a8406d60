"""A small wiki and a small arXiv, a clock that nobody waits for, and what fetches from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ngramscope.corpus.services import ArxivQuery, ClientOptions, WikipediaQuery, fetch_arxiv, fetch_wikipedia
from tests.conftest import read_jsonl
from tests.services_server import Article, Paper, Services, serve

pytest.importorskip("requests")

Run = Callable[..., dict[str, Any]]


class Clock:
    """Time that passes when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def article(number: int, month: str = "2023-01", **changes: Any) -> Article:
    title = changes.pop("title", f"Page {number}")
    text = f"This is what page {number} says."
    made = [(number * 10, f"{month}-05T10:00:00Z", f"<p>{text} At first.</p>")]
    made.append((number * 10 + 1, f"{month}-20T10:00:00Z", f"<p>{text} Later on.</p>"))
    fields = {"revisions": made, "categories": ("2023 events",), "extract": f"{text}\n\n\n\nHistory\nMore of it."}
    return Article(number, title, **{**fields, **changes})


def world() -> Services:
    """Nine pages of four categories that go round in a circle; one of each kind that is left out."""
    return Services(
        articles=[
            article(1, categories=("2023 events", "Floods", "A", "B", "C"), hidden=("Stubs",)),
            article(2, "2022-12"),
            article(3, "2023-02", categories=("Floods",)),
            article(4, extract=" \n"),
            article(5, redirect="Page 1"),
            article(6, ns=1, title="Talk:Page 6"),
            article(7, disambiguation=True),
            article(8, revisions=[]),
            article(9, "2023-03", categories=("Floods of May",), title="Ende gut: alles – «gut»"),
        ],
        subcategories={"2023 events": ("Floods",), "Floods": ("Floods of May", "2023 events"), "Floods of May": ("Floods",)},
    )


def papers() -> list[Paper]:
    """Seven in January, two in February, and others."""
    made = [Paper(f"2301.{number:05}", f"2023-01-{number:02}T12:00:00Z", f"Paper {number}") for number in range(1, 8)]
    made[1] = dataclasses.replace(made[1], title="A title &\n  its end", abstract="First\nline.\n  Second <b>.", version=3)
    made[2] = dataclasses.replace(made[2], comment="This paper has been withdrawn by the author due to an error")
    made[3] = dataclasses.replace(made[3], abstract="  ")
    made[4] = dataclasses.replace(made[4], categories=("stat.ML", "cs.CL"))
    made[5] = dataclasses.replace(made[5], comment="A reply to a withdrawn statement")
    made += [Paper("2302.00001", "2023-02-01T00:00:00Z"), Paper("2302.00002", "2023-02-28T23:59:59Z")]
    return [
        *made,
        Paper("2303.00001", "2023-03-01T00:00:30Z"),
        Paper("math/0301001", "2023-01-09T00:00:00Z", categories=("x",)),
    ]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def services(clock: Clock) -> Iterator[Services]:
    made = world()
    made.papers = papers()
    made.clock = clock
    with serve(made) as running:
        yield running


@pytest.fixture
def wikipedia(services: Services, clock: Clock, tmp_path: Path) -> Run:
    def run(out: str = "out.jsonl", *, options: dict[str, Any] | None = None, **query: Any) -> dict[str, Any]:
        if not {"titles", "first_month"} & set(query):
            query = {"categories": ("2023 events",), "depth": 2, **query}
        asking = ClientOptions(clock=clock, sleep=clock.sleep, **(options or {}))
        return fetch_wikipedia(WikipediaQuery(api_url=services.wiki, **query), tmp_path / out, options=asking)

    return run


@pytest.fixture
def run_arxiv(services: Services, clock: Clock, tmp_path: Path) -> Run:
    def run(out: str = "out.jsonl", *, options: dict[str, Any] | None = None, **query: Any) -> dict[str, Any]:
        query = {"categories": ("cs.CL",), "first_month": "2023-01", "last_month": "2023-02", "page_size": 3, **query}
        asking = ClientOptions(clock=clock, sleep=clock.sleep, **(options or {}))
        return fetch_arxiv(ArxivQuery(**{"api_url": services.arxiv, **query}), tmp_path / out, options=asking)

    return run


def counts_add_up(header: dict[str, Any], out: Path) -> None:
    counts = header["counts"]
    rows = read_jsonl(out)
    assert counts["used"] == len(rows) == sum(header["months"].values())
    assert counts["found"] == counts["used"] + sum(counts["left_out"].values())
    for month, number in header["months"].items():
        assert number == sum(each["date"].startswith(month) for each in rows)
