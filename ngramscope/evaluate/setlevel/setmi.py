"""Set-level membership inference: were whole sets of documents in the training data?

Documents that share an attribute, as a month of creation, are all in or all out; their scores are aggregated to one a set
(Set-MI). Sets, not documents, are what is counted, resampled and permuted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.table import ScoreColumn, ScoreTable
from ngramscope.checks import check_integer
from ngramscope.errors import UsageError
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.bootstrap import bootstrap, percentiles
from ngramscope.evaluate.delong import Comparison, Measured, Part, auc_interval, compare, measure, standard_error
from ngramscope.evaluate.groups import Ints
from ngramscope.evaluate.multiple import holm
from ngramscope.evaluate.power import detectable_auc
from ngramscope.evaluate.setlevel.aggregations.base import Aggregation, aggregations, find_aggregation
from ngramscope.evaluate.setlevel.blind import blind_scores, divided_sets
from ngramscope.evaluate.setlevel.collected import Collected, collect
from ngramscope.evaluate.setlevel.columns import Chosen, choose
from ngramscope.evaluate.setlevel.curves import length_curve, noise_curve, regrouped, size_curve
from ngramscope.evaluate.setlevel.documents import SetScores
from ngramscope.evaluate.setlevel.grouping import numbers_of
from ngramscope.evaluate.setlevel.measure import FOLDS, LEAST, parts, permutation_p
from ngramscope.progress import Step
from ngramscope.sizes import counted, format_reasons

__all__ = ["SETMI_VERSION", "SetMiOptions", "setmi"]

SETMI_VERSION = 1
"""Version of the report."""

SIZE = "documents a set"
"""Name of the blind score that is always there: how many documents a set has."""


@dataclass(frozen=True, kw_only=True)
class SetMiOptions:
    """What can be chosen.

    Parameters
    ----------
    group_by
        Column that says which set a document is of, or a date and a period: ``date:month``.
    attacks, model, placebos
        Columns of the table, see `columns.choose`.
    aggregations
        Names; none: all.
    purity
        See `collected.collect`.
    blind
        Columns of the table that are blind scores.
    length
        Column of the documents' length, for the curve over it.
    curves
        Whether there are curves.
    permutations, bootstrap, draws
        Of set labels; of sets; random regroupings, and draws of each point of a curve.
    level, seed
        Of the intervals; of all that is random.
    """

    group_by: str
    attacks: tuple[str, ...] = ()
    model: str | None = None
    placebos: tuple[str, ...] = ()
    aggregations: tuple[str, ...] = ()
    purity: float = 1.0
    blind: tuple[str, ...] = ()
    length: str | None = None
    curves: bool = False
    permutations: int = 999
    bootstrap: int = 1000
    draws: int = 50
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("--permutations", self.permutations, 0, 1_000_000)
        check_integer("--bootstrap", self.bootstrap, 100, 1_000_000)
        check_integer("--draws", self.draws, 1, 100_000)
        check_integer("--seed", self.seed, 0, 2**63 - 1)
        if not 0.5 < self.purity <= 1:
            raise UsageError(f"--purity: {self.purity!r} is not possible; a share above 0.5 and at most 1")
        if not 0 < self.level < 1:
            raise UsageError("--level: lies between 0 and 1, both not included")


def setmi(
    table: ScoreTable,
    options: SetMiOptions,
    *,
    blind: ScoreTable | None = None,
    inputs: Sequence[Mapping[str, Any]] = (),
    progress: Callable[[Step], object] | None = None,
) -> dict[str, Any]:
    """Evaluate attacks on sets of documents.

    Parameters
    ----------
    table
        Scores of labelled documents.
    blind
        A table of blind scores of the same documents.
    inputs
        Facts of the files for the report's header.
    progress
        Called before each row.

    Returns
    -------
    dict
        Ready for JSON; see docs/set-level.md.

    Raises
    ------
    UsageError
        A column, attack or aggregation that is not there.
    InputError
        No set is left.
    """
    chosen = choose(table, options.attacks, options.model, options.placebos)
    ways = [find_aggregation(name) for name in options.aggregations or aggregations()]
    collected = collect(table, options.group_by, options.purity)
    blinds = blind_scores(table, collected.data, options.blind, blind)
    lengths = None if options.length is None else numbers_of(table, options.length, "--length")[collected.data.rows]
    study = _Study(collected, options, blinds, lengths)
    rows: list[dict[str, Any]] = []
    total = len(chosen) * len(ways)
    for each in chosen:
        for way in ways:
            if progress is not None:
                progress(Step("resample", pass_number=len(rows) + 1, passes=total))
            rows.append(study.row(each, way))
    tested = [row["p"] for row in rows if row["p"] is not None]
    corrected = iter(holm(tested))
    for row in rows:
        row["p_holm"] = None if row["p"] is None else next(corrected)
    counts = {
        "documents": len(table.labels),
        "in_sets": int((collected.set_of >= 0).sum()),
        "left_out": collected.left_out,
        "sets": {"members": int(collected.members.sum()), "nonmembers": int((~collected.members).sum())},
        "mixed_sets": len(collected.mixed),
        "documents_a_set": _spread(np.bincount(collected.set_of[collected.set_of >= 0], minlength=len(collected.names))),
    }
    settings = {**asdict(options), "folds": FOLDS, "least_sets": LEAST, "aggregations": [way.name for way in ways]}
    divided = None if blind is None else divided_sets(collected.data, collected.set_of, blind)
    return {
        **provenance.stamp("set-mi", version=SETMI_VERSION, settings=settings, inputs=inputs),
        "counts": counts,
        "rows": rows,
        "warnings": _warnings(rows, counts, blinds, chosen, divided),
    }


class _Study:
    """All that one attack and one aggregation are measured against."""

    def __init__(
        self, collected: Collected, options: SetMiOptions, blinds: Mapping[str, Floats], lengths: Floats | None
    ) -> None:
        self._collected, self._options, self._blinds, self._lengths = collected, options, blinds, lengths
        self._members = collected.members
        # The names are sorted, so that the order of the file has no say.
        self._order = np.random.default_rng(options.seed).permutation(len(collected.names))
        self._place = {id(column): number for number, column in enumerate(collected.data.columns)}

    def row(self, chosen: Chosen, way: Aggregation) -> dict[str, Any]:
        """One row of the report."""
        options, members, order = self._options, self._members, self._order
        documents = self._scores(chosen.column)
        sets = self._collected.sets(documents)
        each = parts(way, sets, members, order)
        measured, used = measure(each, members), _used(each)
        n1, n0 = int((used & members).sum()), int((used & ~members).sum())
        row: dict[str, Any] = {
            "attack": chosen.column.attack, "model": chosen.column.model, "aggregation": way.name, "n1": n1, "n0": n0,
            "documents": len(sets.scores), "reason": None, "auc": None, "interval": None, "bootstrap_interval": None,
            "detectable": None, "p": None, "document_auc": None, "document_interval": None, "blind": [], "placebos": [],
            "regrouped": None, "interval_reason": None, "curves": None,
        }  # fmt: skip
        if min(n1, n0) < LEAST:
            return {**row, "reason": f"fewer_than_{LEAST}_sets"}
        if np.isnan(measured.auc[0]):
            return {**row, "reason": "undefined"}
        error = standard_error(measured.moved[0], measured.used[0], members)
        auc, document = float(measured.auc[0]), self._documents(documents)
        interval = auc_interval(auc, error, options.level)
        random = np.random.default_rng([options.seed, 1])
        drawn = bootstrap(each, members, resamples=options.bootstrap, seed=options.seed).auc[0]
        shuffled = regrouped(way, sets, members, order, options.draws, random)
        row.update(
            auc=auc,
            interval=interval,
            bootstrap_interval=_percentiles(drawn, options.level),
            detectable=detectable_auc(n1, n0, level=options.level),
            p=permutation_p(way, sets, members, order, options.permutations, random) if options.permutations else None,
            document_auc=document[0],
            document_interval=document[1],
            blind=[{"name": SIZE, **self._beside([_counts(sets, used)], measured, auc)}],
            placebos=[
                {"model": other.model, **self._again(self._scores(other), way, measured, auc)} for other in chosen.placebos
            ],
            regrouped={"auc": float(shuffled.mean()), "interval": _percentiles(shuffled, options.level)},
            interval_reason=None if interval is not None else "separated" if auc in (0.0, 1.0) else "all_tied",
            curves=self._curves(way, sets, documents) if options.curves else None,
        )
        row["blind"] += [{"name": name, **self._again(scores, way, measured, auc)} for name, scores in self._blinds.items()]
        return row

    def _again(self, documents: Floats, way: Aggregation, measured: Measured, auc: float) -> dict[str, Any]:
        """The same aggregation of other scores of the documents."""
        return self._beside(parts(way, self._collected.sets(documents), self._members, self._order), measured, auc)

    def _beside(self, each: list[Part], measured: Measured, auc: float) -> dict[str, Any]:
        """Another set-level score, and by how much the attack's AUC is above its."""
        members, level = self._members, self._options.level
        other = measure(each, members)
        used = _used(each)
        if min((used & members).sum(), (used & ~members).sum()) < LEAST or np.isnan(other.auc[0]):
            return {"auc": None, "interval": None, "difference": None, "reason": f"fewer_than_{LEAST}_sets"}
        its = float(other.auc[0])
        error = standard_error(other.moved[0], other.used[0], members)
        both = standard_error(measured.moved[0] - other.moved[0], measured.used[0] | other.used[0], members)
        difference: Comparison = compare(auc - its, both, level)
        return {
            "auc": its, "interval": auc_interval(its, error, level), "reason": None,
            "difference": {name: getattr(difference, name) for name in ("difference", "low", "high", "p")},
        }  # fmt: skip

    def _documents(self, scores: Floats) -> tuple[float | None, tuple[float, float] | None]:
        """The AUC of single documents, with an interval that takes sets for units; each is labelled as its set is."""
        inside = (self._collected.set_of >= 0) & np.isfinite(scores)
        unit = self._collected.set_of[inside]
        members = self._members[unit]
        found = measure([Part(scores[inside][None])], members)
        auc = float(found.auc[0])
        error = standard_error(found.moved[0], found.used[0], members, unit)
        return (None, None) if np.isnan(auc) else (auc, auc_interval(auc, error, self._options.level))

    def _curves(self, way: Aggregation, sets: SetScores, documents: Floats) -> dict[str, Any]:
        options, members, order = self._options, self._members, self._order
        random = np.random.default_rng([options.seed, 2])
        common = (way, sets, members, order, options.draws, options.level, random)
        found: dict[str, Any] = {
            "documents_a_set": [asdict(each) for each in size_curve(*common)],
            "share_of_labels_mixed": [asdict(each) for each in noise_curve(*common)],
        }
        if self._lengths is not None:

            def sets_of(chosen: Mask) -> SetScores:
                return self._collected.sets(np.where(chosen, documents, np.nan))

            points = length_curve(way, sets_of, self._lengths, members, order, options.level)
            found["document_length"] = [asdict(each) for each in points]
        return found

    def _scores(self, column: ScoreColumn) -> Floats:
        scores: Floats = self._collected.data.scores[self._place[id(column)]]
        return scores


def _used(each: Sequence[Part]) -> Mask:
    used: Mask = ~np.isnan(np.concatenate([part.scores for part in each])).all(axis=0)
    return used


def _counts(sets: SetScores, used: Mask) -> Part:
    return Part(np.where(used, sets.counts.astype(np.float64), np.nan)[None])


def _percentiles(drawn: Floats, level: float) -> tuple[float, float] | None:
    """Of draws; those without a number (a fold without one side) are left out."""
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return None
    low, high = percentiles(known, level)
    return float(low), float(high)


def _spread(counts: Ints) -> dict[str, float]:
    return {"least": int(counts.min()), "median": float(np.median(counts)), "most": int(counts.max())}


def _warnings(
    rows: Sequence[Mapping[str, Any]],
    counts: Mapping[str, Any],
    blinds: Mapping[str, Floats],
    chosen: Sequence[Chosen],
    divided: int | None,
) -> list[str]:
    found = []
    if divided:
        found.append(
            f"{counted(divided, 'set')} in several folds of the blind scores, which therefore know these sets and not only "
            "texts; give ngramscope blind the sets as --group-key"
        )
    if counts["left_out"]:
        found.append(f"documents that are in no set: {format_reasons(counts['left_out'])}")
    if any(row["reason"] == f"fewer_than_{LEAST}_sets" for row in rows):
        found.append(
            f"no set-level number from fewer than {LEAST} sets of a class; here {counts['sets']['members']} of members, "
            f"{counts['sets']['nonmembers']} of non-members"
        )
    scored = [row for row in rows if row["auc"] is not None]
    if not blinds:
        found.append("no blind score beside the attacks: what the texts alone give is not known; see --blind")
    if not any(each.placebos for each in chosen):
        found.append("no placebo model beside the attacks: what a model gives that saw neither side is not known")
    for row in scored:
        for name, low in ((each["name"], each["difference"]) for each in row["blind"] if each["difference"] is not None):
            if low["difference"] <= 0 and row["auc"] > 0.5:
                found.append(f"{row['attack']} @ {row['model']}, {row['aggregation']}: not above blind {name!r}")
        for other in row["placebos"]:
            if other["interval"] is not None and other["interval"][0] > 0.5:
                found.append(f"{row['attack']}, {row['aggregation']}: placebo {other['model']} tells the sets apart too")
    return found
