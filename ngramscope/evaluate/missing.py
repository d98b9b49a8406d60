"""One rule for scores that cannot be ranked: null, NaN, or infinite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask

__all__ = ["NOTHING", "NO_MEMBERS", "NO_NONMEMBERS", "RULES", "Usable", "usable"]

NO_MEMBERS, NO_NONMEMBERS, NOTHING = "no_member_scores", "no_nonmember_scores", "no_scores"

RULES = ("complete", "per-attack")
"""``complete``: all attacks on the documents that every one of them has a score for. ``per-attack``: each on its own."""


@dataclass(frozen=True, eq=False)
class Usable:
    """Scores as they are evaluated.

    Attributes
    ----------
    scores
        (A, N): NaN where the document is not used.
    sizes
        For each attack how many members and non-members have a finite score.
    empty
        For each attack why it has no numbers: no finite score on one side (`NO_MEMBERS`, `NO_NONMEMBERS`) or on both
        (`NOTHING`); else None. Such attacks take no documents from the others.
    undefined
        For each attack how many scores are undefined, by reason (that of the table, ``nan`` or ``infinite``).
    """

    scores: Floats
    sizes: tuple[tuple[int, int], ...]
    empty: tuple[str | None, ...]
    undefined: tuple[Mapping[str, int], ...]


def usable(scores: Floats, members: Mask, reasons: Sequence[Sequence[str | None]], rule: str = RULES[0]) -> Usable:
    """Apply the rule.

    Parameters
    ----------
    scores
        (A, N), as in a table: NaN for null.
    members
        (N,).
    reasons
        For each attack N reasons of nulls, or None.
    """
    finite = np.array(np.isfinite(scores), dtype=np.bool_)
    sizes = np.stack([(finite & side).sum(axis=1) for side in (members, ~members)], axis=1)
    there = sizes.min(axis=1) > 0
    undefined = tuple(
        dict(Counter(_reason(values[row], codes[row]) for row in np.flatnonzero(~here).tolist()))
        for values, codes, here in zip(scores, reasons, finite, strict=True)
    )
    kept = finite & there[:, None]
    if rule == "complete":
        kept &= finite[there].all(axis=0)
    names = {(True, True): None, (False, True): NO_MEMBERS, (True, False): NO_NONMEMBERS, (False, False): NOTHING}
    empty = tuple(names[ones > 0, zeros > 0] for ones, zeros in sizes.tolist())
    return Usable(np.where(kept, scores, np.nan), tuple(map(tuple, sizes.tolist())), empty, undefined)


def _reason(score: float, code: str | None) -> str:
    return "infinite" if np.isinf(score) else code or "nan"
