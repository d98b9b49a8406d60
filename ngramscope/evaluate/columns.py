"""Columns of a score table by the names that people give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ngramscope.attacks.table import ScoreColumn, ScoreTable
from ngramscope.errors import UsageError
from ngramscope.evaluate.splits import seed_of

__all__ = ["named", "only"]


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
