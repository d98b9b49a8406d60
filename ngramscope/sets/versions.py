"""Versions of one article from before and after a cutoff: a member and a non-member that differ in little but time."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.dated import Dated, DatedSource, LeftOutFile, Progress, require_both_sides, text_digest
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.temporal import CutoffOptions
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["versions"]

_OWN = ("id", "domain", "group")


@dataclass(frozen=True, slots=True, order=True)
class _Version:
    """Of two on one side the larger is taken: the one nearer to the cutoff; what has the same date, by what it says."""

    nearness: tuple[int, int]
    text: int
    id: int
    number: int


_Article = dict[int, _Version]
"""The nearest version on either side, by label."""


def versions(
    source: RecordSource,
    out: str | Path,
    options: CutoffOptions,
    version_of: str,
    *,
    left_out: str | Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a set of pairs: the last version of an article from before a cutoff, and the first from after it.

    The member is the version that ends last before the cutoff (less the margin), the non-member the one that begins first
    after it; of several of the same date, one that their content decides. Articles without both are left out, and those whose
    text did not change (white space apart). The group of both is the article.

    Parameters
    ----------
    version_of
        Key that all versions of an article have the same value of.

    Other parameters, what is returned and what is raised are as those of `ngramscope.sets.temporal.temporal`.
    """
    keys = source.keys or Keys()
    carried = version_of in (*_OWN, *keys.fields)
    source = source if carried else replace(source, keys=replace(keys, fields=(*keys.fields, version_of)))
    documents = DatedSource(source, options.dates, options.sides(), progress=progress)
    articles = _articles(documents, version_of)

    def refuse(dated: Dated) -> str | None:
        name = _name(dated.candidate, version_of)
        if name is None:
            return "no_article"
        article = articles[text_digest(name)]
        label = MEMBER if dated.candidate.label else NONMEMBER
        if (reason := _reason(article)) is not None or article[label].number == dated.number:
            return reason
        return "earlier_version" if label == MEMBER else "later_version"

    sides: Counter[int | None] = Counter()
    with SetFile(out) as file, LeftOutFile(left_out) as listed:
        for dated in documents.dated(refuse, listed.add):
            candidate = dated.candidate
            sides[candidate.label] += 1
            candidate.group = _name(candidate, version_of)
            if not carried:
                candidate.extra.pop(version_of, None)
            file.add([candidate])
        require_both_sides(sides, documents.counts)
        reasons = Counter(_reason(article) for article in articles.values())
        pairs = Counts(reasons.pop(None), Counter({str(reason): count for reason, count in reasons.items()}))
        settings = {**options.settings(), **documents.settings(), "version_of": version_of}
        step = Step(
            rule="temporal",
            settings=settings,
            inputs=documents.report["sources"],
            counts={"documents": documents.counts.to_dict(), "articles": pairs.to_dict()},
            facts={"left_out_samples": documents.samples, "partial": documents.partial},
        )
        listed.commit(settings, step.inputs)
        return file.commit(step, before=documents.headers)


def _articles(documents: DatedSource, version_of: str) -> dict[int, _Article]:
    """All articles of one pass, by the digest of their name."""
    articles: dict[int, _Article] = {}

    def article(candidate: Candidate) -> _Article:
        name = _name(candidate, version_of)
        return {} if name is None else articles.setdefault(text_digest(name), {})

    # An article is counted even if no version of it has a side.
    for dated in documents.dated(left_out=lambda candidate, _: article(candidate)):
        candidate, span = dated.candidate, dated.span
        label = MEMBER if candidate.label else NONMEMBER
        nearness = (span.end, span.start) if label == MEMBER else (-span.start, -span.end)
        identity = hashlib.blake2b(json.dumps(candidate.id).encode(), digest_size=8).digest()
        version = _Version(nearness, text_digest(candidate.text), int.from_bytes(identity, "big"), dated.number)
        best = article(candidate)
        best[label] = max(best.get(label, version), version)
    return articles


def _reason(article: _Article) -> str | None:
    """Why there is no pair; None if there is."""
    if MEMBER in article and NONMEMBER in article:
        return "unchanged_text" if article[MEMBER].text == article[NONMEMBER].text else None
    return "no_version_after" if MEMBER in article else "no_version_before" if NONMEMBER in article else "no_version_on_a_side"


def _name(candidate: Candidate, version_of: str) -> str | None:
    value = getattr(candidate, version_of) if version_of in _OWN else candidate.extra.get(version_of)
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
