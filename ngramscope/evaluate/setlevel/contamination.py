"""Is a model more at ease with a benchmark's items than with fresh or rephrased ones? (Shi et al. 2024, section 6)"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.reading import AttackScores
from ngramscope.attacks.table import ScoreColumn, ScoreTable
from ngramscope.checks import check_integer
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.delong import Part, auc_interval, compare, measure, standard_error
from ngramscope.evaluate.groups import Ints, units
from ngramscope.evaluate.multiple import holm
from ngramscope.evaluate.paired import differences, permutation_p
from ngramscope.evaluate.power import detectable_auc
from ngramscope.evaluate.prepare import Prepared, prepare
from ngramscope.evaluate.setlevel.blind import blind_scores
from ngramscope.evaluate.setlevel.columns import Chosen, choose
from ngramscope.evaluate.setlevel.grouping import numbers_of, overlaps, value_names, values_of
from ngramscope.evaluate.setlevel.shift_check import ALARM, shift_tests
from ngramscope.evaluate.transfer import share
from ngramscope.evaluate.twins import families

__all__ = ["CONTAMINATION_VERSION", "ContaminationOptions", "contamination", "joined"]

CONTAMINATION_VERSION = 1
"""Version of the report."""

_NORMAL = NormalDist()


@dataclass(frozen=True, kw_only=True)
class ContaminationOptions:
    """What can be chosen.

    Parameters
    ----------
    by
        Column that says which of several benchmarks an item is of; None: there is one.
    item
        Column that says which item a rephrased one is a version of; None: fresh items are other items.
    attacks, model, placebos
        See `columns.choose`.
    group
        Column of what belongs together; None: nothing does. With `item`, that column.
    blind
        Columns that are blind scores.
    permutations, level, seed
        Of versions, and of the tests of a shift; of the intervals; of what is random.
    """

    by: str | None = None
    item: str | None = None
    attacks: tuple[str, ...] = ()
    model: str | None = None
    placebos: tuple[str, ...] = ()
    group: str | None = "group"
    blind: tuple[str, ...] = ()
    permutations: int = 999
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("--permutations", self.permutations, 19, 10_000_000)
        check_integer("--seed", self.seed, 0, 2**63 - 1)
        if not 0 < self.level < 1:
            raise UsageError("--level: lies between 0 and 1, both not included")


def joined(benchmark: ScoreTable, fresh: ScoreTable) -> ScoreTable:
    """One table of two: items of the benchmark with label 1, fresh ones with label 0, what both know of them and both scored.

    Raises
    ------
    InputError
        They have no attack on one model in common.
    """
    import pyarrow as pa

    named = {each.name: each for each in fresh.columns}
    pairs = [(each, named[each.name]) for each in benchmark.columns if each.name in named]
    if not pairs:
        raise InputError("--fresh: the two score tables have no attack on the same model in common")
    documents = []
    columns = [each for each in benchmark.documents.column_names if each in fresh.documents.column_names and each != "label"]
    for table, label in ((benchmark, 1), (fresh, 0)):
        kept = table.documents.select(columns)
        documents.append(kept.append_column("label", pa.array([label] * len(kept), pa.int64())))
    scored = [
        ScoreColumn(
            ours.attack, ours.model, ours.role, np.concatenate([ours.scores, theirs.scores]), [*ours.reasons, *theirs.reasons],
            ours.settings,
        )
        for ours, theirs in pairs
    ]  # fmt: skip
    return ScoreTable(pa.concat_tables(documents, promote_options="permissive"), tuple(scored), benchmark.header)


def contamination(
    table: ScoreTable,
    options: ContaminationOptions | None = None,
    *,
    blind: ScoreTable | None = None,
    inputs: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Compare benchmark items with fresh or rephrased ones.

    Parameters
    ----------
    table
        Scores; label 1: items of the benchmark, 0: fresh or rephrased items.
    blind
        A table of blind scores of the same items.
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
        No item has label 1.
    """
    options = options or ContaminationOptions()
    chosen = choose(table, options.attacks, options.model, options.placebos)
    if options.item is not None:
        values_of(table, options.item, "--item")
    data = prepare(table, options.item or options.group)
    unit = np.arange(len(data.members)) if data.unit is None else data.unit
    names = value_names(table, data.rows, options.by)
    attributes = {name: numbers_of(table, name, "overlap")[data.rows] for name in overlaps(table)}
    attributes |= blind_scores(table, data, options.blind, blind)
    if not data.members.any():
        raise InputError("no item has label 1: none is of a benchmark")
    rows: list[dict[str, Any]] = []
    shifts: dict[str, list[dict[str, Any]]] = {}
    for benchmark in sorted(set(names[data.members].tolist())):
        inside = names == benchmark
        shifts[benchmark] = shift_tests(
            {name: values[inside] for name, values in attributes.items()}, None, data.members[inside],
            units(unit[inside].tolist()), permutations=options.permutations, seed=options.seed,
        )  # fmt: skip
        rows += [{"benchmark": benchmark, **_row(table, data, each, inside, unit, options)} for each in chosen]
    for name in ("p", "p_paired"):
        tested = [row for row in rows if row[name] is not None]
        for row in rows:
            row[f"{name}_holm"] = None
        for row, p in zip(tested, holm([row[name] for row in tested]), strict=True):
            row[f"{name}_holm"] = p
    counts = {
        "documents": len(table.labels),
        "benchmark": int(data.members.sum()),
        "fresh": int((~data.members).sum()),
        "left_out": {"no_label": data.unlabelled} if data.unlabelled else {},
    }
    return {
        **provenance.stamp("contamination", version=CONTAMINATION_VERSION, settings=asdict(options), inputs=inputs),
        "counts": counts,
        "rows": rows,
        "shift": shifts,
        "warnings": _warnings(rows, shifts, bool(attributes), options.item is not None),
    }


def _row(
    table: ScoreTable, data: Prepared, chosen: Chosen, inside: Mask, unit: Ints, options: ContaminationOptions
) -> dict[str, Any]:
    place = {id(each): number for number, each in enumerate(data.columns)}
    columns = [chosen.column, *chosen.placebos]
    scores = np.array([data.scores[place[id(each)]] for each in columns])
    # A target and its placebos are compared on the same items.
    used = inside & np.isfinite(scores).all(axis=0)
    n1, n0 = int((used & data.members).sum()), int((used & ~data.members).sum())
    found: dict[str, Any] = {
        "attack": chosen.column.attack, "model": chosen.column.model, "n1": n1, "n0": n0,
        "undefined": int(inside.sum()) - n1 - n0,
        **dict.fromkeys(("auc", "interval", "p", "detectable", "reason", "p_paired", "paired")), "placebos": [],
    }  # fmt: skip
    if min(n1, n0) < 2:
        return {**found, "reason": "too_few_items"}
    measured = measure([Part(np.where(used, scores, np.nan))], data.members)
    errors = [standard_error(each, used, data.members, unit) for each in measured.moved]
    aucs = [float(each) for each in measured.auc]
    beside = []
    for number, other in enumerate(chosen.placebos, start=1):
        error = standard_error(measured.moved[0] - measured.moved[number], used, data.members, unit)
        beside.append(
            {
                "model": other.model, "auc": aucs[number],
                "interval": auc_interval(aucs[number], errors[number], options.level),
                "difference": asdict(compare(aucs[0] - aucs[number], error, options.level)),
            }
        )  # fmt: skip
    paired = None
    if options.item is not None:
        paired = _paired(table, data, np.where(used, scores[0], np.nan), options)
        paired["placebos"] = [
            {
                "model": other.model,
                "placebo": _paired(table, data, np.where(used, theirs, np.nan), options),
                "difference": _paired(table, data, np.where(used, scores[0] - theirs, np.nan), options),
            }
            for other, theirs in zip(chosen.placebos, scores[1:], strict=True)
        ]
    return {
        **found,
        "auc": aucs[0],
        "interval": auc_interval(aucs[0], errors[0], options.level),
        "p": compare(aucs[0] - 0.5, errors[0]).p,
        "detectable": detectable_auc(n1, n0, level=options.level),
        "placebos": beside,
        "p_paired": None if paired is None else paired["p"],
        "paired": paired,
    }


def _paired(table: ScoreTable, data: Prepared, scores: Floats, options: ContaminationOptions) -> dict[str, Any]:
    """Each item less the mean of its rephrased versions; of scores (N,), NaN where not used."""
    read = AttackScores(table.documents.take(data.rows), scores, "", "", {}, {"name": "the score table"})
    try:
        versions = families(read, str(options.item)).families
    except InputError:
        nothing = dict.fromkeys(("difference", "interval", "p", "above_all", "above_all_by_chance"))
        return {"items": 0, **nothing, "reason": "no_item_with_versions"}
    values = differences(versions)
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    reach = _t_quantile(len(values) - 1, options.level) * error if error > 0 else 0.0
    above = sum(bool(each.document > each.twins.max()) for each in versions)
    return {
        "items": len(values),
        "difference": float(values.mean()),
        "interval": (float(values.mean()) - reach, float(values.mean()) + reach) if error > 0 else None,
        "p": permutation_p(versions, options.permutations, options.seed),
        "above_all": asdict(share(above, len(versions), options.level)),
        "above_all_by_chance": float(np.mean([1 / (1 + len(each.twins)) for each in versions])),
        "reason": None if error > 0 else "too_few_or_no_spread",
    }


def _t_quantile(freedom: int, level: float) -> float:
    from scipy.stats import t

    return float(t.ppf((1 + level) / 2, freedom))


def _warnings(
    rows: Sequence[Mapping[str, Any]], shifts: Mapping[str, Sequence[Mapping[str, Any]]], attributes: bool, paired: bool
) -> list[str]:
    found = []
    for benchmark, tests in shifts.items():
        what = [f"{each['name']} (p = {each['p_holm']:.3g})" for each in tests if each["p_holm"] <= ALARM]
        if what:
            found.append(f"{benchmark}: SHIFT between benchmark and fresh items: {', '.join(what)}; scores may differ for that")
    for row in rows:
        name = f"{row['benchmark']}, {row['attack']} @ {row['model']}"
        if row["reason"] is not None:
            found.append(f"{name}: no number ({row['reason']})")
        for each in row["placebos"]:
            if each["interval"] is not None and each["interval"][0] > 0.5:
                found.append(f"{name}: placebo {each['model']} prefers the benchmark too; read the difference, not the AUC")
    if not attributes:
        found.append(
            "no overlap and no blind score beside the attacks: whether the two kinds of items differ in these is not known"
        )
    if not any(row["placebos"] for row in rows):
        found.append("no placebo model beside the target: what a model gives that saw neither kind of items is not known")
    if paired:
        found.append(
            "rephrasing makes a text more or less likely to any model: only a placebo shows how much of a difference is that"
        )
    return found
