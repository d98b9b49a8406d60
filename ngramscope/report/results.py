"""What a study found, as its report reads it: artefacts that are on disk, opened; nothing is computed by a model here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ngramscope.attacks.table import ScoreTable
    from ngramscope.models.store import ScoreStore

__all__ = ["SetResults", "StudyResults"]

Json = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class SetResults:
    """What was found on one set; a part that is None, or empty, was not computed, and the report says so.

    Attributes
    ----------
    name
        Of the set.
    evaluation
        `evaluate.report.Report.to_json`, with the blind baselines if they were run.
    verdict
        `evaluate.verdict.Verdict.to_dict`; None: that of the evaluation, if it has one.
    validation
        Report of ``ngramscope validate``.
    set_level, discontinuity
        Reports of ``ngramscope setmi`` and ``ngramscope rdd``.
    header
        Header of the candidate set.
    candidates
        File of the candidate set: texts for the explorer.
    scores
        Score table that was evaluated.
    modified
        Score table of edited members.
    store
        Score store of the set; row i is row i of `scores`.
    spans
        For each candidate the ranges ``(start, end)`` of its text, in code points, whose n-grams the corpus has.
    tokens
        Decodes token ids of the target models; `tokens(ids)` gives a text for each.
    at
        Where the set stands in the study's series.
    """

    name: str
    evaluation: Json | None = None
    verdict: Json | None = None
    validation: Json | None = None
    set_level: Json | None = None
    discontinuity: Json | None = None
    header: Json | None = None
    candidates: Path | None = None
    scores: ScoreTable | None = None
    modified: ScoreTable | None = None
    store: ScoreStore | None = None
    spans: Sequence[Sequence[tuple[int, int]]] | None = None
    tokens: Callable[[Sequence[int]], Sequence[str]] | None = None
    at: float | str | None = None


@dataclass(frozen=True, kw_only=True)
class StudyResults:
    """A study.

    Attributes
    ----------
    title
        For people.
    sets
        At least one.
    series
        What `SetResults.at` counts, as ``training step``; None: the sets are no series.
    models
        Of each model ``label``, ``role``, and where known ``parameters`` and ``step`` (of training).
    header
        Provenance of the study: its description, seeds, versions (`provenance.stamp`).
    """

    title: str
    sets: tuple[SetResults, ...]
    series: str | None = None
    models: Sequence[Json] = ()
    header: Json = field(default_factory=dict)
