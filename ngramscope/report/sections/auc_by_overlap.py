"""AUC against overlap: the measurement that the tool is for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ngramscope.evaluate.curves import BOTH, NONMEMBERS
from ngramscope.evaluate.lines import BLIND
from ngramscope.evaluate.overlap_section import OVERLAP_ALONE
from ngramscope.report import looks
from ngramscope.report.charts import axes_of, legend, panels_of, spans, tag
from ngramscope.report.html import INK
from ngramscope.report.parts import Chart, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View
from ngramscope.report.words import because

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["auc_by_overlap"]

_TITLES = {
    NONMEMBERS: "all members, non-members with at most so much overlap",
    BOTH: "members and non-members with at most so much overlap",
}
_DASHES = {"target": "-", "placebo": "--", BLIND: ":"}
_ALONE = "-."  # overlap alone, beside the ceiling
_POINTS = "_", "x"  # of the ceiling, and of overlap alone, where there are no lines
_BANDS = 4


@section("auc-by-overlap", "AUC against overlap", place=30)
def auc_by_overlap(view: View) -> Section:
    """Both curves, strata, matched and weighted AUCs, for each length of n-grams."""
    sections = view.evaluation.get("overlap") or ()
    parts: list[Chart | Table] = []
    lead = [
        "If an attack gains only when non-members with much overlap are taken away (first figure), and not when both sides are "
        "restricted alike (second), it has been handed easier non-members. What an adjustment takes away is associated with "
        "overlap; something else may go with overlap and be what the attack sees."
    ]
    for each in sections:
        for restricted in (NONMEMBERS, BOTH):
            rows = [row for row in each["curves"] if row["restricted"] == restricted]
            if any(row["auc"] is not None for row in rows):
                parts.append(_curves(view, each, restricted, rows))
        if each["reason"] is not None:
            lead.append(f"{each['n']}-grams: {because(each['reason'])}.")
        parts += _adjusted(view, each)
        parts += _strata(view, each)
        parts += _table(view, each)
    if not parts:
        return Section(missing="The score table has no overlap of its documents, so AUC against overlap is not known.")
    return Section(lead, parts)


def _lines(view: View, rows: list[Any]) -> Iterator[tuple[Any, list[Any], tuple[str, str]]]:
    """The lines that a figure shows: name, rows, colour and marker."""
    shown = {(attack, model) for model in view.targets[:1] for attack in view.shown(model)}
    attacks = {attack for attack, _ in shown}
    placebos = list(dict.fromkeys(row["model"] for row in rows if row["role"] == "placebo"))[:1]
    for attack, model, role in dict.fromkeys((row["attack"], row["model"], row["role"]) for row in rows):
        here = (attack, model) in shown or role == BLIND or (attack in attacks and model in placebos)
        mine = [row for row in rows if (row["attack"], row["model"]) == (attack, model)]
        if here and any(row["auc"] is not None for row in mine):
            yield (attack, model, role), mine, (looks.BLIND, "") if role == BLIND else view.style(attack)


def _curves(view: View, part: Any, restricted: str, rows: list[Any]) -> Chart:
    n = part["n"]
    figure, (axes, below) = panels_of(
        (3, 1), size=(4.4, 4.3), xlabel=f"largest overlap ({n}-grams)", ylabels=("AUC", "documents")
    )
    axes.axhline(0.5, color=INK, linewidth=0.8)
    told, lines = [], list(_lines(view, rows))
    several = len({model for (_, model, role), _, _ in lines if role != BLIND}) > 1
    for (attack, _, role), mine, (colour, marker) in lines:
        at = [row["at_most"] for row in mine]
        values = [float("nan") if row["auc"] is None else row["auc"] for row in mine]
        label = attack if role == BLIND or not several else f"{attack}, placebo" if role == "placebo" else attack
        dash = _ALONE if role == BLIND and attack == OVERLAP_ALONE else _DASHES.get(role, "-")
        (line,) = axes.plot(at, values, dash, color=colour, marker=marker, markersize=3.5,
                            linewidth=1.4, label=label)  # fmt: skip
        tag(line, view.number(attack))
        if len(lines) <= _BANDS or role == "target":
            band = axes.fill_between(at, *spans([row["interval"] for row in mine]), color=colour, alpha=0.1, linewidth=0)
            tag(band, view.number(attack))
        last = next(row for row in reversed(mine) if row["auc"] is not None)
        told.append(f"{label} {last['auc']:.3f} at {last['at_most']:g}")
    _counts(below, rows)
    axes.set_xlim(0, 1)
    axes.set_ylim(*_reach(part))
    legend(figure, axes, below)
    alt = f"AUC against the largest overlap of {n}-grams; {'; '.join(told)}"
    caption = (
        f"{n}-grams: {_TITLES[restricted]}. Bands: intervals. Dashed: placebo. Dotted: the blind ceiling; dashed and dotted: "
        "overlap alone."
    )
    return Chart(view.named(f"auc-by-overlap-{n}-{restricted}"), figure, alt, caption)


def _counts(axes: Axes, rows: list[Any]) -> None:
    first = [row for row in rows if (row["attack"], row["model"]) == (rows[0]["attack"], rows[0]["model"])]
    at = [row["at_most"] for row in first]
    axes.step(at, [row["n1"] for row in first], where="post", color=looks.MEMBERS, linewidth=1.6, label="members")
    axes.step(at, [row["n0"] for row in first], "--", where="post", color=looks.NONMEMBERS, linewidth=1.6, label="non-members")
    axes.set_ylim(bottom=0)


def _reach(part: Any) -> tuple[float, float]:
    """Ends of the vertical axis of both curves."""
    ends = [end for row in part["curves"] if row["auc"] is not None and row["role"] != "placebo"
            for end in (row["auc"], *(row["interval"] or ()))]  # fmt: skip
    ends += [row["auc"] for row in part["curves"] if row["auc"] is not None]
    return min(0.48, min(ends) - 0.02), min(1.01, max(ends) + 0.02)


def _adjusted(view: View, part: Any) -> Iterator[Chart | Table]:
    rows = part["adjusted"]
    if not rows:
        return
    lines = [line for line, _, _ in _lines(view, rows) if line[2] != "placebo"]
    known = [
        (line, {row["kind"]: row for row in rows if (row["attack"], row["model"]) == line[:2] and row["auc"] is not None})
        for line in lines
    ]
    known = [(line, kinds) for line, kinds in known if kinds]
    if known:
        yield _before_after(view, part["n"], known)
    cells: list[list[Any]] = []
    for row in rows:
        facts = row["facts"]
        size = facts.get("pairs", facts.get("effective_sample_size"))
        note = because(row["reason"]) or because(row["share_reason"])
        cells.append([
            row["attack"], row["model"], row["role"], row["kind"].replace("_", " "), row["n1"], row["n0"], size,
            Number.of(row["raw"], row["raw_interval"]), Number.of(row["auc"], row["interval"]),
            Number.difference(row["raw_less_adjusted"]), Number.of(row["share"], row["share_interval"]), note,
        ])  # fmt: skip
    columns = heads(
        "attack",
        "model",
        "role",
        "adjustment",
        "members:count",
        "non-members:count",
        "pairs or effective size:number",
        "raw AUC:auc",
        "adjusted AUC:auc",
        "raw less adjusted:difference",
        "share associated with overlap:share",
        "note",
    )
    caption = f"AUC adjusted for overlap of {part['n']}-grams."
    notes = [
        "Share: of the AUC's excess over .5. Matched: pairs of like overlap. Weighted: non-members weighted to overlap as the "
        "members do."
    ]
    yield Table(view.named(f"adjusted-{part['n']}"), caption, columns, cells, notes)


def _before_after(view: View, n: int, known: list[Any]) -> Chart:
    kinds = list(dict.fromkeys(kind for _, found in known for kind in found))
    places = ["raw", *(kind.replace("_", " ") for kind in kinds)]
    figure, axes = axes_of(ylabel="AUC")
    axes.axhline(0.5, color=INK, linewidth=0.8)
    told = []
    for number, ((attack, _, role), found) in enumerate(known):
        first = next(iter(found.values()))
        every = [(0, first["raw"], first["raw_interval"])]
        every += [(1 + kinds.index(kind), row["auc"], row["interval"]) for kind, row in found.items()]
        at = [place + 0.09 * (number - (len(known) - 1) / 2) for place, _, _ in every]
        colour, marker = (looks.BLIND, _POINTS[attack == OVERLAP_ALONE]) if role == BLIND else view.style(attack)
        low, high = spans([each[2] for each in every])
        axes.vlines(at, low, high, color=colour, linewidth=1.2)
        (line,) = axes.plot(at, [each[1] for each in every], marker, color=colour, markersize=5, label=attack)
        tag(line, view.number(attack))
        told.append(f"{attack} raw {first['raw']:.3f}, " + ", ".join(f"{kind} {row['auc']:.3f}" for kind, row in found.items()))
    axes.set_xticks(range(len(places)), places)
    legend(figure, axes)
    caption = f"AUC as it is, and adjusted for overlap of {n}-grams, with intervals."
    return Chart(view.named(f"adjusted-{n}"), figure, f"Adjusted AUCs: {'; '.join(told)}", caption)


def _strata(view: View, part: Any) -> Iterator[Chart | Table]:
    rows = part["strata"]
    names = list(dict.fromkeys(row["stratum"] for row in rows))
    lines = [each for each in _lines(view, rows) if each[0][2] != "placebo"]
    if not lines:
        return
    figure, axes = axes_of(xlabel=f"overlap of {part['n']}-grams", ylabel="AUC within the stratum")
    axes.axhline(0.5, color=INK, linewidth=0.8)
    for number, ((attack, _, role), mine, (colour, marker)) in enumerate(lines):
        there = [row for row in mine if row["auc"] is not None]
        at = [names.index(row["stratum"]) + 0.09 * (number - (len(lines) - 1) / 2) for row in there]
        marker = _POINTS[attack == OVERLAP_ALONE] if role == BLIND else marker
        axes.vlines(at, *spans([row["interval"] for row in there]), color=colour, linewidth=1.2)
        (line,) = axes.plot(at, [row["auc"] for row in there], marker, color=colour, markersize=5, label=attack)
        tag(line, view.number(attack))
    axes.set_xticks(range(len(names)), [short_range(each) for each in names], rotation=30, ha="right", rotation_mode="anchor")
    axes.set_xlim(-0.5, len(names) - 0.5)
    legend(figure, axes)
    alt = f"AUC within {len(names) - 1} strata of overlap, and pooled over them; the table has the numbers"
    yield Chart(view.named(f"overlap-strata-{part['n']}"), figure, alt,
                f"AUC within strata of equally many documents by overlap of {part['n']}-grams, and pooled over pairs of one "
                "stratum, with intervals.")  # fmt: skip
    cells = [
        [row["attack"], row["model"], row["role"], row["stratum"], row["n1"], row["n0"], Number.of(row["auc"], row["interval"]),
         Number.difference(row["less_raw"]), because(row["reason"])]
        for row in rows
    ]  # fmt: skip
    columns = heads(
        "attack", "model", "role", "stratum", "members:count", "non-members:count", "AUC:auc", "less raw:difference", "note"
    )
    yield Table(view.named(f"overlap-strata-{part['n']}"), f"AUC by overlap of {part['n']}-grams, in strata.", columns, cells,
                folded=True)  # fmt: skip


def short_range(name: str) -> str:
    """A stratum's name with two digits a number."""
    return re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.2g}", name)


def _table(view: View, part: Any) -> Iterator[Table]:
    cells = [
        [row["attack"], row["model"], row["role"], "non-members" if row["restricted"] == NONMEMBERS else "both sides",
         row["at_most"], row["n1"], row["n0"], Number.of(row["auc"], row["interval"]), Number.difference(row["less_raw"]),
         because(row["reason"])]
        for row in part["curves"]
    ]  # fmt: skip
    columns = heads(
        "attack",
        "model",
        "role",
        "restricted",
        "overlap at most:number",
        "members:count",
        "non-members:count",
        "AUC:auc",
        "less raw:difference",
        "note",
    )
    if cells:
        yield Table(view.named(f"auc-by-overlap-{part['n']}"), f"AUC against overlap of {part['n']}-grams.", columns, cells,
                    folded=True)  # fmt: skip
