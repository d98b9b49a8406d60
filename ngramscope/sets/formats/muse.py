"""MUSE: what was to be forgotten, what was retained, what was never seen (Shi et al. 2024, arXiv 2407.06460; muse-bench/*)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.formats._files import Files, SourceFile
from ngramscope.sets.formats._reading import Reading
from ngramscope.sets.formats.base import ALL, Format, ImportOptions, choose

__all__ = ["FORMAT"]

_SPLIT = re.compile(r"(forget|retain|holdout)\d*")
_LABELS = {"forget": MEMBER, "retain": MEMBER, "holdout": NONMEMBER}


class Muse(Format):
    """One JSON array of strings a split, or records with a text; labels are of the model before anything is unlearned."""

    name = "muse"
    layout = "MUSE: forget, retain, holdout (retain1, retain2), each one JSON array of strings, or records {text}"
    labels = "forget and retain are members, holdout non-member (its own score has holdout = 1)"

    def detect(self, files: Files, options: ImportOptions) -> str | None:  # noqa: ARG002
        """See `Format`."""
        splits = [file for file in files if _SPLIT.fullmatch(file.stem)]
        fits = bool(splits) and (splits[0].peek.kind == "array" or splits[0].peek.has("text"))
        return "files " + ", ".join(sorted({each.stem for each in splits})) if fits else None

    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """All splits of a config (``privleak``), or the one that --split names; the split is the domain."""
        splits = [file for file in files if _SPLIT.fullmatch(file.stem)]
        for chosen in choose("config", options.config, splits, lambda file: file.above).values():
            for split, parts in choose("split", options.split or ALL, chosen, lambda file: file.stem).items():
                kind = _SPLIT.fullmatch(split)
                label = _LABELS[kind[1]] if kind else None
                for file in parts:
                    for number, text in _texts(file, reading):
                        yield file, Candidate(f"{split}/{number}", text, label, domain=split, position=number)


def _texts(file: SourceFile, reading: Reading) -> Iterator[tuple[int, str]]:
    """Each with its number."""
    if file.peek.has_rows:
        for row in reading.rows(file, "text"):
            yield row.position, row.text
        return
    for item, text in reading.values(file):
        if isinstance(text, str):
            yield item - 1, text
        elif text is None:
            reading.count(file, "null_text")
        else:
            reading.reject(file, item, "text_not_a_string", f"{type(text).__name__} where a text should be")


FORMAT = Muse()
