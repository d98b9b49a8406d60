"""Command groups whose commands are modules, imported when they are asked for: one command does not pay for all."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

__all__ = ["Commands"]


class Commands(click.Group):
    """The commands of a package: each module without a leading underscore, whose `command` it is.

    A command is named as its module, with hyphens; a module may end in an underscore to stay clear of Python's words.

    Parameters
    ----------
    package, path
        The package, and its folders.
    map
        By heading the commands that the help lists under it, in order; others come last. None: one list.
    """

    def __init__(
        self,
        *arguments: Any,
        package: str,
        path: Sequence[str],
        map: Mapping[str, Sequence[str]] | None = None,  # noqa: A002 - what it is
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self._package = package
        self._map = map or {}
        modules = (each.name for each in pkgutil.iter_modules(path) if not each.name.startswith("_"))
        self._modules = {name.rstrip("_").replace("_", "-"): name for name in modules}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names of the commands."""
        return sorted(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command of that name."""
        if cmd_name not in self._modules:
            return None
        command: click.Command = importlib.import_module(f"{self._package}.{self._modules[cmd_name]}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, heading by heading."""
        for heading, names in self._sections(ctx):
            commands = [(name, command) for name in names if (command := self.get_command(ctx, name)) is not None]
            rows = [(name, command.get_short_help_str(formatter.width)) for name, command in commands if not command.hidden]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def _sections(self, ctx: click.Context) -> Iterator[tuple[str, Sequence[str]]]:
        yield from self._map.items()
        named = {name for names in self._map.values() for name in names}
        rest = [name for name in self.list_commands(ctx) if name not in named]
        if rest:
            yield "Other commands" if self._map else "Commands", rest
