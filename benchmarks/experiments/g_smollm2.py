"""SmolLM2-135M within four sources: documents from after its release against ones from 2020 on: a temporal confound.

That the model has seen the older ones is presumed: no AUC here shows membership. CAMIA's repetition signals are computed on
some of the documents, since they need a context and a model that copies.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import splits
from study import Study, attacked
from tables import Findings, Skip, report_of, targets, write_set

from ngramscope.attacks.run import run_attacks
from ngramscope.blind.texts import blind_inputs
from ngramscope.models.load import LoadedModel
from ngramscope.models.score import ScoreOptions, score_set
from ngramscope.models.store import ScoreStore
from ngramscope.sets import MEMBER, NONMEMBER, Candidate, Keys, RecordSource
from ngramscope.sets.seeds import draw

SOURCES = ("dated-specs/eips", "dated-web/rust-blog", "dated-specs/peps", "dated-specs/rust-rfcs")
OLDEST, RELEASE, NEWEST_UNSEEN = "2020-01-01", "2024-10-01", "2024-12-01"
WORDS = 128
NEW = 560
REPEATED = 60
ATTACKS: dict[str, dict[str, Any]] = {"loss": {}, "zlib": {}, "min-k": {"k": 0.2}, "min-k++": {"k": 0.2}, "lowercase": {}}


def measure(study: Study) -> Findings:
    import language_models

    try:
        loaded = language_models.smollm2(threads=1)
    except SystemExit as error:
        raise Skip(str(error)) from error
    found = Findings(versions={"model": loaded.label})
    new, repeated = (8, 4) if study.quick else (NEW, REPEATED)
    folder = study.folder_of_all / "smollm2"
    folder.mkdir(exist_ok=True)
    path = write_set(folder / "set.jsonl", documents(new))
    candidates = list(RecordSource((path,)).open().candidates())
    store = scored(study, path, folder / "store", loaded, ("plain", "lowercase"))
    table = attacked(store, ATTACKS)
    texts = blind_inputs(candidates)
    report = report_of(table, texts=texts, by=("domain",), permutations=0 if study.quick else 99)
    assert report.blind is not None
    assert report.verdict is not None
    for row in targets(report):
        within = {f"AUC, {each.stratum}": each.auc for each in report.strata if each.attack == row.attack}
        found.rows.append({"attack": row.attack, "AUC": row.auc, "interval": row.interval, **within})
    if report.blind.ceiling is not None:
        found.rows += [
            {"attack": f"blind {each.name}", "AUC": each.auc, "interval": each.interval}
            for each in (*report.blind.baselines, report.blind.ceiling)
        ]
    sides = table.labels == MEMBER
    found.notes.append(f"{sides.sum()} older, {(~sides).sum()} newer documents; verdict: {report.verdict.code}")
    found.check("sizes", found=len(candidates), holds=int(sides.sum()) == int((~sides).sum()))
    found.check("verdict claims no membership", found=report.verdict.code, holds="identifiable" in report.verdict.code
                or report.verdict.code in ("shift", "nothing_detectable"))  # fmt: skip
    some = [rank < repeated for rank in _ranks(candidates)]
    small = write_set(folder / "repeated.jsonl", (each for each, kept in zip(candidates, some, strict=True) if kept))
    found.rows += list(repetition(scored(study, small, folder / "store-repeated", loaded, ("plain", "repeated")), found))
    return found


def scored(study: Study, path: Path, out: Path, loaded: LoadedModel, passes: tuple[str, ...]) -> ScoreStore:
    from ngramscope.models.load import ModelOptions

    study.say(f"scoring {path.name} by {loaded.label}: {', '.join(passes)}")
    score_set(RecordSource((path,)), out, ScoreOptions(model=ModelOptions(loaded.label), passes=passes, label="smollm2"),
              loaded=loaded)  # fmt: skip
    return ScoreStore(out)


def documents(new: int) -> Iterator[Candidate]:
    """So many newer documents, if there are, and from each source as many older ones."""
    sides: dict[str, dict[bool, list[Candidate]]] = {}
    for source in SOURCES:
        read = splits.load([source], words=WORDS, min_words=WORDS, text_key="text", keys=Keys())
        name = source.split("/")[1]
        for each in read.candidates:
            each.id, each.domain, date = f"{name}/{each.id}", name, str(each.date)
            if OLDEST <= date < RELEASE or date >= NEWEST_UNSEEN:
                sides.setdefault(name, {True: [], False: []})[date < RELEASE].append(each)
    newer = [each for name in sides for each in sides[name][False]]
    newer = sorted(newer, key=lambda each: draw(0, "g", each.text))[:new]
    for name, both in sides.items():
        ours = [each for each in newer if each.domain == name]
        older = sorted(both[True], key=lambda each: draw(0, "g", each.text))[: len(ours)]
        for label, rows in ((NONMEMBER, ours[: len(older)]), (MEMBER, older)):
            for each in rows:
                each.label = label
                yield each


def _ranks(candidates: list[Candidate]) -> list[int]:
    """Place of each among those of its side, in an order by chance."""
    places = {}
    for label in (MEMBER, NONMEMBER):
        mine = [each for each in candidates if each.label == label]
        places |= {each.id: place for place, each in enumerate(sorted(mine, key=lambda each: draw(1, "g", each.text)))}
    return [places[each.id] for each in candidates]


def repetition(store: ScoreStore, found: Findings) -> Iterator[dict[str, Any]]:
    """AUCs of the repetition signals beside what they are differences of, and how far the loss falls from copy to copy."""
    table = run_attacks(store, ("camia",))
    by_name = {each.attack: each.scores for each in table.columns}
    rows = {row.attack: row for row in targets(report_of(table, missing="per-attack"))}
    for signal in ("loss-all", "ppl-all", "below-2", "lz-4", "cal-loss-all"):
        for copy in ("", "-rep1", "-rep2"):
            row = rows[f"camia.{signal}{copy}"]
            yield {"attack": row.attack, "AUC": row.auc, "interval": row.interval, "documents": row.n1 + row.n0}
    gains = {copy: by_name[f"camia.loss-all-{copy}"] for copy in ("rep1", "rep2")}
    told = {copy: float(np.nanmean(values)) for copy, values in gains.items()}
    found.notes.append(f"mean fall of the loss from the text to its second and third copy, nats: {told}")
    defined = float(np.isfinite(gains["rep1"]).mean())
    found.check("repetition signals defined, share of documents", found=defined, holds=defined > 0.9)
    found.goal("the model copies: mean fall of the loss, nats", found=abs(told["rep1"]), at_least=1.0)
