"""``study.json``: what a study found, and where the rest of it is."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ngramscope import provenance
from ngramscope.errors import InputError
from ngramscope.sets.base import open_header
from ngramscope.study.cache import Done
from ngramscope.study.description import SetPart, Study
from ngramscope.study.plan import Plan
from ngramscope.study.reading import table_of

__all__ = ["RESULT_FILE", "STUDY_VERSION", "load_result", "study_result"]

STUDY_VERSION = 1
"""Version of ``study.json`` and of the study's folder."""

RESULT_FILE = "study.json"

_STEP = re.compile(r"(?:step|iter)[-_]?(\d+)")


def load_result(folder: Path) -> dict[str, Any]:
    """``study.json`` of a study's folder.

    Raises
    ------
    InputError
        There is none, it is damaged, or of a version that this release does not know.
    """
    path = folder / RESULT_FILE
    try:
        result = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"{folder}: no finished study, {RESULT_FILE} is missing; ngramscope audit makes one") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}; the same ngramscope audit writes it anew") from error
    if not isinstance(result, dict) or result.get("artefact") != "study":
        raise InputError(f"{path}: not the result of a study")
    if result.get("format_version") != STUDY_VERSION:
        raise InputError(f"{path}: version {result.get('format_version')}; this ngramscope reads {STUDY_VERSION}")
    return result


def study_result(study: Study, plan: Plan, done: Mapping[str, Done]) -> dict[str, Any]:
    """Ready for JSON: provenance; ``sets``: counts, facts of their steps, folders; ``models``; ``skipped``; ``steps``."""
    inputs = [{"step": each.name, **each.inputs} for each in plan.tasks if each.name.endswith(("/set", "/overlap"))]
    return {
        **provenance.stamp("study", version=STUDY_VERSION, settings=table_of(study, _base_name), inputs=inputs),
        "name": study.name,
        "series": study.series,
        "sets": {each.name: _set(study, plan, done, each) for each in study.sets},
        "models": _models(study, done),
        "skipped": dict(plan.skipped),
        "partial": any(_partial(plan, each.name, done) for each in study.sets),
        "steps": [
            {"step": name, "key": each.key, "files": dict(each.files), "seconds": each.seconds} for name, each in done.items()
        ],
    }


def _set(study: Study, plan: Plan, done: Mapping[str, Done], part: SetPart) -> dict[str, Any]:
    header = open_header(plan.file(part)) or {}
    steps = {each.removeprefix(f"{part.name}/"): done[each] for each in done if each.startswith(f"{part.name}/")}
    whole = {step: each for step, each in steps.items() if not step.startswith("passes/")}
    passes = {step: each for step, each in steps.items() if step.startswith("passes/")}
    targets = (f"{part.name}/{step}" for step, each in passes.items() if each.facts["role"] == "target" and each.files)
    return {
        "kind": part.kind,
        "roles": ["evaluated" if part in study.evaluated else "edited"],
        "at": part.at,
        "against": part.against,
        "modified": part.modified,
        "counts": header["counts"],
        "balance": header["balance"],
        "folders": {step: f"{part.name}/{step}" for step in whole},
        "facts": {step: dict(each.facts) for step, each in whole.items()},
        "store": plan.store(part).name if passes else None,
        "passes": [each.facts["folder"] for each in passes.values()],
        "tokens": next(targets, None),
        "warnings": [*plan.warnings, *(line for each in whole.values() for line in each.facts.get("warnings", ()))],
    }


def _partial(plan: Plan, name: str, done: Mapping[str, Done]) -> bool:
    """Whether records or files were left out, as was allowed."""
    inputs = (open_header(plan.file(name, measured=False)) or {}).get("inputs", ())
    measured = done.get(f"{name}/overlap")
    return any(each["unusable"] or "incomplete" in each for each in inputs) or bool(measured and measured.facts["partial"])


def _models(study: Study, done: Mapping[str, Done]) -> list[dict[str, Any]]:
    """The models with what their passes say of them, and the training step that a revision names."""
    found = []
    for model in study.models:
        facts = next(
            each.facts["model"]
            for each in done.values()
            if each.facts.get("role") == model.role and each.facts["model"]["label"] == model.label
        )
        step = _STEP.search(model.options.revision or "") or _STEP.search(model.label)
        found.append({"role": model.role, **facts, "step": None if step is None else int(step[1])})
    return found


def _base_name(name: str) -> str:
    """Names of files without the folders of this machine."""
    path = Path(name)
    return path.name if path.is_absolute() or path.exists() else name
