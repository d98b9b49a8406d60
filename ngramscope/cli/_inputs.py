"""Inputs are never replaced."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

__all__ = ["keep_inputs"]


def keep_inputs(option: str, outputs: Sequence[Path], inputs: Sequence[str]) -> None:
    """Refuse to replace an input, by whatever path it was reached."""
    existing = {(each.stat().st_dev, each.stat().st_ino): each for each in outputs if each.exists()}
    for path in inputs if existing else ():
        status = Path(path).stat()
        if (status.st_dev, status.st_ino) in existing:
            raise click.UsageError(
                f"{option}: {existing[status.st_dev, status.st_ino]} is one of the inputs; choose another name"
            )
