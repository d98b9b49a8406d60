"""What sections of a report are made of: numbers with their intervals in tables, figures, sentences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Chart", "Column", "Number", "Section", "Table", "heads", "text_of"]


@dataclass(frozen=True)
class Number:
    """A number in a cell, with its interval; `mark` stands behind it."""

    value: float
    low: float | None = None
    high: float | None = None
    mark: str = ""

    @classmethod
    def of(cls, value: float | None, interval: Sequence[float] | None = None, mark: str = "") -> Number | None:
        """None of None."""
        low, high = interval or (None, None)
        return None if value is None else cls(value, low, high, mark)

    @classmethod
    def difference(cls, compared: Mapping[str, Any] | None) -> Number | None:
        """Of a `delong.Comparison` as JSON."""
        if compared is None or compared["difference"] is None:
            return None
        return cls(compared["difference"], compared["low"], compared["high"])


Cell = str | int | float | Number | None


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes
    ----------
    name
        Head of the column, and of the CSV file.
    kind
        How its numbers are written: ``text``, ``count``, ``auc`` (three digits), ``difference`` (with sign), ``share`` (per
        cent), ``p``, ``number`` (four significant digits).
    """

    name: str
    kind: str = "text"


def heads(*names: str) -> list[Column]:
    """Columns of these names; behind a colon stands the kind, as in ``AUC:auc``."""
    return [Column(*each.rsplit(":", 1)) for each in names]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    name
        Of its files.
    caption
        What it shows.
    columns, rows
        None is a cell without a value.
    notes
        Lines below: what marks mean, why cells are empty.
    folded
        Whether the page shows it only when asked.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = ()
    folded: bool = False


@dataclass(frozen=True)
class Chart:
    """A figure.

    Attributes
    ----------
    name
        Of its files.
    figure
        Drawn in `charts.INK` and colours of `looks`.
    alt
        What it shows, for those who do not see it.
    caption
        Printed below.
    """

    name: str
    figure: Figure
    alt: str
    caption: str


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes
    ----------
    lead
        Sentences in front.
    parts
        Figures and tables in order; figures that follow each other stand side by side.
    missing
        Why there is nothing to show; None if there is.
    html
        Further content of the page that is neither: safe HTML.
    """

    lead: Sequence[str] = ()
    parts: Sequence[Table | Chart] = ()
    missing: str | None = None
    html: str = field(default="", repr=False)


def text_of(cell: Cell, kind: str) -> str:
    """A cell as people read it; empty for None."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    number = cell if isinstance(cell, Number) else Number(float(cell))
    if kind == "count":
        return f"{number.value:,.0f}{number.mark}"
    if kind == "p":
        return "< .0001" if number.value < 1e-4 else f"{number.value:.4f}"
    write = _WRITTEN.get(kind, _number)
    interval = "" if number.low is None or number.high is None else f" [{write(number.low)}, {write(number.high)}]"
    return f"{write(number.value)}{number.mark}{interval}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"


_WRITTEN: Mapping[str, Callable[[float], str]] = {
    "auc": lambda value: f"{value:.3f}",
    "difference": lambda value: f"{round(value, 3) + 0.0:+.3f}",
    "share": lambda value: f"{100 * value:.2f} %",
}
