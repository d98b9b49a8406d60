"""Non-members whose overlap with the training data is low: ``sets thresholded`` and ``sets decontaminated``.

Duan et al. 2024, section 3.2.2 and appendix A.3, made such sets (MIMIR). Its code keeps a document if the mean of its first 200
n-gram flags is below the limit; the paper's text says "<=".
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any

from ngramscope.checks import MAX_COUNT, check_choice, check_integer, check_share, check_switch
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions, lengths
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate, side
from ngramscope.sets.overlaps import Floats, Measured, Measurement, OverlapOptions, Overlaps, Progress
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.removal import FilterShift
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["MUCH_REMOVED", "PRESETS", "RULES", "TOO_MUCH", "ThresholdRule", "threshold"]

MUCH_REMOVED = 0.2
"""Share of the candidates of a side above which a filter that removes it warns."""

TOO_MUCH = "too_much_overlap"
"""Reason of candidates beyond the limit."""

_CLAIM = (
    "Non-members are candidates whose overlap with the files listed under overlap is within the limit. Of files that are not "
    "listed it says nothing."
)
_CLAIM_OF_FLAGS = (
    "Non-members are candidates whose flags are within the limit. With which files the flags were made is not known here."
)

_COLUMNS = {"overlap_first": "first", "overlap_loo": "loo", "overlap_loo_first": "loo_first"}
"""Columns of the set beside ``overlap``, and what of `Measured` they hold."""


@dataclass(frozen=True, kw_only=True)
class ThresholdRule:
    """Which non-members stay. A candidate without overlap (fewer than n words, no flags) never does.

    Parameters
    ----------
    n
        Lengths of the n-grams; of several, the limit holds for each.
    max_overlap, max_inclusive
        The limit T: overlaps in [0, T) stay; with `max_inclusive` those in [0, T].
    first, whole_document
        The limit is for the overlap of the first so many n-grams, or of the whole document. Both are stored.
    all_sides
        Members are filtered too, by their leave-one-out overlap where that is known; otherwise they all pass.
    """

    n: tuple[int, ...] = (7,)
    max_overlap: float = 0.2
    max_inclusive: bool = False
    first: int = 200
    whole_document: bool = False
    all_sides: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", lengths(self.n))
        if not self.n:
            raise UsageError("--n: no length given; give one, as --n 7")
        if self.max_overlap is None:
            raise UsageError("--max-overlap: give a share between 0 and 1")
        check_share("--max-overlap", self.max_overlap)
        check_integer("--first", self.first, 1, MAX_COUNT)
        for option in ("max_inclusive", "whole_document", "all_sides"):
            check_switch(f"--{option.replace('_', '-')}", getattr(self, option))

    @classmethod
    def of(cls, preset: str, *, all_sides: bool = False) -> ThresholdRule:
        """The rule that MIMIR's split `preset` was made by (see `PRESETS`).

        Raises
        ------
        UsageError
            There is no such split.
        """
        check_choice("--preset", preset, tuple(PRESETS))
        return replace(PRESETS[preset], all_sides=all_sides)

    @property
    def preset(self) -> str | None:
        """The name of MIMIR's split with this rule, if there is one."""
        return next((name for name, rule in PRESETS.items() if replace(self, all_sides=False) == rule), None)

    def keeps(self, share: float) -> bool:
        """Whether a candidate with this overlap stays."""
        return share <= self.max_overlap if self.max_inclusive else share < self.max_overlap

    def decisive(self, measured: Measured, label: int | None) -> Floats:
        """The overlaps that decide on candidates with this label.

        A non-member's copy in the corpus is what the filter looks for, so its overlap counts in full; a member's own document
        is there for certain, and does not count as evidence for itself.

        Raises
        ------
        UsageError
            They were not measured.
        """
        whole, first = measured.overlap, measured.first
        if label == MEMBER and measured.loo is not None:
            whole, first = measured.loo, measured.loo_first
        shares = whole if self.whole_document else first
        if shares is None:
            raise UsageError("the overlap of the first n-grams is not known here; decide by whole documents")
        return shares


PRESETS: Mapping[str, ThresholdRule] = MappingProxyType(
    {
        "ngram_7_0.2": ThresholdRule(n=(7,), max_overlap=0.2),
        "ngram_13_0.2": ThresholdRule(n=(13,), max_overlap=0.2),
        "ngram_13_0.8": ThresholdRule(n=(13,), max_overlap=0.8),
    }
)
"""MIMIR's splits by name."""

RULES: Mapping[str, ThresholdRule] = MappingProxyType(
    {"thresholded": PRESETS["ngram_7_0.2"], "decontaminated": PRESETS["ngram_13_0.8"]}
)
"""The rule of each command unless another is asked for."""


def threshold(
    source: RecordSource,
    overlaps: OverlapOptions,
    out: str | os.PathLike[str],
    *,
    rule: ThresholdRule = RULES["thresholded"],
    name: str = "thresholded",
    seed: int = 0,
    permutations: int = 200,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write the candidates whose overlap with the training data is within the limit, and return the header of the set.

    Candidates without a label are taken for non-members and get label 0. Memory: some numbers for each candidate.

    Parameters
    ----------
    source
        Documents, or candidate sets.
    overlaps
        Where their overlaps come from; its `n` and `first` are those of the rule.
    out
        ``.jsonl``, ``.jsonl.gz`` or ``.jsonl.zst``.
    rule
        What stays.
    name
        Of the step in the set's history: ``thresholded`` or ``decontaminated``.
    seed
        Chooses texts for the classifier test of kept against removed, and its folds.
    permutations
        Of that test; 0 leaves its p-value out.
    progress
        Called now and then, on the calling thread.

    Returns
    -------
    dict
        The header; its last step has, for each side, how many were removed and how that shifted it (`FilterShift`), the
        warnings, and ``partial``: whether records or files were left out.

    Raises
    ------
    UsageError
        The demonstration corpus without `OverlapOptions.accept_demo`; a leave-one-out overlap that cannot be had.
    InputError, MismatchError, ResourceError
        Something cannot be read, compared or written; nothing is left under `out`.
    """
    check_integer("--seed", seed, 0, MAX_COUNT)
    check_integer("--permutations", permutations, 0, 1_000_000)
    if rule.all_sides and overlaps.scan and not rule.whole_document:
        raise UsageError("--all-sides: a scan knows the leave-one-out overlap of whole documents only; add --whole-document")
    options = replace(overlaps, n=rule.n, first=rule.first)
    counts = {side(label): Counts() for label in (MEMBER, NONMEMBER)}
    shifts = {name: FilterShift(seed) for name in counts}
    leave_one_out = False
    with SetFile(os.fspath(out)) as file:
        stream = Overlaps(source, options, progress)
        for batch, measured in stream:
            kept = []
            leave_one_out = leave_one_out or any(each.loo is not None for each in measured.values())
            for row, candidate in enumerate(batch.candidates):
                if candidate.label is None:
                    candidate.label = NONMEMBER
                here = side(candidate.label)
                filtered = candidate.label == NONMEMBER or rule.all_sides
                reason = _reason(rule, measured, row, candidate.label) if filtered else None
                shares = _store(candidate, measured, row)
                shifts[here].add(candidate, shares, kept=reason is None, judged=filtered and reason in (None, TOO_MUCH))
                if reason is None:
                    counts[here].used += 1
                    kept.append(candidate)
                else:
                    counts[here].left_out[reason] += 1
            file.add(kept)
        warnings = [*stream.warnings, *_warnings(rule, counts, shifts, leave_one_out=leave_one_out)]
        step = Step(
            rule=name,
            settings={
                **asdict(rule),
                "preset": rule.preset,
                "permutations": permutations,
                "read": asdict(source.read or ReadOptions()),
                "keys": asdict(source.keys or Keys()),
                "label": source.label,
            },
            inputs=stream.records.report()["sources"],
            counts=_counts(counts, stream.records.left_out()),
            seed=seed,
            facts={
                **{name: shift.to_dict(permutations=permutations) for name, shift in shifts.items()},
                "claim": _CLAIM_OF_FLAGS if overlaps.flags else _CLAIM,
                "warnings": warnings,
                "partial": stream.partial(),
            },
        )
        return file.commit(step, before=stream.records.headers, overlap=stream.facts())


def _reason(rule: ThresholdRule, measured: Measurement, row: int, label: int | None) -> str | None:
    """Why a candidate does not stay."""
    nulls = (each.null_reason[row] for each in measured.values())
    null = next((each for each in nulls if each is not None), None)
    if null is not None:
        return null
    within = all(rule.keeps(rule.decisive(each, label)[row]) for each in measured.values())
    return None if within else TOO_MUCH


def _store(candidate: Candidate, measured: Measurement, row: int) -> dict[str, float]:
    """Put the overlaps into the candidate, in place of older ones for the same n; returns them by column and n."""
    shares: dict[str, float] = {}
    for n, each in measured.items():
        key = str(n)
        candidate.overlap[key] = _json(each.overlap[row])
        candidate.overlap_null.pop(key, None)
        reason = each.null_reason[row]
        if reason is not None:
            candidate.overlap_null[key] = reason
        shares[f"overlap_{n}"] = float(each.overlap[row])
        for column, attribute in _COLUMNS.items():
            values: Floats | None = getattr(each, attribute)
            before = candidate.extra.get(column)
            known = {other: share for other, share in before.items() if other != key} if isinstance(before, dict) else {}
            if values is not None:
                known[key] = _json(values[row])
                shares[f"{column}_{n}"] = float(values[row])
            if known or column in candidate.extra:
                candidate.extra[column] = known
    return shares


def _json(share: float) -> float | None:
    return float(share) if share == share else None


def _counts(counts: Mapping[str, Counts], unusable: Mapping[str, int]) -> dict[str, Any]:
    """Of all records, and by side; of a record without usable text the side is not known."""
    left_out = Counter(unusable)
    for each in counts.values():
        left_out.update(each.left_out)
    records = Counts(sum(each.used for each in counts.values()), left_out)
    return {"records": records.to_dict(), **{name: each.to_dict() for name, each in counts.items()}}


def _warnings(
    rule: ThresholdRule, counts: Mapping[str, Counts], shifts: Mapping[str, FilterShift], *, leave_one_out: bool
) -> Sequence[str]:
    warnings = []
    for name, shift in shifts.items():
        share = shift.share_removed
        if share is not None and share > MUCH_REMOVED:
            warnings.append(
                f"{share:.1%} of the {_SPELLED[name]} that could be judged were removed, more than {MUCH_REMOVED:.0%}: those "
                "that are left are other texts than those that were given; compare the distributions and the classifier test "
                "in the header"
            )
    if not counts[side(NONMEMBER)].used:
        warnings.append("no non-member is left; the header says for which reasons")
    if rule.all_sides and not leave_one_out and counts[side(MEMBER)].to_dict()["read"]:
        warnings.append(
            "leave-one-out overlap is not known: members were filtered by overlap that their own documents are part of; use "
            "--scan with --whole-document, or an index with --tiers 2"
        )
    return warnings


_SPELLED = {side(MEMBER): "members", side(NONMEMBER): "non-members"}
