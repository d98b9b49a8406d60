"""Duplicates (Shi et al. 2024, section 6): AUC against copies of a member in one pass, learning rate, background, outliers.

Members stand 1, 2, 4, 8 or 16 times in the pass, in random groups; in one variant the number is drawn from a Poisson law.
Outliers are members of one kind (posts of the US government) in a background of another (technical proposals).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import train
from study import Study, attacked, score
from tables import TARGET, Findings, Labels, by_hand, median, over_seeds, report_of, rows_of

COPIES = (1, 2, 4, 8, 16)
POSTS = ("dated-web/us-gov-blogs",)
SPECS = ("dated-specs/eips", "dated-specs/peps", "dated-specs/rust-rfcs")

BASE = train.Options(
    corpus=POSTS, words=100, members=300, nonmembers=600, third=300, background=600, parameters=0.25e6, context=512, batch=8,
    copies=",".join(map(str, COPIES)),
)  # fmt: skip

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "as they are": {},
    "learning rate x 10": {"learning_rate": 1e-2},
    "no background": {"background": 0},
    "outliers": {"background_corpus": SPECS},
    "Poisson, mean 4": {"copies": "poisson:4"},
}

QUICK = {"members": 40, "nonmembers": 60, "third": 60, "background": 40, "words": 40, "min_words": 20, "parameters": 0.08e6}


def measure(study: Study) -> Findings:
    found = Findings()
    rows = [row for seed in study.seeds for name in VARIANTS for row in of_variant(study, name, seed, found)]
    found.rows = over_seeds(rows, ("variant", "copies", "attack"))
    aucs = {name: [median(found.rows, "AUC", variant=name, copies=each, attack="loss") for each in COPIES]
            for name in VARIANTS if "Poisson" not in name}  # fmt: skip
    for name, by_copies in aucs.items():
        found.goal(f"{name}: 16 copies above 1", found=by_copies[-1] - by_copies[0], at_least=0.05)
    plain = np.array(aucs["as they are"])
    for name, direction in (("learning rate x 10", "at_least"), ("no background", "at_least"), ("outliers", "at_least")):
        found.goal(f"{name}: mean over copies, above as they are", found=float(np.mean(aucs[name] - plain)), **{direction: 0.0})
    return found


def of_variant(study: Study, name: str, seed: int, found: Findings) -> Iterator[dict[str, object]]:
    """A row for each number of copies and attack; of each against all non-members."""
    options = replace(BASE, seed=seed, **{**(QUICK if study.quick else {}), **VARIANTS[name]})
    run = study.train(options)
    table = attacked(score(study, run / "candidates.jsonl", run / "store", {TARGET: run / "model"}))
    copies = np.array(table.documents["duplicates"].to_numpy(zero_copy_only=False), dtype=np.float64)
    members = table.labels == 1
    groups: list[tuple[str | int, Labels]] = [(each, copies == each) for each in COPIES]
    if "poisson" in options.copies:
        groups = [("1 to 2", copies <= 2), ("3 to 4", (copies >= 3) & (copies <= 4)), ("5 to 6", (copies >= 5) & (copies <= 6)),
                  ("7 and more", copies >= 7)]  # fmt: skip
    inside = sum(int(mine.sum()) for _, mine in groups)
    found.check(f"{name}, seed {seed}: every member in a group", found=inside, holds=inside == int(members.sum()))
    for group, mine in groups:
        keep = mine | ~members
        for row in report_of(rows_of(table, keep)).rows:
            (column,) = [each for each in table.columns if each.attack == row.attack]
            again = by_hand(column.scores[keep], mine[keep])
            assert row.auc is not None
            assert abs(again - row.auc) < 1e-9
            yield {"variant": name, "copies": group, "attack": row.attack, "AUC": row.auc, "members": int(mine.sum())}
