"""Attacks that learn are there once for each split of the candidates, and have no scores for those that they learned from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Family", "families", "seed_of"]

# Options stand before the seed, `run_attacks`, or after it.
_LEARNED = re.compile(r"^([^(]+(?:\([^()]*\)[^(@]*)?)@(\d+)(.*)$")


def seed_of(attack: str) -> tuple[str, int | None]:
    """Name of an attack without its seed, and the seed: ``camia-lr(share=0.5)@3`` is ``camia-lr(share=0.5)`` and 3."""
    match = _LEARNED.match(attack)
    return (attack, None) if match is None else (match[1] + match[3], int(match[2]))


@dataclass(frozen=True)
class Family:
    """The columns that are one learned attack on one model.

    Attributes
    ----------
    attack, model
        As in the report, without a seed.
    columns
        For each seed, ascending, the number of its column.
    """

    attack: str
    model: str
    columns: tuple[tuple[int, int], ...]

    @property
    def seeds(self) -> tuple[int, ...]:
        """Of its splits, ascending."""
        return tuple(seed for seed, _ in self.columns)


def families(names: Sequence[tuple[str, str]]) -> tuple[list[int], list[Family]]:
    """Numbers of the columns that are not learned, and the learned attacks; of (attack, model) of each column."""
    plain: list[int] = []
    learned: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for number, (attack, model) in enumerate(names):
        base, seed = seed_of(attack)
        if seed is None:
            plain.append(number)
        else:
            learned.setdefault((base, model), []).append((seed, number))
    return plain, [Family(attack, model, tuple(sorted(found))) for (attack, model), found in learned.items()]
