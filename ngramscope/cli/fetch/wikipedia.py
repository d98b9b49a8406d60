"""``ngramscope fetch wikipedia``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import TEXT, console_options
from ngramscope.cli.fetch._service import out_option, run, seed_option, service_options
from ngramscope.corpus.services.client import ClientOptions
from ngramscope.corpus.services.wikipedia import TEXT_SOURCES, WikipediaQuery, fetch_wikipedia

__all__ = ["command"]


@click.command("wikipedia", short_help="Articles from Wikipedia, or from another MediaWiki.")
@click.option(
    "--category",
    "categories",
    multiple=True,
    type=TEXT,
    metavar="NAME",
    help="Articles of this category, as '2023 events'; repeatable: in any of them.",
)
@click.option("--depth", type=int, default=0, show_default=True, metavar="N", help="And of its subcategories, N levels down.")
@click.option("--titles", metavar="FILE", help="Or articles by title, one a line.")
@click.option(
    "--from", "first_month", metavar="MONTH", help="Or those created from this month on, as 2023-01, by the wiki's log."
)
@click.option("--to", "last_month", metavar="MONTH", help="Last month of creation.")
@click.option(
    "--created-after",
    metavar="DATE",
    help="Only articles created on this date (or ISO time, or month; UTC) or after it.",
)
@click.option("--created-before", metavar="DATE", help="Only articles created before it.")
@click.option("--as-of", metavar="DATE", help="Text as it was: of the last revision before this date.")
@click.option(
    "--text-source",
    type=click.Choice(TEXT_SOURCES),
    help="extracts: plain text of the newest revision, made by the wiki. parse: from the rendered page, also of old revisions. "
    " [default: extracts; parse with --as-of]",
)
@click.option("--language", default="en", show_default=True, metavar="CODE", help="The Wikipedia of this language.")
@click.option("--api-url", metavar="URL", help="Of another wiki's api.php.")
@click.option("--min-words", type=int, default=0, show_default=True, metavar="N", help="Words of an article, at least.")
@click.option("--limit", type=int, metavar="N", help="Take at most N articles, chosen by --seed.")
@click.option("--per-month", type=int, metavar="N", help="Take at most N articles created in each month, chosen by --seed.")
@click.option("--follow-redirects", is_flag=True, help="Take the article that a redirect leads to; else it is left out.")
@seed_option
@out_option
@service_options
@console_options("Print the summary as one JSON object on standard output.")
def command(out: str, titles: str | None, service: ClientOptions, console: Console, **options: Any) -> int:
    """Fetch articles with the date each was created on, that of its first revision.

    The text of a record is the title, an empty line, and the article without tables, boxes and notes. Members and non-members
    of one set should have the same --text-source.

    \b
    Example:
      ngramscope fetch wikipedia --category "2023 events" --depth 2 --created-after 2023-01 --out events.jsonl
      ngramscope fetch wikipedia --from 2023-03 --to 2023-06 --per-month 200 --out new.jsonl
      ngramscope fetch wikipedia --titles titles.txt --as-of 2020-03-01 --out before.jsonl
    """  # fmt: skip
    query = WikipediaQuery(titles=None if titles is None else Path(titles), **options)
    return run(lambda: fetch_wikipedia(query, Path(out), options=service, progress=console.progress), out, console)
