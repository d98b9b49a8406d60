"""``ngramscope sets export``."""

from __future__ import annotations

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import TEXT, console_options, group
from ngramscope.sets.formats import ExportOptions, export_set
from ngramscope.sizes import counted

__all__ = ["command"]

export_options = group(
    "options",
    ExportOptions,
    [
        click.option("--config", type=TEXT, metavar="NAME", help="mimir: first part of the files' names, as wikipedia_(en)."),
        click.option("--split", type=TEXT, metavar="NAME", help="mimir: second part, as ngram_13_0.8."),
        click.option("--min-words", type=click.IntRange(0), metavar="N", help="mimir: for its folder's name, as the next two."),
        click.option("--max-words", type=click.IntRange(1), metavar="N", help="mimir: words at which texts were cut."),
        click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="mimir: tokens at which texts were cut."),
        click.option(
            "--flags", default=ExportOptions.flags, show_default=True, type=TEXT, metavar="KEY",
            help="bff: column of the n-gram flags.",
        ),
    ],
)  # fmt: skip


@click.command("export", short_help="Write a set in another format.")
@click.argument("source", metavar="SET")
@click.option(
    "--format", "name", required=True, type=TEXT, metavar="NAME", help="mimir, wikimia, bff, jsonl, csv or parquet.",
)  # fmt: skip
@click.option("--out", required=True, metavar="PATH", help="Write it here: a file, or for mimir a new folder.")
@export_options
@console_options("Print what was written and what was lost as one JSON object on standard output.")
def command(source: str, name: str, out: str, options: ExportOptions, console: Console) -> int:
    """Write the candidate set SET in another format.

    What the format does not hold is lost, and counted by column. Names and numbers that a format needs come from the set's
    history, if it has them. docs/sets/formats.md says what each format holds.

    \b
    Example:
      ngramscope sets export low.jsonl --format mimir --config my_pile --split ngram_7_0.2 --max-tokens 512 --out cache
      ngramscope sets export low.jsonl --format parquet --out low.parquet
    """
    with console.open():
        stamp = export_set(source, out, name, options=options, progress=console.progress)
        if console.as_json:
            console.result(stamp)
        else:
            sides = stamp["counts"]
            console.say(f"wrote {counted(sum(sides.values()), 'candidate')} to {out}")
            if name == "mimir" and sides["members"] != sides["nonmembers"]:
                console.warn(
                    f"{sides['members']:,} members and {sides['nonmembers']:,} non-members; MIMIR's loader pairs them by "
                    "line and drops what is left over"
                )
            # Where candidates came from is in the set's history, which is kept beside the result.
            lost = {column: count for column, count in stamp["lost"].items() if column not in ("source", "position")}
            if lost:
                columns = ", ".join(f"{column} ({count:,})" for column, count in lost.items())
                console.warn(f"{name} does not hold these columns, which so many candidates had: {columns}")
    return 0
