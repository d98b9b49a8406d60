"""Non-members before every text: the likelihood of a member falls."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscope.models.passes._shots import choose_shots
from ngramscope.models.passes.base import PassTexts, pass_kind
from ngramscope.sets.base import NONMEMBER, Candidate

__all__ = ["prefix"]


@pass_kind(
    "prefix",
    summary="Non-members before every text; only the text is scored.",
    source="Xie et al. 2024 (ReCaLL)",
    scalars=("shots",),
    options={
        "shots": "Passes prefix, prefix-members: texts that stand before each text.",
        "shots_file": "Pass prefix: take the shots from this file, which has no candidate. Default: non-members of the set.",
        "seed": "Draws shots, and the words that are swapped.",
    },
)
def prefix(candidates: Sequence[Candidate], *, shots: int = 12, shots_file: str | None = None, seed: int = 0) -> PassTexts:
    """One text a candidate, after the shots that fit."""
    chosen = choose_shots(candidates, label=NONMEMBER, shots=shots, file=shots_file, option="--shots-file", seed=seed)
    return PassTexts.of((each.text for each in candidates), chosen)
