"""How two sides compare in all that is known of their texts: overlaps, length, date, words. No verdict rests on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.progress import Step
from ngramscope.sets.balance import moments
from ngramscope.sets.classifier import two_sample_test
from ngramscope.sets.shift import DISTANCES, TwoSamples, bootstrap, distances, holm, mean_test, permute, two_samples
from ngramscope.sets.sides import Side
from ngramscope.sets.verdict import ShiftRule
from ngramscope.sets.vocabulary import vocabulary_shift

__all__ = ["describe", "statistics"]

Floats = NDArray[np.float64]

_PERMUTATIONS = 1_999
"""Of all but the declared test, at most."""

_CLASSIFIER_PERMUTATIONS = 200
_BINS = 25
_WORDS, _DATE, _VOCABULARY, _CLASSIFIER = 1 << 20, (1 << 20) + 1, (1 << 20) + 2, (1 << 20) + 3
"""Streams of random numbers; those of overlaps are their n."""


def describe(
    candidates: Side, reference: Side, rule: ShiftRule, progress: Callable[[Any], None] | None = None
) -> dict[str, Any]:
    """Compare two sides.

    Parameters
    ----------
    candidates, reference
        What is known of them.
    rule
        The declared test, whose p-value is left as it is; all others have Holm's correction beside them.
    progress
        Called before each part.

    Returns
    -------
    dict
        ``quantities``: a list with, for each, ``name``, ``n``, ``unit``, what the sides have (`moments`, nulls by reason), the
        ``statistics`` or why there are none, and a histogram. ``vocabulary``, ``classifier``: null without texts.
        ``tests_described``: for how many tests Holm's correction accounts.
    """
    todo = len(candidates.overlaps) + 4

    def tell(number: int) -> None:
        if progress is not None:
            progress(Step("compare", pass_number=number, passes=todo))

    quantities = []
    for number, (quantity, values, nulls) in enumerate(_quantities(candidates, reference), start=1):
        tell(number)
        quantities.append(_compared(quantity, values, nulls, (candidates, reference), rule))
    tell(todo - 1)
    words = _words(candidates, reference, rule) if candidates.sample and reference.sample else None
    tell(todo)
    classifier = _classifier(candidates, reference, rule) if words is not None else None
    tests = [
        *(each for quantity in quantities for each in (quantity["statistics"] or {}).values()),
        *(each for each in (words, classifier) if each is not None),
    ]
    family = [each for each in tests if each.get("p") is not None and not each.get("declared")]
    for each, p in zip(family, holm([each["p"] for each in family]), strict=True):
        each["p_holm"] = p
    return {"quantities": quantities, "vocabulary": words, "classifier": classifier, "tests_described": len(family)}


def statistics(samples: TwoSamples, rule: ShiftRule, stream: int) -> dict[str, dict[str, Any]]:
    """Shift and distances with their intervals and p-values; ``chance`` is what 5 % of the permutations reach."""
    declared = stream == rule.n
    permutations = min(rule.permutations, _PERMUTATIONS)
    # The declared quantity has the numbers of the verdict.
    seeds = [[rule.seed, 0], [rule.seed, 1]] if declared else [[rule.seed, 2, stream], [rule.seed, 3, stream]]
    test = mean_test(samples, rule.permutations if declared else permutations, np.random.default_rng(seeds[0]))
    drawn = bootstrap(samples, rule.resamples, np.random.default_rng(seeds[1]))
    permuted = permute(samples, permutations, np.random.default_rng([rule.seed, 4, stream]))
    found = distances(samples)
    ends = {name: np.quantile(values, [rule.alpha / 2, 1 - rule.alpha / 2]).tolist() for name, values in drawn.items()}
    table: dict[str, dict[str, Any]] = {
        "mean_shift": {"value": test.shift, "interval": ends["mean"], "p": test.p, "declared": declared}
    }
    for name in DISTANCES:
        null = np.abs(permuted[name] - 0.5) if name == "auc" else permuted[name]
        value = abs(found[name] - 0.5) if name == "auc" else found[name]
        p = float((1 + np.count_nonzero(null >= value - 1e-12)) / (1 + len(null)))
        table[name] = {"value": found[name], "interval": ends[name], "p": p}
        if name == "auc":
            # The same test, on the scale from -1 to 1.
            table["cliffs_delta"] = {"value": 2 * found[name] - 1, "interval": [2 * end - 1 for end in ends[name]]}
        else:
            table[name]["chance"] = float(np.quantile(null, 0.95))
    return table


Quantity = tuple[str, int | None, str, int]


def _quantities(
    candidates: Side, reference: Side
) -> Iterator[tuple[Quantity, tuple[Floats, Floats], tuple[Mapping[str, int], Mapping[str, int]]]]:
    """Name, n, unit and random stream of each; the values and the nulls of both sides."""
    for n in candidates.overlaps:
        values = candidates.overlaps[n], reference.overlaps[n]
        yield (f"overlap_{n}", n, "share", n), values, (candidates.nulls[n], reference.nulls[n])
    yield ("words", None, "words", _WORDS), (candidates.words, reference.words), ({}, {})
    yield ("date", None, "years", _DATE), (candidates.years, reference.years), (candidates.undated, reference.undated)


def _compared(
    quantity: Quantity,
    values: tuple[Floats, Floats],
    nulls: tuple[Mapping[str, int], Mapping[str, int]],
    sides: tuple[Side, Side],
    rule: ShiftRule,
) -> dict[str, Any]:
    name, n, unit, stream = quantity
    there = [~np.isnan(each) for each in values]
    ours, theirs = (each[known] for each, known in zip(values, there, strict=True))
    groups = [side.groups[known] for side, known in zip(sides, there, strict=True)]
    samples = two_samples(ours, theirs, (groups[0], groups[1]))
    enough = min(samples.units) >= 2
    return {
        "name": name,
        "n": n,
        "unit": unit,
        "candidates": {**moments(ours), "null": dict(sorted(nulls[0].items()))},
        "reference": {**moments(theirs), "null": dict(sorted(nulls[1].items()))},
        "statistics": statistics(samples, rule, stream) if enough else None,
        "null_reason": None if enough else "fewer_than_two_texts",
        "histogram": _histogram(ours, theirs, unit),
    }


def _histogram(ours: Floats, theirs: Floats, unit: str) -> dict[str, Any] | None:
    """Counts of both sides; long texts, of which there are few, are in the last bin."""
    both = np.concatenate([ours, theirs])
    if not len(both):
        return None
    low, high = float(both.min()), float(both.max())
    if unit == "share":
        low, high = 0.0, float(np.ceil(20 * high)) / 20
    elif unit == "words":
        low, high = 0.0, float(np.quantile(both, 0.99))
    edges = np.linspace(low, high if high > low else low + 1, _BINS + 1)
    counts = [np.histogram(np.minimum(each, edges[-1]), edges)[0].tolist() for each in (ours, theirs)]
    return {"edges": edges.tolist(), "candidates": counts[0], "reference": counts[1]}


def _words(candidates: Side, reference: Side, rule: ShiftRule) -> dict[str, Any]:
    groups = tuple(side.groups[: len(side.sample)] for side in (candidates, reference))
    random = np.random.default_rng([rule.seed, 2, _VOCABULARY])
    shift = vocabulary_shift(candidates.sample, reference.sample, groups=(groups[0], groups[1]), random=random)
    return {**shift.to_dict(), "texts": [len(candidates.sample), len(reference.sample)]}


def _classifier(candidates: Side, reference: Side, rule: ShiftRule) -> dict[str, Any]:
    test = two_sample_test(
        candidates.sample,
        reference.sample,
        groups=(_names("candidates", candidates), _names("reference", reference)),
        permutations=_CLASSIFIER_PERMUTATIONS,
        seed=int(np.random.default_rng([rule.seed, 2, _CLASSIFIER]).integers(1 << 62)),
    )
    return test.to_dict()


def _names(side: str, texts: Side) -> Sequence[str | None]:
    return [None if group < 0 else f"{side} {group}" for group in texts.groups[: len(texts.sample)].tolist()]
