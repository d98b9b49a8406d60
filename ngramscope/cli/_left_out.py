"""What a reader left out, as lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["left_out"]

_SHOWN = 20


def left_out(sources: Iterable[Mapping[str, Any]]) -> list[str]:
    """Lines about records and files that were left out, with the first of them by line; none if nothing was."""
    lines: list[str] = []
    for source in sources:
        name = source["name"]
        for reason, count in source["unusable"].items():
            lines.append(f"{name}: {count:,} {'record' if count == 1 else 'records'} without usable text ({reason})")
        for sample in source.get("samples", ()):
            detail = f": {sample['detail']}" if "detail" in sample else ""
            member = f"/{sample['member']}" if "member" in sample else ""
            lines.append(f"{name}{member}, line {sample['line']}: {sample['reason']}{detail}")
        if "incomplete" in source:
            lines.append(f"{name}: incomplete: {source['incomplete']}")
    if len(lines) > _SHOWN:
        lines[_SHOWN:] = [f"... and {len(lines) - _SHOWN:,} more such lines; --json has them all"]
    return lines
