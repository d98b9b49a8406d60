"""MIMIR's cache folders (Duan et al. 2024, appendix A; iamgroot42/mimir), read and written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ngramscope.errors import InputError, UsageError
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.formats._files import Files, SourceFile
from ngramscope.sets.formats._mimir_names import NONE, MimirFile, mimir_file, normal
from ngramscope.sets.formats._mimir_writer import KIND, MimirFolder, neighbors_kind
from ngramscope.sets.formats._reading import Reading
from ngramscope.sets.formats.base import Format, ImportOptions, SetToExport, SetWriter, choose

__all__ = ["FORMAT"]

_LABELS = {"train": MEMBER, "test": NONMEMBER}


class Mimir(Format):
    """A JSON string a line; a list of strings is one document in pieces, which become a group.

    Texts and their neighbours are paired by their line.
    """

    name = "mimir"
    layout = "MIMIR cache folder: {train,test,train_neighbors,test_neighbors}/CONFIG_SPLIT.jsonl, a JSON string or list a line"
    labels = "train is member, test non-member"
    keeps = frozenset({"text", "label"})
    needs_label = True

    def detect(self, files: Files, options: ImportOptions) -> str | None:  # noqa: ARG002
        """See `Format`."""
        found = [(file, each) for file in files if (each := mimir_file(file)) is not None and each.neighbors is None]
        if not found or found[0][0].peek.kind not in ("strings", "lists"):
            return None
        names = sorted({f"{each.config} {each.split}" for _, each in found})
        return f"folders train and test with a JSON string or list a line: {', '.join(names)}"

    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """Members first."""
        for (config, split), pairs in _chosen(files, options).items():
            for side in _LABELS:
                texts = _only(pairs, side, config, split)
                where = f"{config}_{split}/{'member' if _LABELS[side] == MEMBER else 'nonmember'}"
                copies = [file for file, each in pairs if each.side == side and each.neighbors is not None]
                if len(copies) > 1:
                    names = ", ".join(each.name for each in copies)
                    raise UsageError(
                        f"{texts.shown}: has neighbours of several kinds: {names}; keep one, or give --no-neighbors"
                    )
                beside = copies[0] if copies and options.neighbors else None
                yield from _side(texts, beside, _LABELS[side], config, where, reading)

    def facts(self, files: Files, options: ImportOptions) -> dict[str, Any]:
        """Numbers of the cache folder and how neighbours were made, for writing such a folder again."""
        found = [each for pairs in _chosen(files, options).values() for _, each in pairs]
        names = ("min_words", "max_words", "n_samples", "max_tokens")
        facts: dict[str, Any] = dict(zip(names, found[0].cache or (None,) * 4, strict=True))
        kinds = sorted({each.neighbors for each in found if each.neighbors is not None})
        parts = sorted({(each.config, each.split) for each in found})
        config, split = parts[0] if len(parts) == 1 else (None, None)
        return {"config": config, "split": split, KIND: kinds[0] if kinds and options.neighbors else None, **facts}

    def keeps_extra(self, name: str, source: SetToExport) -> bool:
        """Neighbours, if it is known how they were made: it is part of the files' names."""
        return name == "neighbors" and neighbors_kind(source) is not None

    def writer(self, out: Path, source: SetToExport) -> SetWriter:
        """A folder."""
        return MimirFolder(out, source)

    def row(self, candidate: Candidate, source: SetToExport) -> str:  # noqa: ARG002
        """See `Format`."""
        return candidate.text


def _chosen(files: Files, options: ImportOptions) -> dict[tuple[str, str], list[tuple[SourceFile, MimirFile]]]:
    """The files of what is asked for, by config and split."""
    known = {file: each for file in files if (each := mimir_file(file)) is not None}
    chosen: dict[tuple[str, str], list[tuple[SourceFile, MimirFile]]] = {}
    asked_config, asked_split = (None if each is None else normal(each) for each in (options.config, options.split))
    for config, of_config in choose("config", asked_config, known, lambda file: known[file].config).items():
        for split, of_split in choose("split", asked_split, of_config, lambda file: known[file].split).items():
            pairs = [(file, known[file]) for file in of_split]
            if len({each.cache for _, each in pairs}) > 1:
                raise UsageError(f"{config} {split}: is in several cache folders; give one of them as input")
            chosen[config, split] = pairs
    return chosen


def _only(pairs: list[tuple[SourceFile, MimirFile]], side: str, config: str, split: str) -> SourceFile:
    found = [file for file, each in pairs if each.side == side and each.neighbors is None]
    if len(found) == 1:
        return found[0]
    name = config if split == NONE else f"{config}_{split}"
    if found:
        raise UsageError(f"{name}: several files in folders {side}: {', '.join(each.name for each in found)}; give one of them")
    raise InputError(
        f"{pairs[0][0].shown}: {name} has no file in the folder {side}; MIMIR has members in train, non-members in test"
    )


def _side(
    texts: SourceFile, copies: SourceFile | None, label: int, config: str, where: str, reading: Reading
) -> Iterator[tuple[SourceFile, Candidate]]:
    beside = reading.values(copies) if copies is not None else None
    for number, (line, value) in enumerate(reading.values(texts)):
        neighbors: list[list[str]] = []
        pieces = value if isinstance(value, list) else [value]
        if beside is not None and copies is not None:
            neighbors = _neighbors(copies, next(beside, None), len(pieces))
        for piece, text in enumerate(pieces):
            if text is None:
                reading.count(texts, "null_text")
            elif not isinstance(text, str):
                detail = f"{type(text).__name__} where a text should be; a line is a JSON string or a list of them"
                reading.reject(texts, line, "text_not_a_string", detail)
            else:
                document = f"{where}/{number}"
                of_list = isinstance(value, list)
                yield (
                    texts,
                    Candidate(
                        f"{document}/{piece}" if of_list else document,
                        text,
                        label,
                        domain=config,
                        group=document if of_list else None,
                        position=number,
                        extra={"neighbors": neighbors[piece]} if neighbors else {},
                    ),
                )
    if beside is not None and copies is not None and (extra := next(beside, None)) is not None:
        raise InputError(f"{copies.shown}, line {extra[0]}: more lines than {texts.shown} has; neighbours are paired by line")


def _neighbors(copies: SourceFile, found: tuple[int, Any] | None, pieces: int) -> list[list[str]]:
    """Neighbours for each piece of a document; a flat list is of a single one."""
    if found is None:
        raise InputError(
            f"{copies.shown}: fewer lines than there are texts; neighbours are paired by line, --no-neighbors leaves them out"
        )
    line, value = found
    lists = [value] if isinstance(value, list) and all(isinstance(each, str) for each in value) else value
    sound = isinstance(lists, list) and all(
        isinstance(one, list) and all(isinstance(each, str) for each in one) for one in lists
    )
    if not sound or len(lists) != pieces:
        raise InputError(
            f"{copies.shown}, line {line}: no list of neighbours for each of {pieces} texts; a line is a list of strings, or "
            "of such lists; --no-neighbors leaves them out"
        )
    return list(lists)


FORMAT = Mimir()
