"""AUC against text length (Shi et al., Figure 2b)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.delong import Part, auc_interval
from ngramscope.evaluate.lines import Line, read, too_few
from ngramscope.evaluate.strata import stratify
from ngramscope.report.charts import axes_of, legend, spans, tag
from ngramscope.report.html import INK
from ngramscope.report.parts import Chart, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View
from ngramscope.report.words import because

__all__ = ["lengths"]

_BINS = 5


@section("lengths", "AUC against text length", place=90)
def lengths(view: View) -> Section:
    """Among fifths of the documents by tokens that were seen; on the first target model."""
    sizes, data = _sizes(view), view.data
    if sizes is None or data is None or not view.targets:
        return Section(missing="How long the texts are for a model is not at hand.")
    strata = stratify(sizes.tolist(), _BINS, name="tokens")
    model = view.targets[0]
    rows: list[list[Any]] = []
    drawn: dict[str, list[tuple[float, float, Any]]] = {}
    for attack in view.shown(model):
        parts = tuple(Part(each[None]) for each in view.parts(attack, model))
        line = Line(attack, model, "target", "all", parts)
        if not parts:
            continue
        for number, name in enumerate(strata.names):
            kept = strata.number == number
            used = kept & line.scored
            sides = int((used & view.members).sum()), int((used & ~view.members).sum())
            reason = too_few(used, view.members)
            found = None if reason else read(line, view.members, kept)
            middle = float(np.median(sizes[kept]))
            interval = None
            if found is not None:
                interval = auc_interval(found.auc, found.error(view.members, data.unit), view.settings["level"])
                drawn.setdefault(attack, []).append((middle, found.auc, interval))
            rows.append(
                [attack, name, middle, *sides, None if found is None else Number.of(found.auc, interval), because(reason)]
            )
    columns = heads("attack", "tokens", "median:number", "members:count", "non-members:count", "AUC:auc", "note")
    table = Table(view.named("lengths"), f"AUC by tokens of the text that were seen, on {model}.", columns, rows, folded=True)
    if not any(len(each) > 1 for each in drawn.values()):
        return Section(missing="The texts are too alike in length, or too few, for an AUC at several lengths.")
    figure, axes = axes_of(xlabel="tokens of the text (median of a fifth of the documents)", ylabel="AUC")
    axes.axhline(0.5, color=INK, linewidth=0.8)
    for attack, points in drawn.items():
        colour, marker = view.style(attack)
        at = [each[0] for each in points]
        (line_,) = axes.plot(at, [each[1] for each in points], marker=marker, color=colour, linewidth=1.4, markersize=4,
                             label=attack)  # fmt: skip
        band = axes.fill_between(at, *spans([each[2] for each in points]), color=colour, alpha=0.1, linewidth=0)
        for artist in (line_, band):
            tag(artist, view.number(attack))
    legend(figure, axes)
    alt = f"AUC against tokens of the text on {model}: {', '.join(drawn)}; the table has the numbers"
    return Section([], [Chart(view.named("lengths"), figure, alt, f"AUC among texts of like length on {model}."), table])


def _sizes(view: View) -> Floats | None:
    """(N,): scored tokens of the documents under the first target model."""
    if view.data is None:
        return None
    for stored in view.stored("plain", "target"):
        counts = np.full(len(view.results.scores.labels) if view.results.scores else 0, np.nan)
        stats = stored.stats
        if len(stats) and int(stats.rows.max()) < len(counts):
            counts[stats.rows] = stats.lengths
            found: Floats = counts[view.data.rows]
            return np.where(found > 0, found, np.nan) if np.isfinite(found).any() else None
    return None
