"""``ngramscope fetch arxiv``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import TEXT, console_options
from ngramscope.cli.fetch._service import out_option, run, seed_option, service_options
from ngramscope.corpus.services.arxiv import API_URL, ArxivQuery, fetch_arxiv
from ngramscope.corpus.services.client import ClientOptions

__all__ = ["command"]


@click.command("arxiv", short_help="Titles and abstracts from arXiv.")
@click.option(
    "--category",
    "categories",
    multiple=True,
    required=True,
    type=TEXT,
    metavar="NAME",
    help="As cs.CL, primary or secondary; repeatable: in any of them.",
)
@click.option("--from", "first_month", required=True, metavar="MONTH", help="First month, as 2023-01, of the first version.")
@click.option("--to", "last_month", required=True, metavar="MONTH", help="Last month.")
@click.option("--per-month", type=int, metavar="N", help="Take at most N papers of each month, chosen by --seed.")
@click.option("--primary-only", is_flag=True, help="Leave out papers whose primary category is another one.")
@click.option(
    "--unrevised-only",
    is_flag=True,
    help="Leave out papers with later versions: the service has the abstract of the newest only.",
)
@click.option("--min-words", type=int, default=0, show_default=True, metavar="N", help="Words of an abstract, at least.")
@click.option(
    "--page-size", type=int, default=ArxivQuery.page_size, show_default=True, metavar="N", help="Results asked for at a time."
)
@click.option("--api-url", default=API_URL, show_default=True, metavar="URL", help="Of the service, or of a copy of it.")
@seed_option
@out_option
@service_options
@console_options("Print the summary as one JSON object on standard output.")
def command(out: str, service: ClientOptions, console: Console, **options: Any) -> int:
    """Fetch titles and abstracts with the date of each paper's first version, month by month.

    The text of a record is the title, an empty line, and the abstract of the newest version.

    \b
    Example:
      ngramscope fetch arxiv --category cs.CL --from 2023-01 --to 2023-06 --per-month 500 --out arxiv.jsonl
    """  # fmt: skip
    query = ArxivQuery(**options)
    return run(lambda: fetch_arxiv(query, Path(out), options=service, progress=console.progress), out, console)
