"""Which chunks does an unlearned model still find as likely as the model it was made from? (Shi et al. 2024, section 7)"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ngramscope import provenance
from ngramscope.attacks.table import ScoreTable
from ngramscope.errors import InputError, UsageError
from ngramscope.evaluate.auc import Floats
from ngramscope.evaluate.setlevel.grouping import set_names
from ngramscope.evaluate.transfer import share
from ngramscope.sizes import format_reasons

__all__ = ["UNLEARNING_VERSION", "UnlearningOptions", "unlearning"]

UNLEARNING_VERSION = 1
"""Version of the report."""

MORE, LESS, ALIKE = "more_likely", "less_likely", "alike"
"""What a chunk is to the unlearned model, against the original one; the first two are flagged as changed."""


@dataclass(frozen=True, kw_only=True)
class UnlearningOptions:
    """What can be chosen.

    Parameters
    ----------
    before, after
        Original and unlearned model, as in the table.
    attack
        A mean log-probability: its ratio is compared.
    bound
        Ratios from 1 / `bound` to `bound`, both not included, are alike.
    group_by
        Column that says which chapter or book a chunk is of; None: all are counted together.
    level
        Of the intervals.
    """

    before: str
    after: str
    attack: str = "min-k"
    bound: float = 1.15
    group_by: str | None = None
    level: float = 0.95

    def __post_init__(self) -> None:
        if not (np.isfinite(self.bound) and self.bound > 1):
            raise UsageError(f"--bound: {self.bound!r} is not possible; a number above 1")
        if not 0 < self.level < 1:
            raise UsageError("--level: lies between 0 and 1, both not included")


def unlearning(
    table: ScoreTable,
    options: UnlearningOptions,
    *,
    after: ScoreTable | None = None,
    inputs: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Compare two models chunk by chunk.

    Parameters
    ----------
    table
        Scores of the chunks by both models; or by the original one.
    after
        Scores of the same chunks by the unlearned model, matched by id; None: in `table` too.
    inputs
        Facts of the files for the report's header.

    Returns
    -------
    dict
        Ready for JSON; see docs/set-level.md.

    Raises
    ------
    UsageError
        An attack, model or column that is not there.
    InputError
        No chunk has a ratio.
    """
    old = _scores(table, options.attack, options.before, "--before")
    ids = _ids(table)
    left_out: Counter[str] = Counter()
    if after is None:
        new = _scores(table, options.attack, options.after, "--after")
    else:
        new = _matched(ids, _ids(after), _scores(after, options.attack, options.after, "--after"))
    defined = np.isfinite(old) & np.isfinite(new)
    # Log-probabilities are below 0; a ratio of others says nothing.
    usable = defined & (old < 0) & (new < 0)
    left_out.update({"undefined_score": int((~defined).sum()), "not_below_zero": int((defined & ~usable).sum())})
    ratio = np.divide(new, old, out=np.full(len(old), np.nan), where=usable)
    names: list[str | None] = ["all"] * len(old)
    if options.group_by is not None:
        names = [each or "no value" for each in set_names(table, options.group_by)[0]]
    rows = np.flatnonzero(usable)
    if not len(rows):
        raise InputError(f"no chunk has a score below 0 by both models ({format_reasons(left_out)})")
    chunks = [
        {
            "id": ids[row], "group": names[row], "label": None if np.isnan(table.labels[row]) else int(table.labels[row]),
            "before": float(old[row]), "after": float(new[row]), "ratio": float(ratio[row]),
            "change": _change(float(ratio[row]), options.bound),
        }
        for row in rows.tolist()
    ]  # fmt: skip
    chunks.sort(key=lambda each: (abs(np.log(each["ratio"])), str(each["id"])))
    return {
        **provenance.stamp("unlearning", version=UNLEARNING_VERSION, settings=asdict(options), inputs=inputs),
        "counts": {
            "chunks": len(old),
            "compared": len(rows),
            "left_out": {name: count for name, count in sorted(left_out.items()) if count},
        },
        "groups": _groups(chunks, options.level),
        "chunks": chunks,
        "warnings": _warnings(chunks, left_out),
    }


def _change(ratio: float, bound: float) -> str:
    return LESS if ratio >= bound else MORE if ratio <= 1 / bound else ALIKE


def _groups(chunks: Sequence[Mapping[str, Any]], level: float) -> list[dict[str, Any]]:
    """Chunks by group and label, with the share that is changed."""
    found = []
    for group, label in sorted({(each["group"], each["label"]) for each in chunks}, key=str):
        own = [each for each in chunks if (each["group"], each["label"]) == (group, label)]
        counts = Counter(each["change"] for each in own)
        ratios = np.array([each["ratio"] for each in own])
        found.append(
            {
                "group": group, "label": label, "chunks": len(own), "median_ratio": float(np.median(ratios)),
                **{name: counts[name] for name in (MORE, LESS, ALIKE)},
                "changed": asdict(share(counts[MORE] + counts[LESS], len(own), level)),
            }
        )  # fmt: skip
    return found


def _scores(table: ScoreTable, attack: str, model: str, option: str) -> Floats:
    found = next((each.scores for each in table.columns if (each.attack, each.model) == (attack, model)), None)
    if found is None:
        listed = ", ".join(each.name for each in table.columns)
        raise UsageError(f"{option}: no column '{attack} @ {model}'; the table has: {listed}")
    return found


def _ids(table: ScoreTable) -> list[Any]:
    """Ids as values; a score table keeps them as JSON, a CSV file as they are."""
    if "id" not in table.documents.column_names:
        return list(range(len(table.labels)))
    return [None if each is None else _value(str(each)) for each in table.documents["id"].to_pylist()]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _matched(ids: Sequence[Any], theirs: Sequence[Any], scores: Floats) -> Floats:
    """Scores in the order of `ids`; NaN where there is none of that id. Copies of an id are matched in order."""
    place: dict[str, list[int]] = {}
    for row, each in enumerate(theirs):
        place.setdefault(json.dumps(each), []).append(row)
    found = np.full(len(ids), np.nan)
    for row, each in enumerate(ids):
        if rows := place.get(json.dumps(each)):
            found[row] = scores[rows.pop(0)]
    return found


def _warnings(chunks: Sequence[Mapping[str, Any]], left_out: Mapping[str, int]) -> list[str]:
    found = []
    if any(left_out.values()):
        found.append("chunks left out: " + ", ".join(f"{count:,} {reason}" for reason, count in left_out.items() if count))
    if len({each["label"] for each in chunks}) < 2:
        found.append(
            "all chunks have one label: give label 1 to what was to be unlearned and 0 to control texts, since a model that "
            "got worse at all texts changes everywhere"
        )
    return found
