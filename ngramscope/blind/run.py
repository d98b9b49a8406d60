"""Blind baselines of a candidate set, as a report and as a table of scores."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.blind.base import baselines
from ngramscope.blind.folds import FOLD, FoldRule
from ngramscope.blind.study import CEILING, BlindStudy, blind_study
from ngramscope.blind.texts import blind_inputs
from ngramscope.evaluate.groups import units
from ngramscope.evaluate.lines import BLIND, NO_MODEL
from ngramscope.models.documents import ScoredSet, document_table, read_set
from ngramscope.progress import Step
from ngramscope.sets.base import Candidate, side
from ngramscope.sets.records import RecordSource

__all__ = ["BLIND_VERSION", "NO_LABEL", "run_blind", "score_blind", "score_read"]

BLIND_VERSION = 1
"""Version of the report."""

NO_LABEL = "no_label"
"""Null reason: only documents with a label are scored."""


def run_blind(
    source: RecordSource, rule: FoldRule | None = None, *, level: float = 0.95, progress: Callable[[Any], object] | None = None
) -> dict[str, Any]:
    """What can be told of members and non-members of a set without any model.

    Parameters
    ----------
    source
        A candidate set, or documents with labels. Those of one group stay together.
    rule
        Folds, permutations, seed; None: the defaults.
    level
        Of the intervals.

    Returns
    -------
    dict
        Ready for JSON: provenance; ``counts`` (``records``, of them ``unusable`` by reason, ``members``, ``nonmembers``,
        ``unlabelled``, and ``groups``); ``baselines`` and ``ceiling``, see `study.BlindResult`; ``reason``, why there is no
        number at all. The same whatever the order of documents.

    Raises
    ------
    UsageError, InputError
        See `RecordSource`.
    """
    return score_blind(source, rule, level=level, progress=progress)[0]


def score_blind(
    source: RecordSource, rule: FoldRule | None = None, *, level: float = 0.95, progress: Callable[[Any], object] | None = None
) -> tuple[dict[str, Any], ScoreTable]:
    """The report of `run_blind`, and the scores that it comes from.

    Parameters
    ----------
    source, rule, level
        See `run_blind`.

    Returns
    -------
    dict, ScoreTable
        The table has a row a candidate, in the order of the input, and a column for each baseline and the ceiling, as an attack
        on `lines.NO_MODEL` with the role `lines.BLIND`. Scores are out of fold, of the ceiling log-odds; means over divisions
        if there are several; of one division the fold stands in the documents' column `FOLD`. A candidate without a label has
        none (`NO_LABEL`).

    Raises
    ------
    UsageError, InputError
        See `RecordSource`.
    """
    return score_read(read_set(source, progress), rule or FoldRule(), level=level, progress=progress)


def score_read(
    scored: ScoredSet, rule: FoldRule, *, level: float = 0.95, progress: Callable[[Any], object] | None = None
) -> tuple[dict[str, Any], ScoreTable]:
    """`score_blind` of candidates that have been read; their `group` says what no division into folds tears apart."""
    # By content, so that the order of files has no say.
    order = sorted(
        (row for row, each in enumerate(scored.candidates) if each.label is not None),
        key=lambda row: _content(scored.candidates[row]),
    )
    labelled = [scored.candidates[row] for row in order]
    members = np.array([each.label == 1 for each in labelled], dtype=np.bool_)
    unit = units([each.group for each in labelled])

    def fitted(done: int, total: int) -> None:
        if progress is not None:
            progress(Step("blind", done, total))

    study = blind_study(blind_inputs(labelled), members, unit, rule, level=level, progress=fitted)
    settings = {**asdict(rule), "level": level, "baselines": {name: each.summary for name, each in baselines().items()}}
    return _report(scored, study, settings), _table(scored, order, study, settings)


def _content(candidate: Candidate) -> tuple[str, str, int | None, str]:
    return json.dumps(candidate.id), candidate.text, candidate.label, candidate.group or ""


def _report(scored: ScoredSet, study: BlindStudy, settings: Mapping[str, Any]) -> dict[str, Any]:
    sides = Counter(side(each.label) for each in scored.candidates)
    return {
        **provenance.stamp("blind", version=BLIND_VERSION, settings=settings, inputs=scored.report["sources"]),
        "counts": {
            "records": len(scored) + sum(scored.report["unusable"].values()),
            "unusable": {reason: count for reason, count in scored.report["unusable"].items() if count},
            **{name: sides[name] for name in ("members", "nonmembers", "unlabelled")},
            "groups": len({each.group for each in scored.candidates if None not in (each.group, each.label)}),
        },
        "baselines": [asdict(each) for each in study.baselines],
        "ceiling": asdict(study.ceiling),
        "reason": study.reason,
        "partial": bool(scored.report["bad_records"] or scored.report["bad_files"]),
    }


def _table(scored: ScoredSet, order: Sequence[int], study: BlindStudy, settings: Mapping[str, Any]) -> ScoreTable:
    import pyarrow as pa

    documents, rows = document_table(scored.candidates), np.array(order, dtype=np.int64)
    if len(study.folds) == 1 and study.reason is None:
        folds = np.full(len(scored), -1)
        folds[rows] = study.folds[0]
        documents = documents.append_column(FOLD, pa.array(folds, pa.int64(), mask=folds < 0))
    columns = []
    for each in (*study.baselines, study.ceiling):
        scores = np.full(len(scored), np.nan)
        found = study.scores if each.name == CEILING else study.by_baseline.get(each.name)
        if found is not None:
            scores[rows] = found.mean(axis=0)
        why = np.full(len(scored), NO_LABEL, dtype=object)
        why[rows] = each.reason
        columns.append(ScoreColumn(each.name, NO_MODEL, BLIND, scores, why.tolist()))
    header = {
        **provenance.stamp(
            "score-table", version=SCORES_VERSION, settings={"from": "blind", **settings}, inputs=scored.report["sources"]
        ),
        "set": {"texts_sha256": scored.texts_sha256(), "inputs": scored.report["sources"]},
        "undefined": {each.name: dict(Counter(filter(None, each.reasons))) for each in columns if any(each.reasons)},
    }
    return ScoreTable(documents, tuple(columns), header)
