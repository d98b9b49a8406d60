"""The top of the report: what is concluded, in plain words, and the numbers it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ngramscope.evaluate.evidence import BOTH, MEMBERSHIP, NOT_IDENTIFIABLE, NOTHING, SHIFT
from ngramscope.report.parts import Number, Table, heads, text_of
from ngramscope.report.view import View

__all__ = ["verdict_html", "verdict_table"]

_HEADLINES: Mapping[str, tuple[str, str]] = {
    NOTHING: ("Nothing detectable: these attacks do not tell the two sets apart.", "#5c5c5c"),
    MEMBERSHIP: ("Membership: the attacks tell these two sets apart by more than their texts.", "#b45309"),
    SHIFT: ("Shift: this benchmark separates the sets by their texts, not by membership.", "#b2182b"),
    BOTH: ("Shift and membership: the sets differ as texts, and the attacks see more than that.", "#b45309"),
    NOT_IDENTIFIABLE: ("Not identifiable: the sets are told apart, but it cannot be said whether by membership.", "#6b4c9a"),
}
_WARNINGS = 8


def verdict_html(view: View) -> str:
    """Headline, sentences, key numbers and warnings; safe HTML."""
    verdict = _verdict(view)
    head, colour = _headline(view)
    sentences = [] if verdict is None else list(verdict["sentences"])
    if verdict is None and not view.rows:
        sentences.append("No attack was evaluated on this set.")
    body = "".join(f"<p>{escape(each)}</p>" for each in sentences)
    numbers = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<span>{escape(more)}</span></dd></div>"
        for name, value, more in _keys(view)
    )
    keys = f'<dl class="keys">{numbers}</dl>' if numbers else ""
    return (
        f'<div class="verdict" style="--mark: {colour}"><p class="headline">{escape(head)}</p>{body}</div>\n{keys}\n'
        + _warned(view)
    )


def verdict_table(views: Sequence[View]) -> Table:
    """The verdicts of several sets beside each other."""
    rows: list[list[Any]] = []
    for view in views:
        best = _best(view)
        placebo = None if best is None else _placebo(best)
        counts = view.evaluation.get("counts", {})
        rows.append([
            view.results.name, _headline(view)[0].partition(":")[0],
            None if best is None else f"{best['attack']} @ {best['model']}",
            *(None if each is None else Number.of(each["auc"], each["interval"]) for each in (best, placebo, view.ceiling)),
            counts.get("members"), counts.get("nonmembers"),
        ])  # fmt: skip
    columns = heads(
        "set", "verdict", "attack", "highest AUC:auc", "the same on a placebo:auc", "text alone:auc", "members:count",
        "non-members:count",
    )  # fmt: skip
    return Table("verdicts", "Verdicts by set.", columns, rows)


def _verdict(view: View) -> Any:
    return view.results.verdict or view.evaluation.get("verdict")


def _headline(view: View) -> tuple[str, str]:
    """The verdict in a line, and its colour."""
    verdict, best = _verdict(view), _best(view)
    if verdict is None:
        return "No verdict was computed for this set.", "#5c5c5c"
    if (verdict["code"], verdict.get("because")) == (NOTHING, "no_attack"):
        return "Nothing known: no attack was evaluated on this set.", "#5c5c5c"
    head, colour = _HEADLINES.get(verdict["code"], (verdict["code"].replace("_", " "), "#5c5c5c"))
    if verdict["code"] == SHIFT and best is not None and view.ceiling is not None:
        head = f"{head[:-1]}. Text alone reaches {view.ceiling['auc']:.2f}, the best attack {best['auc']:.2f}."
    return head, colour


def _best(view: View) -> Any:
    """The highest AUC on a target."""
    return max((row for model in view.targets for row in view.scored(model)[:1]), key=lambda row: row["auc"], default=None)


def _placebo(row: Any) -> Any:
    """The placebo that the attack does best on."""
    return max(row["placebos"], key=lambda each: each["auc"], default=None)


def _keys(view: View) -> list[tuple[str, str, str]]:
    """Name, number and interval of what a reader looks for first."""
    found: list[tuple[str, Any]] = []
    best = _best(view)
    if best is not None:
        found.append((f"highest AUC: {best['attack']} @ {best['model']}", best))
        if (placebo := _placebo(best)) is not None:
            found.append((f"the same on the placebo {placebo['model']}", placebo))
    if view.ceiling is not None:
        found.append(("text alone, no model", view.ceiling))
    texts = [
        (name, *text_of(Number.of(row["auc"], row["interval"]), "auc").replace(" [", "|[").partition("|")[::2])
        for name, row in found
    ]
    counts = view.evaluation.get("counts", {})
    if counts:
        texts.append(("members / non-members", f"{counts['members']:,} / {counts['nonmembers']:,}", ""))
    return texts


def _warned(view: View) -> str:
    found = [*view.evaluation.get("warnings", ()), *(view.results.validation or {}).get("warnings", ())]
    shown = "".join(f'<p class="warning">{escape(each[:1].upper() + each[1:])}.</p>' for each in found[:_WARNINGS])
    rest = "".join(f"<li>{escape(each)}</li>" for each in found[_WARNINGS:])
    return shown + (
        f"<details><summary>{len(found) - _WARNINGS} more warnings</summary><ul>{rest}</ul></details>" if rest else ""
    )
