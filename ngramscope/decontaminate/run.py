"""One pass over texts: judged part by part, with rows, counts and what is written out again."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ngramscope import _core
from ngramscope.corpus.sources import corpus_sources
from ngramscope.decontaminate.rules import DecontaminationRules
from ngramscope.errors import MismatchError, UsageError
from ngramscope.index.build import PathLike, ProgressCallback
from ngramscope.index.open import Index
from ngramscope.index.options import ReadOptions, WordRule
from ngramscope.json_texts import parse

__all__ = ["Decontamination", "DecontaminationSummary"]

# A filter's rate at which false hits of single n-grams need no word.
_NO_MATTER = 1e-6


class Decontamination(Iterator[list[_core.DecontaminatedPart]]):
    """Texts judged against a reference; iterate for the parts, in input order, or use `rows`.

    Parameters
    ----------
    texts
        Files, folders, globs, names with a scheme, or one manifest.
    reference
        Likewise: what must not be in the texts. Their n-grams are held exactly, and every match names the items it comes from.
    index
        Or an index. Its false hits would decide where rules act on single hits; such rules are refused.
    rules, rule
        When a text is contaminated; what a word is (None: with an index, the index's rule, else the default).
    remove
        ``nothing``, ``spans`` or ``documents``; decides the ``removal`` of the rows and what is written out again.
    read, reference_read
        How to read the texts and the reference; None takes the defaults, or for the reference what holds for the texts.
    evidence
        Matches to list for each contaminated text.
    all_rows
        Give a row for every record; False: only for contaminated ones.
    clean
        Also write records out again (``DecontaminatedPart.clean``).
    flat
        In rows, ids, fields and lists as JSON texts, so that every column has one type.
    threads
        None takes every core.
    progress
        Called now and then, on the calling thread.

    Raises
    ------
    UsageError, InputError, MismatchError
        An option, file or index that cannot be used.
    """

    def __init__(
        self,
        texts: PathLike | Sequence[PathLike],
        *,
        reference: PathLike | Sequence[PathLike] = (),
        index: Index | None = None,
        rules: DecontaminationRules,
        rule: WordRule | None = None,
        remove: str = "nothing",
        read: ReadOptions | None = None,
        reference_read: ReadOptions | None = None,
        evidence: int = 10,
        all_rows: bool = True,
        clean: bool = False,
        flat: bool = False,
        threads: int | None = None,
        progress: ProgressCallback | None = None,
    ) -> None:
        read = ReadOptions() if read is None else read
        if reference_read is None:
            reference_read = replace(read, fields=())
        texts, read = corpus_sources(_paths(texts), replace(read, domain_key=None))
        reference, reference_read = corpus_sources(_paths(reference), reference_read)
        if not texts:
            raise UsageError("no text given; name files, folders, or - for standard input")
        if bool(reference) == (index is not None):
            raise UsageError("give either --reference FILES or --index DIR: what must not be in the texts")
        if "-" in texts and "-" in reference:
            raise UsageError("standard input (-) is named for the texts and for the reference; it can be read once")
        if remove != "nothing" and not rules.removes:
            raise UsageError(
                "--remove: no rule says what is contaminated; give --preset, --max-overlap, --max-hits or the like"
            )
        self.warnings: list[str] = []
        if index is not None:
            rule, rules = _with_index(index, rule, rules)
            self.warnings = [*index.warnings, *_of_short_units(index, rules)]
        self.rules = rules
        self.rule = WordRule() if rule is None else rule
        if remove == "spans" and self.rule.words == "ids":
            raise UsageError("--remove spans: a list of token ids has no characters to cut; use --remove documents")
        self.remove = remove
        self.summary = DecontaminationSummary()
        self._flat = flat
        self._core = _core.Decontamination(
            texts,
            read,
            rules,
            self.rule,
            remove=remove,
            evidence=evidence,
            all_rows=all_rows,
            clean=clean,
            threads=threads,
            reference=reference or None,
            reference_read=reference_read,
            index=None if index is None else index._core,
            progress=progress,
        )

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the texts' files."""
        return tuple(self._core.sources)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the texts' files."""
        return tuple(map(os.fspath, self._core.paths))

    @property
    def unprotected(self) -> list[dict[str, Any]]:
        """Items of the reference without an n-gram, which nothing can match: source, line, id, words, reason of each."""
        names = self._core.reference_sources
        return [
            {
                "source": names[source],
                "line": line,
                "id": None if item is None else parse(item),
                "words": words,
                "reason": reason,
            }
            for source, line, item, words, reason in self._core.unprotected
        ]

    def __next__(self) -> list[_core.DecontaminatedPart]:
        parts = self._core.next_parts(self._flat)
        if parts is None:
            raise StopIteration
        for part in parts:
            self.summary.add(part)
        return parts

    def rows(self) -> Iterator[dict[str, Any]]:
        """What is left of the pass, as one dict a row; the columns are explained in docs/decontaminate.md."""
        for parts in self:
            for part in parts:
                yield from map(json.loads, part.rows.splitlines())

    def settings(self) -> dict[str, Any]:
        """What decided the verdicts, for provenance."""
        return {"words": asdict(self.rule), "rules": asdict(self.rules), "remove": self.remove}

    def reference_report(self) -> dict[str, Any] | None:
        """What was read of the reference, its items and n-grams, and those that did not count; None for an index."""
        report: dict[str, Any] | None = json.loads(self._core.reference_report)
        return report

    def report(self) -> dict[str, Any]:
        """What was read of the texts and left out; after the last part."""
        report: dict[str, Any] = json.loads(self._core.report())
        return report


@dataclass
class DecontaminationSummary:
    """Counts of a pass so far.

    Attributes
    ----------
    records, clean, contaminated
        Records; those judged clean; those judged contaminated.
    unjudged
        Records that cannot be judged, by reason. With these the counts add up.
    by_rule, by_removal
        Contaminated records by the first rule they broke, and by what was done about them.
    removed_characters
        Code points removed.
    """

    records: int = 0
    contaminated: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)
    by_rule: Counter[str] = field(default_factory=Counter)
    by_removal: Counter[str] = field(default_factory=Counter)
    removed_characters: int = 0

    @property
    def clean(self) -> int:
        """Records judged clean."""
        return self.records - self.contaminated - self.unjudged.total()

    def add(self, part: _core.DecontaminatedPart) -> None:
        """Count the records of a part."""
        self.records += part.records
        self.unjudged.update(part.unjudged)
        self.contaminated += len(part.contaminated)
        self.removed_characters += part.removed
        for _, rule, removal, _ in part.contaminated:
            self.by_rule[rule] += 1
            if removal is not None:
                self.by_removal[removal] += 1

    def to_dict(self) -> dict[str, Any]:
        """The counts, ready for JSON."""
        return {
            "records": self.records,
            "clean": self.clean,
            "contaminated": self.contaminated,
            "unjudged": dict(self.unjudged),
            "by_rule": dict(self.by_rule),
            "by_removal": dict(self.by_removal),
            "removed_characters": self.removed_characters,
        }


def _with_index(index: Index, rule: WordRule | None, rules: DecontaminationRules) -> tuple[WordRule, DecontaminationRules]:
    """Rules that an index can answer: it has n-grams of its lengths and by its word rule only, and does not know its items."""
    if rule is not None:
        index.check_rule(words=rule.words, normalize=rule.normalize, lowercase=rule.lowercase)
    if rules.max_documents is not None:
        raise UsageError(
            "--max-documents: with an index, n-grams cannot be counted by document; give --reference FILES instead"
        )
    if rules.min_n is not None:
        raise UsageError("--min-n: an index has no n-grams of shorter units; give --reference FILES, or leave --min-n out")
    if rules.max_near is not None:
        raise UsageError("--max-near: an index does not know its items; give --reference FILES instead")
    if rules.n not in index.n:
        raise MismatchError(
            f"{', '.join(map(str, index.paths))}: n = {rules.n} was asked for, but the index has n = {list(index.n)}"
        )
    return index.rule, DecontaminationRules(**{**asdict(rules), "near": 0})


def _of_short_units(index: Index, rules: DecontaminationRules) -> list[str]:
    """A warning where a false hit is enough: a share of few n-grams."""
    rate = index.filter_fpr[rules.n]
    if rules.unit == "document" or rules.max_overlap is None or rate < _NO_MATTER:
        return []
    return [
        f"--unit {rules.unit}, --max-overlap: one false hit (rate {rate:.2g}) contaminates a {rules.unit} of {rules.n} words; "
        "an index built with --filter exact has none, and --reference FILES neither"
    ]


def _paths(paths: PathLike | Sequence[PathLike]) -> list[str]:
    return [os.fspath(each) for each in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
