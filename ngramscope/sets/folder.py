"""Several sets in one folder, which appears under its name when all of it is whole."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ngramscope import provenance
from ngramscope.errors import ResourceError, UsageError
from ngramscope.index.output import write_whole
from ngramscope.sets.writer import Step

__all__ = ["SERIES_VERSION", "SetFolder"]

SERIES_VERSION = 1
"""Version of ``series.json``."""


class SetFolder:
    """A folder of sets being written: ``with SetFolder(path) as folder: ... folder.commit(step, sets)``.

    Leaving the block without `commit` removes what was written.

    Parameters
    ----------
    path
        A new or empty folder.

    Raises
    ------
    UsageError
        The folder has something in it, or cannot be there.
    ResourceError
        It cannot be written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        absolute = self.path.absolute()
        if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
            raise UsageError(f"--out-dir: {self.path} is not empty; name a new or empty folder")
        if not absolute.parent.is_dir():
            raise UsageError(f"--out-dir: {self.path}: there is no folder {absolute.parent}")
        self._temporary = absolute.with_name(f".{absolute.name}.{os.getpid()}.tmp")

    def __enter__(self) -> SetFolder:
        try:
            self._temporary.mkdir()
        except OSError as error:
            raise self._failed(error) from error
        return self

    def file(self, name: str) -> Path:
        """Where to write the file `name` for now."""
        return self._temporary / name

    def commit(self, step: Step, sets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Write ``series.json``, which says what made the folder and which `sets` are in it, and give the folder its name."""
        header = provenance.stamp("candidate-set-series", version=SERIES_VERSION, settings=step.settings, inputs=step.inputs)
        header |= {"rule": step.rule, "seed": step.seed, "counts": step.counts, "facts": step.facts, "sets": list(sets)}
        try:
            write_whole(self.file("series.json"), json.dumps(header, indent=2, allow_nan=False) + "\n")
            if self.path.exists():
                self.path.rmdir()
            self._temporary.rename(self.path)
        except OSError as error:
            raise self._failed(error) from error
        return header

    def __exit__(self, *exception: object) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _failed(self, error: OSError) -> ResourceError:
        why = error.strerror or error
        return ResourceError(f"{self.path}: cannot write the sets: {why}; nothing was left under that name")
