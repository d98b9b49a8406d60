"""arXivTection and BookTection: a passage and three paraphrases (Duarte et al. 2024, DE-COP; avduarte333/*)."""

from __future__ import annotations

from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._files import SourceFile
from ngramscope.sets.formats._reading import Row
from ngramscope.sets.formats.base import RowFormat
from ngramscope.sets.records import parse_label

__all__ = ["FORMAT"]

_LETTERS = "ABCD"


class Tection(RowFormat):
    """``Answer`` says which of the four passages is the real one, ``Example_A`` where there is no such key."""

    name = "tection"
    layout = (
        "arXivTection, BookTection: records {Example_A, Label}, also with Example_B to _D, Answer, Length, ID or Paper_Name"
    )
    labels = "Label: 1 member, 0 non-member"
    text = "Example_A"
    keys = ("Label",)
    optional = ("Example_B", "Example_C", "Example_D", "Answer", "Length", "ID", "Paper_Name")

    def candidate(self, row: Row, file: SourceFile, part: str) -> Candidate:
        """See `RowFormat`."""
        values = row.values
        passages = {letter: values[f"Example_{letter}"] for letter in _LETTERS[1:]} | {"A": row.text}
        real = values["Answer"] if passages.get(values["Answer"]) is not None else "A"
        others = [passages[letter] for letter in _LETTERS if letter != real and passages[letter] is not None]
        work = values["ID"] if values["ID"] is not None else values["Paper_Name"]
        return Candidate(
            f"{part}/{row.position}",
            str(passages[real]),
            parse_label(values["Label"], file.shown, row.line),
            domain=None if values["Length"] is None else str(values["Length"]),
            group=None if work is None else str(work),
            position=row.position,
            extra={"paraphrases": others} if others else {},
        )


FORMAT = Tection()
