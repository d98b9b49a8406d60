"""What still tells a reference from the non-members that were matched to it: balance, and two classifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import InputError
from ngramscope.sets.balance import compare
from ngramscope.sets.base import Candidate
from ngramscope.sets.choosing import Choice
from ngramscope.sets.classifier import MAX_TEXTS, two_sample_test
from ngramscope.sets.covariates import Covariates
from ngramscope.sets.matching import spline_terms
from ngramscope.sets.records import Records

__all__ = ["Remaining", "to_text"]

LARGEST_SMD = 0.1
"""Standardised mean difference above which sides are not balanced (Austin, Statistics in Medicine 2009)."""

LEVEL = 0.05
"""p-value below which a classifier tells the sides apart, if its AUC is above `LEAST_AUC` too."""

LEAST_AUC = 0.528
"""What an SMD of 0.1 between normal distributions gives; among many pairs far less is significant."""

_CHARACTERS = 10_000
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Remaining:
    """Compares both sides before and after matching; holds the beginnings of some texts of each.

    Parameters
    ----------
    texts, models
        The table of the set, and that of the reference; the same object if the reference is a side of the set.
    choice
        Who was chosen.
    permutations, seed
        Of the classifier tests.

    Attributes
    ----------
    own_reference
        Whether the reference is a side of the set.
    """

    def __init__(self, texts: Covariates, models: Covariates, choice: Choice, permutations: int, seed: int) -> None:
        self.own_reference = models is texts
        self._tables = (models, texts)
        self._permutations, self._seed = permutations, seed
        self._advice = (
            "--method nearest leaves out what has no counterpart" if choice.weighted else "a smaller --caliper may help"
        )
        rows = {"before": choice.before, "after": choice.after}
        weights = {"before": np.ones(len(choice.before[1])), "after": choice.weight[choice.after[1]]}
        self._balance = {
            name: {
                covariate: compare(models.values[covariate][some], texts.values[covariate][others], weights=weights[name])
                for covariate in texts.names
            }
            for name, (some, others) in rows.items()
        }
        self._samples = {
            name: (some[:MAX_TEXTS], _accepted(others, weights[name], seed)[:MAX_TEXTS])
            for name, (some, others) in rows.items()
        }
        self._pairs: dict[str, tuple[list[int], list[int]]] = {}
        if choice.pairs is not None:
            some, others = choice.pairs
            # Whole pairs only.
            count = MAX_TEXTS // (len(others) // len(some))
            ends = (count, count * (len(others) // len(some)))
            self._samples["after"] = (choice.after[0][: ends[0]], choice.after[1][: ends[1]])
            self._pairs["after"] = (some[: ends[0]], others[: ends[1]])
        self._wanted: tuple[set[int], set[int]] = (
            {row for sample in self._samples.values() for row in sample[0].tolist()},
            {row for sample in self._samples.values() for row in sample[1].tolist()},
        )
        self._texts: tuple[dict[int, tuple[str, str | None]], ...] = ({}, {})
        self._found: dict[str, Any] = {}

    def add(self, row: int, candidate: Candidate) -> None:
        """A text of the set, by its row."""
        for number in (0, 1) if self.own_reference else (1,):
            self._keep(number, row, candidate)

    def read_models(self, records: Records) -> None:
        """Take the texts of a reference that is no side of the set."""
        rows = 0
        for rows, candidate in enumerate(records.candidates(), 1):
            self._keep(0, rows - 1, candidate)
        if rows != self._tables[0].rows:
            raise InputError(f"{records.names[0]}: changed between two readings; start again")

    def to_dict(self) -> dict[str, Any]:
        """For the header. ``members`` stands for the reference."""
        self._found = {
            "balance": self._balance,
            "classifiers": {name: self._tests(name) for name in self._samples},
        }
        return self._found

    def warnings(self, on: Sequence[str]) -> list[str]:
        """What remains and should not; after `to_dict`."""
        lines = []
        for name, row in self._balance["after"].items():
            smd = row["smd"]
            if smd is None or abs(smd) > LARGEST_SMD:
                advice = f"add {name} to --on" if name.split("_")[0] not in on else self._advice
                said = (
                    "cannot be compared: too few, or no side varies"
                    if smd is None
                    else f"are still {abs(smd):.2f} standard deviations apart"
                )
                lines.append(f"{name}: reference and non-members {said}; {advice}")
        for name, test in self._found["classifiers"]["after"].items():
            if test["p"] is not None and test["p"] < LEVEL and test["auc"] > LEAST_AUC:
                what = "the texts' words" if name == "texts" else "length and what was matched on"
                lines.append(f"{what} still tell reference and non-members apart: AUC {test['auc']:.3f} (p {test['p']:.3g})")
        return lines

    def _keep(self, number: int, row: int, candidate: Candidate) -> None:
        if row in self._wanted[number]:
            self._texts[number][row] = (candidate.text[:_CHARACTERS], candidate.group)

    def _tests(self, name: str) -> dict[str, Any]:
        sample, pairs = self._samples[name], self._pairs.get(name)
        found = [[self._texts[number][row] for row in rows.tolist()] for number, rows in enumerate(sample)]
        groups = ([group for _, group in found[0]], [group for _, group in found[1]])
        how: dict[str, Any] = {"permutations": self._permutations, "seed": self._seed}
        if pairs is None or any(group is not None for side in groups for group in side):
            how["groups"] = groups
        else:
            how["pairs"] = pairs
        texts = two_sample_test(*([text for text, _ in each] for each in found), **how)
        numbers = [list(table.matrix(rows)) for table, rows in zip(self._tables, sample, strict=True)]
        covariates = two_sample_test(*numbers, products=_products, **how)
        return {"texts": {**texts.to_dict(), "characters": _CHARACTERS}, "covariates": covariates.to_dict()}


def to_text(found: dict[str, Any]) -> str:
    """The tables for people."""
    lines = [
        f"{'':<14}{'reference':>12}{'non-members':>13}{'SMD':>8}{'KS':>7}{'after:':>9}{'non-members':>13}{'SMD':>8}{'KS':>7}"
    ]
    for name, row in found["balance"]["before"].items():
        after = found["balance"]["after"][name]
        lines.append(
            f"{name:<14}{_number(row['members']['mean'], 12)}{_number(row['nonmembers']['mean'], 13)}"
            f"{_number(row['smd'], 8)}{_number(row['ks'], 7)}{_number(after['members']['mean'], 9)}"
            f"{_number(after['nonmembers']['mean'], 13)}{_number(after['smd'], 8)}{_number(after['ks'], 7)}"
        )
    for name, what in (("texts", "by the texts' words"), ("covariates", "by length and what was matched on")):
        one, other = (found["classifiers"][when][name] for when in ("before", "after"))
        lines.append(f"told apart {what}: AUC {_auc(one)} before, {_auc(other)} after")
    return "\n".join(lines)


def _accepted(rows: Ints, weights: Floats, seed: int) -> Ints:
    """Rows kept with a probability that is proportional to their weight: a sample in which nobody is twice."""
    chance = np.random.default_rng(seed).random(len(rows))
    accepted: Ints = rows[chance * weights.max() < weights]
    return accepted


def _products(rows: Sequence[Floats]) -> Floats:
    terms = spline_terms(np.stack(rows))
    products: Floats = terms @ terms.T
    return products


def _number(value: float | None, width: int) -> str:
    return f"{'-' if value is None else f'{value:.4g}' if abs(value) >= 1 else f'{value:.3f}':>{width}}"


def _auc(test: dict[str, Any]) -> str:
    if test["auc"] is None:
        return f"- ({test['null_reason']})"
    return f"{test['auc']:.3f}" + ("" if test["p"] is None else f" (p {test['p']:.3g})")
