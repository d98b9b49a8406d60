"""What is done to the texts of a set before a model sees them; one file a kind of pass, found by scanning this package."""

from __future__ import annotations

from ngramscope.models.passes.base import PassKind, PassTexts, Shots, Variant, check_passes, find_pass, pass_kind, pass_kinds

__all__ = ["PassKind", "PassTexts", "Shots", "Variant", "check_passes", "find_pass", "pass_kind", "pass_kinds"]
