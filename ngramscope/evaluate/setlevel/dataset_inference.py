"""Dataset inference on a score table: each suspect set against held-out documents, and whether its p-value can be read."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.table import ScoreTable
from ngramscope.checks import check_choice, check_integer
from ngramscope.errors import InputError
from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.groups import Ints, units
from ngramscope.evaluate.multiple import holm
from ngramscope.evaluate.prepare import prepare
from ngramscope.evaluate.setlevel.blind import blind_scores
from ngramscope.evaluate.setlevel.columns import Chosen, choose
from ngramscope.evaluate.setlevel.grouping import numbers_of, overlaps, value_names
from ngramscope.evaluate.setlevel.inference import LEARNERS, LEAST, TESTS, Tested, infer
from ngramscope.evaluate.setlevel.shift_check import ALARM, shift_tests
from ngramscope.evaluate.transfer import share
from ngramscope.progress import Step

__all__ = ["DATASET_INFERENCE_VERSION", "InferenceOptions", "dataset_inference"]

DATASET_INFERENCE_VERSION = 1
"""Version of the report."""

HELD_OUT = ("same", "all")
"""Held-out documents of the suspect's own value of the column that divides them, or all."""


@dataclass(frozen=True, kw_only=True)
class InferenceOptions:
    """What can be chosen.

    Parameters
    ----------
    by
        Column that says which of several suspect sets a document is of; None: there is one.
    held_out
        See `HELD_OUT`.
    attacks, model, placebos
        Features, see `columns.choose`; models are looked at one by one.
    learner
        See `inference.LEARNERS`.
    group
        Column of what belongs together; None: nothing does.
    blind
        Columns that are blind scores, for the comparison of the two sides.
    permutations, repeats
        Of labels; of A/A splits.
    seed
        Of halves, permutations and A/A splits.
    """

    by: str | None = None
    held_out: str = HELD_OUT[0]
    attacks: tuple[str, ...] = ()
    model: str | None = None
    placebos: tuple[str, ...] = ()
    learner: str = "logistic"
    group: str | None = "group"
    blind: tuple[str, ...] = ()
    permutations: int = 999
    repeats: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("--held-out", self.held_out, HELD_OUT)
        check_choice("--learner", self.learner, tuple(LEARNERS))
        check_integer("--permutations", self.permutations, 19, 1_000_000)
        check_integer("--repeats", self.repeats, 0, 100_000)
        check_integer("--seed", self.seed, 0, 2**63 - 1)


def dataset_inference(
    table: ScoreTable,
    options: InferenceOptions | None = None,
    *,
    texts: Mapping[str, str] | None = None,
    blind: ScoreTable | None = None,
    inputs: Sequence[Mapping[str, Any]] = (),
    progress: Callable[[Step], object] | None = None,
) -> dict[str, Any]:
    """Test suspect sets.

    Parameters
    ----------
    table
        Scores; label 1: documents of a suspect set, 0: held-out documents of the same kind, known not to have been trained on.
    texts
        By id (its JSON text) the texts, for a classifier that sees the words alone.
    blind
        A table of blind scores of the same documents.
    inputs
        Facts of the files for the report's header.
    progress
        Called before each test.

    Returns
    -------
    dict
        Ready for JSON; see docs/set-level.md. First of all stands ``banner``: lines that say which p-values do not speak of
        membership, and why; empty if nothing of that kind was found.

    Raises
    ------
    UsageError
        A column, attack or model that is not there.
    InputError
        There is no suspect document.
    """
    options = options or InferenceOptions()
    chosen = choose(table, options.attacks, options.model, options.placebos)
    data = prepare(table, options.group)
    unit = np.arange(len(data.members)) if data.unit is None else data.unit
    names = value_names(table, data.rows, options.by)
    suspects = sorted(set(names[data.members].tolist()))
    if not suspects:
        raise InputError("no document has label 1: none is of a suspect set")
    attributes = {name: numbers_of(table, name, "overlap")[data.rows] for name in overlaps(table)}
    attributes |= blind_scores(table, data, options.blind, blind)
    known = None if texts is None else [_text(texts, key) for key in data.keys]
    targets = list(dict.fromkeys(each.column.model for each in chosen))
    rows: list[dict[str, Any]] = []
    for number, (model, suspect) in enumerate((model, suspect) for model in targets for suspect in suspects):
        if progress is not None:
            progress(Step("compare", pass_number=number + 1, passes=len(targets) * len(suspects)))
        value = names == suspect
        inside = (data.members & value) | (~data.members & (value | (options.held_out == "all")))
        mine = [each for each in chosen if each.column.model == model]
        study = _Study(data.scores, data.columns, data.members, unit, inside, options)
        row = study.row(mine, number)
        picked = None if known is None else [known[each] for each in np.flatnonzero(inside)]
        row["shift"] = shift_tests(
            {name: values[inside] for name, values in attributes.items()}, picked, data.members[inside],
            units(unit[inside].tolist()), permutations=options.permutations, seed=options.seed,
        )  # fmt: skip
        row["shift_found"] = _shift_found(row)
        rows.append({"model": model, "suspect": suspect, **row})
    _correct(rows)
    counts = {
        "documents": len(table.labels),
        "suspects": int(data.members.sum()),
        "held_out": int((~data.members).sum()),
        "left_out": {"no_label": data.unlabelled} if data.unlabelled else {},
    }
    settings = {**asdict(options), "tests": list(TESTS), "alarm": ALARM, "least_units": LEAST}
    banner = _banner(rows)
    return {
        "banner": banner,
        **provenance.stamp("dataset-inference", version=DATASET_INFERENCE_VERSION, settings=settings, inputs=inputs),
        "counts": counts,
        "rows": rows,
        "warnings": banner + _warnings(rows, texts is not None, bool(attributes), bool(data.unlabelled)),
    }


class _Study:
    """One suspect set and its held-out documents."""

    def __init__(
        self, scores: Floats, columns: Sequence[Any], suspects: Mask, unit: Ints, inside: Mask, options: InferenceOptions
    ) -> None:
        self._scores, self._columns, self._suspects, self._unit = scores, columns, suspects, unit
        self._inside, self._options = inside, options

    def row(self, chosen: Sequence[Chosen], number: int) -> dict[str, Any]:
        """The test, the same on placebo models, and A/A splits of either side."""
        columns = [each.column for each in chosen]
        features, rows, attacks = self._features(columns)
        random = np.random.default_rng([self._options.seed, number])
        tested = self._infer(features, self._suspects[rows], self._unit[rows], random)
        placebos = {}
        for model in dict.fromkeys(other.model for each in chosen for other in each.placebos):
            theirs = [other for each in chosen for other in each.placebos if other.model == model]
            values, those, _ = self._features(theirs)
            placebos[model] = self._infer(values, self._suspects[those], self._unit[those], random)
        split = {
            name: self._splits(features[side[rows]], self._unit[rows][side[rows]], random)
            for name, side in (("held_out", ~self._suspects), ("suspect", self._suspects))
        }
        return {
            "attacks": attacks,
            "undefined": int(self._inside.sum()) - len(rows),
            **asdict(tested),
            "placebos": [{"model": model, **asdict(each)} for model, each in placebos.items()],
            "a_a": split,
        }

    def _features(self, columns: Sequence[Any]) -> tuple[Floats, Ints, list[str]]:
        """Of the documents that every attack has a score for; an attack without any score is left out."""
        place = {id(each): number for number, each in enumerate(self._columns)}
        scores = self._scores[[place[id(each)] for each in columns]][:, self._inside]
        there: Mask = np.array([np.isfinite(each).any() for each in scores], dtype=np.bool_)
        kept = np.isfinite(scores[there]).all(axis=0)
        names = [each.attack for each, some in zip(columns, there.tolist(), strict=True) if some]
        return scores[there][:, kept].T, np.flatnonzero(self._inside)[kept], names

    def _infer(self, features: Floats, suspects: Mask, unit: Ints, random: np.random.Generator) -> Tested:
        if not features.shape[1]:
            return Tested(0, 0, None, dict.fromkeys(TESTS), None, None, None, "no_scores")
        options = self._options
        numbers = units(unit.tolist())
        return infer(features, suspects, numbers, learner=options.learner, permutations=options.permutations, random=random)

    def _splits(self, features: Floats, unit: Ints, random: np.random.Generator) -> dict[str, Any]:
        """How often each test has p <= .05 when one side is divided at random, by units: there is nothing to find."""
        options = self._options
        few = len(np.unique(unit)) < 2 * LEAST or not features.shape[1]
        if few or not options.repeats:
            return {"splits": 0, "alarms": None, "reason": f"fewer_than_{2 * LEAST}_units" if few else "not_asked_for"}
        numbers = units(unit.tolist())
        count = int(numbers.max()) + 1
        found: dict[str, list[float]] = {name: [] for name in TESTS}
        for _ in range(options.repeats):
            first = (random.permutation(count) < count // 2)[numbers]
            tested = infer(features, first, numbers, learner=options.learner, permutations=99, random=random)
            for name, p in tested.p.items():
                found[name].append(1.0 if p is None else p)
        alarms = {name: asdict(share(sum(p <= ALARM for p in each), len(each))) for name, each in found.items()}
        return {"splits": options.repeats, "alarms": alarms, "reason": None}


def _shift_found(row: Mapping[str, Any]) -> bool:
    """Whether something but the target model tells the two sides apart."""
    placebo = [each["p"][TESTS[0]] for each in row["placebos"]]
    return any(p is not None and p <= ALARM for p in [*(each["p_holm"] for each in row["shift"]), *placebo])


def _correct(rows: Sequence[dict[str, Any]]) -> None:
    """Add the declared test's p, corrected for all suspects and models."""
    tested = [row for row in rows if row["p"][TESTS[0]] is not None]
    for row in rows:
        row["p_holm"] = None
    for row, p in zip(tested, holm([row["p"][TESTS[0]] for row in tested]), strict=True):
        row["p_holm"] = p


def _text(texts: Mapping[str, str], key: Hashable | None) -> str | None:
    """The text of a document by its id, which a score table keeps as JSON, and a CSV file as it is."""
    if not isinstance(key, tuple):
        return None
    return texts.get(key[0], texts.get(json.dumps(key[0], ensure_ascii=False)))


def _banner(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines above all numbers: where a p-value is not what it seems."""
    found = []
    for row in rows:
        name = f"{row['suspect']} @ {row['model']}"
        if row["shift_found"]:
            what = [f"{each['name']} (p = {each['p_holm']:.3g})" for each in row["shift"] if each["p_holm"] <= ALARM]
            for each in row["placebos"]:
                p = each["p"][TESTS[0]]
                what += [f"placebo {each['model']} (p = {p:.3g})"] if p is not None and p <= ALARM else []
            found.append(
                f"{name}: SHIFT between suspect and held-out documents: {', '.join(what)}; the p-value says that they differ, "
                "and not that the model was trained on the suspect ones"
            )
        for side, split in row["a_a"].items():
            alarm = None if split["alarms"] is None else split["alarms"][TESTS[0]]
            if alarm is not None and alarm["low"] > ALARM:
                rate = f"{100 * alarm['value']:.0f} %"
                found.append(f"{name}: {rate} of A/A splits of the {side} side have p <= {ALARM}; the p-values are too small")
    return found


def _warnings(rows: Sequence[Mapping[str, Any]], texts: bool, attributes: bool, unlabelled: bool) -> list[str]:
    found = ["documents without a label are not used"] if unlabelled else []
    found += [f"{row['suspect']} @ {row['model']}: no test ({row['reason']})" for row in rows if row["reason"] is not None]
    if not texts:
        found.append("the texts were not compared (--texts): whether words alone tell the two sides apart is not known")
    if not attributes:
        found.append("no overlap and no blind score beside the attacks: whether the two sides differ in these is not known")
    if not any(row["placebos"] for row in rows):
        found.append("no placebo model beside the target: what a model gives that saw neither side is not known")
    return found
