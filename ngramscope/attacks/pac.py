"""PAC: how far apart likely and unlikely tokens are, against copies with swapped words."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Needs, Scores, attack
from ngramscope.attacks.numbers import Floats, check_number, count_of

__all__ = ["pac", "polarized_distance"]


@attack(
    "pac",
    summary="Polarized distance of copies with swapped words minus that of the text.",
    source="Ye et al. 2024 (PAC)",
    needs=Needs(passes=("plain", "swaps")),
)
def pac(inputs: Inputs, *, near: float = 0.3, far: float = 0.05) -> Scores:
    """(N,): mean polarized distance of the augmentations minus that of the text.

    Parameters
    ----------
    near, far
        Share of least and of most likely tokens, rounded down, at least one.
    """
    check_number("pac.near", near, 0, 1)
    check_number("pac.far", far, 0, 1)
    swapped = inputs.stats("swaps")

    def distance(log_prob: Floats) -> float:
        return polarized_distance(log_prob, near, far)

    return swapped.by_candidate(swapped.per_text(distance), len(inputs)) - inputs.stats().per_text(distance)


def polarized_distance(log_prob: Floats, near: float, far: float) -> float:
    """Mean of the share `far` of highest log-probabilities minus that of the share `near` of lowest."""
    ordered = np.sort(log_prob)
    highest = ordered[len(ordered) - count_of(far, len(ordered)) :]
    return float(highest.mean() - ordered[: count_of(near, len(ordered))].mean())
