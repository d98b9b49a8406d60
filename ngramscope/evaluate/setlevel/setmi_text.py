"""The report of `setmi` for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ngramscope.evaluate.plain import difference, number, p_value, table
from ngramscope.sizes import counted

__all__ = ["to_text"]

_CURVES = {
    "documents_a_set": "by documents a set",
    "document_length": "by length of the documents",
    "share_of_labels_mixed": "by share of the labels mixed",
}


def to_text(report: Mapping[str, Any]) -> str:
    """Tables in plain text."""
    counts, rows = report["counts"], report["rows"]
    size = counts["documents_a_set"]
    lines = [
        f"{counted(counts['sets']['members'], 'set')} of members, {counts['sets']['nonmembers']:,} of non-members; "
        f"{counted(counts['in_sets'], 'document')}, {size['least']} to {size['most']} a set (median {size['median']:g})",
        "",
    ]
    body = []
    for row in rows:
        best = max((each for each in row["blind"] if each["auc"] is not None), key=lambda each: each["auc"], default=None)
        body.append(
            [
                row["attack"], row["model"], row["aggregation"], f"{row['n1']}/{row['n0']}",
                row["reason"] or number(row["auc"], row["interval"]), p_value(row["p"]), p_value(row["p_holm"]),
                number(row["document_auc"], row["document_interval"]),
                "-" if best is None else f"{best['name']} {number(best['auc'], best['interval'])}",
                "; ".join(f"{number(each['auc'], each['interval'])}" for each in row["placebos"]) or "-",
                "; ".join(difference(each["difference"]) for each in row["placebos"]) or "-",
                "-" if row["regrouped"] is None else number(row["regrouped"]["auc"], row["regrouped"]["interval"]),
            ]
        )  # fmt: skip
    names = ["attack", "model", "aggregation", "n1/n0", "set AUC", "p", "p (Holm)", "document AUC", "best blind"]
    lines += table([*names, "placebo", "- placebo", "regrouped"], body)
    lines += [
        "p: share of permuted set labels with an AUC at least as large. regrouped: documents dealt out anew to the sets of",
        "their class: what averaging alone gives. An AUC says how well the scores distinguish these two kinds of sets.",
    ]
    return "\n".join([*lines, *_curves(rows)])


def _curves(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        for name, points in (row["curves"] or {}).items():
            yield ""
            yield f"{row['attack']} @ {row['model']}, {row['aggregation']}: {_CURVES[name]}"
            yield from table(
                ["at", "n1/n0", "documents a set", "set AUC"],
                [
                    [
                        f"{each['at']:g}", f"{each['n1']}/{each['n0']}", f"{each['documents']:.1f}",
                        each["reason"] or number(each["auc"], each["interval"]),
                    ]
                    for each in points
                ],
            )  # fmt: skip
