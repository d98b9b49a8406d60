"""BookMIA: pieces of 512 words from books (Shi et al. 2024, section 5; swj0419/BookMIA)."""

from __future__ import annotations

from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._files import SourceFile
from ngramscope.sets.formats._reading import Row
from ngramscope.sets.formats.base import RowFormat
from ngramscope.sets.records import parse_label

__all__ = ["FORMAT"]


class BookMia(RowFormat):
    """A piece a record; ``book``, else ``book_id``, is its group."""

    name = "bookmia"
    layout = "BookMIA: records {snippet, label}, also with book, book_id, snippet_id"
    labels = "label: 1 member, 0 non-member"
    text = "snippet"
    keys = ("label",)
    optional = ("book", "book_id", "snippet_id")

    def candidate(self, row: Row, file: SourceFile, part: str) -> Candidate:
        """See `RowFormat`."""
        values = row.values
        book = values["book"] if values["book"] is not None else values["book_id"]
        return Candidate(
            f"{part}/{row.position}",
            row.text,
            parse_label(values["label"], file.shown, row.line),
            group=None if book is None else str(book),
            position=row.position,
            extra={key: values[key] for key in ("book_id", "snippet_id") if values[key] is not None},
        )


FORMAT = BookMia()
