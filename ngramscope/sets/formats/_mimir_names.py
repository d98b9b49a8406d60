"""Names of MIMIR's files and folders."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ngramscope.sets.formats._files import SourceFile

__all__ = ["NONE", "MimirFile", "mimir_file", "normal", "table_names"]

NONE = "none"
"""Split of what has none, as the hub calls it."""

_CACHE = re.compile(r"cache_(\d+)_(\d+)_(\d+)_(\d+)")
_SIDES = {
    "train": ("train", False),
    "test": ("test", False),
    "train_neighbors": ("train", True),
    "test_neighbors": ("test", True),
}
_SPLIT = r"ngram_\d+_[\d.]+|\d{4}_\d{2}"
_NAME = re.compile(rf"(?P<config>.+?)(_(?P<split>{_SPLIT}))?")
_NEIGHBORS = "_neighbors_"


@dataclass(frozen=True)
class MimirFile:
    """What the path of a cached file says.

    Attributes
    ----------
    cache
        The four numbers in the name of the cache folder (words at least, words at most, samples, tokens); None if it has none.
    side
        ``train`` or ``test``.
    config, split
        As the hub calls them.
    neighbors
        How the neighbours were made, as ``25_bert_in_place_swap``; None of the texts themselves.
    """

    cache: tuple[int, ...] | None
    side: str
    config: str
    split: str
    neighbors: str | None


def normal(name: str) -> str:
    """A name as the hub has it.

    Lower case, ``_`` for spaces and dashes, no ``<`` and ``>``, no ``_truncated`` at its end, no ``the_pile_`` before it.
    """
    name = re.sub(r"[ -]", "_", name).lower().translate({ord("<"): None, ord(">"): None})
    return name.removesuffix("_truncated").removeprefix("the_pile_")


def mimir_file(file: SourceFile) -> MimirFile | None:
    """What `file` is in a cache folder; None if it is not in a folder ``train`` or the like."""
    if len(file.parts) < 2 or file.parts[-2] not in _SIDES:
        return None
    side, is_neighbors = _SIDES[file.parts[-2]]
    stem, _, how = file.stem.partition(_NEIGHBORS) if is_neighbors else (file.stem, "", "")
    config, split = _config_and_split(stem)
    cache = _CACHE.fullmatch(file.parts[-3]) if len(file.parts) > 2 else None
    numbers = tuple(int(each) for each in cache.groups()) if cache else None
    return MimirFile(numbers, side, config, split, how if is_neighbors else None)


def table_names(file: SourceFile) -> tuple[str, str]:
    """Config and split of a table: ``CONFIG_SPLIT``, ``CONFIG/SPLIT`` or ``CONFIG/SPLIT/0000``."""
    split = normal(file.stem)
    return (normal(file.above), split) if re.fullmatch(rf"{_SPLIT}|{NONE}", split) else _config_and_split(file.stem)


def _config_and_split(stem: str) -> tuple[str, str]:
    match = _NAME.fullmatch(normal(stem))
    return (match["config"], match["split"] or NONE) if match else (normal(stem), NONE)
