"""How much of each book, or source, does an attack flag, and how much of all is that, corrected for the attack's errors?

Shi et al. 2024 (arXiv 2310.16789, section 5) count flagged snippets a book, at a threshold from books that are known. A
flagged share is no prevalence: an attack flags a part of what was not trained on, and misses a part of what was. With both
rates from the known documents the prevalence follows (Rogan and Gladen 1978).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.table import ScoreColumn, ScoreTable
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.groups import Ints, units
from ngramscope.evaluate.prepare import prepare
from ngramscope.evaluate.setlevel.columns import choose
from ngramscope.evaluate.setlevel.grouping import set_names
from ngramscope.evaluate.tpr import tprs
from ngramscope.evaluate.transfer import share
from ngramscope.sizes import format_reasons

__all__ = ["AUDIT_VERSION", "LEAST", "AuditOptions", "Calibration", "audit", "prevalence"]

AUDIT_VERSION = 1
"""Version of the report."""

LEAST = 10
"""Groups, and known units of a side, below which there is no interval."""


Interval = tuple[float, float] | None


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """What can be chosen.

    Parameters
    ----------
    group_by
        Column that says which book or source a document is of; see `grouping.set_names`.
    attack, model, placebos
        The attack, the target (None: the only one), and models that are placebos.
    fpr
        False positive rate of the threshold on the known documents, at most.
    group
        Column of the known documents that says what belongs together; None: nothing does.
    level
        Of the intervals.
    """

    group_by: str
    attack: str
    model: str | None = None
    placebos: tuple[str, ...] = ()
    fpr: float = 0.1
    group: str | None = "group"
    level: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.fpr < 1:
            raise UsageError("--fpr: lies between 0 and 1, both not included")
        if not 0 < self.level < 1:
            raise UsageError("--level: lies between 0 and 1, both not included")


@dataclass(frozen=True, eq=False)
class Calibration:
    """A threshold and what it does to known documents.

    Attributes
    ----------
    threshold
        A document is flagged that scores at least this.
    tpr, fpr
        Shares of known members and non-members that are flagged.
    members, nonmembers
        (2, units): of each unit of that side, flagged documents and all.
    """

    threshold: float
    tpr: float
    fpr: float
    members: Floats
    nonmembers: Floats


def prevalence(flagged: float, tpr: float, fpr: float) -> float | None:
    """Of a share that is flagged (Rogan and Gladen); not clamped to 0 and 1, which would bias means. None if tpr <= fpr."""
    return (flagged - fpr) / (tpr - fpr) if tpr > fpr else None


def audit(
    table: ScoreTable, known: ScoreTable, options: AuditOptions, *, inputs: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """Audit groups of documents.

    Parameters
    ----------
    table
        Scores of the documents in question; their labels have no say.
    known
        Scores of known members and non-members of the same kind by the same attack and models.
    inputs
        Facts of the files for the report's header.

    Returns
    -------
    dict
        Ready for JSON; see docs/set-level.md.

    Raises
    ------
    UsageError
        A column, attack or model that is not there.
    InputError
        No document is in a group, or one side of the known ones has no score.
    """
    (chosen, *others) = choose(table, (options.attack,), options.model, options.placebos)
    if others:
        listed = ", ".join([chosen.column.name, *(each.column.name for each in others)])
        raise UsageError(f"--attack, --model: several target models or splits: {listed}; name one")
    names, reasons = set_names(table, options.group_by)
    models = [("target", chosen.column), *(("placebo", each) for each in chosen.placebos)]
    found = [{"role": role, **_model(column, known, names, options)} for role, column in models]
    target = found[0]
    counts = {
        "documents": len(names),
        "audited": target["documents"],
        "left_out": {**Counter(each for each in reasons if each is not None), **target.pop("left_out")},
        "groups": len(target["groups"]),
    }
    for each in found[1:]:
        del each["left_out"], each["groups"]
    return {
        **provenance.stamp("group-audit", version=AUDIT_VERSION, settings=asdict(options), inputs=inputs),
        "counts": counts,
        "models": found,
        "warnings": _warnings(found, counts),
    }


def _model(column: ScoreColumn, known: ScoreTable, names: Sequence[str | None], options: AuditOptions) -> dict[str, Any]:
    """One model's flags."""
    calibrated = _calibrate(known, column, options)
    grouped = np.array([name is not None for name in names], dtype=np.bool_)
    used = grouped & np.isfinite(column.scores)
    if not used.any():
        raise InputError(f"--group-by {options.group_by}: no document of {column.name} has a group and a score")
    order, of = np.unique([str(names[row]) for row in np.flatnonzero(used).tolist()], return_inverse=True)
    flags = column.scores[used] >= calibrated.threshold
    sums = _sums(flags, of)
    flagged = float(sums[0].sum() / sums[1].sum())
    flagged_interval, interval, reason = _intervals(sums, calibrated, options.level)
    groups = [
        {
            "name": name,
            "flagged": asdict(share(int(hits), int(count), options.level)),
            "prevalence": prevalence(hits / count, calibrated.tpr, calibrated.fpr),
        }
        for name, hits, count in zip(order.tolist(), *sums.tolist(), strict=True)
    ]
    return {
        "attack": column.attack, "model": column.model, "threshold": calibrated.threshold, "tpr": calibrated.tpr,
        "fpr": calibrated.fpr, "known_members": int(calibrated.members[1].sum()),
        "known_nonmembers": int(calibrated.nonmembers[1].sum()), "documents": int(used.sum()), "flagged": flagged,
        "flagged_interval": flagged_interval, "prevalence": prevalence(flagged, calibrated.tpr, calibrated.fpr),
        "prevalence_interval": interval, "reason": reason,
        "groups": sorted(groups, key=lambda each: (-each["flagged"]["value"], each["name"])),
        "left_out": {"undefined_score": int((grouped & ~used).sum())} if (grouped & ~used).any() else {},
    }  # fmt: skip


def _calibrate(known: ScoreTable, column: ScoreColumn, options: AuditOptions) -> Calibration:
    theirs = next((each for each in known.columns if (each.attack, each.model) == (column.attack, column.model)), None)
    if theirs is None:
        listed = ", ".join(each.name for each in known.columns)
        raise UsageError(f"--known: no column {column.name!r}; it has: {listed}")
    data = prepare(known, options.group)
    scores = theirs.scores[data.rows]
    finite = np.array(np.isfinite(scores), dtype=np.bool_)
    for side, what in ((data.members, "member"), (~data.members, "non-member")):
        if not (finite & side).any():
            raise InputError(f"--known: no known {what} has a score of {column.name}")
    cut = tprs(np.where(finite, scores, np.nan), data.members, (options.fpr,), "le")[0].threshold
    # No score keeps the rate: a threshold above all of them, which flags nothing of the known documents.
    threshold = float(np.nextafter(scores[finite].max(), np.inf)) if cut is None else cut
    unit = np.arange(len(scores)) if data.unit is None else data.unit
    sides = [
        _sums(scores[finite & side] >= threshold, units(unit[finite & side].tolist())) for side in (data.members, ~data.members)
    ]
    tpr, fpr = (float(each[0].sum() / each[1].sum()) for each in sides)
    return Calibration(threshold, tpr, fpr, *sides)


def _sums(flags: Mask, unit: Ints) -> Floats:
    """(2, units): flagged documents, and all."""
    return np.stack([np.bincount(unit, flags), np.bincount(unit)]).astype(np.float64)


def _variance(sums: Floats) -> float:
    """Of a share of documents that come in units: flagged documents and all, (2, units); NaN for one unit."""
    flagged, all_ = sums
    count, total = len(all_), float(all_.sum())
    moved = flagged - all_ * (flagged.sum() / total)
    return float(moved @ moved) / total**2 * count / (count - 1) if count > 1 else float("nan")


def _quantile(variances: Sequence[float], counts: Sequence[int], level: float) -> float:
    """Student's, with the degrees of freedom of Satterthwaite for a sum of independent variances."""
    from scipy.stats import t

    spread = sum(each**2 / (count - 1) for each, count in zip(variances, counts, strict=True))
    freedom = sum(variances) ** 2 / spread if spread > 0 else float("inf")
    return float(t.ppf((1 + level) / 2, freedom))


def _intervals(sums: Floats, calibrated: Calibration, level: float) -> tuple[Interval, Interval, str | None]:
    """Of the flagged share and of the prevalence, and why there is none.

    The prevalence p solves q = (1 - p) FPR + p TPR, where q is the flagged share: the interval holds every p for which the two
    sides do not differ (Fieller 1954). So it is right where TPR and FPR are close, and there is none where they cannot be told
    apart.
    """
    parts = (sums, calibrated.nonmembers, calibrated.members)
    counts = [each.shape[1] for each in parts]
    if min(counts) < LEAST:
        return None, None, f"fewer_than_{LEAST}_units"
    q, fpr, tpr = (float(each[0].sum() / each[1].sum()) for each in parts)
    of_q, of_fpr, of_tpr = (_variance(each) for each in parts)
    reach = _quantile([of_q], counts[:1], level) * math.sqrt(of_q)
    flagged = (max(0.0, q - reach), min(1.0, q + reach))
    gain, above = tpr - fpr, q - fpr
    if gain <= 0:
        return flagged, None, "no_better_than_chance"
    p = above / gain
    z2 = _quantile([of_q, (1 - p) ** 2 * of_fpr, p**2 * of_tpr], counts, level) ** 2
    a, b, c = gain**2 - z2 * (of_fpr + of_tpr), above * gain - z2 * of_fpr, above**2 - z2 * (of_q + of_fpr)
    if a <= 0:
        return flagged, None, "tpr_and_fpr_not_told_apart"
    root = math.sqrt(max(b**2 - a * c, 0.0))
    return flagged, ((b - root) / a, (b + root) / a), None


def _warnings(found: Sequence[Mapping[str, Any]], counts: Mapping[str, Any]) -> list[str]:
    said = []
    if counts["left_out"]:
        said.append(f"documents left out: {format_reasons(counts['left_out'])}")
    for each in found:
        name = f"{each['attack']} @ {each['model']}"
        if each["reason"] is not None:
            said.append(
                f"{name}: no interval of the prevalence ({each['reason']}): TPR {each['tpr']:.3f}, FPR {each['fpr']:.3f}"
            )
        interval = each["prevalence_interval"]
        if each["role"] == "placebo" and interval is not None and interval[0] > 0:
            said.append(f"{name}: a placebo, but its prevalence is above 0: the known documents differ from the audited ones")
    if len(found) == 1:
        said.append("no placebo model beside the target: whether known and audited documents are alike is not known")
    said.append("rates of the known documents hold for the audited ones only if both are of one kind")
    return said
