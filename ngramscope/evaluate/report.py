"""What an evaluation found, as data. Writers and the text for people need nothing else."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ngramscope.evaluate.blind_section import BlindSection
from ngramscope.evaluate.delong import Comparison
from ngramscope.evaluate.overlap_section import OverlapSection
from ngramscope.evaluate.stability import Stability
from ngramscope.evaluate.transfer import Share
from ngramscope.evaluate.verdict import Verdict

__all__ = [
    "REPORT_VERSION",
    "AttackRow",
    "ChangeRow",
    "FlaggedRow",
    "PairRow",
    "PlaceboRow",
    "Report",
    "StabilityRow",
    "StratumRow",
    "TprRow",
]

REPORT_VERSION = 1
"""Version of the report's fields and of the table made of them."""

Interval = tuple[float, float] | None


@dataclass(frozen=True)
class TprRow:
    """`tpr.TprAtFpr`, means of it over splits, a bootstrap interval, and why there is none, or no TPR."""

    target: float
    tpr: float | None
    point_tpr: float
    attained_fpr: float | None
    threshold: float | None
    interval: Interval
    n0: int
    unreliable: bool
    reason: str | None


@dataclass(frozen=True)
class PlaceboRow:
    """The same attack on a model that cannot have seen either side, and by how much the target's AUC is above it."""

    model: str
    auc: float
    interval: Interval
    difference: Comparison


@dataclass(frozen=True)
class AttackRow:
    """One attack on one model.

    Attributes
    ----------
    attack, model, role
        As in the score table; a learned attack without its seed.
    split
        ``all`` documents, or ``held-out``: means over the splits of a learned attack, on documents that it did not learn from.
    seeds
        Of the splits.
    n1, n0
        Members and non-members; of several splits the fewest.
    reason
        Why there are no numbers; see `missing`, or ``no_common_documents``.
    auc, standard_error, interval, bootstrap_interval
        DeLong's error and interval; percentiles of resamples.
    p
        Two-sided, of an AUC of .5, by DeLong's error.
    detectable
        The smallest AUC that this attack could have been found to have (80 % power).
    tied_pairs
        Share of pairs of a member and a non-member that score the same.
    to_baseline
        AUC less that of the baseline attack on the same model.
    placebos
        Comparisons with placebo models.
    undefined
        Scores that are undefined, by reason.
    notes
        Codes of what a reader has to know.
    """

    attack: str
    model: str
    role: str
    split: str
    seeds: tuple[int, ...]
    n1: int
    n0: int
    reason: str | None
    auc: float | None = None
    standard_error: float | None = None
    interval: Interval = None
    bootstrap_interval: Interval = None
    p: float | None = None
    detectable: float | None = None
    tied_pairs: float | None = None
    tprs: tuple[TprRow, ...] = ()
    to_baseline: Comparison | None = None
    placebos: tuple[PlaceboRow, ...] = ()
    undefined: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class PairRow:
    """Two attacks on the same documents: difference of the AUCs, and members found at a FPR by whom."""

    first: str
    second: str
    difference: Comparison
    at_fpr: float
    both: int
    first_only: int
    second_only: int
    neither: int


@dataclass(frozen=True)
class StratumRow:
    """One attack in one stratum of a column, or ``pooled`` over them: pairs within strata only.

    `reason` says why there is no AUC, or no interval.
    """

    column: str
    stratum: str
    attack: str
    model: str
    n1: int
    n0: int
    auc: float | None
    interval: Interval
    reason: str | None
    less_raw: Comparison | None = None


@dataclass(frozen=True)
class FlaggedRow:
    """Documents that a threshold of the evaluated set flags.

    Attributes
    ----------
    what
        ``nonmembers`` or ``members`` of the other set, ``modified`` members, or ``originals``: the evaluated set's members.
    """

    what: str
    attack: str
    model: str
    target_fpr: float
    threshold: float | None
    flagged: Share


@dataclass(frozen=True)
class ChangeRow:
    """AUC on the other set less that on the evaluated one; in the row without an attack, calibration-free less calibrated."""

    attack: str | None
    model: str
    kind: str | None
    first: float | None
    second: float | None
    change: Comparison
    sign_of_shift: bool | None = None


@dataclass(frozen=True)
class StabilityRow:
    """Disagreement of decisions on a document, ``between`` resamples, seeds of a learned attack, or target models."""

    attack: str
    model: str
    between: str
    target_fpr: float
    members: Stability | None
    nonmembers: Stability | None


@dataclass(frozen=True)
class Report:
    """An evaluation.

    Attributes
    ----------
    header
        Provenance: settings, seeds, inputs.
    counts
        ``documents`` of the table, of them ``unlabelled``, ``members``, ``nonmembers``, ``used`` and
        ``left_out`` (for scores that are missing), ``units`` (groups and single documents, None without groups).
    overlap
        For each length of n-grams whose overlap is known.
    verdict
        What follows from all of it.
    """

    header: Mapping[str, Any]
    counts: Mapping[str, Any]
    rows: tuple[AttackRow, ...]
    pairs: tuple[PairRow, ...] = ()
    strata: tuple[StratumRow, ...] = ()
    transfer: tuple[FlaggedRow, ...] = ()
    modified: tuple[FlaggedRow, ...] = ()
    changes: tuple[ChangeRow, ...] = ()
    stability: tuple[StabilityRow, ...] = ()
    overlap: tuple[OverlapSection, ...] = ()
    verdict: Verdict | None = None
    blind: BlindSection | None = None
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data without NaN, header first."""
        body = {each.name: getattr(self, each.name) for each in dataclasses.fields(self) if each.name != "header"}
        plain: dict[str, Any] = _plain({**self.header, **body})
        return plain

    def row(self, attack: str, model: str | None = None, split: str = "all") -> AttackRow:
        """The first row of that attack (and model)."""
        return next(each for each in self.rows if each.attack == attack and model in (None, each.model) and each.split == split)

    def cells(self) -> Iterator[dict[str, Any]]:
        """Every number with its interval as one row of a table, see `writers.COLUMNS`."""
        for row in self.rows:
            yield from _attack_cells(row)
        if self.blind is not None:
            yield from self.blind.cells()
        for pair in self.pairs:
            two = {"section": "pairs", "attack": pair.first, "other": pair.second}
            yield {**two, "statistic": "auc_difference", **_compared(pair.difference)}
            for name in ("both", "first_only", "second_only", "neither"):
                yield {**two, "statistic": f"members_{name}", "target_fpr": pair.at_fpr, "value": getattr(pair, name)}
        for each in self.strata:
            common: dict[str, Any] = {
                "section": "strata",
                **_named(each),
                "stratum": f"{each.column}: {each.stratum}",
                **_sizes(each),
            }
            yield {**common, "statistic": "auc", "value": each.auc, **_bounds(each.interval), "note": each.reason}
            if each.less_raw is not None:
                yield {**common, "statistic": "auc_less_raw", **_compared(each.less_raw)}
        for section, rows in (("transfer", self.transfer), ("modified", self.modified)):
            for row_ in rows:
                found = row_.flagged
                yield {
                    "section": section, **_named(row_), "other": row_.what, "statistic": "flagged",
                    "target_fpr": row_.target_fpr, "threshold": row_.threshold, "value": found.value, "low": found.low,
                    "high": found.high, "n": found.of,
                }  # fmt: skip
        for change in self.changes:
            statistic = "auc_change" if change.attack else "divergence"
            yield {
                "section": "changes",
                **_named(change),
                "statistic": statistic,
                **_compared(change.change),
                "note": change.kind,
            }
        if self.verdict is not None:
            yield from self.verdict.cells()
        for section_ in self.overlap:
            yield from section_.cells()
        for stable in self.stability:
            for side in ("members", "nonmembers"):
                found_ = getattr(stable, side)
                if found_ is not None:
                    yield {
                        "section": "stability", **_named(stable), "other": f"{side} between {stable.between}",
                        "statistic": "disagreement", "target_fpr": stable.target_fpr, "value": found_.mean,
                        "n": found_.documents,
                    }  # fmt: skip


def _attack_cells(row: AttackRow) -> Iterator[dict[str, Any]]:
    common = {"section": "attacks", **_named(row), "role": row.role, "split": row.split, **_sizes(row)}
    notes = "; ".join(filter(None, (row.reason, *row.notes))) or None
    yield {**common, "statistic": "auc", "value": row.auc, **_bounds(row.interval), "p": row.p, "note": notes}
    if row.reason is not None:
        return
    for name in ("standard_error", "detectable", "tied_pairs"):
        yield {**common, "statistic": name, "value": getattr(row, name)}
    yield {**common, "statistic": "auc_bootstrap", "value": row.auc, **_bounds(row.bootstrap_interval)}
    for each in row.tprs:
        yield {
            **common, "statistic": "tpr", "target_fpr": each.target, "attained_fpr": each.attained_fpr,
            "threshold": each.threshold, "value": each.tpr, **_bounds(each.interval),
            "note": each.reason or ("unreliable" if each.unreliable else None),
        }  # fmt: skip
    if row.to_baseline is not None:
        yield {**common, "statistic": "auc_less_baseline", **_compared(row.to_baseline)}
    for placebo in row.placebos:
        yield {**common, "other": placebo.model, "statistic": "auc_placebo", "value": placebo.auc, **_bounds(placebo.interval)}
        yield {**common, "other": placebo.model, "statistic": "auc_less_placebo", **_compared(placebo.difference)}


def _named(row: Any) -> dict[str, Any]:
    return {"attack": row.attack, "model": row.model}


def _sizes(row: Any) -> dict[str, int]:
    return {"n1": row.n1, "n0": row.n0}


def _bounds(interval: Interval) -> dict[str, float | None]:
    return {"low": None, "high": None} if interval is None else {"low": interval[0], "high": interval[1]}


def _compared(each: Comparison) -> dict[str, Any]:
    return {
        "value": each.difference, "low": each.low, "high": each.high, "p": each.p, "p_holm": each.p_holm, "note": each.reason,
    }  # fmt: skip


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
