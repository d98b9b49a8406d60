"""The MediaWiki action API, as far as dated articles need it: lists, a page, its text now and as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from ngramscope.corpus.services.client import BusyError, Client, MalformedError, ServiceError
from ngramscope.corpus.services.html import page_text, tidy
from ngramscope.corpus.services.times import iso, parse_time
from ngramscope.errors import InputError

__all__ = ["Listed", "Page", "Wiki"]

# Servers that are behind their databases say so rather than answer (manual: Maxlag parameter).
_COMMON = {"format": "json", "formatversion": "2", "maxlag": "5"}
_LATER = {"maxlag": 5.0, "ratelimited": 5.0, "readonly": 30.0}  # codes of errors that pass, and seconds to wait


@dataclass(frozen=True)
class Listed:
    """A page in a list: `kind` is ``page``, ``subcat`` or ``file``; `when` is the time of a log event."""

    id: int
    namespace: int
    title: str
    kind: str = "page"
    when: datetime | None = None


@dataclass(frozen=True)
class Page:
    """What the wiki says of a page today; `created` is None where it does not say it, `text` where it was not asked for."""

    id: int
    namespace: int
    title: str
    url: str
    revision: int
    created: datetime | None
    categories: tuple[str, ...]
    redirect: bool
    disambiguation: bool
    text: str | None


class Wiki:
    """One wiki. Its methods raise what `Client.get` raises."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def members(self, category: str, *, subcategories: bool) -> Iterator[Listed | None]:
        """Pages of a category (its name without prefix), and its subcategories if asked for; None for what is malformed."""
        kinds = "page|subcat" if subcategories else "page"
        wanted = {"cmtitle": f"Category:{category}", "cmtype": kinds, "cmprop": "ids|title|type", "cmlimit": "max"}
        for item in self._list("categorymembers", wanted):
            kind = item.get("type")
            yield _listed(item, "pageid", kind if isinstance(kind, str) else "page")

    def created(self, start: datetime, end: datetime) -> Iterator[Listed | None]:
        """Articles that the log says were created from `start` to before `end`; id 0 for those that are gone."""
        wanted = {
            "letype": "create", "lenamespace": "0", "ledir": "newer", "leprop": "ids|title|timestamp", "lelimit": "max",
            "lestart": iso(start), "leend": iso(end - timedelta(seconds=1)),
        }  # fmt: skip
        for item in self._list("logevents", wanted):
            # The id that the page had then follows it when it is moved; pageid is that of whatever has its title now.
            yield _listed(item, "logpage" if item.get("logpage") else "pageid")

    def page(self, wanted: Mapping[str, str], *, text: bool, follow: bool) -> Page | str:
        """One page, or why there is none.

        Parameters
        ----------
        wanted
            ``pageids`` or ``titles``, of one page.
        text
            Also its plain text (TextExtracts).
        follow
            If it is a redirect, the page that it leads to.
        """
        parameters = {
            "action": "query", "prop": "info|categories|revisions|pageprops", "inprop": "url", "ppprop": "disambiguation",
            "clshow": "!hidden", "cllimit": "max", "rvprop": "ids|timestamp", "rvdir": "newer", "rvlimit": "1", **wanted,
        }  # fmt: skip
        if text:
            parameters["prop"] += "|extracts"
            parameters |= {"explaintext": "1", "exsectionformat": "plain"}
        if follow:
            parameters["redirects"] = "1"
        page, more = self._client.get(_COMMON | parameters, lambda body: _page(body, text=text))
        categories = list(page.categories) if isinstance(page, Page) else []
        # Only further categories: that there are more revisions than the first one is no news.
        while isinstance(page, Page) and more is not None:
            rest = {"action": "query", "prop": "categories", "clshow": "!hidden", "cllimit": "max", "pageids": str(page.id)}
            before = more
            found, more = self._client.get(_COMMON | rest | {"clcontinue": more}, _more_categories)
            categories += found
            if more == before:
                raise MalformedError(f"{self._client.name}: the categories of page {page.id} do not end")
        if not isinstance(page, Page):
            return page
        return replace(page, categories=tuple(sorted(set(categories))))

    def revision_before(self, page: int, time: datetime) -> tuple[int, datetime] | None:
        """Number and time of the last revision before `time`; None if there is none."""
        parameters = {
            "action": "query", "prop": "revisions", "pageids": str(page), "rvprop": "ids|timestamp", "rvdir": "older",
            "rvlimit": "1", "rvstart": iso(time - timedelta(seconds=1)),
        }  # fmt: skip
        return self._client.get(_COMMON | parameters, _revision)

    def rendered(self, revision: int) -> tuple[str, tuple[str, ...]] | None:
        """Text and categories of one revision, with the templates of today; None if the wiki does not show it."""
        parameters = {
            "action": "parse", "oldid": str(revision), "prop": "text|categories", "disablelimitreport": "1",
            "disableeditsection": "1", "disabletoc": "1",
        }  # fmt: skip
        try:
            return self._client.get(_COMMON | parameters, _rendered)
        except ServiceError as error:
            if error.code in ("nosuchrevid", "missingtitle", "missingcontent-revid", "permissiondenied"):
                return None
            raise

    def _list(self, name: str, wanted: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
        parameters = {**_COMMON, "action": "query", "list": name, **wanted}
        seen = set()
        more: Mapping[str, str] | None = {}
        while more is not None:
            items, more = self._client.get({**parameters, **more}, lambda body: _items(body, name))
            yield from items
            token = json.dumps(more, sort_keys=True)
            if token in seen:
                raise InputError(f"{self._client.name}: the list {name} does not end: it goes on with {token} a second time")
            seen.add(token)


def _answer(body: bytes) -> Mapping[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError as error:
        raise MalformedError(f"an answer that is no JSON ({error})") from error
    if not isinstance(answer, dict):
        raise MalformedError("an answer that is no JSON object")
    refusal = answer.get("error")
    if refusal is not None:
        code, info = (str(refusal.get(key, "")) if isinstance(refusal, dict) else "" for key in ("code", "info"))
        if code in _LATER:
            raise BusyError(f"{code}: {info}", _LATER[code])
        if code.startswith("internal_api_error"):
            raise MalformedError(f"{code}: {info}")
        raise ServiceError(f"the wiki refuses: {code}: {info}", code)
    return answer


def _items(body: bytes, name: str) -> tuple[list[Mapping[str, Any]], Mapping[str, str] | None]:
    answer = _answer(body)
    query, more = answer.get("query"), answer.get("continue")
    items = query.get(name) if isinstance(query, dict) else None
    if not isinstance(items, list) or not isinstance(more, dict | None):
        raise MalformedError(f"an answer without the list {name}")
    return [each if isinstance(each, dict) else {} for each in items], more


def _listed(item: Mapping[str, Any], key: str, kind: str = "page") -> Listed | None:
    number, namespace, title = item.get(key), item.get("ns"), item.get("title")
    if not (isinstance(number, int) and isinstance(namespace, int) and isinstance(title, str)):
        return None
    return Listed(number, namespace, title, kind, parse_time(item.get("timestamp")))


def _only_page(body: bytes) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    answer = _answer(body)
    query = answer.get("query")
    pages = query.get("pages", []) if isinstance(query, dict) else None
    if not isinstance(pages, list) or len(pages) > 1 or not all(isinstance(each, dict) for each in pages):
        raise MalformedError("an answer without the page")
    # A title of another wiki (fr:Paris) has no page.
    return (pages[0] if pages else {"missing": True}), answer


def _page(body: bytes, *, text: bool) -> tuple[Page | str, str | None]:
    """The page, or why there is none; and where its categories go on."""
    page, answer = _only_page(body)
    if page.get("invalid"):
        return "invalid_title", None
    if page.get("missing"):
        return "missing", None
    number, namespace, title, url, revision = (page.get(key) for key in ("pageid", "ns", "title", "fullurl", "lastrevid"))
    if not (isinstance(number, int) and isinstance(namespace, int) and isinstance(revision, int)):
        raise MalformedError("a page without pageid, ns or lastrevid")
    if not (isinstance(title, str) and isinstance(url, str)):
        raise MalformedError("a page without title or fullurl")
    extract = page.get("extract")
    if text and not isinstance(extract, str):
        if "extracts" in str(answer.get("warnings")):
            raise ServiceError("the wiki makes no plain text (it lacks TextExtracts): use --text-source parse", "noextracts")
        if namespace == 0 and not page.get("redirect"):
            raise MalformedError("a page without extract")
    first = page.get("revisions") or [{}]
    found = Page(
        id=number,
        namespace=namespace,
        title=title,
        url=url,
        revision=revision,
        created=parse_time(first[0].get("timestamp")) if isinstance(first, list) and isinstance(first[0], dict) else None,
        categories=tuple(_names(page)),
        redirect=bool(page.get("redirect")),
        disambiguation="disambiguation" in (page.get("pageprops") or {}),
        text=tidy(extract) if isinstance(extract, str) else None,
    )
    return found, _continued(answer)


def _more_categories(body: bytes) -> tuple[list[str], str | None]:
    page, answer = _only_page(body)
    return _names(page), _continued(answer)


def _continued(answer: Mapping[str, Any]) -> str | None:
    more = answer.get("continue")
    token = more.get("clcontinue") if isinstance(more, dict) else None
    return token if isinstance(token, str) else None


def _names(page: Mapping[str, Any]) -> list[str]:
    """Names of categories without their prefix, which is in the wiki's language."""
    categories = page.get("categories", [])
    if not isinstance(categories, list):
        raise MalformedError("a page whose categories are no list")
    titles = [each.get("title") for each in categories if isinstance(each, dict)]
    return [each.partition(":")[2] for each in titles if isinstance(each, str)]


def _revision(body: bytes) -> tuple[int, datetime] | None:
    page, _ = _only_page(body)
    revisions = page.get("revisions")
    if not revisions:
        return None
    one = revisions[0] if isinstance(revisions, list) else None
    number, time = (one.get("revid"), parse_time(one.get("timestamp"))) if isinstance(one, dict) else (None, None)
    if not isinstance(number, int) or time is None:
        raise MalformedError("a revision without number or time")
    return number, time


def _rendered(body: bytes) -> tuple[str, tuple[str, ...]]:
    parse = _answer(body).get("parse")
    html = parse.get("text") if isinstance(parse, dict) else None
    if not isinstance(parse, dict) or not isinstance(html, str):
        raise MalformedError("an answer without the page's text")
    found = [each for each in parse.get("categories") or () if isinstance(each, dict) and not each.get("hidden")]
    names = {each["category"].replace("_", " ") for each in found if isinstance(each.get("category"), str)}
    return page_text(html), tuple(sorted(names))
