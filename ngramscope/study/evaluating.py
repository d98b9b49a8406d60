"""The step that evaluates: attacks beside text alone and placebos, or text alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.folds import FoldRule
from ngramscope.blind.study import blind_study
from ngramscope.blind.texts import blind_inputs
from ngramscope.evaluate.blind_section import BlindSection, warnings_of
from ngramscope.evaluate.columns import only
from ngramscope.evaluate.evidence import evidence_of, of_blind
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.prepare import prepare
from ngramscope.evaluate.report import REPORT_VERSION, Report
from ngramscope.evaluate.run import evaluate, file_facts
from ngramscope.evaluate.verdict import decide
from ngramscope.evaluate.writers import WRITERS, write
from ngramscope.models.documents import document_table, read_set
from ngramscope.progress import Step
from ngramscope.sets.randomized_files import open_key
from ngramscope.sets.records import RecordSource
from ngramscope.study.scoring import SCORES_FILE

__all__ = ["EVALUATION", "evaluate_set", "evaluate_texts"]

EVALUATION = "evaluation"
"""Name of its files, without the ending."""

Progress = Callable[[Any], None]


def evaluate_set(
    sources: Mapping[str, tuple[Path, Path]],
    options: EvaluationOptions,
    key: str | None,
    out: Path,
    progress: Progress | None,
) -> Mapping[str, Any]:
    """Write the evaluation in every format, and the scores beside what is known of the documents.

    Parameters
    ----------
    sources
        Of ``scores``, and of what they are compared with, ``against`` and ``modified``: folder of the attacks, and set.
    key
        File of ``ngramscope sets randomize``, if membership was drawn by it.
    """
    sets = {option: read_set(RecordSource((source,))).candidates for option, (_, source) in sources.items()}
    tables = {}
    for option, (folder, _) in sources.items():
        table = ScoreTable.open(folder / SCORES_FILE)
        # What is known of the candidates now, overlap for one, and not when they were scored.
        tables[option] = ScoreTable(document_table(sets[option]), table.columns, table.header)
    tables["scores"] = only(tables["scores"], options.attacks)
    tables["scores"].save(out / SCORES_FILE)
    report = evaluate(
        tables["scores"],
        options,
        against=tables.get("against"),
        modified=tables.get("modified"),
        key=None if key is None else open_key(Path(key)),
        texts=blind_inputs(sets["scores"]),
        inputs=[{"option": option, **file_facts(folder / SCORES_FILE)} for option, (folder, _) in sources.items()],
        progress=progress,
    )
    return _written(report, out)


def evaluate_texts(source: Path, options: EvaluationOptions, out: Path, progress: Progress | None) -> Mapping[str, Any]:
    """The same without any score: what text alone tells of members and non-members."""
    candidates = read_set(RecordSource((source,))).candidates
    table = ScoreTable(document_table(candidates), (), {})
    data = prepare(table, options.group)
    members = data.members
    unit = np.arange(len(members)) if data.unit is None else data.unit

    def fitted(done: int, total: int) -> None:
        if progress is not None:
            progress(Step("blind", done, total))

    rule = FoldRule(options.folds, options.repeats, options.permutations, options.seed)
    study = blind_study(blind_inputs(candidates).take(data.rows), members, unit, rule, level=options.level, progress=fitted)
    section = BlindSection(study.baselines, study.ceiling, (), study.reason)
    counts = {
        "documents": len(candidates),
        "unlabelled": data.unlabelled,
        "members": int(members.sum()),
        "nonmembers": int((~members).sum()),
        "used": len(members),
        "left_out": 0,
        "units": None if data.unit is None else len(np.unique(unit)),
    }
    inputs = [{"option": "set", **file_facts(source)}]
    report = Report(
        header=provenance.stamp("evaluation", version=REPORT_VERSION, settings=asdict(options), inputs=inputs),
        counts=counts,
        rows=(),
        blind=section,
        verdict=decide(evidence_of((), *of_blind(section))),
        warnings=tuple(warnings_of(section)),
    )
    return _written(report, out)


def _written(report: Report, out: Path) -> dict[str, Any]:
    for ending in WRITERS:
        write((out / EVALUATION).with_suffix(ending), report)
    verdict = report.verdict
    return {
        "counts": dict(report.counts),
        "verdict": None
        if verdict is None
        else {"code": verdict.code, "because": verdict.because, "sentences": list(verdict.sentences)},
        "warnings": list(report.warnings),
    }
