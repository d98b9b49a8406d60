"""Which columns of a score table are looked at, and which are their placebos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ngramscope.attacks.table import ScoreColumn, ScoreTable
from ngramscope.errors import UsageError
from ngramscope.evaluate.columns import named
from ngramscope.evaluate.splits import seed_of

__all__ = ["Chosen", "choose"]


@dataclass(frozen=True, eq=False)
class Chosen:
    """An attack on a target model, and the same attack on models that cannot have seen either side."""

    column: ScoreColumn
    placebos: tuple[ScoreColumn, ...]


def choose(
    table: ScoreTable, attacks: Sequence[str] = (), model: str | None = None, placebos: Sequence[str] = ()
) -> list[Chosen]:
    """Columns of the target models.

    Parameters
    ----------
    attacks
        Names, see `evaluate.columns.named`. None: all that learned nothing and whose options are the defaults.
    model
        Only this target; None: all.
    placebos
        Models that are placebos, whatever the table says: a CSV file does not say.

    Raises
    ------
    UsageError
        An attack or model that is not there; lists those that are.
    """
    unknown = [each for each in placebos if not any(column.model == each for column in table.columns)]
    if unknown:
        listed = ", ".join(dict.fromkeys(each.model for each in table.columns))
        raise UsageError(f"--placebo: no model {unknown[0]!r}; the table has: {listed}")
    others = [each for each in table.columns if each.role == "placebo" or each.model in placebos]
    targets = [each for each in table.columns if each not in others and model in (None, each.model)]
    if not targets:
        listed = ", ".join(dict.fromkeys(each.model for each in table.columns if each not in others))
        if model is None:
            raise UsageError("--placebo: no model of the table is left to look at, all are placebos")
        raise UsageError(f"--model: {model!r} is no target model of the table; there are: {listed or 'none'}")
    plain = [each for each in targets if seed_of(each.attack)[1] is None and "(" not in each.attack]
    found = named(targets, attacks) if attacks else plain or targets
    return [Chosen(each, tuple(other for other in others if other.attack == each.attack)) for each in found]
