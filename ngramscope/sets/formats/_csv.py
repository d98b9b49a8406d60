"""Rows of CSV files, in bounded memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ngramscope.errors import InputError
from ngramscope.sets.formats._peek import open_stream, readable

__all__ = ["header", "rows"]


def header(path: Path, shown: str) -> list[str]:
    """Names of the columns."""
    with readable(shown), _open(path) as text:
        return _header(_reader(text, path), shown)


def rows(path: Path, shown: str, *, max_cell: int) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row with the line that it begins in, from 1; the names of the columns are the first row.

    RFC 4180: commas (tabs in ``.tsv``), quotes doubled in quoted cells, which may hold line ends. UTF-8, with or without a
    byte order mark. Empty lines are no rows.

    Parameters
    ----------
    max_cell
        Characters; a longer cell is an error, as where a quote is never closed.

    Raises
    ------
    InputError
        No CSV, not UTF-8, or a row with more or fewer cells than there are columns; names file and line.
    """
    # The module has one limit for all its readers, so it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), max_cell))
    with readable(shown), _open(path) as text:
        reader = _reader(text, path)
        names = _header(reader, shown)
        while True:
            line = reader.line_num + 1
            cells = _next(reader, shown, line)
            if cells is None:
                return
            if not cells:
                continue
            if len(cells) != len(names):
                raise InputError(
                    f"{shown}, line {line}: {len(cells)} cells, but the file has {len(names)} columns ({', '.join(names)})"
                )
            if max(map(len, cells)) > max_cell:
                raise InputError(f"{shown}, line {line}: a cell longer than --max-record-size ({max_cell:,})")
            yield line, dict(zip(names, cells, strict=True))


def _open(path: Path) -> IO[str]:
    return io.TextIOWrapper(open_stream(path), encoding="utf-8-sig", newline="")


def _reader(text: IO[str], path: Path) -> Any:
    tabs = ".tsv" in path.suffixes[-2:]
    return csv.reader(text, delimiter="\t" if tabs else ",", strict=True)


def _header(reader: Any, shown: str) -> list[str]:
    names = _next(reader, shown, 1)
    while names is not None and not names:
        names = _next(reader, shown, reader.line_num + 1)
    if names is None:
        raise InputError(f"{shown}: is empty; a CSV file begins with the names of its columns")
    double = next((each for each in names if names.count(each) > 1), None)
    if double is not None:
        raise InputError(f"{shown}, line 1: two columns have the name {double!r}")
    return names


def _next(reader: Any, shown: str, line: int) -> list[str] | None:
    try:
        cells: list[str] | None = next(reader, None)
    except UnicodeDecodeError as error:
        raise InputError(f"{shown}, line {line} or a little later: not UTF-8: {error.reason}") from error
    except csv.Error as error:
        raise InputError(f"{shown}, line {line}: no CSV: {error}; is a quote not closed or not doubled?") from error
    return cells
