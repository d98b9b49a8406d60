"""``ngramscope sets``: labelled sets of candidates, by rules that can be repeated."""

from __future__ import annotations

import click

from ngramscope.cli._commands import Commands

__all__ = ["command"]


@click.group(
    "sets",
    cls=Commands,
    package=__name__,
    path=__path__,
    short_help="Sets of members and non-members: sample, filter, match, convert.",
)
def command() -> None:
    """Make labelled sets of members and non-members, step by step.

    Each step reads documents or a set and writes a set: JSON Lines, and beside it NAME.meta.json, which says by which rules
    and from what it was made, what was left out at every step and why, and how members and non-members compare. docs/sets.md
    explains the rules.

    \b
    Example:
      ngramscope sets sample --members train/ --nonmembers heldout/ --out natural.jsonl
      ngramscope sets thresholded natural.jsonl --index my-index --n 7 --max-overlap 0.2 --out low.jsonl
    """
