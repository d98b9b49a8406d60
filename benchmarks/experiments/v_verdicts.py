"""How often is the verdict of `ngramscope evaluate` right on models whose training is known? Twenty seeds of four cases.

    random split, untrained      nothing is there to be found
    random split, trained        membership
    temporal split, untrained    a shift
    temporal split, trained      a shift, and membership

Each is judged with a placebo (a model trained on other documents), and without; a random split also as what it is, membership
drawn by chance. One model a seed is trained; its members are the same in both splits, the non-members are held out from before
the cutoffs, or from after them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import train
from study import Study, attacked, score
from tables import PLACEBO, Findings, report_of, rows_of, write_set

from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.base import BlindInputs
from ngramscope.blind.texts import blind_inputs
from ngramscope.evaluate.evidence import BOTH, MEMBERSHIP, NOTHING, SHIFT, Evidence
from ngramscope.evaluate.randomization import randomization_p
from ngramscope.evaluate.transfer import share
from ngramscope.evaluate.verdict import decide
from ngramscope.sets import NONMEMBER, RecordSource
from ngramscope.sets.seeds import draw

SEEDS = 20
SIDE = 250
OPTIONS = train.Options(
    corpus=(), words=100, min_words=50, members=SIDE, nonmembers=SIDE, third=150, parameters=0.25e6, context=512, batch=4,
    epochs=8, learning_rate=2e-3, placebo=(train.THIRD,), checkpoints="steps:1000000",
)  # fmt: skip
QUICK = replace(OPTIONS, members=30, nonmembers=30, third=60, parameters=0.03e6, words=40, min_words=20, context=128, epochs=2)
ATTACKS: dict[str, dict[str, Any]] = {"loss": {}, "zlib": {}, "min-k": {"k": 0.2}, "min-k++": {"k": 0.2}}
FOLDS, PERMUTATIONS, DRAWS = 3, 99, 999
RANDOM, TEMPORAL = "random split", "temporal split"
TRUTH = {
    (RANDOM, "untrained"): NOTHING, (RANDOM, "trained"): MEMBERSHIP,
    (TEMPORAL, "untrained"): SHIFT, (TEMPORAL, "trained"): BOTH,
}  # fmt: skip
PLACEBO_TOO, ALONE, CHANCE = "placebo", "text only", "drawn by chance"


def measure(study: Study) -> Findings:
    found = Findings()
    seeds = range(2 if study.quick else SEEDS)
    rows = [row for seed in seeds for row in of_seed(study, seed)]
    for (split, model), truth in TRUTH.items():
        for kind in (PLACEBO_TOO, ALONE, CHANCE):
            mine = [row for row in rows if (row["split"], row["model"], row["evidence"]) == (split, model, kind)]
            if not mine:
                continue
            codes = Counter(row["verdict"] for row in mine)
            wrong = share(sum(row["verdict"] != truth for row in mine), len(mine))
            claims = share(sum(row["verdict"] in (MEMBERSHIP, BOTH) for row in mine), len(mine))
            found.rows.append(
                {
                    "case": f"{split}, {model}", "evidence": kind, "truth": truth, "seeds": len(mine),
                    "wrong": wrong.value, "of 95 %": [wrong.low, wrong.high],
                    "membership claimed": claims.value, "verdicts": dict(codes.most_common()),
                    "loss AUC": float(np.median([row["loss"] for row in mine])),
                    "blind ceiling": float(np.median([row["ceiling"] for row in mine])),
                }
            )  # fmt: skip
            if kind == PLACEBO_TOO:
                found.goal(f"{split}, {model}: share of wrong verdicts", found=wrong.value or 0.0, at_most=0.1)
            if truth in (NOTHING, SHIFT):
                found.goal(f"{split}, {model}, {kind}: membership claimed", found=claims.value or 0.0, at_most=0.05)
    found.check("seeds", found=len(seeds), holds=all(row["seeds"] == len(seeds) for row in found.rows))
    return found


def of_seed(study: Study, seed: int) -> list[dict[str, Any]]:
    """Verdicts of a seed, kept in its folder."""
    early, late = study.corpora((QUICK if study.quick else OPTIONS).words)
    options = replace(QUICK if study.quick else OPTIONS, corpus=(str(early),), seed=seed)
    run = study.train(options)
    done = run / "verdicts.json"
    if not done.exists():
        source = union(run, late, options)
        models = {"trained": run / "model", "untrained": run / "checkpoints" / "step-0", PLACEBO: run / "placebo"}
        table = attacked(score(study, source, run / "store", models), ATTACKS)
        texts = blind_inputs(list(RecordSource((source,)).open().candidates()))
        done.write_text(json.dumps(list(verdicts(table, texts, seed))) + "\n", encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(done.read_text())
    return found


def union(run: Path, late: Path, options: train.Options) -> Path:
    """Members, held-out non-members, and as many from after the cutoffs; nothing is known of overlap."""
    path = run / "all.jsonl"
    if not path.exists():
        natural = list(RecordSource((run / "candidates.jsonl",)).open().candidates())
        for each in natural:
            each.extra = {"part": RANDOM if each.label == NONMEMBER else "members"}
        found = [each for each in RecordSource((late,)).open().candidates() if len(each.text.split()) >= options.min_words]
        found = sorted(found, key=lambda each: draw(options.seed, "late", each.text))[: options.nonmembers]
        for each in found:
            each.label, each.extra = NONMEMBER, {"part": TEMPORAL}
        write_set(path, [*natural, *found])
    return path


def verdicts(table: ScoreTable, texts: BlindInputs, seed: int) -> Iterator[dict[str, Any]]:
    """Of both splits and both models, by what evidence there is."""
    parts = np.array(table.documents["part"].to_pylist())
    for split, model in TRUTH:
        keep = (parts == split) | (parts == "members")
        columns = tuple(each for each in table.columns if each.model in (model, PLACEBO))
        part = rows_of(ScoreTable(table.documents, columns, table.header), keep)
        report = report_of(part, texts=texts.take(np.flatnonzero(keep)), folds=FOLDS, permutations=PERMUTATIONS, seed=seed)
        assert report.verdict is not None
        evidence = report.verdict.evidence
        kinds = {PLACEBO_TOO: evidence, ALONE: without_placebo(evidence)}
        if split == RANDOM:
            kinds[CHANCE] = by_chance(without_placebo(evidence), part, seed)
        for kind, each in kinds.items():
            yield {
                "split": split, "model": model, "evidence": kind, "seed": seed, "verdict": decide(each).code,
                "loss": report.row("loss", model).auc, "placebo": report.row("loss", PLACEBO).auc,
                "ceiling": None if each.blind is None else each.blind.auc,
            }  # fmt: skip


def without_placebo(evidence: Evidence) -> Evidence:
    return replace(evidence, attacks=tuple(replace(each, placebos=()) for each in evidence.attacks))


def by_chance(evidence: Evidence, table: ScoreTable, seed: int) -> Evidence:
    """The split is by chance, sides of fixed size: the p-values are over other splits of that kind."""
    random = np.random.default_rng(seed)
    members = table.labels == 1
    drawn = np.stack([members, *(random.permutation(members) for _ in range(DRAWS))])
    p = {each.name: randomization_p([each.scores], drawn) for each in table.columns}
    attacks = tuple(replace(each, p=p[each.name]) for each in evidence.attacks)
    return replace(evidence, attacks=attacks, randomised=True)
