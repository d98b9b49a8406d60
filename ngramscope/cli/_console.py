"""What a command says besides its data: messages, progress, log records; all on standard error."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from ngramscope.progress import ProgressLine

__all__ = ["Console"]


class Console:
    """Standard error of one command.

    Parameters
    ----------
    quiet
        Only errors and results.
    verbose
        Also log records of level INFO.
    as_json
        The result is for machines: no progress, no text; warnings are part of it.
    """

    def __init__(self, *, quiet: bool = False, verbose: bool = False, as_json: bool = False) -> None:
        self.as_json = as_json
        self._quiet = quiet
        self._line = None if quiet or as_json else ProgressLine(sys.stderr)
        # NO_COLOR: https://no-color.org; a log file never gets colours.
        self._color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        self._handler = _Handler(self)
        self._level = logging.ERROR if quiet else logging.INFO if verbose else logging.WARNING

    @contextmanager
    def open(self) -> Iterator[Console]:
        """Log records go here until the block is left, whichever way."""
        logger = logging.getLogger("ngramscope")
        before = logger.level
        logger.addHandler(self._handler)
        logger.setLevel(self._level)
        try:
            yield self
        finally:
            self.clear()
            logger.removeHandler(self._handler)
            logger.setLevel(before)

    @property
    def progress(self) -> ProgressLine | None:
        """To hand to long work; None when nothing is to be shown."""
        return self._line

    def clear(self) -> None:
        """Take the progress line away."""
        if self._line is not None:
            self._line.clear()

    def say(self, message: str) -> None:
        """A line that `--quiet` and `--json` leave out."""
        if not self._quiet and not self.as_json:
            self.clear()
            click.echo(message, err=True)

    def warn(self, message: str) -> None:
        """A line about something that changes what the result means."""
        if not self._quiet and not self.as_json:
            self.clear()
            click.echo(click.style("warning: ", fg="yellow") + message, err=True, color=self._color)

    def result(self, data: Mapping[str, Any], *, err: bool = False) -> None:
        """The result for machines, as one JSON object on one line."""
        self.clear()
        click.echo(json.dumps(data, ensure_ascii=False, allow_nan=False), err=err)


class _Handler(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self._console.warn(record.getMessage())
        else:
            self._console.say(record.getMessage())
