"""Steps of a study that are kept: each has a folder, and a key that says by which settings and inputs it was computed."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ngramscope._core import __version__
from ngramscope.corpus.manifest import file_digests
from ngramscope.errors import NgramscopeError, ResourceError, UsageError
from ngramscope.index.output import write_whole
from ngramscope.models.write import digest

__all__ = ["STEP_FILE", "Done", "Task", "computed", "facts_of", "kept_step", "locked"]

STEP_FILE = "step.json"
"""Name of what a step says of itself, in its folder."""

_STEP_VERSION = 1
_ATTEMPT = ".{}.partial"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LEFTOVER = re.compile(r"\.(?:report-files|report\.html|study\.json|study\.toml)\.(\d+)\.tmp")


@dataclass(frozen=True, eq=False)
class Task:
    """A step that is to be computed, unless it has been.

    Attributes
    ----------
    name
        Its folder below that of the study, as ``natural/overlap``.
    settings
        What decides its content, names of files left out.
    inputs
        By name, digests of what it reads: keys of other steps, or facts of files.
    work
        Writes its files into the folder that it is given, which is new, and returns facts for ``step.json``, if there are any.
        The fact ``needs`` is a list of further files that have to be there, below the study's folder.
    """

    name: str
    settings: Mapping[str, Any]
    inputs: Mapping[str, Any]
    work: Callable[[Path], Mapping[str, Any] | None]

    @property
    def key(self) -> str:
        """SHA-256 of what decides its content."""
        step = self.name.split("/", 1)[-1]
        decides = {"step": step, "version": _STEP_VERSION, "ngramscope": __version__}
        return digest({**decides, "settings": self.settings, "inputs": self.inputs})


@dataclass(frozen=True)
class Done:
    """A computed step.

    Attributes
    ----------
    name, key
        Of its task.
    folder
        Where its files are.
    facts
        What its work has told.
    files
        By name, bytes and SHA-256 of each.
    seconds
        That it took, when it was computed.
    kept
        Whether it was there already.
    """

    name: str
    key: str
    folder: Path
    facts: Mapping[str, Any]
    files: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    kept: bool = False


def computed(task: Task, root: Path) -> Done:
    """The step as it is in the study's folder `root`, or computed now; then it takes the place of another one of that name.

    Raises
    ------
    ResourceError
        It cannot be written.
    """
    folder = root / task.name
    kept = kept_step(task, root)
    if kept is not None:
        return kept
    began = time.monotonic()
    attempt = folder.with_name(_ATTEMPT.format(folder.name))
    try:
        with _writing(folder):
            shutil.rmtree(attempt, ignore_errors=True)  # of a process that was killed
            attempt.mkdir(parents=True)
        try:
            facts = dict(task.work(attempt) or {})
        except OSError as error:
            if isinstance(error, NgramscopeError) or error.errno not in _FULL:
                raise
            # Of a file that was being written line by line, and so without its name.
            raise ResourceError(f"{folder}: cannot be written: {error.strerror}; finished steps are kept") from error
        with _writing(folder):
            seconds = round(time.monotonic() - began, 3)
            files = {
                each.relative_to(attempt).as_posix(): _facts(each) for each in sorted(attempt.rglob("*")) if each.is_file()
            }
            header = {
                "artefact": "study-step", "format_version": _STEP_VERSION, "ngramscope": __version__, "step": task.name,
                "key": task.key, "settings": task.settings, "inputs": task.inputs, "facts": facts, "files": files,
                "seconds": seconds,
            }  # fmt: skip
            write_whole(attempt / STEP_FILE, json.dumps(header, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
            if folder.exists():
                shutil.rmtree(folder)
            attempt.rename(folder)
    finally:
        shutil.rmtree(attempt, ignore_errors=True)
    return Done(task.name, task.key, folder, facts, files, seconds)


def facts_of(folder: Path) -> Mapping[str, Any]:
    """What the work of a computed step has told."""
    facts: Mapping[str, Any] = json.loads((folder / STEP_FILE).read_bytes())["facts"]
    return facts


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except UsageError:
        raise
    except OSError as error:
        raise ResourceError(f"{folder}: cannot be written: {error.strerror or error}; finished steps are kept") from error


def kept_step(task: Task, root: Path) -> Done | None:
    """The step if it is in the study's folder `root` already, whole and by the same key."""
    folder = root / task.name
    try:
        header = json.loads((folder / STEP_FILE).read_bytes())
        sizes = {name: (folder / name).stat().st_size for name in header["files"]}
        whole = all(size == header["files"][name]["bytes"] for name, size in sizes.items())
        whole = whole and all((root / each).exists() for each in header["facts"].get("needs", ()))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if not whole or header["key"] != task.key:
        return None
    return Done(task.name, task.key, folder, header["facts"], header["files"], header["seconds"], kept=True)


def _facts(path: Path) -> dict[str, Any]:
    return {"bytes": path.stat().st_size, **file_digests(path, ("sha256",))}


@contextlib.contextmanager
def locked(root: Path) -> Iterator[None]:
    """Keep other processes from computing in the same folder; made if it is not there.

    Raises
    ------
    UsageError
        Another one does.
    ResourceError
        The folder cannot be made.
    """
    with _writing(root):
        root.mkdir(parents=True, exist_ok=True)
        file = (root / ".lock").open("w")
    with file:
        if os.name == "posix":
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UsageError(
                    f"{root}: another audit is at work in this folder; wait for it, or name another --out"
                ) from error
        _remove_leftovers(root)
        yield


def _remove_leftovers(root: Path) -> None:
    """What a killed process was writing beside the steps; what one that runs is writing, as ``ngramscope report``, stays."""
    for each in root.iterdir():
        found = _LEFTOVER.fullmatch(each.name)
        if found is None or _runs(int(found[1])):
            continue
        if each.is_dir():
            shutil.rmtree(each, ignore_errors=True)
        else:
            each.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
