"""AUC within strata of columns of the score table, and how stable decisions are."""

from __future__ import annotations

from ngramscope.report.parts import Chart, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View
from ngramscope.report.words import because

__all__ = ["stability", "strata"]


@section("strata", "Parts of the set", place=95)
def strata(view: View) -> Section | None:
    """A table a column; nothing if no column was asked for."""
    rows = view.evaluation.get("strata", ())
    tables: list[Table | Chart] = []
    for number, column in enumerate(dict.fromkeys(row["column"] for row in rows)):
        cells = [
            [row["stratum"], row["attack"], row["model"], row["n1"], row["n0"], Number.of(row["auc"], row["interval"]),
             Number.difference(row["less_raw"]), because(row["reason"])]
            for row in rows if row["column"] == column
        ]  # fmt: skip
        columns = heads(
            "stratum", "attack", "model", "members:count", "non-members:count", "AUC:auc", "less AUC of all:difference", "note"
        )
        tables.append(Table(view.named(f"strata-{number + 1}"), f"AUC by {column}.", columns, cells))
    lead = ["Pooled: pairs of a member and a non-member of one stratum only."]
    return Section(lead, tables) if tables else None


@section("stability", "Decisions on single documents", place=120)
def stability(view: View) -> Section:
    """How often two decisions on one document contradict each other."""
    rows = view.evaluation.get("stability", ())
    if not rows:
        return Section(missing="How stable decisions on single documents are was not measured, or there are too few documents.")
    cells = [
        [row["attack"], row["model"], row["between"], *(None if row[side] is None else Number(row[side]["mean"])
                                                       for side in ("members", "nonmembers"))]
        for row in rows
    ]  # fmt: skip
    columns = heads("attack", "model", "between", "members:auc", "non-members:auc")
    rate = f"{100 * rows[0]['target_fpr']:g} %"
    caption = f"Chance that two decisions on one document at {rate} FPR contradict each other."
    lead = ["Do not act on single documents where this is large."]
    return Section(lead, [Table(view.named("stability"), caption, columns, cells)])
