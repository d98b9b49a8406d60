"""WikiMIA_concat: members and non-members within one text (Zhang et al. 2025, Min-K%++; zjysteven/WikiMIA_concat)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._files import Files, SourceFile
from ngramscope.sets.formats._reading import Reading, Row
from ngramscope.sets.formats.base import ImportOptions, KeyedFormat, choose
from ngramscope.sets.records import parse_label

__all__ = ["FORMAT"]

_WORDS = 32
_SPACE = " "  # as the benchmark's own code cuts; other white space is part of a word


class WikiMiaConcat(KeyedFormat):
    """A candidate for each piece of 32 words, cut at single spaces; pieces of one text have it as their group."""

    name = "wikimia-concat"
    layout = "WikiMIA_concat: records {input, label}, label a list with an item for each 32 words of input"
    labels = "label: 1 member, 0 non-member, for each piece"
    text = "input"
    keys = ("label",)

    def fits(self, row: Mapping[str, Any]) -> bool:
        """A list of labels."""
        return isinstance(row["label"], list)

    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """Piece by piece."""
        for part, chosen in choose("split", options.split, files, self.part).items():
            for file in chosen:
                for row in self.rows(file, reading):
                    labels, words = row.values["label"], row.text.split(_SPACE)
                    if not isinstance(labels, list) or len(words) // _WORDS != len(labels):
                        there = f"{len(labels)} labels" if isinstance(labels, list) else "no list of labels"
                        detail = f"{there} for {len(words)} words, not one for each {_WORDS}"
                        reading.reject(file, row.line, "labels_do_not_fit", detail)
                        continue
                    for number, label in enumerate(labels):
                        yield file, self._piece(row, file, part, number, words, label)

    def _piece(self, row: Row, file: SourceFile, part: str, number: int, words: list[str], label: Any) -> Candidate:
        text = _SPACE.join(words[number * _WORDS : (number + 1) * _WORDS])
        document = f"{part}/{row.position}"
        known = parse_label(label, file.shown, row.line)
        return Candidate(
            f"{document}/{number}", text, known, domain=part, group=document, position=row.position, extra={"piece": number}
        )


FORMAT = WikiMiaConcat()
