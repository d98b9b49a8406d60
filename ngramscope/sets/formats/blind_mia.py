"""Blind-MIA: texts by side, without records (Das et al. 2024, arXiv 2406.16201; ethz-spylab/Blind-MIA)."""

from __future__ import annotations

from collections.abc import Iterator

from ngramscope.errors import InputError
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.formats._files import Files, SourceFile
from ngramscope.sets.formats._reading import Reading
from ngramscope.sets.formats.base import Format, ImportOptions, choose

__all__ = ["FORMAT"]

_LABELS = {"member": MEMBER, "members": MEMBER, "nonmember": NONMEMBER, "nonmembers": NONMEMBER}


class BlindMia(Format):
    """A text a line of ``member.txt``, or a text a file of the folder ``member``; lines of white space are no texts."""

    name = "blind-mia"
    layout = "Blind-MIA: member.txt and nonmember.txt with a text a line, or folders member and nonmember of .txt files"
    labels = "the name of the file or folder"

    def detect(self, files: Files, options: ImportOptions) -> str | None:  # noqa: ARG002
        """See `Format`."""
        sides = {each[1] for file in files if (each := _place(file)) is not None}
        return "texts by side, in the files or folders " + ", ".join(sorted(sides)) if sides else None

    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """Members first."""
        places = {file: each for file in files if (each := _place(file)) is not None}
        for config, chosen in choose("config", options.config, places, lambda file: places[file][0]).items():
            labels = {_LABELS[places[file][1]] for file in chosen}
            if labels != {MEMBER, NONMEMBER}:
                lacking = "member" if MEMBER not in labels else "nonmember"
                raise InputError(
                    f"{chosen[0].shown}: there is no {lacking}.txt and no folder {lacking} with .txt files beside it"
                )
            for file in sorted(chosen, key=lambda file: -_LABELS[places[file][1]]):
                _, side, by_line = places[file]
                for row in reading.documents(file, lines=by_line):
                    where = f"{side}/{row.position}" if by_line else f"{side}/{file.parts[-1]}"
                    yield file, Candidate(where, row.text, _LABELS[side], domain=config, position=row.position)


def _place(file: SourceFile) -> tuple[str, str, bool] | None:
    """Name of the benchmark (a folder), side, and whether its texts are lines."""
    *_, before, above, name = ("", "", *file.parts)
    side, _, ending = name.partition(".")
    if side in _LABELS and ending.startswith("txt"):
        return above, side, True
    return (before, above, False) if above in _LABELS and ".txt" in name else None


FORMAT = BlindMia()
