"""Columns of a score table by the names that people give: of attacks, and of documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ngramscope.attacks.table import ScoreColumn, ScoreTable
from ngramscope.errors import UsageError
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.overlaps import document_overlap, lengths
from ngramscope.evaluate.prepare import Prepared
from ngramscope.evaluate.splits import seed_of
from ngramscope.evaluate.strata import Strata, stratify

__all__ = ["check_overlaps", "named", "only", "strata_by"]


def named(columns: Sequence[ScoreColumn], names: Sequence[str]) -> list[ScoreColumn]:
    """The columns, in their order, that one of `names` stands for.

    A name is an attack with its signal and options (``loss``, ``camia.loss-200``, ``min-k(k=0.1)``), a learned attack without
    its seed, or a column (``loss @ MODEL``).

    Raises
    ------
    UsageError
        A name that stands for nothing; lists the attacks that there are.
    """
    spelled = [{each.attack, each.name, (base := seed_of(each.attack)[0]), replace(each, attack=base).name} for each in columns]
    for name in names:
        if not any(name in each for each in spelled):
            listed = ", ".join(dict.fromkeys(each.attack for each in columns))
            raise UsageError(f"--attack: no attack {name!r}; the table has: {listed or 'none'}")
    return [column for column, each in zip(columns, spelled, strict=True) if each & set(names)]


def only(table: ScoreTable, names: Sequence[str]) -> ScoreTable:
    """The table with the columns that `names` stand for, and the same attacks on placebo models; without names all of it.

    Raises
    ------
    UsageError
        See `named`.
    """
    if not names:
        return table
    chosen = named(table.columns, names)
    kept, attacks = {each.name for each in chosen}, {each.attack for each in chosen}
    return replace(
        table,
        columns=tuple(
            each for each in table.columns if each.name in kept or (each.role == "placebo" and each.attack in attacks)
        ),
    )


def strata_by(table: ScoreTable, data: Prepared, options: EvaluationOptions) -> dict[str, Strata]:
    """The strata of each column of `EvaluationOptions.by`.

    Raises
    ------
    UsageError
        A column that the table lacks, or whose values are no strata.
    """
    known = table.documents.column_names
    found = {}
    for column in options.by:
        if column not in known:
            raise UsageError(
                f"--by: no column {column!r}; the table has: {', '.join(known)}; "
                f"score --field {column}, or fields of [keys] in a study, carries a key of the documents along"
            )
        values = table.documents[column].to_pylist()
        found[column] = stratify([values[row] for row in data.rows.tolist()], options.bins, name=column)
    return found


def check_overlaps(table: ScoreTable, data: Prepared, options: EvaluationOptions) -> None:
    """Read the overlaps that are to be looked at.

    Raises
    ------
    UsageError
        A length that the table lacks, or a column of something else than numbers.
    """
    for n in lengths(table, options.overlap):
        document_overlap(table, data, n, options.member_overlap)
