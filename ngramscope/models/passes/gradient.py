"""Norms of the gradient of a text's loss."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscope.models.passes.base import PassTexts, pass_kind
from ngramscope.sets.base import Candidate

__all__ = ["gradient"]


@pass_kind(
    "gradient",
    summary="Norms of the gradient of the loss of each text; no statistics of tokens.",
    source="Duan et al. 2024, A.4 (gradient norm)",
    statistics=(),
    scalars=tuple(f"gradient_{aggregate}_{norm}" for aggregate in ("mean", "global") for norm in ("1", "2", "inf")),
)
def gradient(candidates: Sequence[Candidate]) -> PassTexts:
    """One text a candidate."""
    return PassTexts.of(each.text for each in candidates)
