"""The texts as they are."""

from __future__ import annotations

from collections.abc import Sequence

from ngramscope.models.passes.base import PassTexts, pass_kind
from ngramscope.models.stats import DEFAULT_STATISTICS
from ngramscope.sets.base import Candidate

__all__ = ["plain"]


@pass_kind("plain", summary="The texts as they are.", source="Duan et al. 2024, §2", statistics=DEFAULT_STATISTICS)
def plain(candidates: Sequence[Candidate]) -> PassTexts:
    """One text a candidate."""
    return PassTexts.of(each.text for each in candidates)
