"""Steps behind the evaluation that a description asks for by a table: whole sets, suspect data sets, jumps at a cutoff."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.folds import FoldRule
from ngramscope.blind.run import score_read
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.discontinuity.run import DISTANCE, RddOptions, rdd
from ngramscope.evaluate.run import file_facts
from ngramscope.evaluate.setlevel.dataset_inference import InferenceOptions, dataset_inference
from ngramscope.evaluate.setlevel.grouping import set_names, values_of
from ngramscope.evaluate.setlevel.setmi import SetMiOptions, setmi
from ngramscope.index.output import write_whole
from ngramscope.models.documents import ScoredSet, read_set
from ngramscope.sets.records import RecordSource
from ngramscope.study.scoring import SCORES_FILE

__all__ = ["FURTHER", "Further", "further"]

Progress = Callable[[Any], None]
Work = Callable[[ScoreTable, ScoredSet, Any, list[dict[str, Any]], Progress | None], dict[str, Any]]


@dataclass(frozen=True)
class Further:
    """Such a step.

    Attributes
    ----------
    step
        Its name, that of the command that does the same.
    options
        Class of its options.
    defaults
        Those that a study sets otherwise than the command.
    work
        Gives the report of scores, the candidates that they are of, options and facts of the file of the scores.
    check
        Refuses a table of documents that lacks what the options name.
    """

    step: str
    options: type[Any]
    defaults: Mapping[str, Any]
    work: Work
    check: Callable[[ScoreTable, Any], None]

    @property
    def file(self) -> str:
        """Name of the report in the folder of the step."""
        return f"{self.step}.json"


def further(
    kind: Further, options: Any, evaluation: Path, source: Path, out: Path, progress: Progress | None
) -> dict[str, Any]:
    """Write the report; what cannot be on this set, for want of a column for one, is a fact, and a warning.

    Parameters
    ----------
    evaluation
        Folder of the evaluation, whose scores are looked at.
    source
        The candidates.
    """
    scores = evaluation / SCORES_FILE
    scored = read_set(RecordSource((source,)))
    inputs = [{"option": "scores", **file_facts(scores)}]
    try:
        report = kind.work(ScoreTable.open(scores), scored, options, inputs, progress)
    except (InputError, UsageError) as error:
        reason = str(error)
        return {"reason": reason, "warnings": [f"no {kind.step}: {reason}"]}
    write_whole(out / kind.file, json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return {"reason": None, "warnings": [f"{kind.step}: {each}" for each in report["warnings"]]}


def _check_setmi(table: ScoreTable, options: SetMiOptions) -> None:
    if not any(set_names(table, options.group_by)[0]):
        raise UsageError(f"--group-by: no document has a {options.group_by}")
    _check(table, "--length", [options.length] if options.length else [])


def _check_inference(table: ScoreTable, options: InferenceOptions) -> None:
    _check(table, "--by", [options.by] if options.by else [])


def _check_rdd(table: ScoreTable, options: RddOptions) -> None:
    _check(table, "--cutoff", ["date" if options.cutoff else DISTANCE])
    _check(table, "--covariate", options.covariates)


def _check(table: ScoreTable, option: str, columns: Sequence[str]) -> None:
    for column in columns:
        if all(each is None for each in values_of(table, column, option)):
            raise UsageError(f"{option}: no document has a {column}")


def _setmi(
    table: ScoreTable, scored: ScoredSet, options: SetMiOptions, inputs: list[dict[str, Any]], progress: Progress | None
) -> dict[str, Any]:
    """With blind scores from folds that keep sets together: otherwise they know the sets."""
    for candidate, name in zip(scored.candidates, set_names(table, options.group_by)[0], strict=True):
        candidate.group = name
    _, blind = score_read(scored, FoldRule(permutations=0, seed=options.seed), progress=progress)
    return setmi(table, options, blind=blind, inputs=inputs, progress=progress)


def _dataset_inference(
    table: ScoreTable, scored: ScoredSet, options: InferenceOptions, inputs: list[dict[str, Any]], progress: Progress | None
) -> dict[str, Any]:
    texts = {json.dumps(each.id, ensure_ascii=False): each.text for each in scored.candidates}
    return dataset_inference(table, options, texts=texts, inputs=inputs, progress=progress)


def _rdd(
    table: ScoreTable, _scored: ScoredSet, options: RddOptions, inputs: list[dict[str, Any]], progress: Progress | None
) -> dict[str, Any]:
    return rdd(table, options, inputs=inputs, progress=progress)


FURTHER: Mapping[str, Further] = {
    "setmi": Further("setmi", SetMiOptions, {"curves": True}, _setmi, _check_setmi),
    "dataset_inference": Further("dataset-inference", InferenceOptions, {}, _dataset_inference, _check_inference),
    "rdd": Further("rdd", RddOptions, {}, _rdd, _check_rdd),
}
"""By the name of the table in a description."""
