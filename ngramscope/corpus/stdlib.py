"""The embedded default corpus: text that every Python installation carries."""

from __future__ import annotations

import fnmatch
import json
import sysconfig
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from ngramscope.errors import InputError

__all__ = ["documents", "write_jsonl"]

# Made when Python was configured: they tell of the machine, not of the library.
_GENERATED = ("_sysconfigdata_*", "_sysconfig_vars_*")


def documents(exclude: Sequence[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield (id, text): each source file of the standard library in the order of its name, then each help topic.

    Parameters
    ----------
    exclude
        Globs over the path inside the library (``*`` also matches ``/``); what matches is left out.
    """
    library = Path(sysconfig.get_path("stdlib"))
    for name in sorted(path.relative_to(library).as_posix() for path in library.rglob("*.py")):
        base = name.rpartition("/")[2]
        if any(fnmatch.fnmatchcase(name, each) for each in exclude):
            continue
        if any(fnmatch.fnmatchcase(base, each) for each in _GENERATED):
            continue
        text = _source(library / name)
        if text is not None:
            yield f"Lib/{name}", text
    yield from ((f"pydoc_data/topics/{name}", text) for name, text in sorted(_topics().items()))


def write_jsonl(path: Path, exclude: Sequence[str] = ()) -> int:
    """Write the documents to `path` as JSON Lines and return their number.

    One file, because a corpus is read twice: once to count its n-grams, once to index them.

    Raises
    ------
    InputError
        This Python carries no library sources.
    """
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for name, text in documents(exclude):
            file.write(json.dumps({"id": name, "text": text}))
            file.write("\n")
            count += 1
    if count == 0:
        raise InputError(
            f"{sysconfig.get_path('stdlib')}: this Python carries no library sources; name the corpus: "
            "ngramscope build-index FILES"
        )
    return count


def _source(path: Path) -> str | None:
    """The text of a source file in its declared encoding; None if it is not valid in it (the library tests such files)."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (SyntaxError, UnicodeDecodeError):
        return None


def _topics() -> dict[str, str]:
    try:
        from pydoc_data.topics import topics
    except ImportError:  # some distributions package it apart
        return {}
    return dict(topics)
