"""Is a set of non-members representative of the training distribution? (Duan et al. 2024, sections 4, A.3 and B.)

What was left out of a corpus at random overlaps with the rest of it as much as any text of its kind. A set of non-members whose
overlap differs from that of such a sample differs from the corpus in more than membership, and an attack that tells the two
apart may have found just that. The verdict rests on one test that is declared before any text is read; all else describes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.checks import check_integer
from ngramscope.errors import InputError, UsageError
from ngramscope.index.open import Index
from ngramscope.sets.base import MEMBER
from ngramscope.sets.describe import describe
from ngramscope.sets.overlaps import OverlapOptions, Overlaps
from ngramscope.sets.records import RecordSource
from ngramscope.sets.sides import Collector, Side
from ngramscope.sets.verdict import HIGHER, LOWER, REPRESENTATIVE, UNKNOWN, Judgement, ShiftRule, judge
from ngramscope.sizes import counted

__all__ = ["DESCRIBED", "HIGHER", "LOWER", "REPRESENTATIVE", "UNKNOWN", "Judgement", "ShiftRule", "judge", "validate"]

VERSION = 1
"""Version of the validation report."""

DESCRIBED = (3, 5, 7, 13)
"""Lengths that a scan measures unless told otherwise."""

_SAMPLE_WORDS = 200
_ITSELF = 0.9


def validate(
    candidates: RecordSource,
    overlap: OverlapOptions,
    reference: RecordSource | None = None,
    *,
    rule: ShiftRule | None = None,
    max_texts: int = 1_000,
    progress: Callable[[Any], None] | None = None,
) -> dict[str, Any]:
    """Compare candidates with a reference by their overlap with a corpus.

    Parameters
    ----------
    candidates
        The texts in question; those that are labelled members are left out.
    overlap
        The corpus: an index, a scan, or flags. Its `n` are those to describe beside the declared one; empty takes those of the
        index, or 3, 5, 7 and 13 with a scan.
    reference
        A random sample that was left out of the corpus; or members, if the rule leaves one out. None takes the members among
        the candidates, and leaves one out.
    rule
        The declared test; None takes the defaults.
    max_texts
        Texts of each side for the comparison of words and the classifier; 0 leaves them out.
    progress
        Called now and then, on the calling thread.

    Returns
    -------
    dict
        The report: see docs/sets/validate.md.

    Raises
    ------
    UsageError
        Options that do not go together; a demonstration index; no candidate or no reference.
    InputError
        A file that cannot be used, or that is candidate and reference.
    """
    rule = ShiftRule() if rule is None else rule
    check_integer("--max-texts", max_texts, 0, 5_000)
    if reference is None:
        rule = replace(rule, leave_one_out=True)
    overlap = replace(overlap, n=_lengths(overlap, rule))
    declared = rule.declared()
    sources = [candidates] if reference is None else [candidates, reference]
    passes = Overlaps.together(sources, overlap, progress)
    collectors = [
        Collector(passes[0].n, leave_one_out=rule.leave_one_out, seed=rule.seed, texts=max_texts, words=_SAMPLE_WORDS)
        for _ in range(2)
    ]
    for number, each in enumerate(passes):
        _collect(each, number, collectors, own_members=reference is None, leave_one_out=rule.leave_one_out)
    reports = [each.records.report() for each in passes]
    for collector, each in zip(collectors, passes, strict=False):
        collector.counts.left_out.update(each.records.left_out())
    _distinct_files(reports)
    ours, theirs = (collector.side() for collector in collectors)
    _filled(ours, theirs, own_members=reference is None)
    judgement = _judged(ours, theirs, rule)
    settings = {
        "n": list(passes[0].n),
        **{name: getattr(overlap, name) for name in ("own_share", "own_cap", "accept_demo")},
        "max_texts": max_texts,
        "words_of_texts": _SAMPLE_WORDS,
        "reference": "members_of_candidates" if reference is None else "given",
        "read": asdict(passes[0].records.read),
    }
    names = ("candidates", "reference")
    inputs = [{**source, "side": name} for name, report in zip(names, reports, strict=False) for source in report["sources"]]
    report = {
        **provenance.stamp("validation", version=VERSION, settings=settings, inputs=inputs),
        "declared": declared,
        "seed": rule.seed,
        **asdict(judgement),
        **describe(ours, theirs, rule, progress),
        "counts": {name: side.counts.to_dict() for name, side in zip(names, (ours, theirs), strict=True)},
        "partial": any(each.partial() for each in passes),
        "overlap": passes[0].facts(),
        "warnings": [*passes[0].warnings, *_warnings(ours, theirs, rule)],
    }
    # Lists for tuples, and no number that JSON does not have.
    plain: dict[str, Any] = json.loads(json.dumps(report, allow_nan=False))
    return plain


def _lengths(overlap: OverlapOptions, rule: ShiftRule) -> tuple[int, ...]:
    if overlap.flags:
        if overlap.n not in ((), (rule.n,)):
            raise UsageError(f"--describe: the flags are of one length, --n {rule.n}; leave it out")
        return (rule.n,)
    if overlap.indexes:
        known = Index.open(overlap.indexes).n
        if rule.n not in known:
            raise UsageError(
                f"--n: the index has n-grams of {', '.join(map(str, known))} words, not of {rule.n}; give --n with one of these"
            )
        return tuple({*(overlap.n or known), rule.n})
    return tuple({*(overlap.n or DESCRIBED), rule.n})


def _collect(
    overlaps: Overlaps, number: int, collectors: Sequence[Collector], *, own_members: bool, leave_one_out: bool
) -> None:
    candidates = collectors[0].counts.left_out
    for batch, measured in overlaps:
        if leave_one_out and any(each.loo is None for each in measured.values()):
            raise UsageError(
                "--leave-one-out: needs --scan, or an index that was built with --tiers 2: nothing else tells whether another "
                "document has an n-gram too"
            )
        for row, candidate in enumerate(batch.candidates):
            member = candidate.label == MEMBER
            if own_members and candidate.label is None:
                candidates["no_label"] += 1
            elif own_members:
                collectors[member].add(candidate, measured, row)
            elif number == 0 and member:
                candidates["member"] += 1
            else:
                collectors[number].add(candidate, measured, row)


def _judged(ours: Side, theirs: Side, rule: ShiftRule) -> Judgement:
    values, groups = [], []
    for side in (ours, theirs):
        there = ~np.isnan(side.overlaps[rule.n])
        values.append(side.overlaps[rule.n][there])
        groups.append(side.groups[there])
    return judge(values[0], values[1], rule, (groups[0], groups[1]))


def _distinct_files(reports: Sequence[Mapping[str, Any]]) -> None:
    seen: dict[Any, str] = {}
    for number, report in enumerate(reports):
        for source in report["sources"]:
            digest = source.get("blake3")
            if number and digest in seen:
                raise InputError(f"{source['name']}: the same content as the candidates' {seen[digest]}; compare two samples")
            if not number and digest is not None:
                seen[digest] = source["name"]


def _filled(ours: Side, theirs: Side, *, own_members: bool) -> None:
    for name, side in (("candidates", ours), ("reference", theirs)):
        if not len(side):
            why = ", ".join(f"{count:,} {reason}" for reason, count in sorted(side.counts.left_out.items()))
            hint = "; without --reference, candidates need labels on both sides (--label KEY)" if own_members else ""
            raise UsageError(f"no text is left of the {name}{f' ({why} left out)' if why else ''}{hint}; name files with texts")


def _warnings(ours: Side, theirs: Side, rule: ShiftRule) -> list[str]:
    found = []
    for name, side in (("reference", theirs), ("candidates", ours)):
        shares = side.overlaps[rule.n]
        shares = shares[~np.isnan(shares)]
        if not rule.leave_one_out and len(shares) and np.mean(shares >= _ITSELF) > 0.5:
            found.append(
                f"most texts of the {name} are found in the corpus almost whole: they seem to be in it; leave them out of it, "
                "or compare with --leave-one-out"
            )
    both = len(np.intersect1d(ours.keys, theirs.keys))
    if both:
        found.append(f"{counted(both, 'text')} {'is' if both == 1 else 'are'} among the candidates and in the reference")
    groups = len(ours.group_names & theirs.group_names)
    if groups:
        have = f"{counted(groups, 'group')} {'has' if groups == 1 else 'have'}"
        found.append(f"{have} texts on both sides; each side's part of a group is taken for a group of its own")
    return found
