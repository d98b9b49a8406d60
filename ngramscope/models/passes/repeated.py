"""Every text several times in a row: how much does a model learn from the first time?"""

from __future__ import annotations

from collections.abc import Sequence

from ngramscope.checks import check_integer
from ngramscope.models.passes.base import PassTexts, pass_kind
from ngramscope.sets.base import Candidate

__all__ = ["repeated"]


@pass_kind(
    "repeated",
    summary="Copies of the text in a row, with a space between them.",
    source="Chang et al. 2024 (CAMIA), §4; public code: 6 copies",
    options={"copies": "Pass repeated: copies of the text in a row."},
)
def repeated(candidates: Sequence[Candidate], *, copies: int = 6) -> PassTexts:
    """One text a candidate, all of its copies; an empty text stays empty."""
    check_integer("--copies", copies, 2, 1000)
    return PassTexts.of(each.text and " ".join([each.text] * copies) for each in candidates)
