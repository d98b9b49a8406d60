"""Natural against overlap-thresholded non-members (Duan et al. 2024, table 2): what rises?

One model, one set of members; only which of its random non-members are left differs. What rises on the placebo too, a model
that saw neither side, is no membership.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from study import Base, Study, base_rows, check_aucs
from tables import Findings, ids_of, median, over_seeds, slug, with_ids

from ngramscope.sets import RecordSource
from ngramscope.sets.thresholded import ThresholdRule, threshold

NATURAL, CONTROL, FOUR, THIRD = "natural", "n = 7, at most 0.2", "n = 4, at most 0.2", "n = 3, lowest third"


def rules(base: Base) -> Mapping[str, ThresholdRule]:
    """Filters; the last one's limit is where a third of the natural non-members are below."""
    overlap = np.array(base.table.documents["overlap_3"].to_numpy(), dtype=np.float64)
    natural = np.array(base.table.documents["part"].to_pylist()) == "natural"
    return {
        CONTROL: ThresholdRule(n=(7,), max_overlap=0.2, max_inclusive=True, whole_document=True),
        FOUR: ThresholdRule(n=(4,), max_overlap=0.2, max_inclusive=True, whole_document=True),
        THIRD: ThresholdRule(n=(3,), max_overlap=float(np.quantile(overlap[natural], 1 / 3)), whole_document=True),
    }


def thresholded(base: Base, name: str, rule: ThresholdRule) -> Path:
    """The natural set with this filter, by the product."""
    out = base.run / "set" / f"kept-{slug(name)}.jsonl"
    if not out.exists():
        threshold(RecordSource((base.run / "candidates.jsonl",)), base.overlaps, out, rule=rule, permutations=0)
    return out


def measure(study: Study) -> Findings:
    found = Findings()
    rows = [row for base in study.bases for row in of_seed(base, found)]
    found.rows = over_seeds(rows, ("set", "attack"))
    for name in (CONTROL, FOUR, THIRD):
        for column in ("AUC", "placebo"):
            rise = median(found.rows, column, set=name, attack="loss") - median(found.rows, column, set=NATURAL, attack="loss")
            found.goal(f"{name}: loss, {column} above that of the natural set", found=rise, at_least=0.0)
        rise = median(found.rows, "AUC", set=name, attack="blind ceiling")
        found.goal(f"{name}: blind ceiling", found=rise, at_least=0.5)
    return found


def of_seed(base: Base, found: Findings) -> Iterator[dict[str, object]]:
    """A row for each set and attack."""
    natural = base.part("natural")
    yield from base_rows(base, NATURAL, natural)
    check_aucs(base, natural, found)
    for name, rule in rules(base).items():
        keep = natural & with_ids(base.table, ids_of(thresholded(base, name, rule)))
        labels = np.array(base.table.labels) == 1
        overlap = np.array(base.table.documents[f"overlap_{rule.n[0]}"].to_numpy(), dtype=np.float64)
        beyond = natural & ~labels & [not rule.keeps(share) for share in overlap]
        right = np.array_equal(keep, natural & ~beyond)
        found.check(f"{name}, seed {base.seed}: kept are those within the limit", found=int(keep.sum()), holds=right)
        yield from base_rows(base, name, keep)
