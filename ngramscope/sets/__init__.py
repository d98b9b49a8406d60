"""Candidate sets: labelled texts whose construction anyone can repeat and judge."""

from __future__ import annotations

from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate, open_header
from ngramscope.sets.overlaps import OverlapOptions, Overlaps
from ngramscope.sets.records import Keys, Records, RecordSource
from ngramscope.sets.writer import SetFile, Step

__all__ = [
    "MEMBER",
    "NONMEMBER",
    "Candidate",
    "Keys",
    "OverlapOptions",
    "Overlaps",
    "RecordSource",
    "Records",
    "SetFile",
    "Step",
    "open_header",
]
