"""The MediaWiki action API and the arXiv API on this machine: their shapes, and their faults."""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from xml.sax.saxutils import escape

Query = dict[str, str]
# What happens to a request instead of its answer: see `Handler._fault`; or a function of the query and the answer's bytes.
Fault = str | tuple[int, dict[str, str]] | Callable[[Query, bytes], bytes]

LIST_SIZE = 3
"""Entries of a list in one answer."""


@dataclass
class Article:
    """One page of the wiki; `revisions` are (number, time, HTML), oldest first."""

    id: int
    title: str
    revisions: list[tuple[int, str, str]]
    categories: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    ns: int = 0
    redirect: str | None = None
    disambiguation: bool = False
    extract: str | None = None


@dataclass
class Paper:
    id: str
    published: str
    title: str = "A Title"
    abstract: str = "An abstract."
    categories: tuple[str, ...] = ("cs.CL",)
    version: int = 1
    comment: str | None = None


@dataclass
class Services:
    """What is served; requests are noted in `asked`, their User-Agents in `agents`, their times by `clock` in `times`."""

    articles: list[Article] = field(default_factory=list)
    subcategories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    log: list[dict[str, Any]] = field(default_factory=list)
    papers: list[Paper] = field(default_factory=list)
    extracts: bool = True
    prefix: str = "Category"
    # The next requests meet these; None is no fault.
    faults: list[Fault | None] = field(default_factory=list)
    # Every request of which a pattern is found in the query meets its fault.
    always: dict[str, Fault] = field(default_factory=dict)
    asked: list[Query] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    clock: Callable[[], float] = time.monotonic
    url: str = ""
    # Hanging answers wait for this.
    go: threading.Event = field(default_factory=threading.Event)

    @property
    def wiki(self) -> str:
        return f"{self.url}/w/api.php"

    @property
    def arxiv(self) -> str:
        return f"{self.url}/api/query"

    def answer(self, path: str, query: Query) -> bytes | None:
        if path == "/w/api.php":
            return json.dumps(self._mediawiki(query), ensure_ascii=False).encode()
        return self._feed(query).encode() if path == "/api/query" else None

    def _mediawiki(self, query: Query) -> dict[str, Any]:
        assert (query["format"], query["formatversion"]) == ("json", "2")
        if query["action"] == "parse":
            return self._parse(query)
        if "list" in query:
            entries = self._members(query) if query["list"] == "categorymembers" else self._logged(query)
            short = {"categorymembers": "cm", "logevents": "le"}[query["list"]]
            first = int(query.get(f"{short}continue", "0|0").partition("|")[2])
            answer: dict[str, Any] = {"batchcomplete": True, "query": {query["list"]: entries[first : first + LIST_SIZE]}}
            if first + LIST_SIZE < len(entries):
                answer["continue"] = {f"{short}continue": f"page|{first + LIST_SIZE}", "continue": "-||"}
            return answer
        return self._page(query)

    def _members(self, query: Query) -> list[dict[str, Any]]:
        name = query["cmtitle"].removeprefix("Category:")
        kinds = query["cmtype"].split("|")
        pages = [
            {"pageid": each.id, "ns": each.ns, "title": each.title, "type": "page"}
            for each in self.articles
            if name in each.categories and "page" in kinds
        ]
        below = self.subcategories.get(name, ()) if "subcat" in kinds else ()
        return pages + [
            {"pageid": 9000 + number, "ns": 14, "title": f"{self.prefix}:{each}", "type": "subcat"}
            for number, each in enumerate(below)
        ]

    def _logged(self, query: Query) -> list[dict[str, Any]]:
        assert (query["letype"], query["lenamespace"], query["ledir"]) == ("create", "0", "newer")
        return [each for each in self.log if query["lestart"] <= each.get("timestamp", "") <= query["leend"]]

    def _page(self, query: Query) -> dict[str, Any]:
        key, wanted = ("pageids", query["pageids"]) if "pageids" in query else ("titles", query["titles"])
        if "[" in wanted:
            return {"batchcomplete": True, "query": {"pages": [{"title": wanted, "invalidreason": "...", "invalid": True}]}}
        found = self._find(wanted)
        if found is not None and found.redirect and "redirects" in query:
            found = self._find(found.redirect)
        if found is None:
            named = {"pageid": int(wanted)} if key == "pageids" else {"ns": 0, "title": wanted}
            return {"batchcomplete": True, "query": {"pages": [{**named, "missing": True}]}}
        page: dict[str, Any] = {"pageid": found.id, "ns": found.ns, "title": found.title}
        answer: dict[str, Any] = {"batchcomplete": True, "query": {"pages": [page]}}
        more: dict[str, str] = {}
        for prop in query["prop"].split("|"):
            if prop == "info":
                newest = found.revisions[-1] if found.revisions else (0, "", "")
                page |= {"contentmodel": "wikitext", "pagelanguage": "en", "touched": "2024-01-01T00:00:00Z"}
                page |= {"lastrevid": newest[0], "length": 10, "fullurl": f"https://wiki.test/wiki/{found.title}"}
                page |= {"redirect": True} if found.redirect else {}
            elif prop == "categories":
                first = int(query.get("clcontinue", "0|0").partition("|")[2])
                shown = found.categories[first : first + LIST_SIZE]
                page["categories"] = [{"ns": 14, "title": f"{self.prefix}:{each}"} for each in shown]
                if first + LIST_SIZE < len(found.categories):
                    more["clcontinue"] = f"{found.id}|{first + LIST_SIZE}"
            elif prop == "revisions":
                newer = query["rvdir"] == "newer"
                start = query.get("rvstart", "0" if newer else "9")
                order = found.revisions if newer else found.revisions[::-1]
                order = [each for each in order if (each[1] >= start if newer else each[1] <= start)]
                if order:
                    page["revisions"] = [{"revid": order[0][0], "parentid": 0, "timestamp": order[0][1]}]
                if len(order) > 1:
                    more["rvcontinue"] = f"{order[1][1]}|{order[1][0]}"
            elif prop == "pageprops" and found.disambiguation:
                page["pageprops"] = {"disambiguation": ""}
            elif prop == "extracts" and not self.extracts:
                answer["warnings"] = {"main": {"warnings": 'Unrecognized value for parameter "prop": extracts'}}
            elif prop == "extracts":
                page["extract"] = found.extract or ""
        if more:
            answer["continue"] = {**more, "continue": "||info"}
        return answer

    def _find(self, wanted: str) -> Article | None:
        return next((each for each in self.articles if wanted in (str(each.id), each.title)), None)

    def _parse(self, query: Query) -> dict[str, Any]:
        for article in self.articles:
            for number, _, html in article.revisions:
                if str(number) == query["oldid"]:
                    listed = [{"sortkey": "", "category": each.replace(" ", "_")} for each in article.categories]
                    listed += [{"sortkey": "", "category": each.replace(" ", "_"), "hidden": True} for each in article.hidden]
                    about = {"title": article.title, "pageid": article.id, "revid": number}
                    box = f'<div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">{html}\n</div>'
                    return {"parse": {**about, "text": box, "categories": listed}}
        return {"error": {"code": "nosuchrevid", "info": f"There is no revision with ID {query['oldid']}.", "docref": "..."}}

    def _feed(self, query: Query) -> str:
        match = re.fullmatch(r"\((.+)\) AND submittedDate:\[(\d{12}) TO (\d{12})\]", query["search_query"])
        assert match is not None, query
        assert (query["sortBy"], query["sortOrder"]) == ("submittedDate", "ascending")
        categories = {each.removeprefix("cat:") for each in match[1].split(" OR ")}
        found = [
            each
            for each in sorted(self.papers, key=lambda each: each.published)
            if categories & set(each.categories) and match[2] <= re.sub(r"\D", "", each.published)[:12] <= match[3]
        ]
        first = int(query["start"])
        return feed(found[first : first + int(query["max_results"])], len(found), first)


def feed(papers: list[Paper], total: int, first: int = 0) -> str:
    """An Atom feed as arXiv sends it."""
    entries = "".join(map(_entry, papers))
    search = 'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"'
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <link href="http://arxiv.org/api/query?search_query%3D" rel="self" type="application/atom+xml"/>
  <title type="html">ArXiv Query: search_query=</title>
  <id>http://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>
  <updated>2024-01-01T00:00:00-05:00</updated>
  <opensearch:totalResults {search}>{total}</opensearch:totalResults>
  <opensearch:startIndex {search}>{first}</opensearch:startIndex>
  <opensearch:itemsPerPage {search}>{len(papers)}</opensearch:itemsPerPage>
{entries}</feed>
"""


def error_feed(summary: str) -> bytes:
    """What arXiv answers to a wrong request."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">1</opensearch:totalResults>
  <entry>
    <id>http://arxiv.org/api/errors#{summary.replace(" ", "_")}</id>
    <title>Error</title>
    <summary>{summary}</summary>
  </entry>
</feed>""".encode()


def _entry(paper: Paper) -> str:
    name = 'xmlns:arxiv="http://arxiv.org/schemas/atom"'
    comment = f"    <arxiv:comment {name}>{escape(paper.comment)}</arxiv:comment>\n" if paper.comment else ""
    terms = "".join(f'    <category term="{each}" scheme="http://arxiv.org/schemas/atom"/>\n' for each in paper.categories)
    link = f"http://arxiv.org/abs/{paper.id}v{paper.version}"
    return f"""  <entry>
    <id>{link}</id>
    <updated>2024-02-02T10:00:00Z</updated>
    <published>{paper.published}</published>
    <title>{escape(paper.title)}</title>
    <summary>  {escape(paper.abstract)}
</summary>
    <author>
      <name>A. Author</name>
    </author>
{comment}    <link href="{link}" rel="alternate" type="text/html"/>
    <link title="pdf" href="{link.replace("/abs/", "/pdf/")}" rel="related" type="application/pdf"/>
    <arxiv:primary_category {name} term="{paper.categories[0]}" scheme="http://arxiv.org/schemas/atom"/>
{terms}  </entry>
"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer takes 40 ms
    services: Services

    def log_message(self, *arguments: object) -> None:
        """Nothing on standard error."""

    def do_GET(self) -> None:
        services, parts = self.services, urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        services.asked.append(query)
        services.agents.append(self.headers.get("User-Agent", ""))
        services.times.append(services.clock())
        fault = services.faults.pop(0) if services.faults else None
        text = json.dumps(query)
        fault = fault or next((each for name, each in services.always.items() if re.search(name, text)), None)
        body = services.answer(parts.path, query)
        if body is None:
            self._send(404, b"not here")
        elif fault is None:
            self._send(200, body)
        elif callable(fault):
            self._send(200, fault(query, body))
        else:
            self._fault(fault, body)

    def _fault(self, fault: str | tuple[int, dict[str, str]], body: bytes) -> None:
        if isinstance(fault, tuple):
            self._send(fault[0], b"<html>busy</html>", fault[1])
        elif fault == "maxlag":
            error = {"code": "maxlag", "info": "Waiting for 10.64.0.1: 6.2 seconds lagged.", "host": "10.64.0.1", "lag": 6.2}
            self._send(200, json.dumps({"error": error, "servedby": "mw1"}).encode(), {"Retry-After": "7"})
        elif fault == "truncated":  # whole for HTTP, not for who reads it
            self._send(200, body[: len(body) // 2])
        elif fault == "cut":  # the connection ends in the middle
            self._send(200, body, length=len(body) + 100)
            self.close_connection = True
        elif fault == "hang":
            self.services.go.wait(60)
            self.close_connection = True
        elif fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
            self.close_connection = True
        else:
            raise AssertionError(fault)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None, length: int | None = None) -> None:
        try:
            self.send_response(status)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()
        except OSError:  # the client has gone
            self.close_connection = True


@contextmanager
def serve(services: Services) -> Iterator[Services]:
    """Serve it while the block runs."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Here", (Handler,), {"services": services}))
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    services.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield services
    finally:
        services.go.set()
        server.shutdown()
        server.server_close()
        thread.join()
