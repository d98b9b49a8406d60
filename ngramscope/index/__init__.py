"""Indexes of a corpus's n-grams: build, open, ask."""

from __future__ import annotations

from ngramscope.index.build import BuildReport, build_index
from ngramscope.index.open import Index, OverlapStream
from ngramscope.index.options import BuildOptions, QueryOptions, ReadOptions, ScanOptions, WordRule, default_index
from ngramscope.index.scan import Scan
from ngramscope.index.summary import Summary
from ngramscope.index.table import OverlapTable

__all__ = [
    "BuildOptions",
    "BuildReport",
    "Index",
    "OverlapStream",
    "OverlapTable",
    "QueryOptions",
    "ReadOptions",
    "Scan",
    "ScanOptions",
    "Summary",
    "WordRule",
    "build_index",
    "default_index",
]
