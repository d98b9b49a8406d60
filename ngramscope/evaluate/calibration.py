"""How AUCs change from one set to another, attack by attack, and whether they change together.

Attacks that calibrate a text's difficulty (by a reference model, by its zlib size) are less moved by a shift in what the
texts are about than those that do not (loss, Min-K%). Where they part when non-members are thresholded by overlap, the AUC
that was won is a sign of shift, not of membership (Duan et al. 2024, B.2).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ngramscope.evaluate.auc import Mask
from ngramscope.evaluate.delong import Comparison, Measured, compare, standard_error
from ngramscope.evaluate.groups import Ints

__all__ = ["CALIBRATED", "FREE", "Change", "calibration", "kind"]

FREE, CALIBRATED = "calibration-free", "calibrated"
_KINDS = {"loss": FREE, "min-k": FREE, "ref": CALIBRATED, "smaller-ref": CALIBRATED, "zlib": CALIBRATED}


def kind(attack: str) -> str | None:
    """`FREE` or `CALIBRATED`, of an attack with whatever options; None for those that are neither plainly."""
    return _KINDS.get(re.split(r"[(.@]", attack, maxsplit=1)[0])


@dataclass(frozen=True)
class Change:
    """How AUCs differ between two sets.

    Attributes
    ----------
    attacks
        Second less first, of each attack.
    divergence
        Mean change of the calibration-free attacks less that of the calibrated ones; None unless both are there.
    sign_of_shift
        Whether the interval of the divergence leaves 0 out; None where that is not known.
    """

    attacks: tuple[Comparison, ...]
    divergence: Comparison | None
    sign_of_shift: bool | None


def calibration(
    attacks: Sequence[str], first: Measured, second: Measured, members: Mask, unit: Ints | None, level: float = 0.95
) -> Change:
    """Compare the AUCs of attacks, by name, on two sets.

    Both are measured over the documents of both sets, (A, N), with NaN for those of the other only; so documents that are in
    both sets count as pairs.
    """
    changed = second.auc - first.auc
    moved = second.moved - first.moved
    used = first.used | second.used

    def contrast(weights: np.typing.NDArray[np.float64]) -> Comparison:
        chosen = weights != 0
        error = standard_error(weights[chosen] @ moved[chosen], used[chosen].any(axis=0), members, unit)
        return compare(float(weights[chosen] @ changed[chosen]), error, level)

    known = ~np.isnan(changed)
    each = tuple(
        contrast(row) if there else Comparison(float("nan"), None, None, None)
        for row, there in zip(np.eye(len(attacks)), known, strict=True)
    )
    sides = [known & np.array([kind(name) == what for name in attacks], dtype=bool) for what in (FREE, CALIBRATED)]
    if not all(side.any() for side in sides):
        return Change(each, None, None)
    divergence = contrast(sides[0] / sides[0].sum() - sides[1] / sides[1].sum())
    sign = None if divergence.low is None or divergence.high is None else not divergence.low <= 0 <= divergence.high
    return Change(each, divergence, sign)
