"""Non-members matched to the members, against the sets of (b) and (c): what is left of their AUCs, and how many documents?

Pools: natural, thresholded and temporal non-members. Matched on overlap with the members' texts (members without their own),
and of the temporal pool on overlap, words and domain.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import b_thresholded
from study import Base, Study, base_rows
from tables import Findings, ids_of, median, over_seeds, with_ids

from ngramscope.sets import RecordSource, SetFile
from ngramscope.sets.matched import MatchOptions, match

POOLS = {
    "natural": ("natural", None, ("overlap",)),
    b_thresholded.FOUR: ("natural", b_thresholded.FOUR, ("overlap",)),
    b_thresholded.THIRD: ("natural", b_thresholded.THIRD, ("overlap",)),
    "temporal": ("late", None, ("overlap", "words", "domain")),
}


def measure(study: Study) -> Findings:
    found = Findings()
    found.rows = over_seeds([row for base in study.bases for row in of_seed(base, found)], ("set", "attack"))
    for name in list(POOLS)[1:]:
        for attack, column in (("loss", "AUC"), ("loss", "placebo"), ("blind ceiling", "AUC")):
            before = median(found.rows, column, set=name, attack=attack)
            after = median(found.rows, column, set=f"{name}, matched", attack=attack)
            found.goal(f"{name}: {attack}, {column}, matched less before", found=after - before, at_most=0.0)
    return found


def of_seed(base: Base, found: Findings) -> Iterator[dict[str, object]]:
    """A row for each set and attack."""
    for name, (part, filtered, on) in POOLS.items():
        pool = base.part(part)
        rule = None if filtered is None else b_thresholded.rules(base)[filtered]
        if filtered is not None and rule is not None:
            pool = pool & with_ids(base.table, ids_of(b_thresholded.thresholded(base, filtered, rule)))
        n = 4 if rule is None else rule.n[0]
        out = matched(base, base.subset(name, pool), on, n)
        keep = pool & with_ids(base.table, ids_of(out))
        members = base.members & keep
        same = int(members.sum()) == int((keep & ~members).sum())
        found.check(f"{name}, seed {base.seed}: pairs", found=int(members.sum()), holds=same)
        yield from base_rows(base, name, pool)
        yield from base_rows(base, f"{name}, matched", keep)


def matched(base: Base, pool: Path, on: tuple[str, ...], n: int) -> Path:
    """The product's choice of pairs."""
    out = pool.with_name(f"{pool.stem}-matched.jsonl")
    if not out.exists():
        with SetFile(out) as file:
            match(RecordSource((pool,)), file, MatchOptions(on=on, n=(n,), permutations=0, seed=base.seed))
    return out
