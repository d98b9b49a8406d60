"""What text alone reaches, and what attacks add to it."""

from __future__ import annotations

from typing import Any

from ngramscope.report.parts import Number, Section, Table, heads
from ngramscope.report.registry import section
from ngramscope.report.view import View
from ngramscope.report.words import because

__all__ = ["blind"]


@section("text-alone", "What text alone tells", place=45)
def blind(view: View) -> Section:
    """Blind baselines and their ceiling; each attack beside it."""
    found = view.evaluation.get("blind")
    if found is None or found["ceiling"] is None:
        reason = "" if found is None or found["reason"] is None else f": {because(found['reason'])}"
        return Section(missing=f"No blind baseline was run, so what text alone tells of the two sides is not known{reason}.")
    ceiling = found["ceiling"]
    if ceiling["auc"] is None:
        return Section(missing=f"The blind baselines have no number: {because(ceiling['reason'])}.")
    lead = [
        f"Without any model, from the texts alone, members are told from non-members with an AUC of {ceiling['auc']:.3f}. An "
        "attack that does no better shows how the texts differ, which need not be membership.",
    ]
    rows: list[list[Any]] = [
        [each["name"], Number.of(each["auc"], each["interval"]), each["p"], because(each["reason"])]
        for each in (*found["baselines"], ceiling)
    ]
    columns = heads("baseline", "AUC:auc", "p:p", "note")
    parts = [Table(view.named("blind"), "Blind baselines, out of fold; the ceiling is a stack of them.", columns, rows)]
    beside = [
        [each["attack"], each["model"], each["role"], each["n1"], each["n0"], each["auc"], each["ceiling"],
         Number.difference(each["less_ceiling"]), Number.of(each["gain"]["gain"]), each["gain"]["p"], each["gain_p_holm"],
         because(each["reason"] or each["gain"]["reason"])]
        for each in found["attacks"]
    ]  # fmt: skip
    if beside:
        columns = heads(
            "attack",
            "model",
            "role",
            "members:count",
            "non-members:count",
            "AUC within folds:auc",
            "text alone:auc",
            "difference:difference",
            "gain over text alone:difference",
            "p of the gain:p",
            "p (Holm):p",
            "note",
        )
        notes = ["Gain: AUC of text and attack together less that of text alone."]
        parts.append(Table(view.named("beyond-text"), "Attacks beside what text alone tells.", columns, beside, notes))
    return Section(lead, parts)
