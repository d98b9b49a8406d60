"""Regression discontinuity: scores, overlap and density at the cutoff of a model.

If documents do not change from one day to the next and the model's training data end on one, a jump of the score at that day,
where overlap, other attributes and a placebo model do not jump, is associated with membership (Meeus et al. 2024).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.table import ScoreColumn, ScoreTable
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.discontinuity.density import density_test
from ngramscope.evaluate.discontinuity.local import LEAST, Jump, bandwidth, jump
from ngramscope.evaluate.groups import Ints, units
from ngramscope.evaluate.multiple import holm
from ngramscope.evaluate.prepare import Prepared, prepare
from ngramscope.evaluate.setlevel.columns import Chosen, choose
from ngramscope.evaluate.setlevel.grouping import numbers_of, overlaps, values_of
from ngramscope.progress import Step
from ngramscope.sets.dates import DAY, DateRule
from ngramscope.sizes import format_reasons

__all__ = ["DISTANCE", "RDD_VERSION", "RddOptions", "rdd"]

RDD_VERSION = 1
"""Version of the report."""

DISTANCE = "distance_days"
"""Column of days from the cutoff that ``ngramscope sets rdd`` writes; members' are negative."""

_PLACEBO_CUTOFFS = (0.25, 0.375, 0.5, 0.625, 0.75)
_ALARM = 0.05


@dataclass(frozen=True, kw_only=True)
class RddOptions:
    """What can be chosen.

    Parameters
    ----------
    cutoff
        First day after the training data, as ``2023-03-01``, for tables with a column ``date``; None: column `DISTANCE`.
    attacks, model, placebos
        See `columns.choose`.
    covariates
        Columns that should not jump, beside those of overlap.
    bandwidths
        In days; the first one's numbers are the row's, the others are a sweep. Empty: the rule's, and a sweep around it.
    sweep
        Multiples of the first bandwidth.
    group
        Column of what belongs together; None: nothing does.
    level
        Of the intervals.
    """

    cutoff: str | None = None
    attacks: tuple[str, ...] = ()
    model: str | None = None
    placebos: tuple[str, ...] = ()
    covariates: tuple[str, ...] = ()
    bandwidths: tuple[float, ...] = ()
    sweep: tuple[float, ...] = (0.5, 0.75, 1.5, 2.0)
    group: str | None = "group"
    level: float = 0.95

    def __post_init__(self) -> None:
        if not all(np.isfinite(each) and each > 0 for each in self.bandwidths):
            raise UsageError("--bandwidth: a number of days above 0")
        if not 0 < self.level < 1:
            raise UsageError("--level: lies between 0 and 1, both not included")


def rdd(
    table: ScoreTable,
    options: RddOptions | None = None,
    *,
    inputs: Sequence[Mapping[str, Any]] = (),
    progress: Callable[[Step], object] | None = None,
) -> dict[str, Any]:
    """Look for jumps at the cutoff.

    Parameters
    ----------
    table
        Scores of documents from either side of the cutoff.
    inputs
        Facts of the files for the report's header.
    progress
        Called before each row.

    Returns
    -------
    dict
        Ready for JSON; see docs/discontinuity.md.

    Raises
    ------
    UsageError
        A column, attack or model that is not there.
    InputError
        No document has a distance.
    """
    options = options or RddOptions()
    chosen = choose(table, options.attacks, options.model, options.placebos)
    near = _near(table, options)
    outcomes: list[tuple[str, str, Chosen | None, Floats]] = [
        ("attack", each.column.attack, each, _scores(near.data, each.column)) for each in chosen
    ]
    for name, values in _attributes(table, near, options).items():
        outcomes.append(("overlap" if name.startswith("overlap_") else "covariate", name, None, values))
    rows = []
    for number, (kind, name, of, values) in enumerate(outcomes):
        if progress is not None:
            progress(Step("compare", pass_number=number + 1, passes=len(outcomes)))
        model = None if of is None else of.column.model
        rows.append({"kind": kind, "name": name, "model": model, **_row(near, values, of, options)})
    attacks = [row for row in rows if row["kind"] == "attack" and row["at_cutoff"]["p"] is not None]
    for row, p in zip(attacks, holm([row["at_cutoff"]["p"] for row in attacks]), strict=True):
        row["at_cutoff"]["p_holm"] = p
    density = density_test(near.distance)
    settings = {**asdict(options), "kernel": "triangular", "placebo_cutoffs": list(_PLACEBO_CUTOFFS), "least": LEAST}
    return {
        **provenance.stamp("discontinuity", version=RDD_VERSION, settings=settings, inputs=inputs),
        "counts": {
            "documents": len(table.labels),
            "before": int((near.distance < 0).sum()),
            "after": int((near.distance >= 0).sum()),
            "left_out": near.left_out,
        },
        "density": asdict(density),
        "rows": rows,
        "warnings": _warnings(rows, asdict(density), near.left_out, any(each.placebos for each in chosen)),
    }


@dataclass(frozen=True, eq=False)
class _Near:
    """Documents near the cutoff: of `data` those of `rows`, (M,), and their distances in days."""

    data: Prepared
    rows: Ints
    distance: Floats
    unit: Ints | None
    left_out: dict[str, int]


def _near(table: ScoreTable, options: RddOptions) -> _Near:
    data = prepare(table, options.group)
    distances = _distances(table, options)[data.rows]
    known = np.isfinite(distances)
    agree = (distances < 0) == data.members
    left_out = Counter(
        {
            "no_label": data.unlabelled,
            "no_distance": int((~known).sum()),
            "label_contradicts_distance": int((known & ~agree).sum()),
        }
    )
    rows = np.flatnonzero(known & agree)
    if not len(rows):
        raise InputError(
            f"no document has a label and a distance from the cutoff that go together; left out: {format_reasons(left_out)}"
        )
    unit = None if data.groups is None else units([data.groups[row] for row in rows.tolist()])
    return _Near(data, rows, distances[rows], unit, {name: count for name, count in left_out.items() if count})


def _distances(table: ScoreTable, options: RddOptions) -> Floats:
    """Days from the cutoff to the beginning of each document's date; NaN where it is not known to the day."""
    if options.cutoff is None:
        if DISTANCE not in table.documents.column_names:
            raise UsageError(f"the table has no column {DISTANCE!r}; make the set with ngramscope sets rdd, or give --cutoff")
        return numbers_of(table, DISTANCE, "SCORES")
    rule = DateRule(latest="9999-12-31")  # what is the future must not depend on today
    moment = rule.moment("--cutoff", options.cutoff)
    spans = [rule.read(each) for each in values_of(table, "date", "--cutoff")]
    return np.array(
        [
            np.nan if isinstance(span, str) or span.resolution not in ("day", "time") else (span.start - moment) / DAY
            for span in spans
        ]
    )


def _attributes(table: ScoreTable, near: _Near, options: RddOptions) -> dict[str, Floats]:
    found = {}
    for name in dict.fromkeys((*overlaps(table), *options.covariates)):
        values = numbers_of(table, name, "--covariate")[near.data.rows]
        if name in options.covariates or not np.isnan(values).all():
            found[name] = values
    return found


def _row(near: _Near, values: Floats, of: Chosen | None, options: RddOptions) -> dict[str, Any]:
    values = values[near.rows]
    used = np.isfinite(values)
    distance, kept = near.distance[used], values[used]
    unit = None if near.unit is None else near.unit[used]
    first = options.bandwidths[0] if options.bandwidths else bandwidth(distance, kept)
    others = options.bandwidths[1:] or tuple(first * each for each in options.sweep if first is not None)
    at_cutoff = jump(distance, kept, first, unit, options.level)
    after = kept[distance >= 0]
    spread = float(after.std(ddof=1)) if len(after) > 1 else 0.0
    return {
        "undefined": int((~used).sum()),
        "at_cutoff": asdict(at_cutoff) | {"p_holm": None},
        "in_standard_deviations": at_cutoff.jump / spread if at_cutoff.jump is not None and spread > 0 else None,
        "sweep": [asdict(jump(distance, kept, each, unit, options.level)) for each in others],
        "placebo_cutoffs": _placebo_cutoffs(distance, kept, unit, at_cutoff, options),
        "placebos": [] if of is None else [_beside(near, values, other, first, options) for other in of.placebos],
    }


def _placebo_cutoffs(
    distance: Floats, values: Floats, unit: Ints | None, real: Jump, options: RddOptions
) -> list[dict[str, Any]]:
    """Jumps where nothing happened: at quantiles of one side's distances, of documents of that side alone."""
    found = []
    for name, side in (("before", distance < 0), ("after", distance >= 0)):
        for share in _PLACEBO_CUTOFFS:
            if not side.any() or real.reason is not None:
                continue
            at = float(np.quantile(distance[side], share, method="higher"))
            shifted = distance[side] - at
            width = options.bandwidths[0] if options.bandwidths else bandwidth(shifted, values[side])
            here = jump(shifted, values[side], width, None if unit is None else unit[side], options.level)
            found.append({"side": name, "at": at, **asdict(here)})
    return found


def _beside(near: _Near, values: Floats, other: ScoreColumn, width: float | None, options: RddOptions) -> dict[str, Any]:
    """The same jump of a placebo model's score, and that of the difference of the two scores, with the target's bandwidth."""
    theirs = _scores(near.data, other)[near.rows]
    both = np.isfinite(values) & np.isfinite(theirs)
    distance, unit = near.distance[both], None if near.unit is None else near.unit[both]
    placebo = jump(distance, theirs[both], width, unit, options.level)
    difference = jump(distance, (values - theirs)[both], width, unit, options.level)
    return {"model": other.model, "at_cutoff": asdict(placebo), "difference": asdict(difference)}


def _scores(data: Prepared, column: ScoreColumn) -> Floats:
    scores: Floats = data.scores[next(number for number, each in enumerate(data.columns) if each is column)]
    return scores


def _warnings(
    rows: Sequence[Mapping[str, Any]], density: Mapping[str, Any], left_out: Mapping[str, int], placebos: bool
) -> list[str]:
    found = []
    if left_out:
        found.append("documents left out: " + ", ".join(f"{count:,} {reason}" for reason, count in left_out.items()))
    if density["p"] is not None and density["p"] < _ALARM:
        found.append(
            f"the number of documents jumps at the cutoff (p = {density['p']:.3g}): the two sides were not drawn alike"
        )
    for row in rows:
        p = row["at_cutoff"]["p"]
        if row["kind"] != "attack" and p is not None and p < _ALARM:
            found.append(f"{row['name']} jumps at the cutoff (p = {p:.3g}): the documents change there, not only membership")
        for other in row["placebos"]:
            p = other["at_cutoff"]["p"]
            if p is not None and p < _ALARM:
                found.append(f"{row['name']}: the placebo {other['model']} jumps at the cutoff too (p = {p:.3g})")
        tested = [each["p"] for each in row["placebo_cutoffs"] if each["p"] is not None]
        low = sum(each < _ALARM for each in tested)
        if low >= 3:
            found.append(f"{row['name']}: {low} of {len(tested)} placebo cutoffs have p < .05; the p-values here are too small")
        if row["at_cutoff"]["reason"] is not None:
            found.append(f"{row['name']}: no jump estimated ({row['at_cutoff']['reason']})")
    if not any(row["kind"] == "overlap" for row in rows):
        found.append("no overlap beside the scores: whether the documents' wording jumps is not known")
    if not placebos:
        found.append("no placebo model beside the attacks: what a model gives that saw neither side is not known")
    return found
