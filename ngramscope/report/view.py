"""One set's results as sections ask for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.blocks import ALL, Block, blocks
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.prepare import Prepared, prepare
from ngramscope.models.store import StoredPass
from ngramscope.report.looks import Look, family
from ngramscope.report.results import SetResults

__all__ = ["SHOWN", "View"]

SHOWN = 6
"""Attacks in a figure, at most."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class View:
    """What sections are made from.

    Attributes
    ----------
    results
        Of one set.
    looks
        By attack, for all sets of the report.
    prefix
        In front of the names of files and anchors; empty if the report is of one set.
    characters
        Of each text in the explorer, at most.
    numbers
        Of the attacks, by which the page tells them apart.
    """

    results: SetResults
    looks: Mapping[str, Look]
    prefix: str = ""
    characters: int = 0
    numbers: Mapping[str, int] = field(default_factory=dict)

    def named(self, name: str) -> str:
        """A name of a file, told from those of other sets."""
        return f"{self.prefix}{name}"

    @cached_property
    def evaluation(self) -> Row:
        """Of the set; empty if there is none."""
        return self.results.evaluation or {}

    @cached_property
    def settings(self) -> Row:
        """Of the evaluation."""
        defaults = EvaluationOptions()
        return {"missing": defaults.missing, "group": defaults.group, "level": defaults.level, "baseline": defaults.baseline,
                "decision_fpr": defaults.decision_fpr, **self.evaluation.get("settings", {})}  # fmt: skip

    @cached_property
    def rows(self) -> list[Row]:
        """An attack on a model once: among all documents, or a learned one among those that it did not learn from."""
        found: dict[tuple[str, str], Row] = {}
        for row in self.evaluation.get("rows", ()):
            found.setdefault((row["attack"], row["model"]), row)
        return list(found.values())

    @cached_property
    def targets(self) -> list[str]:
        """Target models in the order of the table."""
        return list(dict.fromkeys(each["model"] for each in self.rows if each["role"] == "target"))

    def row(self, attack: str, model: str) -> Row | None:
        """The numbers of an attack on a model."""
        return next((each for each in self.rows if (each["attack"], each["model"]) == (attack, model)), None)

    @cached_property
    def ceiling(self) -> Row | None:
        """What text alone reaches, if that is known."""
        found: Row | None = (self.evaluation.get("blind") or {}).get("ceiling")
        return found if found and found["auc"] is not None else None

    def beyond_text(self, attack: str, model: str) -> Row | None:
        """An attack beside what text alone reaches."""
        rows = (self.evaluation.get("blind") or {}).get("attacks", ())
        return next((each for each in rows if (each["attack"], each["model"]) == (attack, model)), None)

    def scored(self, model: str) -> list[Row]:
        """The attacks on a model that have an AUC, best first."""
        rows = [each for each in self.rows if each["model"] == model and each["auc"] is not None]
        return sorted(rows, key=lambda each: (-each["auc"], each["attack"]))

    def shown(self, model: str, most: int = SHOWN) -> list[str]:
        """Attacks on a model that figures show, best first: one of each family, among them the best of all and the baseline."""
        scored = [each["attack"] for each in self.scored(model)]
        chosen: dict[str, str] = {}
        for name in scored:
            base = family(name)
            # With its usual options if it has them: the best of many options is best by chance too.
            chosen.setdefault(base, base if base in scored else name)
        baseline = self.settings["baseline"]
        first = [each for each in (*scored[:1], baseline) if each in scored]
        found = list(dict.fromkeys([*first, *chosen.values()]))[:most]
        return sorted(found, key=scored.index)

    def style(self, attack: str) -> Look:
        """Colour and marker."""
        return self.looks.get(attack, ("#000000", ""))

    def number(self, attack: str) -> int:
        """Number of the attack on the page."""
        return self.numbers.get(attack, -1)

    @cached_property
    def data(self) -> Prepared | None:
        """The labelled documents with their scores; None without a score table."""
        return None if self.results.scores is None else prepare(self.results.scores, self.settings["group"])

    @cached_property
    def blocks(self) -> list[Block]:
        """Scores as they were evaluated."""
        return [] if self.data is None else blocks(self.data, self.settings["missing"])

    @property
    def members(self) -> Mask:
        """(N,): sides of the documents of `data`."""
        return np.zeros(0, dtype=np.bool_) if self.data is None else self.data.members

    def parts(self, attack: str, model: str) -> list[Floats]:
        """Scores (N,) of an attack as evaluated; of a learned one for each of its splits; none if the table lacks it."""
        for block in self.blocks:
            for at, entry in enumerate(block.entries):
                if (entry.attack, entry.model) == (attack, model) and block.empty[at] is None:
                    chosen = block.parts if block.split != ALL else block.parts[:1]
                    return [part.scores[at] for part in chosen]
        return []

    def sides(self, attack: str, model: str) -> tuple[Floats, Floats] | None:
        """Scores of members and of non-members, of a learned attack in its first split; None if a side has none."""
        parts = self.parts(attack, model)
        if not parts:
            return None
        known = np.isfinite(parts[0])
        both = parts[0][known & self.members], parts[0][known & ~self.members]
        return None if min(map(len, both)) == 0 else both

    def stored(self, kind: str = "plain", role: str | None = None) -> Iterator[StoredPass]:
        """Passes of the set's score store."""
        if self.results.store is not None:
            yield from self.results.store.find(kind, role=role)

    @cached_property
    def ids(self) -> Sequence[str]:
        """Of the rows of the score table, as texts; the number of the row where there is none."""
        table = self.results.scores
        if table is None:
            return ()
        if "id" not in table.documents.column_names:
            return [str(row) for row in range(len(table.labels))]
        given = table.documents["id"].to_pylist()
        return [str(row) if each in (None, "null") else str(each).strip('"') for row, each in enumerate(given)]
