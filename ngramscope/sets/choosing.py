"""Who is matched with whom: the rule of ``sets matched``, applied to the numbers of both sides."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core
from ngramscope.errors import InputError
from ngramscope.progress import Step as Progressed
from ngramscope.sets import matching
from ngramscope.sets.base import NONMEMBER
from ngramscope.sets.covariates import Covariates
from ngramscope.sets.writer import Counts

if TYPE_CHECKING:
    from ngramscope.sets.matched import MatchOptions

__all__ = ["Choice", "Progress"]

_DIGITS = 6
_MODELS, _TEXTS = 0, 1
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Progress = Callable[["_core.Progress | Progressed"], None]


class Choice:
    """Who is chosen, with what weight, and why the others are not.

    Attributes
    ----------
    before, after
        Rows of the reference and of the non-members that could be compared, and that were chosen; each in seeded order, pairs
        in that of the reference.
    pairs
        Numbers of the pairs of `after`, by side; None if there are none.
    weighted
        Whether the method is ``weights``.
    weight
        Of every row of `texts`; 1 with other methods.
    pair, distance
        Of every row of `texts`: number of the pair, -1 for none, and how far its partners are; NaN where that has no meaning.
    left_out
        For every row of `texts`, why it is not in the set.
    """

    def __init__(
        self,
        texts: Covariates,
        models: Covariates,
        options: MatchOptions,
        labels: Sequence[int | None],
        progress: Progress | None,
    ) -> None:
        self._texts, self._models, self._options, self._progress = texts, models, options, progress
        self.weighted = options.method == "weights"
        wanted = [-1 if label is None else label for label in labels]
        self.before = (_usable(models, wanted), _usable(texts, [NONMEMBER]))
        self.weight = np.ones(texts.rows)
        self.pair = np.full(texts.rows, -1, dtype=np.int64)
        self.distance = np.full(texts.rows, np.nan)
        self._trimmed = 0
        self.left_out = list(texts.reasons)
        # What is on another side of the reference's file has no part in this.
        self._models_left = (
            self.left_out
            if models is texts
            else [
                reason if label in wanted else "other_side"
                for reason, label in zip(models.reasons, models.labels.tolist(), strict=True)
            ]
        )
        for name, rows in zip(("reference", "non-member"), self.before, strict=True):
            if not len(rows):
                raise InputError(f"{self._names(name)}: no {name} that could be matched: {self._why(name, wanted)}")
        numbers = [name for name in models.names if name.split("_")[0] in options.on]
        columns = [
            [table.values[each][rows] for each in numbers] for table, rows in zip((models, texts), self.before, strict=True)
        ]
        # Without numbers all texts of a domain are alike.
        ours, theirs = (
            np.stack(each, axis=1) if each else np.zeros((len(rows), 1))
            for each, rows in zip(columns, self.before, strict=True)
        )
        self._scale = dict(zip(numbers, (scale := matching.scales(ours, theirs)).tolist(), strict=False))
        chosen: tuple[list[Ints], list[Ints]] = ([], [])
        for some, others in self._blocks():
            one, other = self._match(some, others, ours[some] / scale, theirs[others] / scale)
            chosen[0].append(one)
            chosen[1].append(other)
        some, others = np.unique(np.concatenate(chosen[0])), np.concatenate(chosen[1])
        if not len(others):
            raise InputError(self._nobody(numbers, ours, theirs))
        rows = self.before[1][np.sort(others)]
        # Partners stand at the same places of both sides, or with a ratio at proportional ones.
        self.after = (self.before[0][some], rows[np.argsort(self.pair[rows], kind="stable")])
        self.pairs = None if self.weighted else (some.tolist(), self.pair[self.after[1]].tolist())
        if self.weighted:
            self._settle_weights()

    def facts(self) -> dict[str, Any]:
        """For the header."""
        facts: dict[str, Any] = {"standard_deviations": self._scale}
        if self.weighted:
            weights = self.weight[self.after[1]]
            return {
                **facts,
                "effective_sample_size": matching.effective_size(weights),
                "trimmed_share": self._trimmed / len(weights),
                "largest_weight": float(weights.max()),
            }
        far = self.distance[self.after[1]]
        return {**facts, "pairs": len(far), "distance": {"mean": float(far.mean()), "max": float(far.max())}}

    def models_counts(self) -> dict[str, Any]:
        """What became of a reference that is no part of the set."""
        reasons = Counter(reason for reason in self._models_left if reason is not None)
        return Counts(len(self._models_left) - sum(reasons.values()), reasons).to_dict()

    def _match(self, some: Ints, others: Ints, ours: Floats, theirs: Floats) -> tuple[Ints, Ints]:
        """Match within a block; places in `before` of those who are chosen."""
        options = self._options
        none = np.empty(0, dtype=np.int64)
        if not len(some) or not len(others):
            self._leave_out(_MODELS, some, "domain_without_nonmembers")
            self._leave_out(_TEXTS, others, "domain_not_in_reference")
            return none, none
        if self.weighted:
            if matching.no_common_support(ours, theirs):
                self._leave_out(_MODELS, some, "no_common_support")
                self._leave_out(_TEXTS, others, "no_common_support")
                return none, none
            found = matching.odds_weights(ours, theirs, trim=options.trim, max_weight=options.max_weight)
            # Each domain weighs what it weighs in the reference.
            self.weight[self.before[1][others]] = found.weights * (len(some) / len(others))
            self._trimmed += int(found.trimmed.sum())
            return some, others
        pair = matching.optimal if options.method == "optimal" else matching.nearest
        pairs = pair(ours, theirs, caliper=options.caliper, ratio=options.ratio, progress=self._show)
        self._note(some, others, pairs)
        alone = np.setdiff1d(np.arange(len(some)), pairs.reference)
        far = matching.outside(ours[alone], theirs, caliper=options.caliper, ratio=options.ratio)
        self._leave_out(_MODELS, some[alone[far]], "outside_caliper")
        self._leave_out(_MODELS, some[alone[~far]], "no_nonmember_left")
        idle = np.setdiff1d(np.arange(len(others)), pairs.candidates)
        far = matching.outside(theirs[idle], ours, caliper=options.caliper)
        self._leave_out(_TEXTS, others[idle[far]], "outside_caliper")
        self._leave_out(_TEXTS, others[idle[~far]], "not_chosen")
        return some[pairs.reference], others[pairs.candidates]

    def _note(self, some: Ints, others: Ints, pairs: matching.Pairs) -> None:
        rows = self.before[1][others[pairs.candidates]]
        self.pair[rows] = some[pairs.reference]
        self.distance[rows] = pairs.distance
        if self._models is self._texts:
            self.pair[self.before[0][some[pairs.reference]]] = some[pairs.reference]

    def _leave_out(self, number: int, places: Ints, reason: str) -> None:
        reasons = (self._models_left, self.left_out)[number]
        for row in self.before[number][places].tolist():
            reasons[row] = reason

    def _blocks(self) -> Iterator[tuple[Ints, Ints]]:
        """Places in `before` that may be matched with each other: all, or those of one domain after the other."""
        if "domain" not in self._options.on:
            yield np.arange(len(self.before[0])), np.arange(len(self.before[1]))
            return
        places: tuple[dict[str, list[int]], dict[str, list[int]]] = (defaultdict(list), defaultdict(list))
        for table, rows, found in zip((self._models, self._texts), self.before, places, strict=True):
            for place, row in enumerate(rows.tolist()):
                found[table.domains[row] or ""].append(place)
        for domain in sorted({*places[0], *places[1]}):
            yield np.array(places[0][domain], np.int64), np.array(places[1][domain], np.int64)

    def _settle_weights(self) -> None:
        """Mean 1, and few enough digits to be the same on every machine."""
        rows = self.after[1]
        settled = self.weight[rows] / self.weight[rows].mean()
        self.weight[rows] = [float(f"{each:.{_DIGITS}g}") for each in settled.tolist()]

    def _show(self, done: int) -> None:
        if self._progress is not None:
            self._progress(Progressed("match", documents=done))

    def _names(self, name: str) -> str:
        table = self._models if name == "reference" else self._texts
        return ", ".join(table.records.names[:3])

    def _why(self, name: str, wanted: Sequence[int]) -> str:
        table, labels = (self._models, wanted) if name == "reference" else (self._texts, [NONMEMBER])
        found = Counter(
            reason
            for reason, label in zip(table.reasons, table.labels.tolist(), strict=True)
            if reason is not None and label in labels
        )
        said = ", ".join(f"{count:,} {reason}" for reason, count in sorted(found.items()))
        hint = (
            ""
            if name == "reference"
            else ", or label documents that have none with: ngramscope sets import FILES --as nonmember"
        )
        return said or f"there is none with that label; say with --label-key where the labels are{hint}"

    def _nobody(self, numbers: Sequence[str], ours: Floats, theirs: Floats) -> str:
        ranges = "; ".join(
            f"{name} from {one.min():.4g} to {one.max():.4g} in the reference, {other.min():.4g} to {other.max():.4g} in "
            "non-members"
            for name, one, other in zip(numbers, ours.T, theirs.T, strict=False)
        )
        found = "no common support" if self.weighted else "no non-member within the caliper of any text"
        advice = "other non-members are needed" if self.weighted else "a wider --caliper, or others, are needed"
        return f"{self._names('non-member')}: {found}: {ranges or 'no domain is on both sides'}; {advice}"


def _usable(table: Covariates, labels: Sequence[int]) -> Ints:
    """Rows with one of these labels that can be compared, in seeded order."""
    there = np.array([reason is None for reason in table.reasons], dtype=bool)
    rows = np.flatnonzero(there & np.isin(table.labels, labels))
    return rows[np.argsort(table.order[rows], kind="stable")]
