"""The report of `audit` for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ngramscope.evaluate.plain import share, table
from ngramscope.sizes import counted

__all__ = ["to_text"]


def to_text(report: Mapping[str, Any], top: int = 20) -> str:
    """Tables in plain text; of the groups the `top` with the largest flagged shares."""
    counts, models = report["counts"], report["models"]
    lines = [f"{counted(counts['audited'], 'document')} of {counted(counts['groups'], 'group')}", ""]
    lines += table(
        ["attack", "model", "role", "threshold", "known TPR", "known FPR", "flagged", "prevalence"],
        [
            [
                each["attack"], each["model"], each["role"], f"{each['threshold']:.5g}", share(each["tpr"]), share(each["fpr"]),
                share(each["flagged"], each["flagged_interval"]),
                share(each["prevalence"], each["prevalence_interval"]) + (f" ({each['reason']})" if each["reason"] else ""),
            ]
            for each in models
        ],
    )  # fmt: skip
    groups = models[0]["groups"]
    lines += ["", f"groups with the largest flagged shares ({min(top, len(groups))} of {len(groups)})"]
    lines += table(
        ["group", "documents", "flagged", "prevalence"],
        [
            [
                each["name"], str(each["flagged"]["of"]),
                share(each["flagged"]["value"], (each["flagged"]["low"], each["flagged"]["high"])), share(each["prevalence"]),
            ]
            for each in groups[:top]
        ],
    )  # fmt: skip
    lines += [
        "prevalence: (flagged - FPR) / (TPR - FPR), not clamped. Intervals of all documents take groups, and units of the",
        "known documents, to be independent; those of one group are Clopper-Pearson's, as if its documents were.",
    ]
    return "\n".join(lines)
