"""What a build or a merge has made, on the console."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._left_out import left_out
from ngramscope.index.build import BuildReport
from ngramscope.sizes import counted, format_count, format_distinct, format_size

__all__ = ["second_tier", "show_build"]


def show_build(report: BuildReport, console: Console) -> int:
    """Tell of a new index; returns the exit code."""
    if console.as_json:
        console.result({"path": str(report.path), "manifest": report.manifest, **report.details, "warnings": report.warnings})
    else:
        console.say(_summary(report))
    return _exit.PARTIAL if report.partial else 0


def second_tier(keys: Mapping[str, Any]) -> str:
    """What the second tier of a set holds, for people."""
    tier = keys["second_tier"]
    fill = "" if tier["fill"] is None else f", filled to {tier['fill']:.1%}"
    return f"{format_distinct(tier['distinct'], keys['kind'])} in at least two documents{fill}"


def _summary(report: BuildReport) -> str:
    manifest = report.manifest
    counts = manifest["counts"]
    seconds = report.details["seconds"]
    lines = []
    if report.details["resumed"] is not None:
        lines.append(f"continued an unfinished build ({report.details['resumed']})")
    lines.append(
        f"read {counted(counts['documents'], 'document')} with {counted(counts['words'], 'word')} "
        f"from {counted(len(manifest['sources']), 'file')}"
    )
    lines.extend(f"  left out: {line}" for line in left_out(report.details["report"]["sources"]))
    for keys in manifest["sets"]:
        distinct = format_distinct(keys["distinct"], keys["kind"])
        rate = f", filled to {keys['fill']:.1%}" if keys["fill"] is not None else ""
        second = f"; {second_tier(keys)}" if "second_tier" in keys else ""
        lines.append(
            f"n = {keys['n']}: {format_count(keys['occurrences'])} n-grams, {distinct} distinct{rate}; "
            f"false-positive rate {keys['rate']:.3g}{second}"
        )
    size = format_size(report.details["index_bytes"])
    demo = ", a DEMONSTRATION index" if manifest["demo"] else ""
    lines.append(f"wrote {report.path} ({size}{demo}) in {seconds['total']:.1f} s")
    return "\n".join(lines)
