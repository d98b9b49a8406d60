"""The texts in lower case."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscope.models.passes.base import PassTexts, pass_kind
from ngramscope.sets.base import Candidate

__all__ = ["lowercase"]


@pass_kind("lowercase", summary="The texts in lower case.", source="Carlini et al. 2021, §5.2")
def lowercase(candidates: Sequence[Candidate]) -> PassTexts:
    """One text a candidate."""
    return PassTexts.of(each.text.lower() for each in candidates)
