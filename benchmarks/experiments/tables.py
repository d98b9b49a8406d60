"""Sets and tables of the experiments: some rows of them, evaluations, several seeds as one row."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lab import Findings, Skip, print_table, spread

from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.base import BlindInputs
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.report import AttackRow, Report
from ngramscope.evaluate.run import evaluate
from ngramscope.sets import Candidate, RecordSource, SetFile, Step

__all__ = [
    "PLACEBO", "REFERENCE", "TARGET", "Findings", "Labels", "Skip", "by_hand", "ids_of", "median", "over_seeds", "print_table",
    "report_of", "rows_of", "slug", "targets", "with_ids", "write_set",
]  # fmt: skip

TARGET, REFERENCE, PLACEBO = "target", "reference", "placebo"

Labels = NDArray[np.bool_]


def write_set(path: Path, candidates: Iterable[Candidate], before: Sequence[Mapping[str, Any]] = ()) -> Path:
    """A candidate set of these; `before` are headers of the sets that they are from."""
    rows = list(candidates)
    with SetFile(path) as file:
        file.add(rows)
        counts = {"texts": {"read": len(rows), "used": len(rows), "left_out": {}}}
        file.commit(Step("experiment", {}, [], counts), before=before)
    return path


def slug(name: str) -> str:
    """For a file."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def rows_of(table: ScoreTable, keep: Labels) -> ScoreTable:
    """Some rows of a table."""
    places = np.flatnonzero(keep)
    columns = [
        replace(each, scores=each.scores[places], reasons=[each.reasons[row] for row in places.tolist()])
        for each in table.columns
    ]
    return ScoreTable(table.documents.take(places), tuple(columns), table.header)


def with_ids(table: ScoreTable, ids: Collection[Any]) -> Labels:
    """Which rows of a table have one of these ids."""
    wanted = {json.dumps(each, ensure_ascii=False) for each in ids}
    return np.array([each in wanted for each in table.documents["id"].to_pylist()])


def ids_of(path: Path) -> set[Any]:
    """The ids of a candidate set."""
    return {each.id for each in RecordSource((path,)).open().candidates()}


def report_of(
    table: ScoreTable,
    *,
    against: ScoreTable | None = None,
    modified: ScoreTable | None = None,
    texts: BlindInputs | None = None,
    **options: Any,
) -> Report:
    """An evaluation without resamples."""
    chosen = EvaluationOptions(bootstrap=0, group=None, **options)
    return evaluate(table, chosen, against=against, modified=modified, texts=texts)


def targets(report: Report) -> list[AttackRow]:
    """Rows of the models under attack."""
    return [each for each in report.rows if each.role == TARGET]


def over_seeds(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of several seeds with the same `keys` as one: of every number the median, the least and the greatest."""
    found: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(tuple(row.get(key) for key in keys), []).append(row)
    merged = []
    for same in found.values():
        numbers = [name for name in same[0] if name not in keys]
        taken = {name: [row[name] for row in same if row.get(name) is not None] for name in numbers}
        merged.append(
            {
                **{key: same[0].get(key) for key in keys},
                **{name: spread(each) if each else None for name, each in taken.items()},
            }
        )
    return merged


def median(rows: Sequence[Mapping[str, Any]], column: str, **where: Any) -> float:
    """Of a column of `over_seeds`, in the one row that fits."""
    (row,) = [each for each in rows if all(each.get(name) == value for name, value in where.items())]
    return float(row[column]["median"])


def by_hand(scores: NDArray[np.float64], members: Labels) -> float:
    """An AUC, by counting pairs: what the product's numbers are checked against."""
    ours, theirs = scores[members], np.sort(scores[~members])
    below, up_to = np.searchsorted(theirs, ours, "left"), np.searchsorted(theirs, ours, "right")
    return float((below + up_to).mean() / 2 / len(theirs))
