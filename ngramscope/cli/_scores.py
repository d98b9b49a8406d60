"""What commands on scores share: options of those that read one attack's, and what they write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ngramscope.cli._options import TEXT, group
from ngramscope.errors import ResourceError, UsageError
from ngramscope.index.output import write_whole

if TYPE_CHECKING:
    from ngramscope.attacks.table import ScoreTable
    from ngramscope.cli._console import Console

__all__ = [
    "attack_options",
    "check_report",
    "check_table",
    "column_options",
    "group_options",
    "grouped_values",
    "level_option",
    "placebo_option",
    "show_report",
    "write_report",
    "write_table",
]


def _names(**values: Any) -> dict[str, Any]:
    return values


placebo_option = click.option(
    "--placebo", "placebos", multiple=True, type=TEXT, metavar="MODEL",
    help="This model is a placebo: it cannot have seen either side. A score table says so itself; a CSV file does not.",
)  # fmt: skip

level_option = click.option("--level", type=float, default=0.95, show_default=True, metavar="SHARE", help="Of the intervals.")


def column_options(attack: str = "Only this attack") -> list[Callable[[Any], Any]]:
    """Options of commands that look at many attacks: which columns of the table, and what are placebos."""
    return [
        click.option(
            "--attack", "attacks", multiple=True, type=TEXT, metavar="NAME",
            help=f"{attack}; repeatable. Default: all with their default options that learned nothing.",
        ),
        click.option("--model", type=TEXT, metavar="NAME", help="Only this target model."),
        placebo_option,
    ]  # fmt: skip


def group_options(meaning: str, alone: str = "document") -> list[Callable[[Any], Any]]:
    """Options of what belongs together; `grouped_values` makes one value of the two."""
    return [
        click.option("--group", type=TEXT, default="group", show_default=True, metavar="COLUMN", help=meaning),
        click.option("--ignore-groups", is_flag=True, help=f"Take every {alone} to stand alone."),
    ]


def grouped_values(group: str, ignore_groups: bool, **values: Any) -> dict[str, Any]:
    """Values of options, with the column of groups, or None."""
    return {"group": None if ignore_groups else group, **values}


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


def show_report(console: Console, report: dict[str, Any], text: Callable[[dict[str, Any]], str]) -> None:
    """Print a report as JSON, or as `text` writes it, with its warnings behind."""
    if console.as_json:
        console.result(report)
        return
    console.clear()
    click.echo(text(report))
    for warning in report["warnings"]:
        console.warn(warning)


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
