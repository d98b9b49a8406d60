"""What setlevel.py simulates, run under the interpreter that has ngramscope.

    python setlevel_studies.py NAME STUDIES      NAME: setmi, rdd, inference, audit, contamination

Scores are drawn from known laws: what an interval should hold, and what a test should not find, is known. Prints rows as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from ngramscope.attacks.table import ScoreColumn, ScoreTable
from ngramscope.evaluate.delong import auc_interval, measure, standard_error
from ngramscope.evaluate.discontinuity.density import density_test
from ngramscope.evaluate.discontinuity.local import bandwidth, jump
from ngramscope.evaluate.setlevel.aggregations.base import Aggregation, find_aggregation
from ngramscope.evaluate.setlevel.audit import AuditOptions, audit
from ngramscope.evaluate.setlevel.contamination import ContaminationOptions, contamination
from ngramscope.evaluate.setlevel.documents import SetScores, by_set
from ngramscope.evaluate.setlevel.inference import TESTS, infer
from ngramscope.evaluate.setlevel.measure import mean_auc, parts, permutation_p

Row = dict[str, Any]
ALPHA = 0.05


def table_of(labels: list[int], scores: Any, **documents: Any) -> ScoreTable:
    column = ScoreColumn("loss", "model", "target", np.asarray(scores, dtype=float), [None] * len(labels))
    return ScoreTable(pa.table({"id": list(map(str, range(len(labels)))), "label": labels, **documents}), (column,), {})


def setmi(studies: int) -> Iterator[Row]:
    """Sets of 10 to 20 documents that have something in common; members' scores are higher by `shift`."""

    def draw(random: np.random.Generator, sets: int, shift: float) -> tuple[SetScores, Any]:
        members = np.arange(2 * sets) < sets
        scores = [random.normal(random.normal(0, 0.25) + shift * ours, 1, random.integers(10, 21)) for ours in members]
        return by_set(scores), members

    def true_auc(way: Aggregation, shift: float) -> float:
        random = np.random.default_rng(0)
        found = [(*draw(random, 300, shift), random.permutation(600)) for _ in range(40)]
        return float(np.mean([mean_auc(parts(way, sets, members, order), members) for sets, members, order in found]))

    for name in ("mean", "vote", "fisher"):
        way = find_aggregation(name)
        for shift in (0.0, 0.3):
            true = true_auc(way, shift)
            for sets in (10, 15, 30):
                random = np.random.default_rng(sets)
                covered = 0
                for _ in range(studies):
                    scores, members = draw(random, sets, shift)
                    each = parts(way, scores, members, random.permutation(2 * sets))
                    found = measure(each, members)
                    error = standard_error(found.moved[0], found.used[0], members)
                    interval = auc_interval(float(found.auc[0]), error)
                    covered += interval is None or interval[0] <= true <= interval[1]
                yield {
                    "what": "set AUC, interval",
                    "by": name,
                    "sets a class": sets,
                    "true": round(true, 3),
                    "covered": covered,
                }
        alarms, random, few = 0, np.random.default_rng(1), studies // 5
        for _ in range(few):
            scores, members = draw(random, 10, 0.0)
            alarms += permutation_p(way, scores, members, random.permutation(20), 99, random) <= ALPHA
        yield {"what": "permutation of sets", "by": name, "sets a class": 10, "studies": few, "alarms": alarms}


def rdd(studies: int) -> Iterator[Row]:
    """Whole days, noise that grows, a curve that bends; the true jump is .3."""
    for size in (200, 500, 2000):
        for bend in (0, 1, 3):
            random = np.random.default_rng(size + bend)
            robust = line = alarms = 0
            for _ in range(studies):
                x = np.floor(random.uniform(-180, 180, size))
                u = x / 180
                curve = bend * (0.5 * u - u**2 + 0.7 * u**3) * np.where(u < 0, 1, 0.5)
                y = curve - 0.3 * (u >= 0) + random.normal(0, 0.5 + 0.2 * u)
                found, density = jump(x, y, bandwidth(x, y)), density_test(x).p
                robust += found.robust_interval is not None and found.robust_interval[0] <= 0.3 <= found.robust_interval[1]
                line += found.interval is not None and found.interval[0] <= 0.3 <= found.interval[1]
                alarms += density is not None and density <= ALPHA
            yield {
                "what": "jump, robust interval", "by": f"bend {bend}", "documents": size, "covered": robust,
                "by the line alone": line, "density alarms": alarms,
            }  # fmt: skip


def inference(studies: int) -> Iterator[Row]:
    """Skewed attacks on groups of two documents that are alike; labels go to groups at random."""
    for learner in ("logistic", "linear", "none"):
        for groups in (60, 200):
            random = np.random.default_rng(groups)
            unit = np.repeat(np.arange(groups), 2)
            alarms = dict.fromkeys(TESTS, 0)
            for _ in range(studies):
                features = np.exp(random.normal(size=(groups, 4)))[unit] + random.normal(0, 0.1, (2 * groups, 4))
                suspects = random.permutation(groups)[unit] < groups // 2
                tested = infer(features, suspects, unit, learner=learner, permutations=99, random=random)
                for name, p in tested.p.items():
                    alarms[name] += p is not None and p <= ALPHA
            yield {
                "what": "dataset inference",
                "by": learner,
                "groups": groups,
                **{f"{name} alarms": n for name, n in alarms.items()},
            }


def audit_(studies: int) -> Iterator[Row]:
    """Books of 20 snippets that are alike; half of the books were trained on, in part: 30 % of all."""
    for books, known, shift in ((10, 200, 1.5), (30, 200, 1.5), (100, 500, 1.5), (30, 500, 0.8)):
        random = np.random.default_rng(books)
        covered = none = 0
        for _ in range(studies):
            chance = (random.random(books) < 0.5) * random.uniform(0.2, 1, books)
            trained = random.random((books, 20)) < chance[:, None]
            scores = random.normal(size=(books, 20)) + shift * trained + random.normal(0, 0.3, (books, 1))
            labels = np.arange(known) % 2
            references = random.normal(0, np.sqrt(1.09), known) + shift * labels
            asked = table_of([0] * scores.size, scores.ravel(), book=[f"b{row // 20}" for row in range(scores.size)])
            options = AuditOptions(group_by="book", attack="loss")
            found = audit(asked, table_of(labels.tolist(), references), options)["models"][0]["prevalence_interval"]
            none += found is None
            covered += found is not None and found[0] <= 0.3 <= found[1]
        yield {
            "what": "prevalence, interval",
            "by": f"shift {shift}",
            "books": books,
            "known": known,
            "covered": covered,
            "none": none,
        }


def contamination_(studies: int) -> Iterator[Row]:
    """Items of very different difficulty, each with one or three rephrased versions, of one law."""
    for versions in (1, 3):
        random = np.random.default_rng(versions)
        unpaired = paired = 0
        for _ in range(studies):
            scores = random.normal(0, 2, (40, 1)) + random.normal(size=(40, versions + 1))
            items = [f"i{row // (versions + 1)}" for row in range(scores.size)]
            table = table_of([int(row % (versions + 1) == 0) for row in range(scores.size)], scores.ravel(), item=items)
            (row,) = contamination(table, ContaminationOptions(item="item", permutations=99))["rows"]
            unpaired += row["p"] <= ALPHA
            paired += row["p_paired"] <= ALPHA
        yield {
            "what": "contamination",
            "by": f"{versions} versions",
            "items": 40,
            "AUC alarms": unpaired,
            "paired alarms": paired,
        }


STUDIES: dict[str, Callable[[int], Iterator[Row]]] = {
    "setmi": setmi, "rdd": rdd, "inference": inference, "audit": audit_, "contamination": contamination_,
}  # fmt: skip


if __name__ == "__main__":
    name, studies = sys.argv[1], int(sys.argv[2])
    print(json.dumps([{"studies": studies, **row} for row in STUDIES[name](studies)]))
