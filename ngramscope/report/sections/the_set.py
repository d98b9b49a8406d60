"""Set composition and balance."""

from __future__ import annotations

from typing import Any

from ngramscope.report.charts import axes_of
from ngramscope.report.html import INK
from ngramscope.report.looks import MEMBERS
from ngramscope.report.parts import Chart, Column, Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View
from ngramscope.report.words import counted

__all__ = ["the_set"]

_DOMAINS = 20
_NAMES = {"members": "members", "nonmembers": "non-members", "unlabelled": "without a label"}


@section("set", "What was compared", place=10)
def the_set(view: View) -> Section:
    """Counts, domains, and how the two sides differ."""
    header, counts = view.results.header or {}, view.evaluation.get("counts", {})
    lead, parts = [], []
    if counts:
        lead.append(_used(counts))
    elif header:
        lead.append(", ".join(counted(n, _NAMES[side], _NAMES[side]) for side, n in header["counts"].items() if n) + ".")
    balance = header.get("balance") or {}
    if balance.get("covariates"):
        parts += [_differences(view, balance["covariates"]), _balance(view, balance["covariates"])]
    if len({name for side in balance.get("domains", {}).values() for name in side}) > 1:
        parts.append(_domains(view, balance["domains"]))
    elif balance.get("domains"):
        lead.append("All documents are of one domain.")
    if header.get("history"):
        parts.append(_history(view, header["history"]))
    if not parts and not lead:
        return Section(missing="There is no header of a candidate set and no evaluation, so the composition is not known.")
    if not balance:
        lead.append("The set has no balance table: it is no candidate set made by ngramscope sets.")
    return Section(lead, [each for each in parts if each is not None])


def _used(counts: Any) -> str:
    text = (
        f"{counted(counts['members'], 'member')} and {counted(counts['nonmembers'], 'non-member')}; "
        f"{counted(counts['used'], 'document')} used"
    )
    if counts.get("units") is not None:
        text += f", {counted(counts['units'], 'group and single document', 'groups and single documents')}"
    if counts["left_out"]:
        text += f"; {counted(counts['left_out'], 'document')} left out for scores that are missing"
    if counts["unlabelled"]:
        text += f"; {counted(counts['unlabelled'], 'document')} without a label"
    return text + "."


def _name(covariate: str) -> str:
    if covariate.startswith("overlap_loo_"):
        return f"overlap of {covariate.removeprefix('overlap_loo_')}-grams, leave-one-out"
    if covariate.startswith("overlap_"):
        return f"overlap of {covariate.removeprefix('overlap_')}-grams"
    return covariate.replace("_", " ")


def _balance(view: View, covariates: Any) -> Table:
    columns = heads(
        "covariate",
        "members, n:count",
        "mean:number",
        "sd:number",
        "non-members, n:count",
        "mean :number",
        "sd :number",
        "standardised difference:difference",
        "KS distance:auc",
    )
    rows: list[list[Any]] = []
    for name, row in covariates.items():
        sides = [row[side][key] for side in ("members", "nonmembers") for key in ("n", "mean", "sd")]
        rows.append([_name(name), *sides, Number.of(row["smd"]), Number.of(row["ks"])])
    notes = ["Standardised difference: of the means, in standard deviations; within .1 counts as balanced."]
    return Table(view.named("balance"), "How the two sides compare.", columns, rows, notes)


def _differences(view: View, covariates: Any) -> Chart | None:
    # A member's own document says nothing of how the sides differ.
    loo = {name.replace("_loo", "") for name in covariates if name.startswith("overlap_loo_")}
    known = [(_name(name), row["smd"]) for name, row in covariates.items() if row["smd"] is not None and name not in loo]
    if not known:
        return None
    figure, axes = axes_of(size=(4.4, 1.1 + 0.32 * len(known)), xlabel="standardised difference")
    axes.axvspan(-0.1, 0.1, color="#888888", alpha=0.2, linewidth=0)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.plot([value for _, value in known], range(len(known)), "o", color=MEMBERS, markersize=6)
    axes.set_yticks(range(len(known)), [name for name, _ in known])
    axes.set_ylim(len(known) - 0.5, -0.5)
    reach = 1.15 * max(0.2, *(abs(value) for _, value in known))
    axes.set_xlim(-reach, reach)
    told = "; ".join(f"{name} {value:+.2f}" for name, value in known)
    caption = "Balance: mean of members less mean of non-members, in standard deviations; shaded: small."
    return Chart(view.named("balance"), figure, f"Standardised differences: {told}", caption)


def _domains(view: View, domains: Any) -> Table:
    sides = [side for side in _NAMES if side in domains]
    totals = {side: sum(domains[side].values()) for side in sides}
    every = sorted({name for side in sides for name in domains[side]}, key=lambda n: -sum(domains[s].get(n, 0) for s in sides))
    columns = heads("domain")
    for side in sides:
        columns += [Column(_NAMES[side], "count"), Column(f"share of {_NAMES[side]}", "share")]
    rows = [
        [name or "(none)", *(each for s in sides for each in (domains[s].get(name, 0), domains[s].get(name, 0) / totals[s]))]
        for name in every[:_DOMAINS]
    ]
    notes = [f"{counted(len(every) - _DOMAINS, 'more domain')} in the header of the set."] if len(every) > _DOMAINS else []
    return Table(view.named("domains"), "Documents by domain.", columns, rows, notes)


def _history(view: View, history: Any) -> Table:
    rows: list[list[Any]] = []
    for number, step in enumerate(history, 1):
        used = sum(each.get("used", 0) for each in step["counts"].values() if isinstance(each, dict))
        left = [
            f"{count:,} {reason.replace('_', ' ')}"
            for each in step["counts"].values() if isinstance(each, dict)
            for reason, count in each.get("left_out", {}).items()
        ]  # fmt: skip
        rows.append([number, step["rule"], used, ", ".join(left) or "none"])
    columns = heads("step:count", "rule", "candidates:count", "left out")
    return Table(view.named("history"), "How the set was made.", columns, rows, folded=True)
