"""``ngramscope manifest``: what is known of corpora, and their local copies."""

from __future__ import annotations

import click

from ngramscope.cli._commands import Commands

__all__ = ["command"]


@click.group(
    "manifest", cls=Commands, package=__name__, path=__path__, short_help="Corpus manifests: list, show, download and check."
)
def command() -> None:
    """Corpus manifests: TOML files that say where a corpus lives, how it is read, and what its files should be.

    MANIFEST is the path of one, or the name of one that comes with the program.

    \b
    Example:
      ngramscope manifest list
      ngramscope manifest fetch pile:test --out pile
      ngramscope manifest check pile:test --root pile
    """
