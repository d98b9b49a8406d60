"""``ngramscope verify``."""

from __future__ import annotations

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import console_options
from ngramscope.index.open import Index
from ngramscope.sizes import counted, format_size

__all__ = ["command"]


@click.command("verify", short_help="Compare all checksums of an index.")
@click.argument("indexes", nargs=-1, metavar="[INDEX]...")
@console_options("Print the result as one JSON object.")
def command(indexes: tuple[str, ...], console: Console) -> int:
    """Read every byte of INDEX and compare the checksums.

    Opening an index checks its manifest, headers and sizes; only this command reads all of the bits.

    \b
    Example:
      ngramscope verify my-index
    """
    with console.open():
        index = Index.open(indexes or None)
        report = index.verify(progress=console.progress)
        if console.as_json:
            console.result(report)
        else:
            console.clear()
            click.echo(f"sound: {counted(report['files'], 'file')}, {format_size(report['bytes'])}")
    return 0
