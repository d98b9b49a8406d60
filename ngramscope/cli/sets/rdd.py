"""``ngramscope sets rdd``."""

from __future__ import annotations

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import console_options, read_options
from ngramscope.cli.sets._dates import check_outputs, cutoff_options, left_out_option, tell
from ngramscope.cli.sets._options import key_options, out_option
from ngramscope.index.options import ReadOptions
from ngramscope.sets.dates import RESOLUTIONS
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.temporal import CutoffOptions, rdd

__all__ = ["command"]


@click.command("rdd", short_help="All documents near a cutoff, with their distance to it.")
@click.argument("files", nargs=-1, required=True)
@out_option
@click.option("--window", required=True, metavar="TIME", help="Take documents from so long before and after: 180d, 26w.")
@click.option(
    "--coarsest", type=click.Choice(RESOLUTIONS), default="day", show_default=True,
    help="Leave out dates that are less exact than this.",
)  # fmt: skip
@cutoff_options
@left_out_option
@key_options
@read_options
@console_options("Print the summary as one JSON object on standard output.")
def command(
    files: tuple[str, ...],
    out: str,
    window: str,
    coarsest: str,
    options: CutoffOptions,
    left_out: str | None,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    """Make a set for a regression-discontinuity test: all documents of FILES from within a window around a cutoff.

    Column distance_days is how many days after the cutoff a document's date begins; members, from before it, have negative
    distances. docs/sets/temporal.md has the rules.

    \b
    Example:
      ngramscope sets rdd news.jsonl --cutoff 2023-03-01 --window 180d --out rdd.jsonl
    """
    check_outputs(out=out, left_out=left_out)
    with console.open():
        header = rdd(
            RecordSource(files, read, keys), out, options,
            window=window, coarsest=coarsest, left_out=left_out, progress=console.progress,
        )  # fmt: skip
        return tell(console, header, out)
