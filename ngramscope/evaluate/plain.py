"""Parts of reports for people: tables, numbers with intervals, p-values. What is not there is a dash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ngramscope.evaluate.delong import Comparison

__all__ = ["difference", "number", "p_value", "share", "table"]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with columns of equal width."""
    widths = [max(len(row[at]) for row in (columns, *rows)) for at in range(len(columns))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (columns, *rows)]


def number(value: float | None, interval: Sequence[float] | None = None) -> str:
    """``0.613 [0.550, 0.672]``."""
    if value is None or value != value:
        return "-"
    return f"{value:.3f}" + ("" if interval is None else f" [{interval[0]:.3f}, {interval[1]:.3f}]")


def difference(value: Comparison | Mapping[str, Any] | None) -> str:
    """Of a comparison, or of its fields by name: ``+0.013 [-0.020, +0.046]``."""
    found = vars(value) if isinstance(value, Comparison) else value
    if found is None or found["difference"] is None or found["difference"] != found["difference"]:
        return "-"
    bounds = "" if found["low"] is None else f" [{found['low']:+.3f}, {found['high']:+.3f}]"
    return f"{found['difference']:+.3f}{bounds}"


def share(value: float | None, interval: Sequence[float | None] | None = None, digits: int = 1) -> str:
    """In percent."""
    if value is None:
        return "-"
    low, high = (None, None) if interval is None else interval
    bounds = "" if low is None or high is None else f" [{100 * low:.{digits}f}, {100 * high:.{digits}f}]"
    return f"{100 * value:.{digits}f} %{bounds}"


def p_value(value: float | None) -> str:
    """With four digits."""
    return "-" if value is None else "< .0001" if value < 1e-4 else f"{value:.4f}"
