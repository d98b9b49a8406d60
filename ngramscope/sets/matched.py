"""Sets whose non-members are chosen, or weighted, so that they look like a reference; with what remains of the difference."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ngramscope.checks import MAX_COUNT, check_choice, check_integer, check_share
from ngramscope.errors import InputError, UsageError
from ngramscope.index.options import lengths
from ngramscope.sets.base import MEMBER, NONMEMBER, side
from ngramscope.sets.choosing import Choice, Progress
from ngramscope.sets.covariates import COVARIATES, MEMBER_OVERLAPS, Covariates, Need, read_covariates
from ngramscope.sets.overlaps import OverlapOptions, Overlaps
from ngramscope.sets.records import Records, RecordSource
from ngramscope.sets.remaining import Remaining
from ngramscope.sets.writer import Counts, SetFile, Step

__all__ = ["METHODS", "REFERENCE_SIDES", "MatchOptions", "Matched", "match"]

METHODS = ("nearest", "optimal", "weights")
REFERENCE_SIDES = ("all", "members", "nonmembers")

_SIDES = {"all": (MEMBER, NONMEMBER, None), "members": (MEMBER,), "nonmembers": (NONMEMBER,)}
_OURS = ("weight", "pair", "distance")


@dataclass(frozen=True, kw_only=True)
class MatchOptions:
    """How to match.

    Parameters
    ----------
    on
        Of `COVARIATES`: what has to be alike. Domains are equal, the rest is close, in standard deviations.
    n
        Lengths of n-grams whose overlap counts; empty takes 7, or the only one that there is.
    method
        ``nearest``, ``optimal`` or ``weights``; see `ngramscope.sets.matching`.
    caliper
        Largest difference within a pair, in each covariate; infinity for none.
    ratio
        Non-members for each text of the reference.
    trim, max_weight
        Weights are cut down to this quantile of them, and to so many times their mean; within a domain if that is matched on.
    member_overlap
        ``loo``: leave-one-out overlap where there is one, and never another for members. ``plain``: as it is.
    reference_side
        Which texts of a reference file count: ``all``, ``members`` or ``nonmembers``.
    permutations
        Of the classifier tests; 0 leaves their p-values out.
    seed
        Decides the order in which texts choose, and between equals.
    """

    on: tuple[str, ...] = ("overlap",)
    n: tuple[int, ...] = ()
    method: str = "nearest"
    caliper: float = 0.2
    ratio: int = 1
    trim: float = 0.99
    max_weight: float | None = None
    member_overlap: str = "loo"
    reference_side: str = "all"
    permutations: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", lengths(self.n))
        object.__setattr__(self, "on", tuple(dict.fromkeys(self.on)))
        for each in self.on or ("",):
            check_choice("--on", each, COVARIATES)
        check_choice("--method", self.method, METHODS)
        check_choice("--member-overlap", self.member_overlap, MEMBER_OVERLAPS)
        check_choice("--reference-side", self.reference_side, REFERENCE_SIDES)
        check_integer("--ratio", self.ratio, 1, 1000)
        check_integer("--permutations", self.permutations, 0, 1_000_000)
        check_integer("--seed", self.seed, 0, MAX_COUNT)
        check_share("--trim", self.trim)
        if not self.caliper >= 0:
            raise UsageError(f"--caliper: {self.caliper!r} is not possible; a number of at least 0, or inf for none")
        if self.max_weight is not None and not self.max_weight >= 1:
            raise UsageError(f"--max-weight: {self.max_weight!r} is not possible; at least 1, the mean of the weights")

    def settings(self) -> dict[str, Any]:
        """Those that have a say with this method, for a header; no caliper is null."""
        settings = {**dataclasses.asdict(self), "caliper": None if math.isinf(self.caliper) else self.caliper}
        idle = ("caliper", "ratio") if self.method == "weights" else ("trim", "max_weight")
        return {name: value for name, value in settings.items() if name not in (*idle, "seed")}


@dataclass(frozen=True)
class Matched:
    """What `match` did.

    Attributes
    ----------
    header
        Of the set.
    warnings
        What the user should know.
    inputs
        Every file that was read, also of a scanned corpus, with what could not be used of it.
    partial
        Whether a bad record or file was left out, as was allowed.
    """

    header: dict[str, Any]
    warnings: list[str]
    inputs: list[Mapping[str, Any]]
    partial: bool


def match(
    source: RecordSource,
    out: SetFile,
    options: MatchOptions | None = None,
    *,
    reference: RecordSource | None = None,
    overlap: OverlapOptions | None = None,
    progress: Progress | None = None,
) -> Matched:
    """Write the members of `source` and those of its non-members that look like the reference.

    Parameters
    ----------
    source
        A set, or labelled documents; read twice.
    out
        Open; `SetFile.commit` is called here.
    reference
        What non-members have to look like; None: the members of `source`, of whom those that find no partner are left out.
    overlap
        Where overlaps come from; None takes those of the sets.
    progress
        Called now and then, on the calling thread.

    Raises
    ------
    UsageError
        Overlaps that are missing, not comparable, or members' plain ones; too many pairs for ``optimal``.
    InputError
        Nobody can be matched; a file that cannot be used.
    """
    options = MatchOptions() if options is None else options
    sources = [source] if reference is None else [source, reference]
    if any("-" in each.paths for each in sources):
        raise UsageError("standard input (-): texts to be matched are read twice; write them to a file first")
    readings: Sequence[Records | Overlaps] = (
        [each.open(progress) for each in sources] if overlap is None else Overlaps.together(sources, overlap, progress)
    )
    labels = (MEMBER,) if reference is None else _SIDES[options.reference_side]
    need = Need(
        on=options.on,
        n=options.n,
        member_overlap=options.member_overlap,
        seed=options.seed,
        labels=(NONMEMBER, *(labels if reference is None else ())),
    )
    texts = models = read_covariates(readings[0], need)
    if reference is not None:
        models = read_covariates(readings[1], dataclasses.replace(need, n=texts.n, labels=labels))
        _check_same_measure(texts, models)
    choice = Choice(texts, models, options, labels, progress)
    remaining = Remaining(texts, models, choice, options.permutations, options.seed)
    if reference is not None:
        remaining.read_models(reference.open(progress))
    records = source.open(progress)
    counts = _write(records, texts, choice, out, remaining, () if overlap is None else overlap.flags)
    if reference is not None:
        counts["reference"] = choice.models_counts()
    reports = [records.report(), *([models.records.report()] if reference is not None else [])]
    counts["records"] = {
        "read": sum(each["records"] for each in reports),
        "used": sum(each["documents"] for each in reports),
        "left_out": dict(sum((Counter(each["unusable"]) for each in reports), Counter())),
    }
    found = remaining.to_dict()
    step = Step(
        rule="matched",
        settings={**options.settings(), "n": list(texts.n), "reference": "members" if reference is None else "file"},
        inputs=[each for report in reports for each in report["sources"]],
        counts=counts,
        seed=options.seed,
        facts={**choice.facts(), **found},
    )
    header = out.commit(step, before=records.headers, overlap=None if texts.measured is None else texts.overlap_facts())
    measured = next(iter(header["overlap"].values())) if overlap is not None and header["overlap"] else {}
    scanned = measured.get("scan", {}).get("corpus", [])
    return Matched(
        header,
        [*dict.fromkeys([*texts.warnings, *models.warnings]), *remaining.warnings(options.on)],
        [*step.inputs, *scanned],
        any(each["bad_records"] or each["bad_files"] for each in reports)
        or any(each.partial() for each in readings if isinstance(each, Overlaps)),
    )


def _write(
    records: Records, texts: Covariates, choice: Choice, out: SetFile, remaining: Remaining, flags: Sequence[str]
) -> dict[str, Any]:
    """Read again, and write what is chosen; the counts by side."""
    counts: dict[str, Counts] = {side(label): Counts() for label in (MEMBER, NONMEMBER, None)}
    row = -1
    for batch in records:
        kept = []
        for candidate in batch.candidates:
            row += 1
            if row >= texts.rows:
                break
            count = counts[side(candidate.label)]
            reason = choice.left_out[row] if remaining.own_reference or candidate.label == NONMEMBER else None
            reason = "unlabelled" if candidate.label is None else reason
            remaining.add(row, candidate)
            if reason is not None:
                count.left_out[reason] += 1
                continue
            count.used += 1
            if texts.shares is not None:
                texts.shares.put(candidate, row)
            for key in (*flags, *_OURS):
                candidate.extra.pop(key, None)
            if choice.weighted:
                candidate.extra["weight"] = float(choice.weight[row])
            elif choice.pair[row] >= 0:
                candidate.extra["pair"] = int(choice.pair[row])
                if candidate.label == NONMEMBER:
                    candidate.extra["distance"] = float(choice.distance[row])
            kept.append(candidate)
        out.add(kept)
    if row + 1 != texts.rows:
        raise InputError(f"{records.names[0]}: changed between two readings; start again")
    return {name: count.to_dict() for name, count in counts.items() if count.used or count.left_out}


def _check_same_measure(texts: Covariates, models: Covariates) -> None:
    for n in map(str, texts.n):
        one, other = ({**table.overlap_facts()[n], "first": None} for table in (texts, models))
        if one != other:
            raise UsageError(
                f"{texts.records.names[0]} and {models.records.names[0]}: the overlap of {n}-grams was not measured alike; "
                "measure it anew for both with --index or --scan"
            )
