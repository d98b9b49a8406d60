"""The table of attacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ngramscope.evaluate.blocks import HELD_OUT
from ngramscope.evaluate.rows import NOTES
from ngramscope.report.charts import axes_of, legend, tag
from ngramscope.report.html import INK
from ngramscope.report.looks import BLIND
from ngramscope.report.parts import Chart, Column, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View
from ngramscope.report.words import because, counted

__all__ = ["attacks"]

_MOST = 25


@section("attacks", "Attacks", place=40)
def attacks(view: View) -> Section:
    """AUCs, TPRs, placebos and their difference."""
    rows = view.evaluation.get("rows", ())
    if not rows:
        return Section(missing="No attack was evaluated on this set.")
    lead = [
        "AUC is the chance that a member scores above a non-member; .5 is guessing. TPR at FPR is the share of members found "
        "when so many non-members are falsely flagged.",
    ]
    least = [row["detectable"] for row in view.rows if row["detectable"] is not None]
    if least:
        lead.append(f"An AUC of {min(least):.3f} would be told from .5 here in 80 % of studies; less can be there unseen.")
    if not any(row["placebos"] for row in rows):
        lead.append("No placebo model was scored, so what an attack finds in a model that saw neither side is not known.")
    return Section(lead, [*_forests(view), *_tables(view, rows)])


def _forests(view: View) -> Iterator[Chart]:
    for number, model in enumerate(view.targets):
        rows = view.scored(model)[:_MOST]
        if rows:
            yield _forest(view, model, rows, number)


def _forest(view: View, model: str, rows: list[Any], number: int) -> Chart:
    ceiling = view.ceiling
    figure, axes = axes_of(size=(4.8, 1.0 + 0.24 * len(rows)), xlabel="AUC")
    axes.grid(visible=False)
    axes.axvline(0.5, color=INK, linewidth=0.8)
    if ceiling is not None:
        axes.axvline(ceiling["auc"], color=BLIND, linewidth=1.2, linestyle=":", label=f"text alone {ceiling['auc']:.3f}")
        if ceiling["interval"] is not None:
            axes.axvspan(*ceiling["interval"], color="#888888", alpha=0.2, linewidth=0)
    for place, row in enumerate(rows):
        colour, marker = view.style(row["attack"])
        low, high = row["interval"] or (row["auc"], row["auc"])
        (line,) = axes.plot([low, high], [place, place], color=colour, linewidth=1.6)
        (point,) = axes.plot([row["auc"]], [place], marker, color=colour, markersize=5)
        for each in row["placebos"]:
            axes.plot([each["auc"]], [place], "o", markerfacecolor="none", markeredgecolor=INK, markersize=5,
                      label="placebo" if place == 0 else None)  # fmt: skip
        for artist in (line, point):
            tag(artist, view.number(row["attack"]))
    axes.set_yticks(range(len(rows)), [row["attack"] for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    legend(figure, axes)
    alt = f"AUCs on {model}: " + "; ".join(f"{row['attack']} {row['auc']:.3f}" for row in rows)
    more = len(view.scored(model)) - len(rows)
    rest = f" The {more} lower ones are in the table." if more else ""
    caption = (
        f"AUC on {model}, with intervals; circles: on placebo models; shaded: the interval of what text alone reaches.{rest}"
    )
    return Chart(view.named(f"auc-{number + 1}"), figure, alt, caption)


def _tables(view: View, rows: list[Any]) -> Iterator[Table]:
    for number, key in enumerate(dict.fromkeys((row["split"], tuple(row["seeds"])) for row in rows)):
        mine = [row for row in rows if (row["split"], tuple(row["seeds"])) == key]
        caption = "Attacks, on all documents."
        if key[0] == HELD_OUT:
            caption = (
                f"Attacks that learn, and the others on the same documents: means over {counted(len(key[1]), 'split')}, "
                "documents that no attack learned from."
            )
        yield _table(view, f"attacks-{number + 1}" if number else "attacks", caption, mine)


def _table(view: View, name: str, caption: str, rows: list[Any]) -> Table:
    rates = [each["target"] for each in next((row["tprs"] for row in rows if row["tprs"]), ())]
    placebos = any(row["placebos"] for row in rows)
    gains = any(view.beyond_text(row["attack"], row["model"]) for row in rows)
    baseline = view.settings["baseline"]
    columns = heads(
        "attack", "model", "role", "members:count", "non-members:count", "AUC:auc", "p:p", f"less {baseline}:difference"
    )
    columns += [Column("placebo", "auc"), Column("less placebo", "difference")] * placebos
    columns += [Column("gain over text alone", "difference"), Column("p of the gain (Holm)", "p")] * gains
    columns += [*(Column(f"TPR at {100 * rate:g} % FPR", "auc") for rate in rates), Column("notes")]
    body = [_cells(view, row, len(rates), placebos, gains) for row in rows]
    marks = {code: NOTES[code] for row in rows for code in row["notes"] if code in NOTES}
    notes = [f"{code.replace('_', ' ')}: {meaning}." for code, meaning in marks.items()]
    if any(each["unreliable"] for row in rows for each in row["tprs"]):
        notes.append("* unreliable: too few documents.")
    if any(each["tpr"] is None for row in rows for each in row["tprs"]):
        notes.append("A TPR is left out where there are fewer than 1 / FPR non-members.")
    if any(len(row["placebos"]) > 1 for row in rows):
        notes.append("Of several placebos the one that the attack does best on.")
    return Table(view.named(name), caption, columns, body, notes)


def _cells(view: View, row: Any, rates: int, placebos: bool, gains: bool) -> list[Any]:
    cells = [row["attack"], row["model"], row["role"], row["n1"], row["n0"], Number.of(row["auc"], row["interval"]), row["p"],
             Number.difference(row["to_baseline"])]  # fmt: skip
    if placebos:
        best = max(row["placebos"], key=lambda each: each["auc"], default=None)
        cells += [None, None] if best is None else [
            Number.of(best["auc"], best["interval"]), Number.difference(best["difference"])
        ]  # fmt: skip
    if gains:
        beyond = view.beyond_text(row["attack"], row["model"])
        cells += [None, None] if beyond is None else [Number.of(beyond["gain"]["gain"]), beyond["gain_p_holm"]]
    tprs = [Number.of(each["tpr"], each["interval"], "*" * each["unreliable"]) for each in row["tprs"]]
    undefined = [f"{count:,} {reason.replace('_', ' ')}" for reason, count in row["undefined"].items()]
    notes = [because(row["reason"]), *(each.replace("_", " ") for each in row["notes"]), *undefined]
    return [*cells, *(tprs or [None] * rates), ", ".join(filter(None, notes))]
