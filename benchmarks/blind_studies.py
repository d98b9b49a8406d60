"""What blind.py asks of the Python API, run under the interpreter that has ngramscope.

    python blind_studies.py make SET TEXTS             a set of texts of 200 words that say nothing of their labels
    python blind_studies.py false-alarms STUDIES       how often each permutation test rejects a true hypothesis at 5 %

The second prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ngramscope.blind.base import Baseline, BlindInputs
from ngramscope.blind.folds import FoldRule
from ngramscope.blind.gain import conditional_gain
from ngramscope.blind.learners import NumberLogistic
from ngramscope.blind.study import BlindStudy, blind_study

WORDS, VOCABULARY = 200, 20_000
LEVEL = 0.05
PERMUTATIONS = 39
CASES = [
    (100, 1, 0.0, 0), (400, 1, 0.0, 0), (100, 5, 0.0, 0), (400, 5, 0.0, 0),
    (100, 1, 1.5, 0), (400, 1, 3.0, 0), (200, 5, 1.5, 0), (400, 5, 3.0, 0), (200, 1, 1.5, 2), (400, 1, 3.0, 2),
]  # fmt: skip

Floats = np.typing.NDArray[np.float64]


def make(path: Path, texts: int) -> None:
    random = np.random.default_rng(0)
    names = np.array([f"w{each:x}" for each in random.integers(0, 16**5, VOCABULARY)])
    chances = 1 / np.arange(1, VOCABULARY + 1)
    chances /= chances.sum()
    with path.open("w") as file:
        for row in range(texts):
            text = " ".join(names[random.choice(VOCABULARY, WORDS, p=chances)]) + f" in {2000 + random.integers(0, 20)}."
            file.write(json.dumps({"id": row, "text": text, "label": row % 2}) + "\n")


def false_alarms(studies: int) -> list[dict[str, Any]]:
    return [case(studies, *each) for each in CASES]


def case(studies: int, documents: int, group: int, slope: float, noise: int) -> dict[str, Any]:
    """Without a slope labels depend on nothing: the baselines' test; with one on the number that they see: the gain's."""
    found: list[float] = []
    for seed in range(studies):
        study, scores, members, unit = simulated(seed, documents, group, slope, noise)
        p = study.ceiling.p
        if slope:
            p = conditional_gain(study, scores[None], members, unit, permutations=PERMUTATIONS, seed=seed).p
        found += [] if p is None else [p]
    tested = "gain of an attack that sees what the baseline sees" if slope else "blind ceiling"
    share = float(np.mean(np.array(found) <= LEVEL))
    return {
        "test": tested,
        "documents": documents,
        "of a group": group,
        "slope": slope,
        "baselines that see nothing": noise,
        "studies": len(found),
        "rejected": share,
    }


def simulated(seed: int, documents: int, group: int, slope: float, noise: int) -> tuple[BlindStudy, Floats, Any, Any]:
    """Groups of one label, of one to twice `group` documents, a number each, and an attack that sees it with noise of both.

    Beside the baseline that sees the number stand `noise` others, which dilute the ceiling.
    """
    random = np.random.default_rng([seed, documents, group])
    groups = documents // group
    unit = np.repeat(np.arange(groups), random.integers(1, 2 * group, groups))
    number = random.normal(size=groups)
    members = (random.random(groups) < 1 / (1 + np.exp(-slope * number)))[unit]
    values = number[unit]
    scores = 0.8 * values + random.normal(size=groups)[unit] + 0.5 * random.normal(size=len(unit))
    columns = {"number": values, **{f"noise-{each}": random.normal(size=len(unit)) for each in range(noise)}}
    chosen = {
        name: Baseline(name, lambda _, each=each: each[:, None], NumberLogistic, "", "") for name, each in columns.items()
    }
    rule = FoldRule(permutations=PERMUTATIONS, seed=seed)
    return blind_study(BlindInputs([""] * len(unit)), members, unit, rule, chosen=chosen), scores, members, unit


def main() -> None:
    question, *arguments = sys.argv[1:]
    if question == "make":
        make(Path(arguments[0]), int(arguments[1]))
    else:
        print(json.dumps(false_alarms(int(arguments[0]))))


if __name__ == "__main__":
    main()
