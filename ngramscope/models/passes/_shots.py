"""Texts that stand before those that are scored: from a file, or drawn from the set."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscope.checks import check_integer
from ngramscope.errors import InputError, UsageError
from ngramscope.models.passes.base import Shots
from ngramscope.sets.base import Candidate, side
from ngramscope.sets.records import RecordSource
from ngramscope.sets.seeds import draw

__all__ = ["choose_shots"]

_MAX_SHOTS = 1000


def choose_shots(candidates: Sequence[Candidate], *, label: int, shots: int, file: str | None, option: str, seed: int) -> Shots:
    """Shots of one side.

    Parameters
    ----------
    label
        The side.
    shots
        How many; of a file that has more, those that the seed draws.
    file
        Documents or a candidate set; None draws from `candidates`.
    option
        That names the file, for messages.

    Raises
    ------
    UsageError
        Fewer than `shots` are there.
    InputError
        A shot from the file is also a candidate; a file that cannot be used.
    """
    check_integer("--shots", shots, 0, _MAX_SHOTS)
    where = "the set" if file is None else file
    pool = {
        each.text
        for each in (candidates if file is None else RecordSource((file,)).open().candidates())
        if each.text.strip() and (each.label == label or (file is not None and each.label is None))
    }
    if len(pool) < shots:
        raise UsageError(
            f"--shots {shots}: {where} has {len(pool)} different texts of {side(label)} to draw from; "
            f"give fewer, or {option} FILE"
        )
    # By content, not by place: the order of the set does not matter.
    chosen = sorted(pool, key=lambda text: (draw(seed, "shots", text), text))[:shots]
    taken = set(chosen)
    rows = tuple(row for row, each in enumerate(candidates) if each.text in taken)
    if file is not None and rows:
        raise InputError(
            f"{option}: {file}: {len(rows)} of its texts are candidates of the set too, the first is candidate {rows[0]} "
            f"(id {candidates[rows[0]].id!r}); take other texts, or leave {option} out: shots drawn from the set are recorded, "
            "and left out of the evaluation"
        )
    return Shots(tuple(chosen), rows)
