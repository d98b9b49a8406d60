"""What commands on scores share: options of those that read one attack's, and what they write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ngramscope.cli._options import TEXT, group
from ngramscope.errors import ResourceError, UsageError
from ngramscope.index.output import write_whole

if TYPE_CHECKING:
    from ngramscope.attacks.table import ScoreTable

__all__ = ["attack_options", "check_report", "check_table", "write_report", "write_table"]


def _names(**values: Any) -> dict[str, Any]:
    return values


attack_options = group(
    "named",
    _names,
    [
        click.option(
            "--attack", type=TEXT, metavar="NAME",
            help="The attack, as in the table. Default: the only one of a table. Of a store, any attack, with its defaults.",
        ),
        click.option("--model", type=TEXT, metavar="NAME", help="The model, as in the table. Default: the only target."),
    ],
)  # fmt: skip


def check_report(out: str | None) -> Path | None:
    """Where a report goes, checked before the work begins."""
    path = None if out is None else Path(out)
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise UsageError(f"--out: {path}: not the name of a file in a folder that there is")
    return path


def write_report(path: Path | None, report: dict[str, Any]) -> None:
    """Write a report as JSON, if it goes anywhere."""
    if path is None:
        return
    try:
        write_whole(path, json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    except OSError as error:
        raise ResourceError(f"{path}: cannot write the report: {error.strerror or error}") from error


def check_table(out: str, option: str) -> Path:
    """Where a score table goes, checked before the work begins."""
    path = Path(out)
    if path.suffix != ".parquet" or path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{option}: {out}: not the name of a Parquet file in a folder that there is; write FILE.parquet")
    return path


def write_table(path: Path, table: ScoreTable) -> None:
    """Write a score table."""
    try:
        table.save(path)
    except OSError as error:
        raise ResourceError(f"{path}: cannot be written: {error.strerror or error}") from error
