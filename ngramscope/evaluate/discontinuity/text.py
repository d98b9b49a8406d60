"""The report of `rdd` for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ngramscope.evaluate.plain import p_value, table

__all__ = ["to_text"]

_COLUMNS = ["what", "model", "bandwidth", "n before/after", "jump", "robust interval", "p"]


def to_text(report: Mapping[str, Any]) -> str:
    """Tables in plain text."""
    counts, density = report["counts"], report["density"]
    lines = [f"{counts['before']:,} documents before the cutoff, {counts['after']:,} after it"]
    if density["p"] is None:
        lines.append(f"density at the cutoff: {density['reason']}")
    else:
        lines.append(
            f"density at the cutoff: log of before over after {density['log_ratio']:+.3f} "
            f"(standard error {density['standard_error']:.3f}), p = {p_value(density['p'])}"
        )
    body = [_cells(row["name"], row["model"] or "", row["at_cutoff"], row) for row in report["rows"]]
    for row in report["rows"]:
        for other in row["placebos"]:
            body.append(_cells(row["name"], f"{other['model']} (placebo)", other["at_cutoff"]))
            body.append(_cells(row["name"], f"less {other['model']}", other["difference"]))
    names = [
        "what",
        "model",
        "bandwidth",
        "n before/after",
        "jump",
        "robust interval",
        "p",
        "p (Holm)",
        "in sd",
        "placebo cutoffs",
    ]
    lines += ["", *table(names, body)]
    lines += [
        "jump: just before the cutoff less just after it. robust interval, p: allow for a bend of the curve.",
        "placebo cutoffs: how many of those within one side have a p below .05",
        "",
        *_sweeps(report),
    ]
    return "\n".join(lines)


def _cells(name: str, model: str, at: Mapping[str, Any], row: Mapping[str, Any] | None = None) -> list[str]:
    interval = at["robust_interval"]
    cells = [
        name, model, "-" if at["bandwidth"] is None else f"{at['bandwidth']:.1f} d", f"{at['n_before']}/{at['n_after']}",
        at["reason"] if at["jump"] is None else f"{at['jump']:+.4f}",
        "-" if interval is None else f"[{interval[0]:+.4f}, {interval[1]:+.4f}]", p_value(at["p"]),
    ]  # fmt: skip
    if row is None:
        return [*cells, "", "", ""]
    tested = [each["p"] for each in row["placebo_cutoffs"] if each["p"] is not None]
    size = row["in_standard_deviations"]
    return [
        *cells, p_value(at["p_holm"]), "-" if size is None else f"{size:+.2f}",
        f"{sum(p < 0.05 for p in tested)} of {len(tested)}" if tested else "-",
    ]  # fmt: skip


def _sweeps(report: Mapping[str, Any]) -> list[str]:
    rows = [
        _cells(row["name"], row["model"] or "", each)[:7]
        for row in report["rows"]
        for each in sorted([row["at_cutoff"], *row["sweep"]], key=lambda each: each["bandwidth"] or 0.0)
    ]
    return ["by bandwidth", *table(_COLUMNS, rows)]
