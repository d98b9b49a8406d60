"""Pages about recent events against pages that are older: the rule behind WikiMIA.

Shi et al., Detecting Pretraining Data from Large Language Models, ICLR 2024, section 2.2.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ngramscope.checks import MAX_COUNT, check_integer
from ngramscope.errors import InputError, UsageError
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.cut import cut
from ngramscope.sets.dated import Dated, DatedSource, LeftOutFile, Progress, Sides, text_digest
from ngramscope.sets.dates import EARLIEST, LATEST, DateRule, utc_text
from ngramscope.sets.folder import SetFolder
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["LENGTHS", "WikimiaOptions", "wikimia"]

LENGTHS = (32, 64, 128, 256)
"""Lengths in words of the published sets."""


@dataclass(frozen=True, kw_only=True)
class WikimiaOptions:
    """Which pages are taken, and how.

    Parameters
    ----------
    members_before, nonmembers_after
        Dates at whose beginning the members' time ends, and that of the non-members begins.
    lengths
        In words that white space separates; one set for each.
    title_key, exclude_title
        Key of the title, and a regular expression: pages whose title it finds are left out (case does not matter). An empty
        expression takes all pages, also those without a title.
    category, categories_key
        A regular expression that has to be found in one of the categories, a text or a list of texts; None takes all.
    paraphrase_key
        Key of another wording of the text; then each set has a twin of the same pages in that wording.
    seed
        Of the draw that makes both sides equally many.
    dates
        How dates are read.

    Raises
    ------
    UsageError
        A value that cannot be.
    """

    members_before: str
    nonmembers_after: str
    lengths: tuple[int, ...] = LENGTHS
    title_key: str = "title"
    exclude_title: str = "^(List|Timeline) of "
    category: str | None = None
    categories_key: str = "categories"
    paraphrase_key: str | None = None
    seed: int = 0
    dates: DateRule = field(default_factory=DateRule)

    def __post_init__(self) -> None:
        if not self.lengths or len(set(self.lengths)) < len(self.lengths):
            raise UsageError(f"--length: {self.lengths} is not possible; give each length once")
        for length in self.lengths:
            check_integer("--length", length, 1, MAX_COUNT)
        check_integer("--seed", self.seed, 0, MAX_COUNT)
        for option, pattern in (("--exclude-title", self.exclude_title), ("--category", self.category or "")):
            try:
                re.compile(pattern)
            except re.error as error:
                raise UsageError(f"{option}: {pattern!r} is no regular expression: {error}") from error
        self.sides()

    def sides(self) -> Sides:
        """When members and non-members are from."""
        before = self.dates.moment("--members-before", self.members_before)
        after = self.dates.moment("--nonmembers-after", self.nonmembers_after)
        if before > after:
            raise UsageError(
                f"--members-before {self.members_before}: is later than --nonmembers-after {self.nonmembers_after}; "
                "members are the older pages"
            )
        return Sides((EARLIEST, before), (after, LATEST))

    def settings(self) -> dict[str, Any]:
        """For the header of a set."""
        sides = self.sides()
        return {
            "members_before": self.members_before,
            "members_before_utc": utc_text(sides.members[1]),
            "nonmembers_after": self.nonmembers_after,
            "nonmembers_after_utc": utc_text(sides.nonmembers[0]),
            "lengths": list(self.lengths),
            "title_key": self.title_key,
            "exclude_title": self.exclude_title,
            "category": self.category,
            "categories_key": self.categories_key,
            "paraphrase_key": self.paraphrase_key,
            **self.dates.settings(),
        }


def wikimia(
    source: RecordSource,
    out_dir: str | Path,
    options: WikimiaOptions,
    *,
    left_out: str | Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write ``WikiMIA_length32.jsonl`` ... into a folder: the first words of new pages, and of as many old ones.

    Parameters
    ----------
    source
        Pages; their date is that of their creation.
    out_dir
        A new or empty folder.
    options
        The rule.
    left_out
        Also write a list of the pages that can be in no set.
    progress
        Called now and then, on the calling thread.

    Returns
    -------
    dict
        What is in ``series.json``: the sets, with their numbers. A length that one side has no page for has no file.

    Raises
    ------
    UsageError
        Standard input.
    InputError
        No length has pages on both sides; a file that cannot be used, or that changes meanwhile.
    """
    keys = source.keys or Keys()
    wanted = (options.title_key, options.categories_key if options.category else None, options.paraphrase_key)
    new = tuple(key for key in dict.fromkeys(wanted) if key and key not in keys.fields)
    source = replace(source, keys=replace(keys, fields=(*keys.fields, *new)))
    documents = DatedSource(source, options.dates, options.sides(), progress=progress)
    with SetFolder(out_dir) as folder, LeftOutFile(left_out) as listed, ExitStack() as stack:
        pages = _Pages(documents, options)
        sets = [
            _Set(length, variant, pages.draw(length))
            for length in options.lengths
            for variant in (("original", "paraphrased") if options.paraphrase_key else ("original",))
        ]
        files = {each.name: stack.enter_context(SetFile(folder.file(each.name))) for each in sets if each.numbers}
        if not files:
            raise InputError(
                f"no length has pages on both sides: {pages.found(MEMBER):,} members and {pages.found(NONMEMBER):,} "
                f"non-members were found (left out: {documents.counts.reasons()})"
            )
        for dated in documents.dated(pages.refuse, listed.add):
            for each in sets:
                if dated.number in each.numbers:
                    files[each.name].add([each.candidate(dated.candidate, options, new)])
        settings = {**options.settings(), **documents.settings()}
        step = Step(
            rule="wikimia",
            settings=settings,
            inputs=documents.report["sources"],
            counts={"documents": documents.counts.to_dict()},
            seed=options.seed,
            facts={"left_out_samples": documents.samples, "partial": documents.partial},
        )
        for each in sets:
            if each.numbers:
                own = {"documents": pages.counts(each.length, len(each.numbers)).to_dict()}
                settings = {**settings, "length": each.length, "text": each.variant}
                files[each.name].commit(replace(step, settings=settings, counts=own), before=documents.headers)
        listed.commit(step.settings, step.inputs)
        return folder.commit(step, [each.row() for each in sets])


@dataclass(frozen=True, slots=True)
class _Page:
    """What is remembered of a page: its side, its turn in the draw, how many words it has."""

    label: int
    turn: int
    number: int
    words: int


class _Pages:
    """The pages that the rule takes, by the digest of their text; one pass."""

    def __init__(self, documents: DatedSource, options: WikimiaOptions) -> None:
        self._documents = documents
        self._options = options
        self._pages: dict[int, _Page] = {}
        for dated in documents.dated(lambda dated: _refuse(dated.candidate, options)):
            candidate = dated.candidate
            text = text_digest(candidate.text)
            content = json.dumps([candidate.id, text]).encode()
            turn = hashlib.blake2b(content, digest_size=8, key=str(options.seed).encode()).digest()
            words = min(len(each.split()) for each in _texts(candidate, options).values())
            label = MEMBER if candidate.label else NONMEMBER
            page = _Page(label, int.from_bytes(turn, "big"), dated.number, words)
            # A text that also an old page has is not new.
            self._pages[text] = min(page, self._pages.get(text, page), key=lambda each: (-each.label, *_turn(each)))

    def found(self, label: int) -> int:
        """How many one side has, of any length."""
        return sum(page.label == label for page in self._pages.values())

    def draw(self, length: int) -> frozenset[int]:
        """Numbers of the pages of one set: all long ones of the smaller side, and as many of the other."""
        sides = [
            sorted((page for page in self._pages.values() if page.label == label and page.words >= length), key=_turn)
            for label in (MEMBER, NONMEMBER)
        ]
        size = min(map(len, sides))
        return frozenset(page.number for side in sides for page in side[:size])

    def refuse(self, dated: Dated) -> str | None:
        """Why a page can be in no set."""
        reason = _refuse(dated.candidate, self._options)
        if reason is not None:
            return reason
        page = self._pages[text_digest(dated.candidate.text)]
        if page.number == dated.number:
            return None
        return "duplicate_text" if page.label == dated.candidate.label else "text_of_a_member"

    def counts(self, length: int, drawn: int) -> Counts:
        """Of one set. After the last pass."""
        short = sum(page.words < length for page in self._pages.values())
        counts = self._documents.counts
        own = Counter({f"fewer_than_{length}_words": short, "not_drawn": counts.used - short - drawn})
        return Counts(drawn, counts.left_out + own)


@dataclass(frozen=True)
class _Set:
    """One set of the folder."""

    length: int
    variant: str
    numbers: frozenset[int]

    @property
    def name(self) -> str:
        """Of its file."""
        return f"WikiMIA_length{self.length}{'' if self.variant == 'original' else f'_{self.variant}'}.jsonl"

    def candidate(self, page: Candidate, options: WikimiaOptions, new: tuple[str, ...]) -> Candidate:
        """The page as it is in this set, without what was read of it only for the rule."""
        # Its title tells what it is about, and stays.
        extra = {key: value for key, value in page.extra.items() if key not in new or key == options.title_key}
        if self.variant != "original":
            extra["paraphrase_of"] = page.id
        return replace(page, text=cut(_texts(page, options)[self.variant].lstrip(), self.length), extra=extra)

    def row(self) -> dict[str, Any]:
        """For ``series.json``."""
        each = len(self.numbers) // 2
        row = {"length": self.length, "text": self.variant, "file": self.name if each else None}
        return {**row, "members": each, "nonmembers": each}


def _texts(page: Candidate, options: WikimiaOptions) -> dict[str, str]:
    texts = {"original": page.text}
    return {**texts, "paraphrased": page.extra[options.paraphrase_key]} if options.paraphrase_key else texts


def _turn(page: _Page) -> tuple[int, int]:
    return page.turn, page.number


def _refuse(page: Candidate, options: WikimiaOptions) -> str | None:
    """Why the rule does not take a page, as far as the page itself can tell."""
    title = page.extra.get(options.title_key)
    if options.exclude_title:
        if not isinstance(title, str) or not title.strip():
            return "no_title"
        if re.search(options.exclude_title, title.strip(), re.IGNORECASE):
            return "excluded_title"
    if options.category:
        categories = page.extra.get(options.categories_key)
        texts = [each for each in (categories if isinstance(categories, list) else [categories]) if isinstance(each, str)]
        if not texts:
            return "no_category"
        if not any(re.search(options.category, each) for each in texts):
            return "other_category"
    if options.paraphrase_key:
        paraphrase = page.extra.get(options.paraphrase_key)
        if not isinstance(paraphrase, str) or not paraphrase.strip():
            return "no_paraphrase"
    return None
