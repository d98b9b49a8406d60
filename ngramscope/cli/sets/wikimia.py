"""``ngramscope sets wikimia``."""

from __future__ import annotations

from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import TEXT, console_options, group, read_options
from ngramscope.cli.sets._dates import check_outputs, date_options, left_out_option, tell_series
from ngramscope.cli.sets._options import key_options, seed_option
from ngramscope.index.options import ReadOptions
from ngramscope.sets.dates import DateRule
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.wikimia import LENGTHS, WikimiaOptions, wikimia

__all__ = ["command"]


def _values(**values: Any) -> dict[str, Any]:
    return values


page_options = group(
    "pages",
    _values,
    [
        click.option("--members-before", required=True, metavar="DATE", help="Members were created before DATE begins."),
        click.option("--nonmembers-after", required=True, metavar="DATE", help="Non-members were created from DATE on."),
        click.option(
            "--length", "lengths", type=int, multiple=True, default=LENGTHS, show_default=True, metavar="WORDS",
            help="Cut texts to so many words, one set for each; shorter ones are left out of it. Repeatable.",
        ),
        click.option(
            "--title-key", default=WikimiaOptions.title_key, show_default=True, type=TEXT, metavar="KEY",
            help="Key of the title."
        ),
        click.option(
            "--exclude-title", default=WikimiaOptions.exclude_title, show_default=True, metavar="REGEX",
            help="Leave out pages whose title has this; '' takes all, also those without a title.",
        ),
        click.option("--category", metavar="REGEX", help="Take only pages that have this in one of their categories."),
        click.option(
            "--categories-key", default=WikimiaOptions.categories_key, show_default=True, type=TEXT, metavar="KEY",
            help="Key of the categories, a list or a text.",
        ),
        click.option(
            "--paraphrase-key", type=TEXT, metavar="KEY",
            help="Key of another wording of the text: a second set for each length, of the same pages in that wording.",
        ),
        seed_option,
    ],
)  # fmt: skip


@click.command("wikimia", short_help="Pages about new events against older pages, as in WikiMIA.")
@click.argument("files", nargs=-1, required=True)
@click.option("--out-dir", required=True, metavar="DIR", help="Write the sets into this new folder.")
@page_options
@date_options
@left_out_option
@key_options
@read_options
@console_options("Print the summary as one JSON object on standard output.")
def command(
    files: tuple[str, ...],
    out_dir: str,
    pages: dict[str, Any],
    dates: DateRule,
    left_out: str | None,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    """Make sets of the pages in FILES by the rule of WikiMIA: created after a date, or before another.

    --date-key names the date of creation. Each length gives a set, WikiMIA_length32.jsonl and so on: the first words of the
    pages, members and non-members in equal numbers. docs/sets/wikimia.md has the rule.

    \b
    Example:
      ngramscope sets wikimia pages.jsonl --members-before 2017-01-01 --nonmembers-after 2023-01-01 --out-dir wikimia
    """
    check_outputs(out=None, left_out=left_out)
    with console.open():
        options = WikimiaOptions(dates=dates, **pages)
        header = wikimia(RecordSource(files, read, keys), out_dir, options, left_out=left_out, progress=console.progress)
        return tell_series(console, header, out_dir)
