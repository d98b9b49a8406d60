"""CSV with any columns."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from ngramscope.index.output import TableFile, TableWriter
from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._plain import PlainFormat
from ngramscope.sets.formats.base import SetToExport, SetWriter

__all__ = ["FORMAT"]


class Csv(PlainFormat):
    """A header line, commas (tabs in ``.tsv``), UTF-8.

    An empty cell is null, of the text an empty text. All values are strings; lists and objects are written as JSON texts and
    stay so.
    """

    name = "csv"
    layout = "CSV, or TSV by its ending: --text-key, --label-key and so on name the columns"
    kind = "csv"

    def writer(self, out: Path, source: SetToExport) -> SetWriter:
        """See `Format`."""
        return TableFile(out, {".csv": _csv_lines(self, source)}, with_source=False)


def _csv_lines(form: PlainFormat, source: SetToExport) -> type[TableWriter[list[Candidate]]]:
    class CsvLines(TableWriter[list[Candidate]]):
        def __init__(self, stream: IO[bytes], *, with_source: bool) -> None:
            super().__init__(stream, with_source=with_source)
            self._text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
            # Every string in quotes: not all readers take a lone carriage return without.
            self._csv = csv.writer(self._text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
            self._csv.writerow(form.columns(source))

        def write(self, table: list[Candidate]) -> None:
            self._csv.writerows([_cell(value) for value in form.row(each, source).values()] for each in table)

        def close(self, provenance: Mapping[str, Any]) -> None:  # noqa: ARG002 - kept beside the file
            self._text.detach()

    return CsvLines


def _cell(value: Any) -> Any:
    return value if value is None or type(value) in (str, int, float) else json.dumps(value, ensure_ascii=False)


FORMAT = Csv()
