"""AUC against epochs, steps, the step at which a document was seen, and size (Duan et al. 2024, figures 2 and 9, table 1).

One random split a seed. Checkpoints of one run are compared, so the learning rate of an early one is higher than that of a
run that ends there. Models of several sizes have one tokenizer size and one corpus.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from study import Base, Study, attacked, score
from tables import TARGET, Findings, by_hand, median, over_seeds, report_of, targets

from ngramscope.attacks.table import ScoreTable

SIZES = (0.08e6, 0.25e6, 0.8e6)
VOCABULARY = 1024
MAX_TOKENS = 256
QUARTERS = 4


def measure(study: Study) -> Findings:
    found = Findings()
    curve = over_seeds([row for base in study.bases for row in of_checkpoints(base, found)], ("passes", "attack"))
    seen = over_seeds([row for base in study.bases for row in of_steps_seen(base)], ("passes", "seen in quarter"))
    size = over_seeds([row for seed in study.seeds for row in of_sizes(study, seed)], ("parameters", "passes", "attack"))
    found.rows = [*curve, *seen, *size]
    found.notes.append(f"the first {MAX_TOKENS} tokens of each document are scored")
    passes = study.options.epochs
    by_pass = [median(curve, "AUC", passes=each, attack="loss") for each in range(passes + 1)]
    found.goal("loss: least rise from one pass to the next", found=float(np.diff(by_pass).min()), at_least=0.0)
    found.goal("loss after one pass", found=by_pass[1], at_most=0.55)
    found.goal("loss after the last pass, at least", found=by_pass[-1], at_least=0.6)
    found.goal("loss after the last pass, at most", found=by_pass[-1], at_most=0.75)
    early, late = (median(seen, "AUC", passes=1, **{"seen in quarter": each}) for each in (1, QUARTERS))
    found.goal("loss after one pass: seen in its last quarter above seen in its first", found=late - early, at_least=0.0)
    by_size = [median(size, "AUC", parameters=each, passes=passes, attack="loss") for each in sizes(study)]
    found.goal("loss at the end: least rise from one size to the next", found=float(np.diff(by_size).min()), at_least=0.0)
    return found


def sizes(study: Study) -> tuple[float, ...]:
    """What is asked for."""
    return (0.03e6, 0.08e6) if study.quick else SIZES


def checkpoints(run: Path, apart: float) -> Iterator[tuple[float, int, Path]]:
    """Passes done, in steps of `apart`, and the checkpoint nearest to that: its step and folder."""
    trained_on = json.loads((run / "manifest.json").read_text())["models"]["model"]["trained_on"]
    folders = {step: run / "checkpoints" / f"step-{step}" for step in trained_on["checkpoints"]}
    folders[trained_on["steps"]] = run / "model"
    for number in range(round(trained_on["steps"] / trained_on["steps_a_pass"] / apart) + 1):
        passes = number * apart
        step = min(folders, key=lambda each: abs(each - passes * trained_on["steps_a_pass"]))
        yield passes, step, folders[step]


def scores(study: Study, run: Path, step: int, model: Path) -> ScoreTable:
    """Loss and the like of the random split by one checkpoint."""
    most = min(MAX_TOKENS, study.options.context)
    store = score(study, run / "candidates.jsonl", run / f"store-{step}", {TARGET: model}, max_tokens=most)
    return attacked(store)


def of_checkpoints(base: Base, found: Findings) -> Iterator[dict[str, object]]:
    for passes, step, model in checkpoints(base.run, 0.5):
        report = report_of(scores(base.study, base.run, step, model))
        for row in targets(report):
            yield {"passes": passes, "attack": row.attack, "AUC": row.auc}
        if step == 0:
            row = report.row("loss")
            assert row.auc is not None
            assert row.standard_error is not None
            apart = abs(row.auc - 0.5) / row.standard_error
            found.check(f"seed {base.seed}: untrained, standard errors from .5", found=apart, holds=apart < 4)


def of_steps_seen(base: Base) -> Iterator[dict[str, object]]:
    """Members by when they were first seen, at the checkpoints of the first two passes."""
    manifest = json.loads((base.run / "manifest.json").read_text())
    a_pass = manifest["models"]["model"]["trained_on"]["steps_a_pass"]
    for passes, step, model in checkpoints(base.run, 0.5):
        if not 0 < passes <= 2:
            continue
        table = scores(base.study, base.run, step, model)
        members = table.labels == 1
        first = np.array(table.documents["first_step"].to_numpy(zero_copy_only=False), dtype=np.float64)
        (loss,) = [each.scores for each in table.columns if each.attack == "loss"]
        for quarter in range(1, QUARTERS + 1):
            mine = members & (first // (a_pass / QUARTERS) == quarter - 1)
            keep = mine | ~members
            if mine.any():
                yield {"passes": passes, "seen in quarter": quarter, "AUC": by_hand(loss[keep], mine[keep])}


def of_sizes(study: Study, seed: int) -> Iterator[dict[str, object]]:
    """Models of several sizes on half the members."""
    base = study.options
    assert base.members is not None
    for size in sizes(study):
        options = replace(
            base, parameters=size, vocabulary=VOCABULARY, members=base.members // 2, nonmembers=base.members // 2,
            reference=False, placebo=(), checkpoints="epochs", seed=seed,
        )  # fmt: skip
        run = study.train(options)
        for passes, step, model in checkpoints(run, 1.0):
            for row in targets(report_of(scores(study, run, step, model))):
                yield {"parameters": size, "passes": passes, "attack": row.attack, "AUC": row.auc}
