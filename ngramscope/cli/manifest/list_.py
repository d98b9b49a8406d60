"""``ngramscope manifest list``."""

from __future__ import annotations

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import console_options
from ngramscope.corpus.manifest import bundled_manifests, load_manifest

__all__ = ["command"]

_SHOWN = 4


@click.command("list", short_help="The manifests that come with the program.")
@console_options("Print them as one JSON object.")
def command(console: Console) -> int:
    """List the manifests that come with the program: name, title and splits.

    \b
    Example:
      ngramscope manifest list
    """
    with console.open():
        manifests = [load_manifest(each) for each in bundled_manifests()]
        if console.as_json:
            facts = [
                {"name": each.name, "title": each.title, "licence": each.licence, "splits": each.split_names}
                for each in manifests
            ]
            console.result({"manifests": facts})
        else:
            width = max(len(each.name) for each in manifests)
            for each in manifests:
                names = each.split_names if len(each.split_names) <= _SHOWN else [*each.split_names[:_SHOWN], "..."]
                splits = f" ({', '.join(names)})" if names else ""
                click.echo(f"{each.name:{width}}  {each.title}{splits}")
    return 0
