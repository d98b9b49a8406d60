"""Wikipedia's articles with the dates they were created on, through the MediaWiki action API.

Raw material of temporal sets (Duan et al. 2024, section 4.2 and A.3; Shi et al. 2024, section 2.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ngramscope import _core
from ngramscope.checks import check_choice, check_integer, check_optional
from ngramscope.corpus.services.client import ClientOptions, MalformedError
from ngramscope.corpus.services.mediawiki import Page, Wiki
from ngramscope.corpus.services.partial import FetchedDocuments, Progress
from ngramscope.corpus.services.times import Quota, iso, month_start, next_month, option_time, seeded
from ngramscope.errors import InputError, UsageError

__all__ = ["INTERVAL", "TEXT_SOURCES", "WikipediaQuery", "fetch_wikipedia"]

INTERVAL = 0.5
"""Seconds between requests, unless told otherwise."""

TEXT_SOURCES = ("extracts", "parse")
"""extracts: the plain text that the wiki makes of the newest revision. parse: the text of the page as it is rendered."""

_MAX_MALFORMED = 5  # pages in a row; more are no accident


@dataclass(frozen=True, kw_only=True)
class WikipediaQuery:
    """Which articles. Times are UTC: a date, an ISO time, or a month, which means its beginning.

    Parameters
    ----------
    categories, depth
        Articles in any of these categories (names without prefix), and in their subcategories down to `depth` levels.
    titles
        Or the articles whose titles a UTF-8 file lists, one a line.
    first_month, last_month
        Or articles that the wiki's log says were created from one month to another (``YYYY-MM``, both included).
    created_after, created_before
        Only articles created at or after the one, and before the other.
    as_of
        Text of the last revision before this time; None takes the newest.
    text_source
        One of `TEXT_SOURCES`; None is parse with `as_of`, which extracts cannot do, else extracts.
    language, api_url
        The Wikipedia of this language; or the API of another wiki.
    min_words
        White-space words that a text has at least, without its title.
    limit, per_month, seed
        Take at most so many articles in all, and of each month of creation, chosen by a digest of seed and page id (or title).
    follow_redirects
        Take the article that a redirect leads to; else it is left out.

    Raises
    ------
    UsageError
        A value, or a combination, that cannot be.
    """

    categories: tuple[str, ...] = ()
    depth: int = 0
    titles: Path | None = None
    first_month: str | None = None
    last_month: str | None = None
    created_after: str | None = None
    created_before: str | None = None
    as_of: str | None = None
    text_source: str | None = None
    language: str = "en"
    api_url: str | None = None
    min_words: int = 0
    limit: int | None = None
    per_month: int | None = None
    seed: int = 0
    follow_redirects: bool = False

    def __post_init__(self) -> None:
        if (self.first_month is None) != (self.last_month is None):
            raise UsageError("--from and --to: give both, the first month and the last")
        if sum((bool(self.categories), self.titles is not None, self.first_month is not None)) != 1:
            raise UsageError("which articles? Give --category, --titles, or --from and --to: one of these")
        if not all(each.strip() for each in self.categories):
            raise UsageError("--category: '' is not possible; name a category")
        check_integer("--depth", self.depth, 0, 100)
        check_integer("--min-words", self.min_words, 0, 1_000_000)
        check_integer("--seed", self.seed, -(1 << 63), (1 << 63) - 1)
        check_optional("--limit", self.limit, 1, 1 << 40)
        check_optional("--per-month", self.per_month, 1, 1 << 40)
        if self.depth and not self.categories:
            raise UsageError("--depth: is for --category")
        if not self.language.replace("-", "").isalnum() or not self.language.isascii():
            raise UsageError(f"--language: {self.language!r} is not possible; write it as en or zh-yue")
        check_choice("--text-source", self.source, TEXT_SOURCES)
        if self.as_of is not None and self.source == "extracts":
            raise UsageError("--text-source: extracts are of the newest revision only; --as-of needs parse")
        after, before = self.dates
        if after is not None and before is not None and after >= before:
            raise UsageError("no article can be created in that time: its end does not come after its beginning")
        option_time("--as-of", self.as_of)

    @property
    def source(self) -> str:
        """The text source that is meant."""
        return self.text_source or ("extracts" if self.as_of is None else "parse")

    @property
    def url(self) -> str:
        """Of the API."""
        return self.api_url or f"https://{self.language}.wikipedia.org/w/api.php"

    @property
    def dates(self) -> tuple[datetime | None, datetime | None]:
        """An article was created at or after the first, and before the second."""
        after = [option_time("--created-after", self.created_after)]
        before = [option_time("--created-before", self.created_before)]
        if self.first_month is not None and self.last_month is not None:
            after.append(month_start("--from", self.first_month))
            before.append(next_month(month_start("--to", self.last_month)))
        return max((each for each in after if each), default=None), min((each for each in before if each), default=None)


def fetch_wikipedia(
    query: WikipediaQuery, out: Path, *, options: ClientOptions | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the articles that `query` asks for to `out`, with ``OUT.meta.json`` beside it, and return that header.

    A record has id (of the page), title, date (of the first revision, ISO, UTC), text (title, empty line, article), categories,
    url, revision, revision_date (null with extracts, which do not say it) and domain (``Wikipedia (en)``).

    Raises
    ------
    UsageError
        ``OUT.partial`` belongs to another query, or `out` cannot be its name.
    InputError
        The wiki does not answer, refuses, or has nothing of the kind; what came so far is kept for the next run.
    ResourceError
        It cannot be written.
    MissingExtraError
        requests is not installed.
    """
    settings = {**vars(query), "categories": sorted(query.categories), "titles": None, "text_source": query.source}
    del settings["api_url"]  # stands beside them
    inputs = []
    titles: list[str] = []
    if query.titles is not None:
        titles, digest = _read_titles(query.titles)
        settings["titles"] = digest["blake3"]
        inputs = [digest]
    with FetchedDocuments(
        out, service="mediawiki", url=query.url, settings=settings, interval=INTERVAL,
        options=options or ClientOptions(), progress=progress,
    ) as file:  # fmt: skip
        _Fetch(query, file).run(titles)
        return file.commit(inputs=inputs, facts={"text": _TEXT[query.source], "dates": "of the first revision"})


_TEXT = {
    "extracts": "title, empty line, the plain text of the newest revision that the wiki makes (TextExtracts)",
    "parse": "title of today, empty line, text of the revision as it is rendered with the templates of today, without tables, "
    "boxes, notes and menus",
}


class _Fetch:
    def __init__(self, query: WikipediaQuery, file: FetchedDocuments) -> None:
        self._query = query
        self._file = file
        self._wiki = Wiki(file.client)
        self._after, self._before = query.dates
        self._as_of = option_time("--as-of", query.as_of)
        self._quota = Quota(query.limit, query.per_month)
        self._ids: set[int] = set()

    def run(self, titles: list[str]) -> None:
        """Fill the file."""
        query, file = self._query, self._file
        found: dict[str, str | None] = {}
        for name, month in self._by_title(titles) if titles else self._by_month() if query.first_month else self._by_category():
            if name in found:
                file.leave_out("duplicate")
            found.setdefault(name, month)
        if not found and not file.left_out:
            where = "the wiki's log has no article created in these months (on Wikimedia's wikis it begins in 2018)"
            if query.categories:
                where = f"no page is in {', '.join(query.categories)}; write the name as on the wiki, without its prefix"
            file.discard()
            raise InputError(f"{file.client.name}: {where}")
        malformed = 0
        for name in sorted(found, key=lambda each: (seeded(query.seed, each), each)):
            if self._quota.full(found[name]):
                file.leave_out("not_chosen")
                continue
            try:
                document = self._document(name)
            except MalformedError:
                malformed += 1
                if malformed > _MAX_MALFORMED:
                    raise
                document = "malformed_page"
            else:
                malformed = 0
            if isinstance(document, str):
                file.leave_out(document)
            else:
                self._quota.take(document["date"][:7])
                file.add(document)

    def _by_title(self, titles: list[str]) -> Iterator[tuple[str, str | None]]:
        for title in titles:
            yield f"titles:{title.replace('_', ' ')}", None

    def _by_month(self) -> Iterator[tuple[str, str | None]]:
        assert self._after is not None and self._before is not None  # noqa: S101, PT018 - the months
        for event in self._wiki.created(self._after, self._before):
            if event is None:
                self._file.leave_out("malformed_page")
            elif event.id == 0:
                self._file.leave_out("missing")
            else:
                yield f"pageids:{event.id}", None if event.when is None else iso(event.when)[:7]

    def _by_category(self) -> Iterator[tuple[str, str | None]]:
        level = sorted({_category(each) for each in self._query.categories})
        seen = set(level)
        for depth in range(self._query.depth + 1):
            below: set[str] = set()
            for category in level:
                for page in self._wiki.members(category, subcategories=depth < self._query.depth):
                    if page is None:
                        self._file.leave_out("malformed_page")
                    elif page.kind == "subcat":
                        below.add(page.title.partition(":")[2])  # without the prefix, which is in the wiki's language
                    elif page.namespace != 0:
                        self._file.leave_out("not_an_article")
                    else:
                        yield f"pageids:{page.id}", None
            level = sorted(below - seen)
            seen.update(level)

    def _document(self, name: str) -> dict[str, Any] | str:
        """The record of one page, or the reason why there is none."""
        key, _, value = name.partition(":")
        if "|" in value:
            return "invalid_title"  # it would be two
        extracts = self._query.source == "extracts"
        page = self._wiki.page({key: value}, text=extracts, follow=self._query.follow_redirects)
        why = page if isinstance(page, str) else self._unwanted(page)
        if why is not None or isinstance(page, str) or page.created is None:
            return why or "missing_creation_date"
        revision, when, text, categories = page.revision, None, page.text or "", page.categories
        if not extracts:
            if self._as_of is not None:
                before = self._wiki.revision_before(page.id, self._as_of)
                if before is None:
                    return "hidden_revision"
                revision, when = before
            rendered = self._wiki.rendered(revision)
            if rendered is None:
                return "hidden_revision"
            text, categories = rendered
        words = len(text.split())
        if words < max(1, self._query.min_words):
            return "too_short" if words else "empty"
        return {
            "id": str(page.id),
            "title": page.title,
            "date": iso(page.created),
            "text": f"{page.title}\n\n{text}",
            "categories": list(categories),
            "url": page.url,
            "revision": revision,
            "revision_date": when and iso(when),
            "domain": f"Wikipedia ({self._query.language})",
        }

    def _unwanted(self, page: Page) -> str | None:
        """Why it is left out, as far as that does not depend on its text."""
        if page.namespace != 0:
            return "not_an_article"
        if page.redirect:
            return "redirect"
        if page.id in self._ids:
            return "duplicate"
        self._ids.add(page.id)
        if page.disambiguation:
            return "disambiguation"
        if page.created is None:
            return "missing_creation_date"
        if (self._after and page.created < self._after) or (self._before and page.created >= self._before):
            return "outside_dates"
        if self._as_of and page.created >= self._as_of:
            return "not_yet_created"
        return "not_chosen" if self._quota.full(iso(page.created)[:7]) else None


def _category(name: str) -> str:
    """Its name as MediaWiki spells it: no prefix, spaces, a capital first."""
    name = " ".join((name.partition(":")[2] if name.startswith("Category:") else name).replace("_", " ").split())
    return name[:1].upper() + name[1:]


def _read_titles(path: Path) -> tuple[list[str], Mapping[str, Any]]:
    """The titles, and name, size and digest of the file."""
    try:
        data = path.read_bytes()
        titles = [line.strip() for line in data.decode("utf-8-sig").splitlines()]
        digest = {"name": str(path), "bytes": len(data), "blake3": _core.digest(path)}
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is no list of titles: not UTF-8 at byte {error.start + 1}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not any(titles):
        raise InputError(f"{path}: has no titles; write one a line")
    return [each for each in titles if each], digest
