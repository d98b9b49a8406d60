"""The report of a finished study: what is in its folder, opened, and drawn."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ngramscope.attacks.table import ScoreTable
from ngramscope.errors import InputError
from ngramscope.models.store import ScoreStore
from ngramscope.report.results import SetResults, StudyResults
from ngramscope.report.write import write_report
from ngramscope.sets.base import open_header
from ngramscope.study.evaluating import EVALUATION
from ngramscope.study.further import FURTHER
from ngramscope.study.makers import SET_FILE
from ngramscope.study.measure import SPANS_FILE, VALIDATION_FILE
from ngramscope.study.results import RESULT_FILE, load_result
from ngramscope.study.scoring import SCORES_FILE, TOKENS_FILE

__all__ = ["REPORT_FILE", "cannot_draw", "draw", "study_results"]

REPORT_FILE = "report.html"

CHARACTERS = 1_500
"""Of each text that the report shows."""


def cannot_draw() -> str | None:
    """Why there can be no report on this machine; None if there can."""
    if importlib.util.find_spec("matplotlib") is None:
        return "matplotlib is not installed: pip install 'ngramscope[plot]', then ngramscope report STUDY"
    return None


def draw(folder: Path, out: Path | None = None, *, characters: int = CHARACTERS) -> Path:
    """Write the report of the study in `folder`, from what is there; nothing is computed anew.

    Parameters
    ----------
    out
        The page; None: ``report.html`` in the folder.
    characters
        Of each text in the report, at most; 0: no texts.

    Raises
    ------
    InputError
        There is no finished study, or a file of it is missing or damaged.
    MissingExtraError
        matplotlib is not installed.
    """
    path = folder / REPORT_FILE if out is None else out
    write_report(path, study_results(folder), characters=characters)
    return path


def study_results(folder: Path) -> StudyResults:
    """What the study found, opened.

    Raises
    ------
    InputError
        See `draw`.
    """
    result = load_result(folder)
    try:
        return _opened(folder, result)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        path = folder / RESULT_FILE
        raise InputError(
            f"{path}: not as ngramscope audit writes it ({error!r}); the same ngramscope audit writes it anew"
        ) from error


def _opened(folder: Path, result: Mapping[str, Any]) -> StudyResults:
    _check_whole(folder, result["steps"])
    if not result["sets"]:
        raise KeyError("sets")
    header = {name: result[name] for name in ("artefact", "format_version", "ngramscope", "python", "settings", "inputs")}
    return StudyResults(
        title=result["name"],
        sets=tuple(_set(folder, name, each) for name, each in result["sets"].items() if "edited" not in each["roles"]),
        series=result["series"],
        models=result["models"],
        header={**header, "models": result["models"], "steps": result["steps"]},
    )


def _check_whole(folder: Path, steps: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a folder whose files are not those that the result names: its report would be of something else, or of a part."""
    for step in steps:
        for name, facts in step["files"].items():
            path = folder / step["step"] / name
            if not path.is_file() or path.stat().st_size != facts["bytes"]:
                raise InputError(f"{path}: missing, or not as {RESULT_FILE} has it; the same ngramscope audit computes it anew")


def _set(folder: Path, name: str, found: dict[str, Any]) -> SetResults:
    places = {step: folder / place for step, place in found["folders"].items()}
    candidates = places.get("overlap", places["set"]) / SET_FILE
    evaluation, measured = places.get("evaluation"), places.get("overlap")
    scored = evaluation is not None and (evaluation / SCORES_FILE).exists()
    return SetResults(
        name=name,
        evaluation=None if evaluation is None else _json(evaluation / f"{EVALUATION}.json"),
        validation=_json(places["validation"] / VALIDATION_FILE) if _has(places, "validation", VALIDATION_FILE) else None,
        **{name: _json(places[kind.step] / kind.file) for name, kind in FURTHER.items() if _has(places, kind.step, kind.file)},
        header=open_header(candidates),
        candidates=candidates,
        scores=ScoreTable.open(evaluation / SCORES_FILE) if scored and evaluation is not None else None,
        modified=None if found["modified"] is None else ScoreTable.open(folder / found["modified"] / "attacks" / SCORES_FILE),
        store=_store(folder / name / found["store"], found["passes"]) if found["store"] is not None else None,
        spans=None if measured is None else _spans(measured / SPANS_FILE),
        tokens=_tokens(folder / found["tokens"] / TOKENS_FILE) if found["tokens"] is not None else None,
        at=found["at"],
    )


def _has(places: dict[str, Path], step: str, file: str) -> bool:
    return step in places and (places[step] / file).exists()


def _store(path: Path, passes: Sequence[str]) -> ScoreStore:
    store = ScoreStore(path)
    store.passes = tuple(each for each in store.passes if each.path.name in passes)
    lacking = sorted(set(passes) - {each.path.name for each in store.passes})
    if lacking:
        raise InputError(f"{path / lacking[0]}: missing, or without its pass.json; the same ngramscope audit computes it anew")
    return store


def _spans(path: Path) -> list[list[tuple[int, int]]] | None:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [[(start, end) for start, end in json.loads(line)] for line in lines] or None
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path}: cannot be read: {error}; the same ngramscope audit computes it anew") from error


def _tokens(path: Path) -> Callable[[Sequence[int]], Sequence[str]]:
    known = {int(number): text for number, text in _json(path).items()}
    return lambda ids: [known.get(each, "") for each in ids]


def _json(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}; the same ngramscope audit computes it anew") from error
    return found
