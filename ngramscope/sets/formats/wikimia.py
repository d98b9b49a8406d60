"""WikiMIA and its kin: ``input`` and ``label`` (Shi et al. 2024, section 2; arXiv 2310.16789)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from ngramscope.checks import MAX_COUNT
from ngramscope.errors import InputError
from ngramscope.index.options import ReadOptions
from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._files import Files, SourceFile
from ngramscope.sets.formats._lines import line_file
from ngramscope.sets.formats._reading import Reading, Row
from ngramscope.sets.formats.base import ALL, ImportOptions, RowFormat, SetToExport, SetWriter, choose
from ngramscope.sets.records import parse_label

__all__ = ["FORMAT"]

_SPLIT = re.compile(r"WikiMIA_length\d+(_paraphrased)?(_perturbed)?")
_PERTURBED = "_perturbed"


class WikiMia(RowFormat):
    """A text a record; the split is in the name of the file or its folder.

    A split ``..._perturbed`` holds N copies of each text of another, those of its first text first
    (zjysteven/WikiMIA_paraphrased_perturbed).
    """

    name = "wikimia"
    layout = "WikiMIA, WikiMIA-24, -25 and variants: records {input, label}, a file or folder a split"
    labels = "label: 1 member, 0 non-member"
    keeps = frozenset({"text", "label"})
    needs_label = True
    text = "input"
    keys = ("label",)

    def fits(self, row: Mapping[str, Any]) -> bool:
        """One label a text; versions of articles have a format of their own."""
        return not isinstance(row["label"], list) and not {"title", "diff"} <= row.keys()

    def part(self, file: SourceFile) -> str:
        """The split."""
        found = [match[0] for part in file.parts[-2:] if (match := _SPLIT.search(part))]
        return found[-1] if found else file.stem

    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """With the perturbed copies beside a split, if they are among the files."""
        # Copies are candidates only where their split is named.
        texts = [each for each in files if options.split not in (None, ALL) or not self.part(each).endswith(_PERTURBED)]
        for split, chosen in choose("split", options.split, texts or files, self.part).items():
            copies = [each for each in files if self.part(each) == f"{split}{_PERTURBED}"] if options.neighbors else []
            number = _copies_each(chosen, copies)
            perturbed = (row.text for file in copies for row in reading.rows(file, self.text))
            before = 0
            for file in chosen:
                for row in self.rows(file, reading):
                    candidate = self.candidate(row, file, split)
                    if number:
                        # Of texts that cannot be used the copies are left out too.
                        skipped = row.position * number - before
                        candidate.extra["neighbors"] = list(islice(perturbed, skipped, skipped + number))
                        before = (row.position + 1) * number
                    yield file, candidate

    def candidate(self, row: Row, file: SourceFile, part: str) -> Candidate:
        """See `RowFormat`."""
        label = parse_label(row.values["label"], file.shown, row.line)
        return Candidate(f"{part}/{row.position}", row.text, label, domain=part, position=row.position)

    def writer(self, out: Path, source: SetToExport) -> SetWriter:
        """JSON Lines."""
        return line_file(out, self, source)

    def row(self, candidate: Candidate, source: SetToExport) -> dict[str, Any]:  # noqa: ARG002
        """See `Format`."""
        return {"input": candidate.text, "label": candidate.label}


def _copies_each(texts: list[SourceFile], copies: list[SourceFile]) -> int:
    """How many perturbed copies each text has."""
    if not copies:
        return 0
    if len(texts) > 1 or (missing := _count(copies)[1]):
        why = "the split is in several files" if len(texts) > 1 else f"{missing:,} of them have no text"
        raise InputError(f"{copies[0].shown}: cannot tell whose copies these are: {why}; --no-neighbors leaves them out")
    rows, perturbed = sum(_count(texts)), _count(copies)[0]
    if not rows or perturbed % rows:
        raise InputError(
            f"{copies[0].shown}: {perturbed:,} perturbed copies of {rows:,} texts, not as many of each; "
            "--no-neighbors leaves them out"
        )
    return perturbed // rows


def _count(files: list[SourceFile]) -> tuple[int, int]:
    """Records with and without a text."""
    reading = Reading(ReadOptions(max_bad_records=MAX_COUNT), None)
    return sum(1 for file in files for _ in reading.rows(file, WikiMia.text)), reading.left_out.total()


FORMAT = WikiMia()
