"""arXiv's titles and abstracts with the dates of their first versions, through the arXiv API.

Raw material of temporal sets (Duan et al. 2024, section 4.2 and A.3, who took whole papers; this service has abstracts).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ngramscope.checks import check_integer, check_optional, check_switch
from ngramscope.corpus.services.atom import Feed, Paper, parse_feed
from ngramscope.corpus.services.client import ClientOptions, MalformedError
from ngramscope.corpus.services.partial import FetchedDocuments, Progress
from ngramscope.corpus.services.times import iso, month_start, next_month, seeded
from ngramscope.errors import UsageError

__all__ = ["API_URL", "INTERVAL", "ArxivQuery", "fetch_arxiv"]

API_URL = "https://export.arxiv.org/api/query"

INTERVAL = 3.0
"""Seconds between requests that arXiv's terms of use ask for."""

_PAGE = 500  # results asked for at a time; the service allows 2,000, but fails more often then
_MAX_RESULTS = 10_000  # of one query; the service fails far behind the first results
_CATEGORY = re.compile(r"[A-Za-z-]+(\.[A-Za-z-]+)?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class ArxivQuery:
    """Which papers.

    Parameters
    ----------
    categories
        As ``cs.CL``; papers in any of them, also as a secondary category.
    first_month, last_month
        ``YYYY-MM``, both included; of the first version, UTC.
    per_month, seed
        Take at most so many papers of each month, chosen by a digest of seed and id; None takes all.
    primary_only
        Leave out those whose primary category is another one.
    unrevised_only
        Leave out those of which there is a later version: the service has the abstract of the newest one only.
    min_words
        White-space words that an abstract has at least.
    page_size
        Results asked for at a time.
    api_url
        Of the service, or of a copy.

    Raises
    ------
    UsageError
        A value that cannot be.
    """

    categories: tuple[str, ...]
    first_month: str
    last_month: str
    per_month: int | None = None
    seed: int = 0
    primary_only: bool = False
    unrevised_only: bool = False
    min_words: int = 0
    page_size: int = _PAGE
    api_url: str = API_URL

    def __post_init__(self) -> None:
        if not self.categories:
            raise UsageError("--category: name one at least, as cs.CL")
        wrong = next((each for each in self.categories if not _CATEGORY.fullmatch(each)), None)
        if wrong is not None:
            raise UsageError(f"--category: {wrong!r} is not possible; write it as cs.CL or hep-th")
        if month_start("--from", self.first_month) > month_start("--to", self.last_month):
            raise UsageError(f"--to: {self.last_month} comes before --from {self.first_month}")
        check_optional("--per-month", self.per_month, 1, 1 << 40)
        check_integer("--seed", self.seed, -(1 << 63), (1 << 63) - 1)
        check_switch("--primary-only", self.primary_only)
        check_switch("--unrevised-only", self.unrevised_only)
        check_integer("--min-words", self.min_words, 0, 1_000_000)
        check_integer("--page-size", self.page_size, 1, 2000)


def fetch_arxiv(
    query: ArxivQuery, out: Path, *, options: ClientOptions | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the papers that `query` asks for to `out`, with ``OUT.meta.json`` beside it, and return that header.

    A record has id, title, date (of the first version, ISO, UTC), text (title, empty line, abstract), categories, url, version,
    updated (date of that version), primary_category and domain (``ArXiv``). Months stand in order, the papers of one in that of
    their dates and ids.

    Raises
    ------
    UsageError
        ``OUT.partial`` belongs to another query, `out` cannot be its name, or arXiv is to be asked more often than it allows.
    InputError
        The service does not answer, or refuses; what came so far is kept for the next run.
    ResourceError
        It cannot be written.
    MissingExtraError
        requests is not installed.
    """
    options = options or ClientOptions()
    host = urlsplit(query.api_url).hostname or ""
    if options.interval is not None and options.interval < INTERVAL and (host == "arxiv.org" or host.endswith(".arxiv.org")):
        raise UsageError(f"--interval: {options.interval} is too short for arXiv, which asks for {INTERVAL:g} seconds at least")
    settings = {**vars(query), "categories": sorted(set(query.categories))}
    del settings["api_url"]  # stands beside them
    with FetchedDocuments(
        out, service="arxiv", url=query.api_url, settings=settings, interval=INTERVAL, options=options, progress=progress
    ) as file:
        _Fetch(query, file).run()
        facts = {"text": "title, empty line, abstract of the newest version", "dates": "of the first version"}
        return file.commit(facts=facts)


class _Fetch:
    def __init__(self, query: ArxivQuery, file: FetchedDocuments) -> None:
        self._query = query
        self._file = file
        self._wanted = sorted(set(query.categories))
        self._ids: set[str] = set()

    def run(self) -> None:
        """Fill the file, month by month."""
        end = next_month(month_start("--to", self._query.last_month))
        start = month_start("--from", self._query.first_month)
        while start < end:
            after = next_month(start)
            papers = self._month(start, after)
            papers.sort(key=lambda each: (seeded(self._query.seed, each["id"]), each["id"]))
            chosen = papers[: self._query.per_month]
            self._file.leave_out("not_chosen", len(papers) - len(chosen))
            for each in sorted(chosen, key=lambda each: (each["date"], each["id"])):
                self._file.add(each)
            start = after

    def _month(self, start: datetime, end: datetime) -> list[dict[str, Any]]:
        """The records of all usable papers from `start` to before `end`."""
        records = []
        for paper in self._papers(start, end):
            why = "malformed_page" if paper is None else self._unwanted(paper, start, end)
            if paper is None or why is not None:
                self._file.leave_out(why or "")
            else:
                records.append(_record(paper))
        return records

    def _papers(self, start: datetime, end: datetime) -> Iterator[Paper | None]:
        """All entries of a time, in as many pages as it takes; a time with too many of them is halved."""
        feed = self._page(start, end, 0, None)
        if feed.total > _MAX_RESULTS and end - start > timedelta(days=1):
            middle = start + timedelta(days=(end - start).days // 2)
            yield from self._papers(start, middle)
            yield from self._papers(middle, end)
            return
        yield from feed.papers
        for first in range(self._query.page_size, feed.total, self._query.page_size):
            yield from self._page(start, end, first, feed.total).papers

    def _page(self, start: datetime, end: datetime, first: int, total: int | None) -> Feed:
        """The results from number `first` on, of `total` that the first page announced."""
        categories = " OR ".join(f"cat:{each}" for each in self._wanted)
        # To the minute, and both ends are included: what is of the next time is left out by its date.
        period = f"submittedDate:[{start:%Y%m%d%H%M} TO {end:%Y%m%d%H%M}]"
        parameters = {
            "search_query": f"({categories}) AND {period}", "sortBy": "submittedDate", "sortOrder": "ascending",
            "start": str(first), "max_results": str(self._query.page_size),
        }  # fmt: skip
        short: list[Feed] = []

        def due(feed: Feed) -> int:
            return min(self._query.page_size, (feed.total if total is None else total) - first)

        def check(feed: Feed) -> None:
            # A known fault of the service, which passes: pages that are empty, and say that nothing was found, or short.
            if len(feed.papers) < due(feed) or (total is None and not feed.papers and not short):
                short.append(feed)
                raise MalformedError(f"a page of {len(feed.papers)} results, where {due(feed):,} were due")

        try:
            return self._file.client.get(parameters, parse_feed, check)
        except MalformedError:
            longest = max(short, key=lambda each: len(each.papers), default=None)
            if longest is None or not longest.papers:
                raise
            self._file.leave_out("not_sent", due(longest) - len(longest.papers))
            return longest

    def _unwanted(self, paper: Paper, start: datetime, end: datetime) -> str | None:
        """Why it is left out."""
        query = self._query
        if paper.id in self._ids:
            return "duplicate"
        if paper.published is None:
            return "missing_date"
        if not start <= paper.published < end:
            return "outside_dates"  # not noted as seen: the next month has it
        self._ids.add(paper.id)
        if query.primary_only and paper.primary not in self._wanted:
            return "other_primary_category"
        if paper.withdrawn:
            return "withdrawn"
        if query.unrevised_only and paper.version != 1:
            return "revised"
        words = len(paper.abstract.split())
        if words < max(1, query.min_words):
            return "too_short" if words else "empty"
        return None


def _record(paper: Paper) -> dict[str, Any]:
    return {
        "id": paper.id,
        "title": paper.title,
        "date": iso(paper.published) if paper.published else None,
        "text": f"{paper.title}\n\n{paper.abstract}",
        "categories": list(paper.categories),
        "url": f"https://arxiv.org/abs/{paper.id}",
        "version": paper.version,
        "updated": iso(paper.updated) if paper.updated else None,
        "primary_category": paper.primary,
        "domain": "ArXiv",
    }
