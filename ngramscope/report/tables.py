"""Tables of a report: on the page, as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from html import escape
from pathlib import Path

from ngramscope.evaluate.writers import latex_text
from ngramscope.index.output import write_whole
from ngramscope.report.parts import Cell, Column, Number, Table, text_of

__all__ = ["MOST", "save_table", "to_html"]

MOST = 400
"""Rows of a table on the page; files have all."""

_EMPTY = "–"


def to_html(table: Table) -> str:
    """The table, sortable by its heads; exact values are in ``data-value``, ``data-low`` and ``data-high``."""
    # A column that says nothing is not shown; the files have it.
    shown = [at for at in range(len(table.columns)) if any(row[at] not in (None, "") for row in table.rows)]
    heads = "".join(
        f'<th scope="col"{_kind(each)} aria-sort="none"><button type="button">{escape(each.name)}</button></th>'
        for each in (table.columns[at] for at in shown)
    )
    rows = "".join("<tr>" + "".join(_cell(row[at], table.columns[at]) for at in shown) + "</tr>\n" for row in table.rows[:MOST])
    return (
        f'<table class="sortable" data-table="{escape(table.name)}"><caption>{escape(table.caption)}</caption>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table>"
    )


def _kind(column: Column) -> str:
    return "" if column.kind == "text" else ' class="number"'


def _cell(cell: Cell, column: Column) -> str:
    text = f'<span aria-label="no value">{_EMPTY}</span>' if cell is None else escape(text_of(cell, column.kind))
    if cell is None or isinstance(cell, str):
        return f"<td{_kind(column)}>{text}</td>"
    number = cell if isinstance(cell, Number) else Number(cell)
    values = f' data-value="{number.value!r}"'
    if number.low is not None and number.high is not None:
        values += f' data-low="{number.low!r}" data-high="{number.high!r}"'
        first, _, interval = text.partition(" [")
        text = f"{first} <small>[{interval}</small>"
    return f'<td class="number"{values}>{text}</td>'


def save_table(table: Table, folder: Path) -> None:
    """Write ``NAME.csv`` and ``NAME.tex``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    wide = [any(isinstance(row[at], Number) and row[at].low is not None for row in table.rows)  # type: ignore[union-attr]
            for at in range(len(table.columns))]  # fmt: skip
    names: list[str] = []
    for column, interval in zip(table.columns, wide, strict=True):
        names += [column.name, *(f"{column.name} {end}" for end in ("low", "high") if interval)]
    writer.writerow(names)
    for row in table.rows:
        writer.writerow([each for cell, interval in zip(row, wide, strict=True) for each in _plain(cell, interval)])
    write_whole(folder / f"{table.name}.csv", text.getvalue())
    write_whole(folder / f"{table.name}.tex", "\n".join(_latex(table)) + "\n")


def _plain(cell: Cell, interval: bool) -> list[str | int | float | None]:
    number = cell if isinstance(cell, Number) else None
    value = cell if not isinstance(cell, Number) else cell.value
    return [value, *((None, None) if number is None else (number.low, number.high))] if interval else [value]


def _latex(table: Table) -> Iterator[str]:
    yield f"% {table.caption}"
    yield from (f"% {each}" for each in table.notes)
    yield "% Needs \\usepackage{booktabs}."
    yield "\\begin{tabular}{" + "".join("l" if each.kind == "text" else "r" for each in table.columns) + "}"
    yield "\\toprule"
    yield " & ".join(latex_text(each.name) for each in table.columns) + r" \\"
    yield "\\midrule"
    for row in table.rows:
        cells = (latex_text(text_of(cell, column.kind)) or "--" for cell, column in zip(row, table.columns, strict=True))
        yield " & ".join(cells) + r" \\"
    yield "\\bottomrule"
    yield "\\end{tabular}"
