"""``ngramscope sets formats``."""

from __future__ import annotations

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import console_options
from ngramscope.sets.formats import formats

__all__ = ["command"]


@click.command("formats", short_help="List the formats that sets are made of and written in.")
@console_options("Print the list as one JSON object on standard output.")
def command(console: Console) -> int:
    """List the formats of sets: what is read, what is written too, and how they say who is a member.

    \b
    Example:
      ngramscope sets formats
    """
    every = formats().values()
    if console.as_json:
        console.result(
            {
                "formats": [
                    {
                        "name": each.name,
                        "read": True,
                        "written": each.keeps is not None,
                        "layout": each.layout,
                        "labels": each.labels,
                    }
                    for each in every
                ]
            }
        )
        return 0
    for each in every:
        click.echo(f"{each.name:<18}{'read, written' if each.keeps is not None else 'read':<15}{each.layout}")
    return 0
