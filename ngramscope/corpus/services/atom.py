"""The Atom feeds of the arXiv API, to papers.

Parsed with the standard library. Document types are refused beforehand, and with them every declaration of an entity.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from xml.etree import ElementTree as ET

from ngramscope.corpus.services.client import MalformedError, ServiceError
from ngramscope.corpus.services.times import parse_time

__all__ = ["Feed", "Paper", "parse_feed"]

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"
_ID = re.compile(r"https?://arxiv\.org/abs/(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v(?P<version>\d+))?", re.ASCII)
_IS_WITHDRAWN = (
    r"(?:this|the|our) (?:paper|article|submission|manuscript|work|preprint|note) (?:has been|is|was) (?:withdrawn|retracted)\b"
)
_COMMENT = re.compile(rf"^\s*withdrawn\b|\bwithdrawn (?:by|due)\b|\b{_IS_WITHDRAWN}", re.IGNORECASE)
_ABSTRACT = re.compile(rf"\s*{_IS_WITHDRAWN}", re.IGNORECASE)


@dataclass(frozen=True)
class Paper:
    """One paper as the feed has it: texts without line breaks that mean nothing; None for what is missing.

    `abstract` is that of the newest version, `published` the time of the first one, `updated` of the newest.
    """

    id: str
    version: int | None
    title: str
    abstract: str
    published: datetime | None
    updated: datetime | None
    primary: str | None
    categories: tuple[str, ...]
    withdrawn: bool


@dataclass(frozen=True)
class Feed:
    """One page of results, of `total` in all. `papers` has None for an entry that is malformed."""

    total: int
    papers: tuple[Paper | None, ...]


def parse_feed(body: bytes) -> Feed:
    """The page of results in `body`.

    Raises
    ------
    MalformedError
        It is no feed.
    ServiceError
        It is a feed that says what was wrong with the request.
    """
    try:
        text = body.decode("utf-8")
        if "<!DOCTYPE" in text:
            raise MalformedError("an answer with a document type, which a feed has not")
        root = ET.fromstring(text)  # noqa: S314 - entities are declared in document types only
    except (UnicodeDecodeError, ET.ParseError, ValueError) as error:
        raise MalformedError(f"an answer that is no feed ({error})") from error
    total = (root.findtext(_TOTAL) or "").strip()
    entries = root.findall(f"{_ATOM}entry")
    for entry in entries:
        if "/api/errors" in (entry.findtext(f"{_ATOM}id") or ""):
            raise ServiceError(f"the service refuses: {_line(entry.findtext(f'{_ATOM}summary'))}")
    if root.tag != f"{_ATOM}feed" or not total.isdecimal():
        raise MalformedError("an answer that is no feed of results")
    return Feed(int(total), tuple(_paper(each) for each in entries))


def _paper(entry: ET.Element) -> Paper | None:
    match = _ID.fullmatch((entry.findtext(f"{_ATOM}id") or "").strip())
    title = _line(entry.findtext(f"{_ATOM}title"))
    if match is None or not title:
        return None
    primary = entry.find(f"{_ARXIV}primary_category")
    terms = [each.get("term") for each in entry.findall(f"{_ATOM}category")]
    summary = entry.findtext(f"{_ATOM}summary") or ""
    comment = entry.findtext(f"{_ARXIV}comment") or ""
    return Paper(
        id=match["id"],
        version=None if match["version"] is None else int(match["version"]),
        title=title,
        abstract=_paragraphs(summary),
        published=parse_time(entry.findtext(f"{_ATOM}published")),
        updated=parse_time(entry.findtext(f"{_ATOM}updated")),
        primary=None if primary is None else primary.get("term"),
        categories=tuple(sorted({term for term in terms if term})),
        withdrawn=_COMMENT.search(comment) is not None or _ABSTRACT.match(summary) is not None,
    )


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


def _paragraphs(text: str) -> str:
    """Lines joined: a break means something in an abstract only where the next line is indented."""
    return "\n".join(filter(None, map(_line, re.split(r"\n(?=[ \t])", text))))
