"""WikiMIA-2024-hard: the same articles before and after a cutoff (hallisky/wikiMIA-2024-hard; arXiv 2508.09603)."""

from __future__ import annotations

from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._files import SourceFile
from ngramscope.sets.formats._reading import Row
from ngramscope.sets.formats.base import RowFormat
from ngramscope.sets.records import parse_label

__all__ = ["FORMAT"]


class WikiMiaHard(RowFormat):
    """A version of an article a record; both versions of one have its title, which becomes the group."""

    name = "wikimia-hard"
    layout = "WikiMIA-2024-hard: records {title, date, input, id, diff, label} in train, val and test"
    labels = "label: 1 version before the cutoff (member), 0 after (non-member)"
    text = "input"
    keys = ("label", "title", "diff")
    optional = ("id", "date")

    def candidate(self, row: Row, file: SourceFile, part: str) -> Candidate:
        """See `RowFormat`."""
        values = row.values
        label = parse_label(values["label"], file.shown, row.line)
        return Candidate(
            f"{part}/{row.position}",
            row.text,
            label,
            domain=part,
            group=str(values["title"]),
            date=values["date"],
            position=row.position,
            extra={"diff": values["diff"], "pair": values["id"]},
        )


FORMAT = WikiMiaHard()
