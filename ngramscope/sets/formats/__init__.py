"""Formats of labelled texts: benchmarks as they are published, and plain tables, to sets and back."""

from __future__ import annotations

from ngramscope.sets.formats.base import ExportOptions, Format, ImportOptions
from ngramscope.sets.formats.exporter import export_set
from ngramscope.sets.formats.importer import Imported, import_set
from ngramscope.sets.formats.registry import detect, find_format, formats

__all__ = [
    "ExportOptions",
    "Format",
    "ImportOptions",
    "Imported",
    "detect",
    "export_set",
    "find_format",
    "formats",
    "import_set",
]
