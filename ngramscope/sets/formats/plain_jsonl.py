"""JSON Lines with any keys."""

from __future__ import annotations

from pathlib import Path

from ngramscope.sets.formats._lines import line_file
from ngramscope.sets.formats._plain import PlainFormat
from ngramscope.sets.formats.base import SetToExport, SetWriter

__all__ = ["FORMAT"]


class JsonLines(PlainFormat):
    """One object a line; dots in keys step into objects."""

    name = "jsonl"
    layout = "JSON Lines: --text-key, --label-key, --id-key, --date-key, --group-key, --domain-key name the keys"
    kind = "objects"

    def writer(self, out: Path, source: SetToExport) -> SetWriter:
        """See `Format`."""
        return line_file(out, self, source)


FORMAT = JsonLines()
