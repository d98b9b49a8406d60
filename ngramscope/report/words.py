"""Codes as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["because", "counted", "listed", "moment"]

_REASONS: Mapping[str, str] = {
    "no_member_scores": "no member has a score",
    "no_nonmember_scores": "no non-member has a score",
    "no_scores": "no document has a score",
    "no_common_documents": "no document has a score of every attack",
    "too_few_members": "fewer than 10 members",
    "too_few_nonmembers": "fewer than 10 non-members",
    "too_few_units": "fewer than 10 groups on a side, so no interval",
    "no_part_with_both_sides": "nowhere are both sides",
    "no_stratum_with_both_sides": "no stratum has both sides",
    "one_side_only": "one side only",
    "no_common_support": "the two sides have no overlap in common",
    "effective_sample_too_small": "the weights leave fewer than 10 non-members",
    "raw_auc_not_clearly_above_0.55": "the AUC is too near .5 for a share of its excess",
    "no_leave_one_out_overlap_of_members": (
        "leave-one-out overlap of the members is not known, and their own n-grams are in the corpus, so both sides cannot be "
        "restricted alike"
    ),
    "no_overlap": "no document of a side has an overlap",
}


def because(code: str | None) -> str:
    """A reason in words; empty for None."""
    return "" if code is None else _REASONS.get(code, code.replace("_", " "))


def counted(count: float, one: str, many: str | None = None) -> str:
    """``1 document``, ``2 documents``."""
    return f"{count:,.0f} {one if count == 1 else many or one + 's'}"


def listed(names: list[str]) -> str:
    """``a, b and c``."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def moment(value: Any) -> str:
    """Where a set stands in a series."""
    return f"{value:g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
