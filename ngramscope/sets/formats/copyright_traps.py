"""Copyright traps: synthetic sequences, some of them injected into a training corpus.

Meeus et al. 2024, arXiv 2402.09363; imperial-cpg/copyright-traps.
"""

from __future__ import annotations

from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._files import SourceFile
from ngramscope.sets.formats._reading import Row
from ngramscope.sets.formats.base import RowFormat
from ngramscope.sets.records import parse_label

__all__ = ["FORMAT"]


class CopyrightTraps(RowFormat):
    """A sequence a record; the split (length and number of repetitions) is its domain."""

    name = "copyright-traps"
    layout = "copyright traps: records {text, label, perplexity_bucket}, splits seq_len_{25,50,100}_n_rep_{10,100,1000}"
    labels = "label: 1 injected (member), 0 not"
    text = "text"
    keys = ("label", "perplexity_bucket")

    def candidate(self, row: Row, file: SourceFile, part: str) -> Candidate:
        """See `RowFormat`."""
        label = parse_label(row.values["label"], file.shown, row.line)
        bucket = {"perplexity_bucket": row.values["perplexity_bucket"]}
        return Candidate(f"{part}/{row.position}", row.text, label, domain=part, position=row.position, extra=bucket)


FORMAT = CopyrightTraps()
