"""When a text counts as contaminated, and what is cut out of it: options and the named presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

from ngramscope._core import CUTS, MAX_N, UNITS
from ngramscope.checks import MAX_COUNT, check_choice, check_integer, check_optional, check_share, check_switch
from ngramscope.errors import UsageError

__all__ = ["PRESETS", "DecontaminationRules"]


@dataclass(frozen=True, kw_only=True)
class DecontaminationRules:
    """When a unit of text is contaminated, and what is cut out.

    A unit is contaminated when it breaks any of the rules that are given: `max_overlap`, `max_hits`, `max_run`. A text is
    contaminated when a unit of it is, or when it breaks `max_near`.

    Parameters
    ----------
    n
        Length of the n-grams, in words.
    unit
        What is judged by itself: ``document``, or ``paragraph`` (each line, as in bff).
    min_n
        A unit of fewer than n words and at least so many is one n-gram by itself, in reference and texts; None: it has none.
    max_overlap, max_inclusive
        Share of a unit's n-grams, occurrences counted, from which on it is contaminated; with `max_inclusive` that very share
        is clean.
    max_hits, max_run
        Most n-grams, and most consecutive n-grams, that a clean unit may share with the reference.
    max_documents
        n-grams that more of the texts have do not count; they are counted in a first reading.
    near
        Length of the n-grams of the near-match score; 0 leaves it out.
    max_near
        Near-match score above which a text is contaminated.
    cut
        What is cut out of a contaminated text: ``matches``, or its contaminated ``units``.
    around
        Characters (code points) that go with it on either side.
    min_piece
        Pieces of fewer characters go too.
    max_pieces
        A text that would fall into more pieces goes as a whole; None: any number.
    """

    n: int = 13
    unit: str = "document"
    min_n: int | None = None
    max_overlap: float | None = None
    max_inclusive: bool = False
    max_hits: int | None = None
    max_run: int | None = None
    max_documents: int | None = None
    near: int = 5
    max_near: float | None = None
    cut: str = "matches"
    around: int = 0
    min_piece: int = 0
    max_pieces: int | None = None

    def __post_init__(self) -> None:
        check_integer("--n", self.n, 1, MAX_N)
        check_optional("--min-n", self.min_n, 1, MAX_N)
        for option, count in (
            ("--max-hits", self.max_hits),
            ("--max-run", self.max_run),
            ("--max-documents", self.max_documents),
            ("--max-pieces", self.max_pieces),
        ):
            check_optional(option, count, 0, MAX_COUNT)
        check_integer("--near", self.near, 0, MAX_N)
        check_integer("--around", self.around, 0, MAX_COUNT)
        check_integer("--min-piece", self.min_piece, 0, MAX_COUNT)
        check_switch("--max-inclusive", self.max_inclusive)
        check_share("--max-overlap", self.max_overlap)
        check_share("--max-near", self.max_near)
        check_choice("--unit", self.unit, UNITS)
        check_choice("--cut", self.cut, CUTS)
        if self.min_n is not None and self.min_n > self.n:
            raise UsageError(f"--min-n: {self.min_n} is not possible; units shorter than --n ({self.n}) are what it is for")
        if self.max_near is not None and self.near == 0:
            raise UsageError("--max-near: needs the near-match score; give --near 5 or the like")
        if self.max_inclusive and self.max_overlap is None:
            raise UsageError("--max-inclusive: says what happens at --max-overlap; give that too")

    @classmethod
    def of(cls, preset: str, **given: Any) -> DecontaminationRules:
        """The rules of a preset, with those that are given (not None) in their place.

        Raises
        ------
        UsageError
            There is no such preset.
        """
        if preset not in PRESETS:
            raise UsageError(f"--preset: {preset!r} is not known; known: {', '.join(PRESETS)}")
        names = {each.name for each in fields(cls)}
        values = {name: value for name, value in PRESETS[preset].items() if name in names}
        return cls(**{**values, **{name: value for name, value in given.items() if value is not None}})

    @property
    def removes(self) -> bool:
        """Whether any rule is given, so that a text can be contaminated at all."""
        return any(each is not None for each in (self.max_overlap, self.max_hits, self.max_run, self.max_near))


PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "mimir": {"n": 13, "max_overlap": 0.8},
        "bff": {"n": 13, "min_n": 5, "unit": "paragraph", "max_overlap": 0.8, "max_inclusive": True, "cut": "units"},
        "gpt3": {
            "words": "gpt3",
            "n": 13,
            "max_hits": 0,
            "max_documents": 10,
            "around": 200,
            "min_piece": 200,
            "max_pieces": 10,
        },
        "none": {},
    }
)
"""Rules by name: `mimir` after Duan et al. 2024 (MIMIR drops non-members with an overlap of 0.8 or more), `bff` after the
program of that name (AllenAI), `gpt3` after Brown et al. 2020, appendix C; `none` has no rule. ``words`` is the word rule that
goes with them."""
