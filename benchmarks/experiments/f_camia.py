"""CAMIA's signals and compositions, and Set-MI, against the single attacks; with honest and with leaking directions.

The models here have a context of 1,024 tokens and a text takes some 550, so that repetition signals are mostly undefined:
experiment g has them. Learned attacks, and all that stands beside them, are evaluated on the 70 % of documents that they did
not learn from, mean over ten splits. Set-MI takes random sets that are wholly in or out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from study import Base, Study, score
from tables import TARGET, Findings, median, over_seeds, report_of, targets

from ngramscope.attacks.run import run_attacks
from ngramscope.attacks.table import ScoreTable
from ngramscope.evaluate.setlevel.setmi import SetMiOptions, setmi
from ngramscope.models.store import ScoreStore
from ngramscope.sets.seeds import draw

SINGLE = ("loss", "min-k", "min-k++", "zlib")
COMPOSED = tuple(f"camia-{way}" for way in ("edgington", "fisher", "george", "lr", "lr-group-pca"))
OPTIONS = {"min-k": {"k": 0.2}, "min-k++": {"k": 0.2}}
HONEST, LEAKING = "honest", "leaking"
SET_SIZES = (5, 20)
SHOWN = 8


def measure(study: Study) -> Findings:
    found = Findings()
    signals, composed, sets = [], [], []
    for base in study.bases:
        store = score(study, base.run / "candidates.jsonl", base.run / "store-camia", {TARGET: base.run / "model"},
                      passes=("plain", "repeated"))  # fmt: skip
        plain = run_attacks(store, ("camia", *SINGLE), options=OPTIONS)
        signals += list(of_signals(plain))
        composed += [row for compat in (None, "camia-code") for row in of_compositions(store, compat)]
        check(base, run_attacks(store, ("camia-edgington",), compat="camia-code"), found)
        sets += [row for size in SET_SIZES for row in of_sets(plain, size, base.seed)]
    merged = over_seeds(signals, ("signal",))
    merged.sort(key=lambda row: -row["AUC"]["median"] if row["AUC"] else 0.0)
    # An AUC of seventeen documents tells nothing.
    common = [row for row in merged if row["AUC"] and 2 * row["documents"]["median"] > merged[0]["of"]["median"]]
    by_set = over_seeds(sets, ("documents a set", "attack", "aggregation"))
    found.rows = [*common[:SHOWN], *over_seeds(composed, ("directions", "attack", "split")), *by_set]
    found.notes.append(f"signals that more than half of the documents have: {len(common)} of {len(merged)}; best {SHOWN} shown")
    if study.quick:  # too few documents for ten sets a class
        return found
    best = max(median(found.rows, "AUC", directions=HONEST, attack=each, split="held-out") for each in SINGLE)
    honest = [median(found.rows, "AUC", directions=HONEST, attack=each, split="held-out") for each in COMPOSED]
    leaking = [median(found.rows, "AUC", directions=LEAKING, attack=each, split="held-out") for each in COMPOSED]
    found.goal("best honest composition above the best single attack", found=max(honest) - best, at_least=0.0)
    gap = float(np.mean(np.array(leaking[:3]) - np.array(honest[:3])))
    found.goal("directions learned from what is evaluated: mean rise of the p-value compositions", found=gap, at_least=0.0)
    for size in SET_SIZES:
        one, many = (median(by_set, column, attack="loss", aggregation="mean", **{"documents a set": size})
                     for column in ("AUC of documents", "AUC of sets"))  # fmt: skip
        found.goal(f"loss, mean of {size}: sets above documents", found=many - one, at_least=0.0)
    return found


def of_signals(table: ScoreTable) -> Iterator[dict[str, Any]]:
    """Each signal by itself; signals that too many documents lack have no number."""
    for row in targets(report_of(table, missing="per-attack")):
        yield {"signal": row.attack, "AUC": row.auc, "documents": row.n1 + row.n0, "of": len(table.labels)}


def of_compositions(store: ScoreStore, compat: str | None) -> Iterator[dict[str, Any]]:
    """Learned attacks, and single ones on the same documents."""
    table = run_attacks(store, (*COMPOSED, *SINGLE), options=OPTIONS, compat=compat)
    for row in targets(report_of(table, missing="per-attack")):
        attack = re.sub(r"\(.*\)", "", row.attack).removesuffix(".leaking")
        yield {"directions": LEAKING if compat else HONEST, "attack": attack, "split": row.split, "AUC": row.auc}


def of_sets(table: ScoreTable, size: int, seed: int) -> Iterator[dict[str, Any]]:
    """Random sets of members, and of non-members."""
    sides, ids = table.labels == 1, table.documents["id"].to_pylist()
    names = np.full(len(ids), "", dtype=object)
    for side in (True, False):
        rows = sorted(np.flatnonzero(sides == side).tolist(), key=lambda row: draw(seed, "sets", ids[row]))
        for place, row in enumerate(rows[: len(rows) // size * size]):
            names[row] = f"{'in' if side else 'out'}-{place // size:04d}"
    documents = table.documents.append_column("set", pa.array([each or None for each in names], pa.string()))
    columns = tuple(each for each in table.columns if each.attack in SINGLE)
    options = SetMiOptions(group_by="set", aggregations=("mean", "t"), permutations=0, bootstrap=100, seed=seed)
    for row in setmi(ScoreTable(documents, columns, table.header), options)["rows"]:
        yield {
            "documents a set": size, "attack": row["attack"], "aggregation": row["aggregation"],
            "AUC of sets": row["auc"], "AUC of documents": row["document_auc"],
        }  # fmt: skip


def check(base: Base, table: ScoreTable, found: Findings) -> None:
    """Leaking columns say so."""
    names = [each.attack for each in table.columns]
    found.check(
        f"seed {base.seed}: leaking columns are called so", found=len(names), holds=all(".leaking@" in each for each in names)
    )
