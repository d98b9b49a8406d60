"""``ngramscope manifest check``."""

from __future__ import annotations

from pathlib import Path

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._options import console_options
from ngramscope.cli.manifest._named import named
from ngramscope.corpus.copies import check_copies

__all__ = ["command"]


@click.command("check", short_help="Compare local copies with a manifest.")
@click.argument("manifest")
@click.option("--root", metavar="DIR", help="Folder of the copies.  [default: the manifest's]")
@click.option("--count", is_flag=True, help="Also read every file and count its documents.")
@console_options("Print the result as one JSON object.")
def command(manifest: str, root: str | None, count: bool, console: Console) -> int:
    """Compare the local copies of MANIFEST, or of MANIFEST:SPLIT, with what it says: presence, sizes, digests, counts.

    Where no digest was published, that of the download is taken, if it was fetched. Exit code 1 if anything is missing or
    wrong.

    \b
    Example:
      ngramscope manifest check pile:test --root pile
    """
    with console.open():
        corpus, split = named(manifest)
        folder = corpus.path.parent if root is None else Path(root)
        report = check_copies(corpus, folder, split=split, count=count, progress=console.progress)
        if console.as_json:
            console.result(report.to_dict())
        else:
            console.clear()
            for copy in report.copies:
                click.echo(f"{copy.status:<12}  {copy.path}{f': {copy.detail}' if copy.detail else ''}")
            for problem in report.problems:
                click.echo(f"counts        {problem}")
    return 0 if report.sound else _exit.FAILURE
