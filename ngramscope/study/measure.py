"""Steps that need no model: overlap with the corpus, and whether the non-members are representative of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ngramscope.index.open import Index
from ngramscope.index.output import write_whole
from ngramscope.sets.base import MEMBER, NONMEMBER
from ngramscope.sets.covariates import Shares
from ngramscope.sets.overlaps import OverlapOptions, Overlaps
from ngramscope.sets.records import RecordSource
from ngramscope.sets.validate import validate
from ngramscope.sets.verdict import ShiftRule
from ngramscope.sets.writer import Counts, SetFile, Step
from ngramscope.study.description import Study
from ngramscope.study.makers import SET_FILE

__all__ = ["SPANS_FILE", "VALIDATION_FILE", "cannot_validate", "measure_overlap", "shift_rule", "validation"]

VALIDATION_FILE = "validation.json"

SPANS_FILE = "spans.jsonl"
"""Of each candidate the ranges of its text whose n-grams are found."""

Progress = Callable[[Any], None]


def measure_overlap(source: Path, overlap: OverlapOptions, out: Path, progress: Progress | None) -> dict[str, Any]:
    """Write the set with its overlaps, leave-one-out ones too where they can be told; and a line a text of where they are."""
    stream = Overlaps(RecordSource((source,)), replace(overlap, spans=not overlap.flags), progress)
    shares = Shares(stream.n)
    n = ShiftRule.n if ShiftRule.n in stream.n else stream.n[0]
    with SetFile(out / SET_FILE) as file, (out / SPANS_FILE).open("w", encoding="utf-8") as spans:
        counts, row = Counts(), 0
        for batch, measured in stream:
            shares.add(measured)
            spans.writelines(f"{json.dumps(each)}\n" for each in measured[n].spans or ())
            for candidate in batch.candidates:
                shares.put(candidate, row)
                row += 1
            counts.used += len(batch)
            file.add(batch.candidates)
        counts.left_out.update(stream.records.left_out())
        step = Step(
            rule="overlap",
            settings={"n": list(stream.n), "own_share": overlap.own_share, "own_cap": overlap.own_cap},
            inputs=stream.records.report()["sources"],
            counts={"candidates": counts.to_dict()},
            facts={"warnings": stream.warnings, "partial": stream.partial()},
        )
        file.commit(step, before=stream.records.headers, overlap=stream.facts())
    return {"warnings": stream.warnings, "partial": stream.partial()}


def shift_rule(study: Study) -> ShiftRule:
    """The declared test; of an index that lacks the usual length, with one that it has."""
    if study.validation.rule is not None or study.overlap is None or not study.overlap.indexes:
        return study.validation.rule or ShiftRule()
    known = Index.open(study.overlap.indexes).n
    return ShiftRule() if ShiftRule.n in known else ShiftRule(n=known[0])


def cannot_validate(study: Study) -> str | None:
    """Why the non-members cannot be compared with the corpus; None if they can."""
    overlap = study.overlap
    if overlap is None:
        return "no training corpus was named (--index or --scan)"
    if study.validation.reference or overlap.scan:
        return None
    if overlap.flags:
        return "flags do not tell leave-one-out overlap; name a sample that was left out of the corpus as reference"
    if min(each["tiers"] for each in Index.open(overlap.indexes).manifests) < 2:
        return (
            "the index has one tier, so leave-one-out overlap is not known; build it with --tiers 2, or name a sample that was "
            "left out of the corpus as reference"
        )
    return None


def validation(source: Path, study: Study, out: Path, progress: Progress | None) -> Mapping[str, Any]:
    """Write the validation report of a set; where a side has no text, say so."""
    labels = {each.label for each in RecordSource((source,)).open().candidates()}
    if not {MEMBER, NONMEMBER} <= labels and not study.validation.reference:
        return {"skipped": "members and non-members are needed, or a sample that was left out of the corpus as reference"}
    reference = RecordSource(study.validation.reference, study.read, study.keys) if study.validation.reference else None
    report = validate(
        RecordSource((source,)),
        replace(study.corpus, n=study.validation.describe),
        reference,
        rule=shift_rule(study),
        max_texts=study.validation.max_texts,
        progress=progress,
    )
    write_whole(out / VALIDATION_FILE, json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    return {"verdict": report["verdict"], "reason": report["reason"], "warnings": report["warnings"]}
