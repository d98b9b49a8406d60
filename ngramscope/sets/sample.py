"""Natural sets: members and non-members drawn from files, cut alike, without duplicates, so many of each side and domain.

As MIMIR was made (Duan et al. 2024, section 4): documents of at least 100 words, cut at 200, as many members as non-members of
each domain. Two readings: from the first, digests and numbers are held, by which is decided; the second takes the texts.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core
from ngramscope.checks import MAX_COUNT, check_integer, check_optional, check_switch
from ngramscope.errors import InputError, UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.progress import Step as ProgressStep
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate, side
from ngramscope.sets.cut import cut, windows
from ngramscope.sets.duplicates import MAX_COMPARED, PERMUTATIONS, SHINGLE_WORDS
from ngramscope.sets.quotas import Quotas
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.spool import Spool
from ngramscope.sets.survey import EXACT, NEAR, NEAR_OF_MEMBER, OF_MEMBER, STAYS, Survey
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["LEAST_SIMILARITY", "SampleOptions", "sample"]

PathLike = str | os.PathLike[str]
Progress = Callable[[_core.Progress | ProgressStep], object]

LEAST_SIMILARITY = 0.5
"""Below it nearly every pair of texts would have to be compared."""

_MAX_WORDS = 200
_PER_DOMAIN = 1000
_REASONS = {EXACT: "exact_duplicate", NEAR: "near_duplicate", OF_MEMBER: "on_both_sides", NEAR_OF_MEMBER: "near_member"}
_ORDER = "members before non-members, then the smaller seeded digest of the text and what is known of it"


@dataclass(frozen=True, kw_only=True)
class SampleOptions:
    """What a sample takes.

    Parameters
    ----------
    min_words
        White-space words; shorter documents are left out.
    max_words
        Documents are cut at the end of this word, before they are compared; None: 200.
    windows, window_words
        Instead, take so many random windows of so many words of each document; shorter documents are left out.
    per_domain
        Documents of each domain and side; None: 1,000 unless `total` is given.
    total
        Documents of each side, dealt out to the domains in proportion to what both sides have of each.
    near_duplicates
        Estimated Jaccard similarity of word 5-grams from which on two texts are near-duplicates; None keeps them.
    allow_fewer
        Take what there is where it is fewer than asked for.
    seed
        Same seed, same set.
    threads
        None takes every core; no matter for the set.
    """

    min_words: int = 100
    max_words: int | None = None
    windows: int | None = None
    window_words: int | None = None
    per_domain: int | None = None
    total: int | None = None
    near_duplicates: float | None = 0.8
    allow_fewer: bool = False
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        check_integer("--min-words", self.min_words, 1, 1 << 31)
        for name in ("max_words", "windows", "window_words", "per_domain", "total"):
            check_optional("--" + name.replace("_", "-"), getattr(self, name), 1, 1 << 31)
        check_switch("--allow-fewer", self.allow_fewer)
        check_integer("--seed", self.seed, 0, MAX_COUNT)
        check_optional("--threads", self.threads, 1, 1 << 10)
        if (self.windows is None) != (self.window_words is None):
            raise UsageError("--windows and --window-words go together: how many, and of how many words")
        if self.windows is not None and self.max_words is not None:
            raise UsageError("--max-words: windows have their own length; leave it out, or --windows and --window-words")
        if self.per_domain is not None and self.total is not None:
            raise UsageError("--per-domain and --total: give one, the number for each domain or that of all together")
        similarity = self.near_duplicates
        if similarity is not None and not (isinstance(similarity, float | int) and LEAST_SIMILARITY <= similarity <= 1):
            raise UsageError(f"--near-duplicates: {similarity!r} is not possible; from {LEAST_SIMILARITY} to 1, or off")
        if self.windows is None and self.max_words is None:
            object.__setattr__(self, "max_words", _MAX_WORDS)
        if self.per_domain is None and self.total is None:
            object.__setattr__(self, "per_domain", _PER_DOMAIN)

    @property
    def needed_words(self) -> int:
        """Words that a document must have."""
        return max(self.min_words, (self.windows or 0) * (self.window_words or 0))

    def settings(self) -> dict[str, Any]:
        """What has a say in the set."""
        settings = {name: value for name, value in vars(self).items() if name not in ("seed", "threads")}
        return {**settings, "shingle_words": SHINGLE_WORDS, "permutations": PERMUTATIONS, "max_compared": MAX_COMPARED}


def sample(
    out: str | Path,
    *,
    members: Sequence[PathLike] = (),
    nonmembers: Sequence[PathLike] = (),
    candidates: Sequence[PathLike] = (),
    options: SampleOptions | None = None,
    read: ReadOptions | None = None,
    keys: Keys | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Draw a candidate set and write it; the rows come in an order that only their content and the seed decide.

    Parameters
    ----------
    out
        Name of the set; see `SetFile`.
    members, nonmembers, candidates
        Files of the members, of the non-members, and of documents (or sets) that say themselves what they are; any may be
        left out. They are read twice.
    progress
        Called some twenty times a second, on the calling thread.

    Returns
    -------
    dict
        The header of the set.

    Raises
    ------
    UsageError, InputError
        An option or a file that cannot be used; fewer documents than asked for, with the number found of each side and
        domain.
    """
    options = SampleOptions() if options is None else options
    given = [(members, MEMBER), (nonmembers, NONMEMBER), (candidates, None)]
    sources = [RecordSource(tuple(paths), read, keys, label) for paths, label in given if paths]
    if not sources:
        raise UsageError("nothing to sample from; give --members, --nonmembers, or files with labels")
    if any(os.fspath(path) == "-" for source in sources for path in source.paths):
        raise UsageError("standard input (-) can be read only once, and a sample is drawn in two readings; give files")
    survey = Survey(
        min_words=options.needed_words,
        max_words=options.max_words,
        seed=options.seed,
        with_signatures=options.near_duplicates is not None,
        threads=options.threads,
    )
    with SetFile(out) as file:
        for source in sources:
            survey.read(source, _reading(progress, 1))
        state, not_compared = survey.without_duplicates(options.near_duplicates, _comparing(progress))
        sides = sorted(survey.labels | {source.label for source in sources if source.label is not None}, reverse=True)
        counts = _counts(survey, state)
        if not sides:
            raise InputError(f"no document has a label; give --members or --nonmembers, or --label-key. {_why(counts)}")
        stay = np.flatnonzero(state == STAYS)
        quotas = Quotas(
            survey.domains,
            survey.domain[stay],
            survey.member[stay],
            sides,
            per_domain=options.per_domain,
            total=options.total,
        )
        if quotas.short and not options.allow_fewer:
            raise InputError(
                f"{quotas.complaint()}; {_why(counts)}. Ask for fewer, or take what there is with --allow-fewer (in a study: "
                "allow_fewer = true)"
            )
        rows = stay[quotas.take(survey.draw[stay])]
        taken: Counter[str] = Counter(side(int(each)) for each in survey.member[rows])
        for name, each in counts.items():
            each.used, each.left_out["not_chosen"] = taken[name], each.used - taken[name]
        with closing(Spool(file.path.parent)) as texts:
            at = np.empty((len(rows), 2), dtype=np.int64)
            for place, pieces in _chosen(survey, sources, rows, options, progress):
                at[place] = len(texts), len(texts) + len(pieces)
                texts.add(pieces)
            counts |= _write(file, texts, at, options)
        facts = {
            "domains": quotas.to_dict(),
            "fewer_than_asked": quotas.short,
            "of_duplicates_stays": _ORDER,
            "not_compared_with_all": not_compared,
            "rensa": version("rensa"),
        }
        step = Step(
            rule="sample",
            settings={**options.settings(), "read": vars(read or ReadOptions()), "keys": vars(keys or Keys())},
            inputs=sorted(survey.inputs, key=lambda each: (each["side"], each["name"], str(each["blake3"]))),
            counts={name: each.to_dict() for name, each in counts.items()},
            seed=options.seed,
            facts=facts,
        )
        return file.commit(step, before=[_measured_before(header) for header in survey.headers])


def _counts(survey: Survey, state: NDArray[np.int8]) -> dict[str, Counts]:
    """By side; so far, all that may be chosen counts as used."""
    nobody = side(None)  # a side only if there is anything without a label
    counts = {
        name: Counts(left_out=Counter(reasons))
        for name, reasons in survey.left_out.items()
        if name != nobody or reasons.total()
    }
    for label in survey.labels:
        mine = np.bincount(state[survey.member == bool(label)], minlength=STAYS + 1 + len(_REASONS)).tolist()
        counts[side(label)].used = mine[STAYS]
        counts[side(label)].left_out.update({reason: mine[number] for number, reason in _REASONS.items()})
    return counts


def _why(counts: dict[str, Counts]) -> str:
    parts = []
    for name, each in counts.items():
        facts = each.to_dict()
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in facts["left_out"].items()) or "none left out"
        parts.append(f"{name}: {facts['read']:,} read, {reasons}")
    return "; ".join(parts)


def _chosen(
    survey: Survey, sources: Sequence[RecordSource], rows: NDArray[np.int64], options: SampleOptions, progress: Progress | None
) -> Iterator[tuple[int, list[Candidate]]]:
    """What each chosen document gives, in a second reading; with its place in `rows`."""
    by_number = np.argsort(rows)  # rows are in the order of reading
    numbers = survey.number[rows][by_number]
    read, done = 0, 0
    for source in sources:
        records = source.open(_reading(progress, 2))
        for batch in records:
            end = int(np.searchsorted(numbers, read + len(batch)))
            for place in by_number[done:end].tolist():
                row = int(survey.number[rows[place]]) - read
                candidate = batch.candidates[row]
                of_text, seed = survey.digests(candidate)
                if of_text != survey.text_digest(int(rows[place])):
                    raise _changed(f"{records.names[batch.source]}, record {batch.positions[row] + 1}")
                yield place, list(_pieces(candidate, seed, options))
            read, done = read + len(batch), end
    if done < len(rows):
        raise _changed("a file")


def _changed(where: str) -> InputError:
    return InputError(f"{where}: changed between the two readings of a sample; give files that stay as they are")


def _pieces(candidate: Candidate, seed: bytes, options: SampleOptions) -> Iterator[Candidate]:
    """The cut document, or windows of it; `document_words` of what was cut before stays what it was."""
    extra = {"document_words": len(candidate.text.split()), **candidate.extra}
    if options.windows is None or options.window_words is None:
        yield replace(candidate, text=cut(candidate.text, options.max_words), extra=extra)
        return
    own = f"{candidate.source}:{candidate.position}" if candidate.id is None else candidate.id
    # Ids of both sides may be numbers from 0 on; groups of different sides are different.
    group = f"{side(candidate.label)}/{own}" if candidate.group is None else candidate.group
    for start, text in windows(candidate.text, options.windows, options.window_words, seed):
        yield replace(candidate, id=f"{own}#{start}", text=text, group=group, extra={**extra, "window_start": start})


def _write(file: SetFile, texts: Spool, at: NDArray[np.int64], options: SampleOptions) -> dict[str, Counts]:
    """Add the texts to the set, document by document, each from where it is up to where it ends; of windows, counts by side."""
    counts: dict[str, Counts] = {}
    first: dict[bytes, int | None] = {}
    for start, end in at.tolist():
        pieces = [texts.candidate(number) for number in range(start, end)]
        file.add(pieces if options.windows is None else [each for each in pieces if _is_new(each, first, counts)])
    return counts


def _is_new(window: Candidate, first: dict[bytes, int | None], counts: dict[str, Counts]) -> bool:
    """Whether no window before is equal: documents that are no duplicates may still have a page in common."""
    count = counts.setdefault(f"{side(window.label)}_windows", Counts())
    digest = blake2b(window.text.encode("utf-8"), digest_size=16).digest()
    new = digest not in first
    if new:
        count.used += 1
        first[digest] = window.label
    else:
        count.left_out["exact_duplicate" if first[digest] == window.label else "on_both_sides"] += 1
    return new


def _measured_before(header: Mapping[str, Any]) -> dict[str, Any]:
    """A header of an input whose overlaps were measured on texts as they were before they were cut here."""
    overlap = {n: {"measured_on": "texts before sample cut them", **measured} for n, measured in header["overlap"].items()}
    return {**header, "overlap": overlap}


def _reading(progress: Progress | None, number: int) -> Callable[[_core.Progress], object] | None:
    """`progress` for one of the two readings."""
    if progress is None:
        return None
    return lambda step: progress(
        ProgressStep(
            phase=step.phase,
            pass_number=number,
            passes=2,
            documents=step.documents,
            bytes_done=step.bytes_done,
            bytes_total=step.bytes_total,
            seconds=step.seconds,
        )
    )


def _comparing(progress: Progress | None) -> Callable[[int, int], object] | None:
    if progress is None:
        return None
    size = 4 * PERMUTATIONS  # bytes of a signature
    return lambda done, all_: progress(
        ProgressStep(phase="removing duplicates", documents=done, bytes_done=size * done, bytes_total=size * all_)
    )
