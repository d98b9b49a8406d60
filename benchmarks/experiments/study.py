"""What the experiments share: corpora by date, models with known members, scores of them, and tables over seeds.

Everything that takes time is kept in a folder under `lab.bench_dir()`, named by a digest of what decides its content, so that
experiments share it and a run that was stopped goes on.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import splits
import train

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lab import HERE, Findings, Lab, bench_dir, processor
from tables import PLACEBO, REFERENCE, TARGET, Labels, by_hand, report_of, rows_of, slug, targets, write_set

from ngramscope.attacks.run import run_attacks
from ngramscope.attacks.table import ScoreTable
from ngramscope.blind.base import BlindInputs
from ngramscope.blind.folds import FoldRule
from ngramscope.blind.study import blind_study
from ngramscope.blind.texts import blind_inputs
from ngramscope.models.encode import EncodeOptions
from ngramscope.models.load import ModelOptions
from ngramscope.models.score import ScoreOptions, score_set
from ngramscope.models.store import ScoreStore
from ngramscope.sets import MEMBER, NONMEMBER, Candidate, OverlapOptions, RecordSource
from ngramscope.sets.cut import cut
from ngramscope.sets.seeds import draw
from ngramscope.sets.temporal import CutoffOptions, temporal
from ngramscope.sets.thresholded import ThresholdRule, threshold

CUTOFFS = {
    "dated-web/us-gov-blogs": "2016-01-01",
    "dated-web/rust-blog": "2022-01-01",
    "dated-specs/eips": "2023-01-01",
    "dated-specs/peps": "2015-01-01",
    "dated-specs/rust-rfcs": "2018-01-01",
}
"""Files of the shared folder, each with a date that leaves enough documents on both sides."""

ATTACKS: Mapping[str, Mapping[str, Any]] = {
    "loss": {}, "zlib": {}, "ref": {}, "min-k": {"k": 0.2}, "min-k++": {"k": 0.2}, "wbc": {},
}  # fmt: skip
"""What is computed of every model, with options that stop sweeps."""

LENGTHS = (3, 4, 7)
"""Of the n-grams whose overlap with the members' texts is measured."""

FULL = train.Options(
    corpus=(), words=200, min_words=50, members=1000, nonmembers=1000, third=500, parameters=0.25e6, context=1024, epochs=5,
    learning_rate=1e-3, reference=True, placebo=(train.THIRD,), checkpoints="steps:67",
)  # fmt: skip
"""The model most experiments look at: its LOSS AUC on a random split lies between .6 and .75."""

QUICK = replace(
    FULL, words=60, min_words=20, members=60, nonmembers=60, third=120, parameters=0.08e6, context=128, learning_rate=3e-3,
    checkpoints="steps:10",
)  # fmt: skip


class Study(Lab):
    """One run of the experiments; its record has a file of its own.

    Parameters
    ----------
    seeds
        How many; each draws its own members and trains its own models.
    quick
        Small models that show nothing: does it still work?
    """

    def __init__(self, seeds: int = 3, *, quick: bool = False) -> None:
        super().__init__(quick=quick)
        self.seeds = range(seeds)
        self.folder_of_all = bench_dir() / "experiments" / ("quick" if quick else "full")
        self.folder_of_all.mkdir(parents=True, exist_ok=True)

    @property
    def record(self) -> Path:
        name = f"{self.date}-experiments-{processor()}.json"
        return bench_dir() / f"quick-{name}" if self.quick else HERE / "record" / name

    @property
    def options(self) -> train.Options:
        """Of the model most experiments look at."""
        early, _ = self.corpora(QUICK.words if self.quick else FULL.words)
        return replace(QUICK if self.quick else FULL, corpus=(str(early),))

    def say(self, line: str) -> None:
        print(f"  {time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)

    def corpora(self, words: int | None) -> tuple[Path, Path]:
        """Documents from before and from after the cutoffs, cut to their first words; a text is in one of them, once."""
        found = [self.folder_of_all / f"{name}-{words}.jsonl" for name in ("early", "late")]
        if not all(each.exists() for each in found):
            sides: dict[int, dict[str, Candidate]] = {1: {}, 0: {}}
            for name, cutoff in CUTOFFS.items():
                made = self.folder_of_all / f"temporal-{words}.jsonl"
                (path,) = splits.paths([name])
                temporal(RecordSource((path,)), made, CutoffOptions(cutoff=cutoff))
                for each in RecordSource((made,)).open().candidates():
                    each.text = cut(each.text, words)
                    each.id, each.domain = f"{path.name.split('.')[0]}/{each.id}", path.name.split(".")[0]
                    if each.text not in sides[1]:  # documents from before come first
                        sides[each.label or 0].setdefault(each.text, each)
            for path, side in zip(found, sides.values(), strict=True):
                rows = [{"id": each.id, "text": each.text, "domain": each.domain, "date": each.date} for each in side.values()]
                path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return found[0], found[1]

    def train(self, options: train.Options) -> Path:
        """The folder of `train.run`."""
        files = [_digest(each) for each in splits.paths([*options.corpus, *options.background_corpus])]
        decides = json.dumps([asdict(replace(options, corpus=(), background_corpus=())), train.VERSION, files], sort_keys=True)
        out = self.folder_of_all / f"run-{hashlib.sha256(decides.encode()).hexdigest()[:12]}"
        if not out.exists():
            self.say(f"training, seed {options.seed}: {out.name}")
            train.run(options, out, lambda line: self.say(f"{out.name}: {line}"))
        return out

    @cached_property
    def bases(self) -> list[Base]:
        """The model most experiments look at, for each seed."""
        return [Base(self, self.train(replace(self.options, seed=seed)), seed) for seed in self.seeds]


@dataclass(frozen=True)
class Base:
    """A run of train.py, and a set of its members, its non-members, and documents from after the cutoffs."""

    study: Study
    run: Path
    seed: int

    @cached_property
    def set(self) -> Path:
        """With the overlap with the members' texts for each of `LENGTHS`; members without their own. `part` says who is who."""
        path = self.run / "set" / "all.jsonl"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            natural = list(RecordSource((self.run / "candidates.jsonl",)).open().candidates())
            for each in natural:
                each.extra["part"] = "natural" if each.label == NONMEMBER else "members"
            _, late = self.study.corpora(self.study.options.words)
            known = {each.text for each in natural}
            found = [each for each in RecordSource((late,)).open().candidates() if each.text not in known]
            found = [each for each in found if len(each.text.split()) >= self.study.options.min_words]
            found.sort(key=lambda each: draw(self.seed, "late", each.text))
            for each in found[: self.study.options.nonmembers]:
                each.label = NONMEMBER
                each.extra["part"] = "late"
            write_set(path.with_name("unmeasured.jsonl"), [*natural, *found[: self.study.options.nonmembers]])
            rule = ThresholdRule(n=LENGTHS, max_overlap=1.0, max_inclusive=True, whole_document=True)
            source = RecordSource((path.with_name("unmeasured.jsonl"),))
            threshold(source, self.overlaps, path, rule=rule, name="measured", permutations=0)
        return path

    @property
    def overlaps(self) -> OverlapOptions:
        """With what the model was trained on."""
        return OverlapOptions(scan=(self.run / "members.jsonl",), threads=1)

    @cached_property
    def inputs(self) -> BlindInputs:
        """Texts and overlaps of `set`, in its order; members' without their own document."""
        return blind_inputs(list(RecordSource((self.set,)).open().candidates()))

    @cached_property
    def table(self) -> ScoreTable:
        """`ATTACKS` on `set`, of the model and of the placebo."""
        models = {name: self.run / folder for name, folder in
                  ((TARGET, "model"), (REFERENCE, "reference"), (PLACEBO, "placebo"))}  # fmt: skip
        return attacked(score(self.study, self.set, self.run / "store", models))

    @cached_property
    def members(self) -> Labels:
        """Which rows of `table` are members."""
        found: Labels = self.table.labels == MEMBER
        return found

    def subset(self, name: str, keep: Labels) -> Path:
        """Some rows of `set`, with what was measured, as a set."""
        path = self.set.with_name(f"{slug(name)}.jsonl")
        if not path.exists():
            records = RecordSource((self.set,)).open()
            write_set(path, (each for each, kept in zip(records.candidates(), keep, strict=True) if kept), records.headers)
        return path

    def part(self, name: str) -> Labels:
        """Which rows are of this part; ``natural`` and ``late`` with the members."""
        parts = np.array(self.table.documents["part"].to_pylist())
        return (parts == name) | (parts == "members")


def base_rows(base: Base, name: str, keep: Labels) -> Iterator[dict[str, Any]]:
    """What is found on some rows of a base's set: a row an attack, and the blind ceiling."""
    sizes = {"members": int((keep & base.members).sum()), "nonmembers": int((keep & ~base.members).sum())}
    for row in targets(report_of(rows_of(base.table, keep))):
        (placebo,) = row.placebos or (None,)
        yield {
            "set": name, "attack": row.attack, "AUC": row.auc, "placebo": placebo and placebo.auc,
            "less placebo": placebo and placebo.difference.difference, **sizes,
        }  # fmt: skip
    yield {"set": name, "attack": "blind ceiling", "AUC": blind_ceiling(base, keep), **sizes}
    for n, overlap in base.inputs.overlaps.items():
        yield {"set": name, "attack": f"overlap, n = {n}", "AUC": by_hand(overlap[keep], base.members[keep]), **sizes}


def blind_ceiling(base: Base, keep: Labels) -> float | None:
    """AUC, out of fold, of what texts alone tell, without overlaps; sorted by text, since their order has a say."""
    texts = base.inputs.texts
    order = sorted(np.flatnonzero(keep).tolist(), key=lambda row: texts[row])
    found = blind_study(
        BlindInputs([texts[row] for row in order]), base.members[order], np.arange(len(order)),
        FoldRule(permutations=0, seed=base.seed),
    )  # fmt: skip
    return found.ceiling.auc


def check_aucs(base: Base, keep: Labels, found: Findings) -> None:
    """The product's AUCs, by counting pairs."""
    table = rows_of(base.table, keep)
    report = report_of(table)
    worst = max(
        abs(by_hand(each.scores, table.labels == MEMBER) - (report.row(each.attack, each.model).auc or 0.0))
        for each in table.columns
        if not np.isnan(each.scores).any()
    )
    found.check(f"seed {base.seed}: AUCs by counting pairs, largest difference", found=worst, holds=worst < 1e-9)


def score(
    study: Study,
    source: Path,
    out: Path,
    models: Mapping[str, Path],
    *,
    passes: tuple[str, ...] = ("plain",),
    max_tokens: int | None = None,
) -> ScoreStore:
    """Score a set by models; their names are `TARGET`, `REFERENCE`, `PLACEBO`, or others for targets."""
    for name, folder in models.items():
        options = ScoreOptions(
            model=ModelOptions(str(folder), threads=1, device="cpu"), label=name,
            role=name if name in (REFERENCE, PLACEBO) else TARGET,
            passes=passes, encode=EncodeOptions(max_tokens=max_tokens),
        )  # fmt: skip
        study.say(f"scoring {source.parent.parent.name}/{source.name} by {name}")
        score_set(RecordSource((source,)), out, options)
    return ScoreStore(out)


def attacked(store: ScoreStore, attacks: Mapping[str, Mapping[str, Any]] = ATTACKS, **more: Any) -> ScoreTable:
    """Some attacks; those that want a reference are left out where there is none."""
    if not any(each.role == REFERENCE for each in store.passes):
        attacks = {name: options for name, options in attacks.items() if name not in ("ref", "wbc")}
    return run_attacks(store, list(attacks), options={name: each for name, each in attacks.items() if each}, **more)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
