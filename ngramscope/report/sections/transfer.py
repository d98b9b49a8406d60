"""Thresholds of this set on other documents: another set (Duan et al., Table 5), edited members (Table 4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ngramscope.report.charts import axes_of, legend, spans, tag
from ngramscope.report.html import INK
from ngramscope.report.parts import Chart, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View

__all__ = ["transfer"]

_WHAT = {
    "nonmembers": "non-members of the other set",
    "members": "members of the other set",
    "modified": "modified members",
    "originals": "members",
}


@section("transfer", "Thresholds elsewhere", place=110)
def transfer(view: View) -> Section:
    """What thresholds flag elsewhere, and how AUCs change."""
    parts: list[Chart | Table] = []
    lead = []
    for name, rows in (("transfer", view.evaluation.get("transfer", ())), ("modified", view.evaluation.get("modified", ()))):
        if rows:
            parts += [*_chart(view, name, rows), _table(view, name, rows)]
    if view.evaluation.get("transfer"):
        lead.append("A threshold that is set on one set of non-members has another false positive rate on another set of them.")
    changes = view.evaluation.get("changes", ())
    if changes:
        parts.append(_changes(view, changes))
    if any(row["sign_of_shift"] for row in changes):
        lead.append("Calibration-free attacks change otherwise than calibrated ones: a sign of shift.")
    if not parts:
        return Section(missing="No other set and no edited members were given to carry thresholds over to.")
    return Section(lead, parts)


def _chart(view: View, name: str, rows: Any) -> Iterator[Chart]:
    model = next((each for each in view.targets if any(row["model"] == each for row in rows)), None)
    what = "nonmembers" if name == "transfer" else "modified"
    mine = [row for row in rows if row["model"] == model and row["what"] == what and row["flagged"]["value"] is not None]
    shown = [attack for attack in view.shown(model or "") if any(row["attack"] == attack for row in mine)]
    if not shown:
        return
    figure, axes = axes_of(xlabel="false positive rate on this set", ylabel=f"flagged: {_WHAT[what]}")
    rates = sorted({row["target_fpr"] for row in mine})
    axes.plot(range(len(rates)), rates, color=INK, linewidth=0.8, linestyle=":", label="as on this set")
    for number, attack in enumerate(shown):
        points = [row for row in mine if row["attack"] == attack]
        at = [rates.index(row["target_fpr"]) + 0.08 * (number - (len(shown) - 1) / 2) for row in points]
        colour, marker = view.style(attack)
        axes.vlines(
            at, *spans([(row["flagged"]["low"], row["flagged"]["high"]) for row in points]), color=colour, linewidth=1.2
        )
        (line,) = axes.plot(at, [row["flagged"]["value"] for row in points], marker, color=colour, markersize=5, label=attack)
        tag(line, view.number(attack))
    axes.set_xticks(range(len(rates)), [f"{100 * rate:g} %" for rate in rates])
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    axes.set_ylim(bottom=0)
    legend(figure, axes)
    told = "; ".join(
        f"{row['attack']} {100 * row['flagged']['value']:.1f} % at {100 * row['target_fpr']:g} %" for row in mine
        if row["attack"] in shown
    )  # fmt: skip
    caption = f"Share of {_WHAT[what]} that thresholds of this set flag on {model}, with intervals."
    yield Chart(view.named(name), figure, f"Flagged {_WHAT[what]}: {told}", caption)


def _table(view: View, name: str, rows: Any) -> Table:
    cells = [
        [row["attack"], row["model"], Number(row["target_fpr"]), _WHAT[row["what"]], row["flagged"]["of"],
         Number.of(row["flagged"]["value"], _ends(row["flagged"]))]
        for row in rows
    ]  # fmt: skip
    columns = heads("attack", "model", "FPR here:share", "documents", "number:count", "flagged:share")
    other = "another set" if name == "transfer" else "modified members"
    return Table(view.named(name), f"Thresholds of this set on {other}.", columns, cells, folded=name == "transfer")


def _ends(share: Any) -> tuple[float, float] | None:
    return None if share["low"] is None or share["high"] is None else (share["low"], share["high"])


def _changes(view: View, rows: Any) -> Table:
    cells = [
        [row["attack"] or "calibration-free less calibrated", row["model"], row["kind"] or "", Number.of(row["first"]),
         Number.of(row["second"]), Number.difference(row["change"]), row["change"]["p"],
         "sign of shift" * bool(row["sign_of_shift"])]
        for row in rows
    ]  # fmt: skip
    columns = heads("attack", "model", "kind", "AUC here:auc", "AUC there:auc", "change:difference", "p:p", "note")
    return Table(view.named("changes"), "AUC on the other set less AUC here.", columns, cells, folded=True)
