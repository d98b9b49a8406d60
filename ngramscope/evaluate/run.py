"""A whole evaluation of a score table."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.base import BlindInputs
from ngramscope.errors import InputError
from ngramscope.evaluate.blind_line import blind_line
from ngramscope.evaluate.blind_section import blind_section, no_blind, warnings_of
from ngramscope.evaluate.blocks import ALL, blocks
from ngramscope.evaluate.columns import check_overlaps, only, strata_by
from ngramscope.evaluate.evidence import evidence_of, of_blind
from ngramscope.evaluate.lines import lines_of
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.overlap_section import overlap_sections
from ngramscope.evaluate.overlaps import lengths
from ngramscope.evaluate.prepare import prepare
from ngramscope.evaluate.randomization import assignments, randomization_p
from ngramscope.evaluate.report import REPORT_VERSION, AttackRow, Report, StabilityRow
from ngramscope.evaluate.rows import attack_rows
from ngramscope.evaluate.sections import (
    change_rows,
    check_shared,
    modified_rows,
    pair_rows,
    stability_rows,
    stratum_rows,
    transfer_rows,
)
from ngramscope.evaluate.verdict import decide
from ngramscope.progress import Step
from ngramscope.sets.randomized_files import Key
from ngramscope.sizes import counted

__all__ = ["evaluate", "file_facts"]

_NAMED = 5
"""Most attacks that a warning names."""


def evaluate(
    table: ScoreTable,
    options: EvaluationOptions | None = None,
    *,
    against: ScoreTable | None = None,
    modified: ScoreTable | None = None,
    key: Key | None = None,
    texts: BlindInputs | None = None,
    no_texts: str = "no texts were given",
    inputs: Sequence[Mapping[str, Any]] = (),
    progress: Callable[[Step], object] | None = None,
) -> Report:
    """Evaluate every attack of a table.

    Parameters
    ----------
    table
        Scores of members and non-members.
    options
        None: the defaults.
    against
        Scores of another set by the same attacks and models: thresholds are carried over, AUCs compared.
    modified
        Scores of members that were edited (``ngramscope sets perturb``): how many are still flagged.
    key
        Of a set that ``ngramscope sets randomize`` wrote: the verdict is then by the draws of its design.
    texts
        Of the table's documents, row by row: what blind baselines see, see `blind.texts.texts_of`.
    no_texts
        Why there are none.
    inputs
        Facts of the tables' files for the report's header, see `file_facts`.
    progress
        Called after every block of resamples.

    Returns
    -------
    Report
        The same for the same scores, options and seed, whatever the order of documents and the number of threads.

    Raises
    ------
    InputError
        The table has no attack, or shares none with the other table, or is not of the key.
    UsageError
        A column or an attack that is not there.
    """
    options = options or EvaluationOptions()
    if not table.columns:
        raise InputError("the score table has no attack; ngramscope attack makes one")
    table = only(table, options.attacks)
    data = prepare(table, options.group)
    by = strata_by(table, data, options)
    check_overlaps(table, data, options)
    unit = data.unit
    drawn_sides = None if key is None else assignments(table, data, key)
    chance: dict[str, float] | None = None if key is None else {}
    rows: list[AttackRow] = []
    stability: list[StabilityRow] = []
    found = blocks(data, options.missing)
    whole = found[0] if found[0].split == ALL else None
    if whole:
        check_shared(whole, against)
        check_shared(whole, modified)
    for number, block in enumerate(found):

        def step(done: int, number: int = number) -> None:
            if progress is not None:
                progress(Step("resample", number * options.bootstrap + done, len(found) * options.bootstrap))

        mine, drawn = attack_rows(block, data.members, unit, options, step)
        rows += mine
        stability += stability_rows(block, mine, drawn, data.members, options)
        if chance is not None and drawn_sides is not None:
            for place, row in enumerate(mine):
                if row.auc is not None:
                    p = randomization_p([part.scores[place] for part in block.parts], drawn_sides)
                    chance.setdefault(f"{row.attack} @ {row.model}", p)

    def fitted(done: int, total: int) -> None:
        if progress is not None:
            progress(Step("blind", done, total))

    def learned(sets: int) -> None:
        if progress is not None:
            progress(Step("blind", sets))

    blind, ceiling = no_blind(no_texts), []
    if texts is not None:
        read = texts.take(data.rows)
        blind = blind_section(found, rows, data, read, options, fitted)
        if lengths(table, options.overlap) and (line := blind_line(read, data, options, learned)) is not None:
            ceiling.append(line)
    other = None if against is None else prepare(against, options.group)
    used = int(found[0].measured.used.any(axis=0).sum())
    counts = {
        "documents": len(table.labels),
        "unlabelled": data.unlabelled,
        "members": int(data.members.sum()),
        "nonmembers": int((~data.members).sum()),
        "used": used,
        "left_out": len(data.members) - used,
        "units": None if unit is None else len(np.unique(unit)),
    }
    return Report(
        header=provenance.stamp("evaluation", version=REPORT_VERSION, settings=asdict(options), inputs=inputs),
        counts=counts,
        rows=tuple(rows),
        pairs=tuple(pair_rows(whole, data.members, unit, options)) if whole and options.pairs else (),
        strata=tuple(stratum_rows(whole, data, by, options)) if whole else (),
        transfer=tuple(transfer_rows(whole, data, other, options)) if whole and other else (),
        modified=tuple(modified_rows(whole, data, modified, options)) if whole and modified else (),
        changes=tuple(change_rows(whole, data, other, options)) if whole and other else (),
        stability=tuple(stability),
        overlap=tuple(overlap_sections([*lines_of(found), *ceiling], data, table, options)),
        verdict=decide(evidence_of(rows, *of_blind(blind), chance)),
        blind=blind,
        warnings=(*warnings_of(blind), *_warnings(rows, counts, options)),
    )


def file_facts(path: Path) -> dict[str, Any]:
    """Name, size and digest of a file, for a header."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    return {"name": path.name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _warnings(rows: Sequence[AttackRow], counts: Mapping[str, Any], options: EvaluationOptions) -> list[str]:
    found = []
    if counts["unlabelled"]:
        found.append(f"{counted(counts['unlabelled'], 'document')} without a label not used")
    empty = [side for side, count in (("members", counts["members"]), ("non-members", counts["nonmembers"])) if not count]
    if len(empty) == 1:
        found.append(f"the set has no {empty[0]}, so there is nothing to tell apart")
    if counts["left_out"] and not empty:
        found.append(
            f"{counted(counts['left_out'], 'document')} without a score of "
            + ("some attack; all attacks are evaluated on the others" if options.missing == "complete" else "any attack")
        )
    missing: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.reason is not None:
            missing.setdefault(row.reason, {})[f"{row.attack} @ {row.model}"] = None
    for reason, attacks in missing.items():
        first = ", ".join([*attacks][:_NAMED])
        more = f" and {len(attacks) - _NAMED:,} more" if len(attacks) > _NAMED else ""
        found.append(f"no numbers for {first}{more} ({reason})")
    if not any(row.attack == options.baseline for row in rows):
        found.append(
            f"no attack {options.baseline}, so nothing is compared with it; --baseline names another"
            + (", --attack adds it" if options.attacks else "")
        )
    unsure = sorted({each.target for row in rows for each in row.tprs if each.unreliable})
    if unsure:
        rates = ", ".join(f"{100 * each:g} %" for each in unsure)
        found.append(f"TPRs at {rates} FPR are unreliable: too few documents")
    return found
