"""Members before every text: the counterpart of the pass ``prefix``."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscope.models.passes._shots import choose_shots
from ngramscope.models.passes.base import PassTexts, pass_kind
from ngramscope.sets.base import MEMBER, Candidate

__all__ = ["prefix_members"]


@pass_kind(
    "prefix-members",
    summary="Members before every text; only the text is scored.",
    source="Wang et al. 2024 (Con-ReCall)",
    scalars=("shots",),
    options={
        "member_shots_file": "Pass prefix-members: take the shots from this file, which has no candidate. Default: members of "
        "the set.",
    },
)
def prefix_members(
    candidates: Sequence[Candidate], *, shots: int = 12, member_shots_file: str | None = None, seed: int = 0
) -> PassTexts:
    """One text a candidate, after the shots that fit."""
    chosen = choose_shots(
        candidates, label=MEMBER, shots=shots, file=member_shots_file, option="--member-shots-file", seed=seed
    )
    return PassTexts.of((each.text for each in candidates), chosen)
