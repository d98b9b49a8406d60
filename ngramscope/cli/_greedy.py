"""Options that take several values, up to the next option: ``--scan a.jsonl b.jsonl``, as shells expand globs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

__all__ = ["GreedyCommand", "GreedyOption"]

_NO_VALUE = "{}: no value given; name at least one"


class GreedyOption(click.Option):
    """An option that takes all words up to the next option, as often as it is given."""

    def __init__(self, *declarations: Any, **settings: Any) -> None:
        super().__init__(*declarations, **{**settings, "multiple": True})


class GreedyCommand(click.Command):
    """A command with `GreedyOption` options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the name of a greedy option before each of its values, which is what click understands."""
        names = {name for parameter in self.params if isinstance(parameter, GreedyOption) for name in parameter.opts}
        spread = list(_spread(args, names))
        try:
            return super().parse_args(ctx, [*spread])  # click empties the list
        except click.MissingParameter as error:
            taken = next((each for each in spread if each in names), None)
            if taken is None or not isinstance(error.param, click.Argument):
                raise
            raise click.UsageError(
                f"{error.param.human_readable_name}: none given; {taken} takes all words up to the next option, so name them "
                "before it"
            ) from None


def _spread(args: Iterable[str], names: set[str]) -> Iterable[str]:
    greedy = ""
    first = False  # the word after the option's name is its value already
    for word in args:
        if word.startswith("-") and word != "-":
            if first:
                raise click.UsageError(_NO_VALUE.format(greedy))
            name, _, value = word.partition("=")
            greedy = name if name in names else ""
            first = bool(greedy) and not value
        elif greedy and not first:
            yield greedy
        else:
            first = False
        yield word
    if first:
        raise click.UsageError(_NO_VALUE.format(greedy))
