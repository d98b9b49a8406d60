"""What evaluate.py asks of the Python API, run under the interpreter that has ngramscope.

    python inference.py make TABLE DOCUMENTS ATTACKS    a score table, half of it members
    python inference.py sklearn TABLE RESAMPLES         AUC and TPRs of resamples of its first attack, by roc_curve
    python inference.py scipy TABLE RESAMPLES           AUC, by mannwhitneyu
    python inference.py coverage STUDIES                how often each interval holds the truth

All but the first print what they found as JSON.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import scipy
import sklearn
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score, roc_curve

from ngramscope import provenance
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.evaluate.bootstrap import bootstrap, draws, percentiles
from ngramscope.evaluate.delong import Part, auc_interval, compare, measure, standard_error
from ngramscope.evaluate.strata import pooled_parts, stratify
from ngramscope.evaluate.tpr import FPRS, RELIABLE

NORMAL = NormalDist()
SIZES = [(50, 50), (200, 200), (1000, 1000), (100, 1000)]
SHIFTS = [0.0, 0.2, 0.7, 1.2]
RATES = (0.01, 0.05, 0.1)
RESAMPLES = 500
GROUP = 5

Floats = np.typing.NDArray[np.float64]


def make(path: Path, documents: int, attacks: int) -> None:
    random = np.random.default_rng(0)
    members = np.arange(documents) < documents // 2
    common = random.normal(size=documents)
    columns = []
    for number in range(attacks):
        scores = common + random.normal(size=documents) + 0.02 * number * members
        name = f"attack-{number}" if number else "loss"
        columns.append(ScoreColumn(name, "model", "target", scores, [None] * documents))
    table = pa.table({"id": [f'"{row}"' for row in range(documents)], "label": members.astype(np.int64)})
    stamp = provenance.stamp("score-table", version=SCORES_VERSION, settings={}, inputs=[])
    ScoreTable(table, tuple(columns), stamp).save(path)


def loop(kind: str, path: Path, resamples: int) -> dict[str, Any]:
    """Seconds of a loop over resamples, and how far its numbers are from those of `bootstrap`."""
    table = ScoreTable.open(path)
    members, scores = table.labels == 1, table.columns[0].scores
    drawn = [np.repeat(np.arange(len(members)), counts.astype(int)) for counts in weights(members, resamples)]
    started = time.perf_counter()
    found = [
        sklearn_numbers(members[rows], scores[rows]) if kind == "sklearn" else scipy_auc(members[rows], scores[rows])
        for rows in drawn
    ]
    seconds = time.perf_counter() - started
    ours = bootstrap([Part(scores[None])], members, resamples=resamples)
    expected = np.vstack([ours.auc, ours.tpr[0]]).T[:, : len(found[0])]
    version = sklearn.__version__ if kind == "sklearn" else scipy.__version__
    return {"seconds": seconds, "difference": float(np.abs(np.array(found) - expected).max()), "version": version}


def weights(members: np.typing.NDArray[np.bool_], resamples: int) -> Iterator[Floats]:
    for _, block in draws(members, None, resamples, 0):
        yield from block.T


def sklearn_numbers(members: Any, scores: Any) -> list[float]:
    fpr, tpr, _ = roc_curve(members, scores, drop_intermediate=False)
    return [roc_auc_score(members, scores), *(tpr[fpr <= rate][-1] for rate in FPRS)]


def scipy_auc(members: Any, scores: Any) -> list[float]:
    ones = int(members.sum())
    return [mannwhitneyu(scores[members], scores[~members]).statistic / (ones * (len(members) - ones))]


def coverage(studies: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(1)
    rows = []
    for n1, n0 in SIZES:
        for shift in SHIFTS:
            rows += independent(random, studies, n1, n0, shift)
    for shift in SHIFTS:
        rows += grouped(random, studies, 60, shift)
        rows += paired(random, studies, 200, shift)
    return rows


def row(interval: str, n1: int, n0: int, auc: float, held: Any) -> dict[str, Any]:
    return {"interval": interval, "members": n1, "nonmembers": n0, "AUC": auc, "covered": float(np.mean(held))}


def auc_of(shift: float) -> float:
    return NORMAL.cdf(shift / math.sqrt(2))


def delong(scores: Floats, members: Any, unit: Any, truth: float) -> list[bool]:
    found, held = measure([Part(scores)], members), []
    for auc, moved, used in zip(found.auc, found.moved, found.used, strict=True):
        reach = auc_interval(float(auc), standard_error(moved, used, members, unit))
        held.append(reach is not None and reach[0] <= truth <= reach[1])
    return held


def independent(random: np.random.Generator, studies: int, n1: int, n0: int, shift: float) -> Iterator[dict[str, Any]]:
    members, truth = np.arange(n1 + n0) < n1, auc_of(shift)
    scores = random.normal(size=(studies, n1 + n0)) + shift * members
    yield row("AUC, DeLong", n1, n0, truth, delong(scores, members, None, truth))
    drawn = bootstrap([Part(scores)], members, resamples=RESAMPLES, fprs=RATES)
    low, high = percentiles(drawn.auc)
    yield row("AUC, bootstrap", n1, n0, truth, (low <= truth) & (truth <= high))
    for place, rate in enumerate(RATES):
        if min(n1, n0) * rate >= RELIABLE:
            tpr = 1 - NORMAL.cdf(NORMAL.inv_cdf(1 - rate) - shift)
            low, high = percentiles(drawn.tpr[:, place])
            yield row(f"TPR at {100 * rate:g} % FPR, bootstrap", n1, n0, truth, (low <= tpr) & (tpr <= high))


def grouped(random: np.random.Generator, studies: int, groups: int, shift: float) -> Iterator[dict[str, Any]]:
    """Groups of five that have half of their variance in common."""
    unit = np.repeat(np.arange(groups), GROUP)
    members, truth = unit < groups // 2, auc_of(shift)
    common = np.repeat(random.normal(size=(studies, groups)), GROUP, axis=1)
    scores = (common + random.normal(size=common.shape)) / math.sqrt(2) + shift * members
    size = int(members.sum())
    yield row("AUC, groups, Obuchowski", size, size, truth, delong(scores, members, unit, truth))
    low, high = percentiles(bootstrap([Part(scores)], members, unit, resamples=RESAMPLES, fprs=(0.1,)).auc)
    yield row("AUC, groups, bootstrap", size, size, truth, (low <= truth) & (truth <= high))


def paired(random: np.random.Generator, studies: int, size: int, shift: float) -> Iterator[dict[str, Any]]:
    """Two attacks that have half of their variance in common; and an attack within strata that shift its scores."""
    members, truth = np.arange(2 * size) < size, auc_of(shift)
    differences, pooled = [], []
    for _ in range(studies):
        common = random.normal(size=2 * size)
        scores = (common + random.normal(size=(2, 2 * size))) / math.sqrt(2) + np.array([[shift], [0.3]]) * members
        found = measure([Part(scores)], members)
        error = standard_error(found.moved[0] - found.moved[1], found.used[0], members)
        each = compare(float(found.auc[0] - found.auc[1]), error)
        difference = truth - auc_of(0.3)
        differences.append(each.low is not None and each.high is not None and each.low <= difference <= each.high)
        stratum = random.integers(0, 4, 2 * size)
        strata = stratify(stratum.tolist(), 5)
        within = measure(pooled_parts(scores[:1] + 3 * stratum, members, strata), members)
        reach = auc_interval(float(within.auc[0]), standard_error(within.moved[0], within.used[0], members))
        pooled.append(reach is not None and reach[0] <= truth <= reach[1])
    yield row("difference of AUCs, DeLong", size, size, truth, differences)
    yield row("AUC pooled over strata, DeLong", size, size, truth, pooled)


def main() -> None:
    question, *arguments = sys.argv[1:]
    if question == "make":
        make(Path(arguments[0]), int(arguments[1]), int(arguments[2]))
    elif question == "coverage":
        print(json.dumps(coverage(int(arguments[0]))))
    else:
        print(json.dumps(loop(question, Path(arguments[0]), int(arguments[1]))))


if __name__ == "__main__":
    main()
