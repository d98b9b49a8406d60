"""Inputs are never replaced, nor is anything that is no file: options that name what a command writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ngramscope import _core
from ngramscope.corpus.manifest import find_manifest, load_manifest, manifest_and_split
from ngramscope.corpus.remote import is_remote
from ngramscope.errors import NgramscopeError
from ngramscope.index.options import ReadOptions
from ngramscope.index.output import check_place

__all__ = ["OutputOption", "index_files"]

_WILD = frozenset("*?[{")


class OutputOption(click.Option):
    """Names a file that the command writes.

    Every other value of the command line counts as something that is read, so that no command can forget one: files, folders,
    patterns, manifests, indexes. The check comes before the command runs.

    Parameters
    ----------
    brings
        The files that come about or are replaced, by the value; default: the file and its ``.meta.json``.
    """

    def __init__(self, *declarations: Any, brings: Callable[[Path], Iterable[Path]] | None = None, **settings: Any) -> None:
        super().__init__(*declarations, **settings)
        self._brings = brings or (lambda path: (path, path.with_name(f"{path.name}.meta.json")))

    def handle_parse_result(self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]) -> tuple[Any, list[str]]:
        """The value, if it can be written to; `opts` are all values of the command line."""
        value, args = super().handle_parse_result(ctx, opts, args)
        if isinstance(value, str) and Path(value).name and not ctx.resilient_parsing:
            existing = {_identity(each): each for each in self._brings(Path(value)) if os.path.lexists(each)}
            for each in existing.values():
                check_place(each, self.opts[0])
            for path in _inputs(ctx.command, opts) if existing else ():
                if (found := existing.get(_identity(path))) is not None:
                    raise click.UsageError(f"{self.opts[0]}: {found} is one of the inputs; choose another name")
            _check_writable(Path(value), self.opts[0])
        return value, args


def index_files(folder: Path) -> list[Path]:
    """The files in an index folder that a build may replace."""
    return [folder / "index.json", *folder.glob("*.ngs")]


def _check_writable(path: Path, option: str) -> None:
    """Refuse a folder that takes no file, as of a disk that can only be read: else that would be known at the end."""
    folder = path.parent
    if not path.is_dir() and str(path) != "-" and folder.is_dir() and not os.access(folder, os.W_OK):
        raise click.UsageError(f"{option}: nothing can be written in the folder {folder}; choose another place")


def _inputs(command: click.Command, opts: Mapping[str, Any]) -> Iterator[Path]:
    """The files of this machine that the values `opts` of a command stand for, outputs left out."""
    chosen = ReadOptions(include=tuple(opts.get("include") or ()), exclude=tuple(opts.get("exclude") or ()))
    for parameter in command.params:
        given = opts.get(parameter.name or "")
        names = [each for each in (given if isinstance(given, list | tuple) else [given]) if isinstance(each, str)]
        if isinstance(parameter, OutputOption) or parameter.metavar == "GLOB":
            continue
        for name in filter(None, names):
            yield from index_files(Path(name)) if parameter.metavar == "DIR" else _local_files(name, chosen)


def _local_files(name: str, chosen: ReadOptions) -> Iterator[Path]:
    """The files that `name` stands for: a file, a folder, a pattern, a manifest; none for anything else."""
    path = Path(name)
    if is_remote(name) or "\0" in name:
        return
    if (manifest := manifest_and_split(name)) is not None:
        yield from _of_manifest(manifest[0], chosen)
    elif path.is_dir():
        yield from _below(path, name, chosen)
    elif path.exists():
        yield path
    elif _WILD & set(name):
        parts = path.parts
        fixed = next(at for at, part in enumerate(parts) if _WILD & set(part))
        yield from _below(Path(*parts[:fixed]), name, chosen)


def _of_manifest(name: str, chosen: ReadOptions) -> Iterator[Path]:
    try:
        manifest = load_manifest(find_manifest(name))
    except NgramscopeError:  # the command says so
        return
    folder = manifest.path.parent
    chosen = replace(chosen, include=(*chosen.include, *manifest.include), exclude=(*chosen.exclude, *manifest.exclude))
    yield manifest.path
    yield from (folder / each.path for each in manifest.files)
    for each in (*manifest.paths, *(each for split in manifest.splits.values() for each in split.sources)):
        yield from () if is_remote(each) else _local_files(str(folder / each), chosen)


def _below(folder: Path, name: str, chosen: ReadOptions) -> Iterator[Path]:
    """The files below `folder` that the core takes for `name`."""
    try:
        names = {each for each, _ in _core.find([name], chosen)}
    except NgramscopeError:  # there is none, or the command says what is wrong
        return
    entered = set()
    for parent, folders, files in os.walk(folder, followlinks=True):
        entered.add(_identity(Path(parent)))
        folders[:] = [each for each in folders if _identity(Path(parent, each)) not in entered]
        above = os.path.realpath(parent).split("/")
        for each in files:
            # The core names a file by the end of its path.
            path = [os.fsencode(part).decode(errors="replace") for part in (*above, each)]
            if any("/".join(path[at:]) in names for at in range(len(path))):
                yield Path(parent, each)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
