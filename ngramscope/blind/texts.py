"""The texts that scores are of, found again; and candidates as blind baselines see them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ngramscope import _core
from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.base import BlindInputs, Floats
from ngramscope.errors import NgramscopeError, UsageError
from ngramscope.models.documents import ScoredSet, read_set
from ngramscope.sets.base import MEMBER, Candidate
from ngramscope.sets.covariates import LOO_COLUMN
from ngramscope.sets.records import RecordSource

__all__ = ["NO_LOO", "NoTextsError", "blind_inputs", "texts_of"]

NO_LOO = "no_leave_one_out_overlap_of_members"
"""The members' own n-grams are in the corpus, so that their overlap says nothing beside that of non-members."""

_TOKENS = "tokens"

Progress = Callable[[Any], object]


class NoTextsError(Exception):
    """The texts cannot be found; the argument says why and what to do."""


def blind_inputs(candidates: Sequence[Candidate]) -> BlindInputs:
    """Texts and numbers of candidates, in their order. Tokens are those of a key ``tokens``, if each has it."""
    overlaps, reason = _overlaps(candidates)
    tokens = [each.extra.get(_TOKENS) for each in candidates]
    known = all(isinstance(each, int | float) and not isinstance(each, bool) for each in tokens)
    return BlindInputs(
        [each.text for each in candidates],
        overlaps,
        np.array(tokens, dtype=np.float64) if known and tokens else None,
        reason or "no_overlap",
    )


def texts_of(
    table: ScoreTable, place: Path, sets: Sequence[Path] = (), progress: Progress | None = None
) -> tuple[BlindInputs, list[dict[str, Any]]]:
    """Texts of a score table's documents, row by row, and facts of the files that they are from.

    They are those of the table itself (a CSV file with a column ``text``), of `sets`, or of the file that was scored, if one of
    its name and digest is in the working directory or beside the table.

    Parameters
    ----------
    place
        The table's file.
    sets
        The candidate set that was scored.

    Raises
    ------
    NoTextsError
        They cannot be found, and no `sets` were named.
    UsageError
        `sets` are others than those that were scored, or lack texts.
    """
    if "text" in table.documents.column_names and not sets:
        texts = [each or "" for each in table.documents["text"].to_pylist()]
        return BlindInputs(texts), []
    known = table.header.get("set") or {}
    if sets:
        scored, names = read_set(RecordSource(tuple(sets)), progress), ", ".join(map(str, sets))
        return blind_inputs(_aligned(table, scored, known.get("texts_sha256"), names)), scored.report["sources"]
    files = _recorded(known, place)
    try:
        scored = read_set(RecordSource(tuple(files)), progress)
        return blind_inputs(_aligned(table, scored, known.get("texts_sha256"), str(files[0]))), scored.report["sources"]
    except NgramscopeError as error:
        raise NoTextsError(f"{error}; name the set that was scored with --set") from error


def _recorded(known: dict[str, Any], place: Path) -> list[Path]:
    """The files that were scored."""
    if not known.get("inputs"):
        raise NoTextsError("the scores do not say what texts they are of; name the set with --set")
    files = []
    for each in known["inputs"]:
        there = [path for folder in (Path(), place.parent) if (path := folder / each["name"]).is_file()]
        if not there:
            raise NoTextsError(f"{each['name']}, which was scored, is neither here nor beside {place}; name it with --set")
        same = [path for path in there if _core.digest(path) == each.get("blake3")]
        if not same:
            raise NoTextsError(f"{there[0]} is not the file that was scored (another digest); name that one with --set")
        files.append(same[0])
    return files


def _aligned(table: ScoreTable, scored: ScoredSet, digest: str | None, names: str) -> list[Candidate]:
    """A candidate for each row of the table."""
    if digest is not None:
        if scored.texts_sha256() != digest:
            raise UsageError(f"--set: {names}: not the texts that were scored (another digest)")
        return scored.candidates
    if "id" not in table.documents.column_names:
        raise UsageError(
            f"--set: the scores have no ids, so that the texts of {names} cannot be told apart; add a column id or text"
        )
    spelled = str if table.header.get("settings", {}).get("from") == "csv" else _json
    places: dict[str, list[Candidate]] = {}
    for each in scored.candidates:
        places.setdefault(spelled(each.id), []).append(each)
    found = []
    for row, (name, label) in enumerate(zip(table.documents["id"].to_pylist(), table.labels.tolist(), strict=True)):
        there = places.get(str(name), [])
        if len(there) != 1 and label == label:
            many = f"{len(there)} texts" if there else "no text"
            raise UsageError(
                f"--set: {names}: {many} with the id {name} of row {row}; ids have to be those of the scores, each once"
            )
        found.append(there[0] if there else Candidate(None, ""))
    return found


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _overlaps(candidates: Sequence[Candidate]) -> tuple[dict[str, Floats], str | None]:
    """Leave-one-out overlap by n; of a non-member without one, which has no document in the corpus, the plain one."""
    lengths = sorted({n for each in candidates for n in each.overlap}, key=lambda n: (len(n), n))
    overlaps, reason = {}, None
    for n in lengths:
        values = []
        for each in candidates:
            loo = each.extra.get(LOO_COLUMN)
            if isinstance(loo, dict) and n in loo:
                values.append(loo[n])
            else:
                values.append(None if each.label == MEMBER else each.overlap.get(n))
        shares = np.array(values, dtype=np.float64)
        for side in (MEMBER, 0):
            of_side = [row for row, each in enumerate(candidates) if each.label == side]
            if np.isnan(shares[of_side]).all():
                measured = any(candidates[row].overlap.get(n) is not None for row in of_side)
                reason = NO_LOO if side == MEMBER and measured else reason or "no_overlap"
                break
        else:
            overlaps[n] = shares
    return overlaps, reason
