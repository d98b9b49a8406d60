"""``ngramscope fetch``: dated documents from public services."""

from __future__ import annotations

import click

from ngramscope.cli._commands import Commands

__all__ = ["command"]


@click.group("fetch", cls=Commands, package=__name__, path=__path__, short_help="Dated documents from Wikipedia and arXiv.")
def command() -> None:
    """Dated documents from public services, as JSON Lines: what temporal sets are made of.

    A service is asked for one thing at a time, slowly, and again when it is busy. What was interrupted goes on when the same
    command is given again; until then FILE.partial keeps the answers. FILE.meta.json says what was asked, when, and what was
    left out and why. docs/sets/fetch.md has the details.

    \b
    Example:
      ngramscope fetch arxiv --category cs.CL --from 2023-01 --to 2023-06 --per-month 500 --out arxiv.jsonl
      ngramscope fetch wikipedia --category "2023 events" --depth 2 --created-after 2023-01 --out events.jsonl
    """
