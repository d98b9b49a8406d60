"""Rows of the Bloom filter tool that MIMIR used: a text, and for each of its n-grams whether the corpus has it.

allenai/bff as changed for Duan et al. 2024; a corpus in several filters (shards) has several such files of the same texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import InputError
from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._files import Files, SourceFile
from ngramscope.sets.formats._lines import line_file
from ngramscope.sets.formats._reading import Reading, Row
from ngramscope.sets.formats.base import Format, ImportOptions, SetToExport, SetWriter, choose
from ngramscope.sets.records import parse_label

__all__ = ["FORMAT"]

_TEXT, _FLAGS, _COUNT = "original", "ngram_inclusion", "bff_contained_ngram_count_before_dedupe"
_N = re.compile(r"ngram_(\d+)")


class Bff(Format):
    """Files of one name in folders ``0``, ``1`` ... are shards, whose flags are OR-ed.

    The text is ``original``: ``text`` is empty where the tool removed it. Flags come out as a string of 0 and 1, column
    ``ngram_inclusion``, for ``--flags``.
    """

    name = "bff"
    layout = "bff rows: records {original, text, ngram_inclusion}, a folder (0, 1 ...) for each shard of the corpus"
    labels = "label, if there is one: 1 member, 0 non-member; else --as"
    keeps = frozenset({"text", "label"})

    def detect(self, files: Files, options: ImportOptions) -> str | None:  # noqa: ARG002
        """See `Format`."""
        if not files.first.peek.has(_TEXT, _FLAGS):
            return None
        shards = max(len(each) for each in _documents(files).values())
        return "records with ngram_inclusion" + (f", {shards} shards of each file" if shards > 1 else "")

    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """Text by text, the shards side by side."""
        for shards in _chosen(files, options):
            passes = [reading.rows(file, _TEXT, (_FLAGS, _COUNT, "label")) for file in shards]
            domain = _domain(shards[0])
            while rows := [row for one in passes if (row := next(one, None)) is not None]:
                _check_shards(shards, rows)
                flags = np.logical_or.reduce([_flags(file, row) for file, row in zip(shards, rows, strict=True)])
                label = rows[0].values["label"]
                known = None if label is None else parse_label(label, shards[0].shown, rows[0].line)
                yield (
                    shards[0],
                    Candidate(
                        f"{domain}/{rows[0].position}",
                        rows[0].text,
                        known,
                        domain=domain,
                        position=rows[0].position,
                        extra={_FLAGS: "".join(np.where(flags, "1", "0"))},
                    ),
                )

    def facts(self, files: Files, options: ImportOptions) -> dict[str, Any]:
        """How many shards there were, and of which n the flags are, if a folder ``ngram_N`` says so."""
        chosen = _chosen(files, options)
        lengths = {_length(shards[0]) for shards in chosen}
        n = _N.fullmatch(lengths.pop()) if len(lengths) == 1 else None
        return {"shards": max(map(len, chosen)), "n": int(n[1]) if n else None}

    def keeps_extra(self, name: str, source: SetToExport) -> bool:
        """The flags."""
        return name == source.options.flags

    def writer(self, out: Path, source: SetToExport) -> SetWriter:
        """JSON Lines."""
        return line_file(out, self, source)

    def row(self, candidate: Candidate, source: SetToExport) -> dict[str, Any]:
        """Nothing is removed, so ``text`` is ``original``."""
        flags = candidate.extra.get(source.options.flags)
        if not isinstance(flags, str | list) or any(each not in ("0", "1", 0, 1) for each in flags):
            raise InputError(
                f"{source.path}: candidate {candidate.id!r}: {source.options.flags} holds no flags of n-grams, and bff rows "
                "are made of them; name their column with --flags"
            )
        found = [each in ("1", 1) for each in flags]
        row = {_TEXT: candidate.text, "text": candidate.text, _FLAGS: found, _COUNT: sum(found)}
        return row if candidate.label is None else {**row, "label": candidate.label}


def _chosen(files: Files, options: ImportOptions) -> list[list[SourceFile]]:
    """The shards of each file of what is asked for."""
    documents = _documents(files)
    firsts = {shards[0]: shards for shards in documents.values()}
    chosen = [
        firsts[file]
        for of_length in choose("split", options.split, firsts, _length).values()
        for of_domain in choose("config", options.config, of_length, _domain).values()
        for file in of_domain
    ]
    begins: dict[str, SourceFile] = {}
    for shards in chosen:
        other = begins.setdefault(shards[0].peek.row[_TEXT], shards[0])
        if other is not shards[0]:
            raise InputError(
                f"{shards[0].shown}: begins with the same text as {other.shown}; shards of one corpus are told by "
                "their folders: put them in folders 0, 1 ... under the same name"
            )
    return chosen


def _documents(files: Files) -> dict[tuple[str, ...], list[SourceFile]]:
    """Files by their path without the number of the shard, in the order of these numbers."""
    documents: dict[tuple[str, ...], list[SourceFile]] = {}
    for file in files:
        is_shard = len(file.parts) > 1 and file.parts[-2].isdecimal()
        documents.setdefault((*file.parts[:-2], file.parts[-1]) if is_shard else file.parts, []).append(file)
    return {
        key: sorted(each, key=lambda file: int(file.parts[-2])) if len(each) > 1 else each for key, each in documents.items()
    }


def _domain(file: SourceFile) -> str:
    """The folder of the file, or of its shards; where that is only ``ngram_N``, the file's own name."""
    folders = [part for part in file.parts[:-1] if not part.isdecimal()]
    return folders[-1] if folders and not _N.fullmatch(folders[-1]) and file.parts[-2].isdecimal() else file.stem


def _length(file: SourceFile) -> str:
    return next((part for part in reversed(file.parts[:-1]) if _N.fullmatch(part)), "")


def _check_shards(shards: Sequence[SourceFile], rows: Sequence[Row]) -> None:
    first = rows[0]
    if len(rows) < len(shards):
        raise InputError(f"{shards[0].shown}: its shards have different numbers of texts, so they cannot be OR-ed")
    for file, row in zip(shards, rows, strict=True):
        if (row.position, row.text) != (first.position, first.text):
            raise InputError(
                f"{file.shown}, line {row.line}: another text than in {shards[0].shown}; shards hold the same texts in order"
            )


def _flags(file: SourceFile, row: Row) -> NDArray[np.bool_]:
    flags, count = row.values[_FLAGS], row.values[_COUNT]
    if not isinstance(flags, list) or any(each is not True and each is not False for each in flags):
        there = ", ".join(key for key, value in row.values.items() if value is not None)
        raise InputError(f"{file.shown}, line {row.line}: {_FLAGS} is no list of true and false; it has {_TEXT}, {there}")
    if count is not None and count != sum(flags):
        raise InputError(
            f"{file.shown}, line {row.line}: {_COUNT} is {count}, but {sum(flags)} flags are true; the row is damaged"
        )
    return np.array(flags, dtype=bool)


FORMAT = Bff()
