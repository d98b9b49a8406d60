"""Reference models compared (Duan et al., Table 6)."""

from __future__ import annotations

from typing import Any

from ngramscope.report.charts import axes_of, spans
from ngramscope.report.html import INK
from ngramscope.report.parts import Chart, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View

__all__ = ["references"]

_FAMILIES = ("ref", "smaller-ref", "wbc")


@section("references", "Reference models", place=100)
def references(view: View) -> Section:
    """Attacks that calibrate by a reference model, for each of them."""
    rows = [row for row in view.rows if row["role"] == "target" and reference_of(row["attack"]) is not None]
    rows = [row for row in rows if row["auc"] is not None]
    if not rows:
        return Section(missing="No attack with a reference model was evaluated.")
    parameters = {each.model: each.parameters for each in view.stored("plain", "reference")}
    cells: list[list[Any]] = []
    for row in rows:
        name = reference_of(row["attack"]) or ""
        cells.append([row["attack"].split(".", 1)[0], row["model"], name, parameters.get(name), row["n1"], row["n0"],
                      Number.of(row["auc"], row["interval"]), Number.difference(row["to_baseline"])])  # fmt: skip
    columns = heads(
        "attack",
        "model",
        "reference",
        "parameters:count",
        "members:count",
        "non-members:count",
        "AUC:auc",
        f"less {view.settings['baseline']}:difference",
    )
    table = Table(view.named("references"), "Attacks that calibrate by a reference model.", columns, cells)
    plain = [row for row in rows if row["attack"].startswith("ref") and row["model"] == view.targets[0]]
    return Section([], [*([_chart(view, plain)] if len(plain) > 1 else []), table])


def reference_of(attack: str) -> str | None:
    """The reference that an attack's column names: ``MODEL`` of ``ref(form=ratio).MODEL``."""
    base, dot, name = attack.partition(").") if ")." in attack else attack.partition(".")
    return name if dot and base.split("(")[0] in _FAMILIES else None


def _chart(view: View, rows: list[Any]) -> Chart:
    figure, axes = axes_of(size=(4.6, 1.0 + 0.3 * len(rows)), xlabel="AUC")
    axes.axvline(0.5, color=INK, linewidth=0.8)
    axes.grid(visible=False)
    colour, marker = view.style(rows[0]["attack"])
    low, high = spans([row["interval"] for row in rows])
    axes.hlines(range(len(rows)), low, high, color=colour, linewidth=1.5)
    axes.plot([row["auc"] for row in rows], range(len(rows)), marker, color=colour, markersize=5)
    names = [reference_of(row["attack"]) or "" for row in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    told = "; ".join(f"{name} {row['auc']:.3f}" for name, row in zip(names, rows, strict=True))
    caption = f"AUC on {rows[0]['model']} by reference model, with intervals."
    return Chart(view.named("references"), figure, f"AUC by reference model: {told}", caption)
