"""Where copies go in a training corpus, and the mixed corpus itself."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core, provenance
from ngramscope.errors import InputError, ResourceError
from ngramscope.index.output import check_new_folder
from ngramscope.sets.design import Chance
from ngramscope.sets.records import RecordSource

__all__ = ["MIXED_VERSION", "MixedFolder", "places"]

MIXED_VERSION = 1
"""Version of a mixed corpus's files and header."""

_PART = 100_000
Ints = NDArray[np.int64]


def places(count: int, size: int, chance: Chance) -> Ints:
    """`count` places below `size`, in ascending order, shape (count,).

    Spread evenly: one by chance in each of `count` equal parts. Up to `size` they are distinct; of more, each place gets as
    many, or one more. In a shuffled list every item is as likely as any other to get any of the places.
    """
    if not count:
        return np.empty(0, dtype=np.int64)
    number = np.arange(count + 1, dtype=np.int64)
    each, rest = divmod(size, count)
    # number * size // count, whose product could pass 2^63.
    borders = number * each + number * rest // count
    width = np.maximum(np.diff(borders), 1)
    return borders[:-1] + (chance.raw(count) % width.astype(np.uint64)).astype(np.int64)


class MixedFolder:
    """A corpus with copies inserted, in a folder of zstd-compressed JSON Lines that appears under its name when whole.

    A record is ``{"text": ...}`` and nothing else, so that nothing tells a copy from a document.

    Parameters
    ----------
    folder
        A new or empty folder.

    Raises
    ------
    UsageError
        The folder has something in it, or there is no folder for it to be in.
    """

    def __init__(self, folder: Path) -> None:
        check_new_folder(folder, "--write-mixed")
        self.path = folder
        self._temporary = folder.absolute().with_name(f".{folder.absolute().name}.{os.getpid()}.tmp")
        self._written = 0
        self._inputs: list[dict[str, Any]] = []

    def __enter__(self) -> MixedFolder:
        try:
            self._temporary.mkdir()
        except OSError as error:
            raise self._full(error) from error
        return self

    def __exit__(self, *exception: object) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)

    def write(
        self,
        corpus: RecordSource,
        documents: int,
        insertions: Iterator[tuple[int, bytes]],
        progress: Callable[[_core.Progress], object] | None = None,
    ) -> None:
        """Copy `corpus`, which has so many documents, with each insertion (place, text as JSON) at its place.

        Raises
        ------
        InputError
            The corpus has another number of documents than when it was counted.
        """
        import zstandard

        records = corpus.open(progress)
        lines = _mixed((each.text for each in records.candidates()), insertions)
        try:
            for number, first in enumerate(iter(lambda: next(lines, None), None)):
                with zstandard.open(self._temporary / f"mixed-{number:05}.jsonl.zst", "wb") as stream:
                    for text in itertools.chain([first], itertools.islice(lines, _PART - 1)):
                        stream.write(b'{"text": ' + text + b"}\n")
                        self._written += 1
        except OSError as error:
            raise self._full(error) from error
        report = records.report()
        if report["documents"] != documents:
            raise InputError(
                f"{records.names[0]}: the corpus had {documents:,} documents when it was counted and "
                f"{report['documents']:,} now; mix it when nothing writes to it"
            )
        self._inputs = report["sources"]

    def commit(self) -> None:
        """Write the header and give the folder its name."""
        stamp = provenance.stamp("mixed-corpus", version=MIXED_VERSION, settings={}, inputs=self._inputs)
        stamp["documents"] = self._written
        try:
            (self._temporary / "mixed.json").write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")
            if self.path.exists():
                self.path.rmdir()
            self._temporary.rename(self.path)
        except OSError as error:
            raise self._full(error) from error

    def _full(self, error: OSError) -> ResourceError:
        return ResourceError(
            f"{self.path}: cannot write the mixed corpus: {error.strerror or error}; nothing was left under that name"
        )


def _mixed(documents: Iterator[str], insertions: Iterator[tuple[int, bytes]]) -> Iterator[bytes]:
    """Texts as JSON: each insertion at its place, documents at all others."""
    none = (-1, b"")
    place, text = next(insertions, none)
    for at in itertools.count():
        if place == at:
            yield text
            place, text = next(insertions, none)
        elif (document := next(documents, None)) is not None:
            yield json.dumps(document, ensure_ascii=False).encode()
        else:
            return
