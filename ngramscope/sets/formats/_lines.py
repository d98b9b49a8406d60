"""Sets to JSON Lines of other formats."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ngramscope.index.output import TableFile, TableWriter
from ngramscope.sets.base import Candidate
from ngramscope.sets.formats.base import Format, SetToExport

__all__ = ["line_file"]


def line_file(out: Path, form: Format, source: SetToExport) -> TableFile[list[Candidate]]:
    """``.jsonl``, ``.jsonl.gz`` or ``.jsonl.zst``: `Format.row` of each candidate on a line."""

    class Lines(TableWriter[list[Candidate]]):
        def write(self, table: list[Candidate]) -> None:
            for each in table:
                line = json.dumps(form.row(each, source), ensure_ascii=False, allow_nan=False)
                self._stream.write(line.encode("utf-8") + b"\n")

        def close(self, provenance: Mapping[str, Any]) -> None:
            pass

    return TableFile(out, {".jsonl": Lines}, with_source=False)
