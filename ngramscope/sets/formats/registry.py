"""All formats, by name, and which of them some files are in."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from ngramscope.errors import InputError, UsageError
from ngramscope.sets.formats._files import Files
from ngramscope.sets.formats.base import Format, ImportOptions

__all__ = ["AUTO", "detect", "find_format", "formats"]

AUTO = "auto"


@cache
def formats() -> dict[str, Format]:
    """Every format: the `FORMAT` of each module of this package that has one, sorted by name."""
    folder = Path(__file__).parent
    modules = [importlib.import_module(f"{__package__}.{each.name}") for each in pkgutil.iter_modules([str(folder)])]
    found: list[Format] = [each.FORMAT for each in modules if hasattr(each, "FORMAT")]
    return {each.name: each for each in sorted(found, key=lambda each: each.name)}


def find_format(name: str) -> Format:
    """The format of that name.

    Raises
    ------
    UsageError
        There is none; lists those that there are.
    """
    if name not in formats():
        raise UsageError(f"--format: {name!r} is not known; known: {', '.join(formats())}")
    return formats()[name]


def detect(files: Files, options: ImportOptions, name: str = AUTO) -> tuple[Format, str]:
    """The format of `files`, and what shows it.

    Parameters
    ----------
    name
        ``auto``, or the format that they should be in.

    Raises
    ------
    InputError
        They are in none, in several, or not in the one that was named; names the keys that were found.
    UsageError
        Keys were named, but the layout has its own.
    """
    if name != AUTO:
        wanted = find_format(name)
        _check_options(wanted, options)
        found = wanted.detect(files, options)
        if found is None:
            raise InputError(
                f"{files.first.shown}: not {name}, which is: {wanted.layout}; found: {files.first.peek.describe()}"
            )
        return wanted, found
    every = formats().values()
    # Who names keys says that the records are plain.
    special = [] if options.for_plain() else _fits([each for each in every if not each.plain], files, options)
    fits = special or _fits([each for each in every if each.plain], files, options)
    if not fits:
        raise InputError(
            f"{files.first.shown}: in none of the known formats; found: {files.first.peek.describe()}. Name its keys with "
            "--text-key and --label-key, or its layout with --format; `ngramscope sets formats` lists them"
        )
    if len(fits) > 1:
        both = "; ".join(f"{each.name} ({found})" for each, found in fits)
        raise InputError(f"{files.first.shown}: fits several formats: {both}. Name one with --format")
    return fits[0]


def _fits(candidates: list[Format], files: Files, options: ImportOptions) -> list[tuple[Format, str]]:
    found = [(each, each.detect(files, options)) for each in candidates]
    return [(each, evidence) for each, evidence in found if evidence is not None]


def _check_options(wanted: Format, options: ImportOptions) -> None:
    given = options.for_plain()
    if given and not wanted.plain:
        raise UsageError(f"{given[0]}: {wanted.name} has its own keys and labels; leave it out, or give --format jsonl")
