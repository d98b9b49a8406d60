"""``ngramscope merge``."""

from __future__ import annotations

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import TEXT, console_options, group
from ngramscope.cli._show_build import show_build
from ngramscope.index.build import merge_indexes
from ngramscope.index.options import MergeOptions, index_folder

__all__ = ["command"]

merge_options = group(
    "options",
    MergeOptions,
    [
        click.option("--threads", type=int, metavar="N", help="Default: every core."),
        click.option("--memory", metavar="SIZE", help="Filter bytes in memory at a time. Default: 80% of what is free."),
        click.option("--force", is_flag=True, help="Replace an index that is there already."),
        click.option("--accept-overfull", is_flag=True, help="Keep a filter above 1.05 times its target rate."),
        click.option(
            "--name", type=TEXT, metavar="NAME", help="Name of the corpus.  [default: that of the parts, if they agree]"
        ),
    ],
)


@click.command("merge", short_help="Make one index of the parts of a corpus, or add data to an index.")
@click.argument("parts", nargs=-1, required=True)
@click.option("--out", metavar="DIR", help="Folder of the merged index.  [default: $NGRAMSCOPE_INDEX, else ./ngramscope-index]")
@merge_options
@console_options("Print the index's description and times as one JSON object.")
def command(parts: tuple[str, ...], out: str | None, options: MergeOptions, console: Console) -> int:
    """Merge the indexes in the folders PARTS into one.

    They must have the same geometry: built with the same --expected-ngrams or --plan, or one --like the other. The parts
    of one corpus come out byte for byte as the index that a single build makes.

    \b
    Example:
      ngramscope build-index corpus/ --expected-ngrams 2000000000 --part 1/2 --out part-1
      ngramscope build-index corpus/ --expected-ngrams 2000000000 --part 2/2 --out part-2
      ngramscope merge part-1 part-2 --out index
    """
    folder = index_folder(out)
    with console.open():
        return show_build(merge_indexes(parts, folder, options, progress=console.progress), console)
