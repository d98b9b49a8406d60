"""Studies made of random numbers, for reports: nothing here knows an answer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ngramscope import provenance
from ngramscope.attacks.run import run_attacks
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.blind.texts import blind_inputs
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.run import evaluate
from ngramscope.models.documents import document_table
from ngramscope.models.stats import DEFAULT_STATISTICS
from ngramscope.models.store import ScoreStore
from ngramscope.report.results import SetResults
from ngramscope.sets.base import Candidate, open_header
from ngramscope.sets.records import RecordSource
from ngramscope.sets.writer import SetFile, Step
from tests.score_stores import Pass, write_store

__all__ = ["WORDS", "candidates", "full_set", "random_scores", "random_set", "stored_set", "write_set"]

WORDS = [
    f"{first}{second}" for first in ("ka", "to", "mi", "re", "su", "lo") for second in ("n", "rin", "sta", "ve", "d", "ble")
]


def candidates(count: int, seed: int = 0, *, domains: Sequence[str] = ("wiki", "code"), words: int = 40) -> list[Candidate]:
    """So many of both sides, in turn; members overlap a little more."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        label = (number + 1) % 2
        share, own = random.beta(2 + label, 5), random.beta(9, 2)
        text = " ".join(random.choice(WORDS, int(random.integers(words // 2, words))))
        found.append(
            Candidate(
                id=f"doc-{number}", text=text, label=label, domain=domains[number % 3 % len(domains)],
                date=f"{2015 + number % 7}-0{1 + number % 9}", overlap={"3": min(1.0, own + 0.1), "7": own if label else share},
                extra={"overlap_loo_7": share},
            )
        )  # fmt: skip
    return found


def write_set(path: Path, chosen: Sequence[Candidate]) -> Path:
    """A candidate set of these."""
    with SetFile(path) as file:
        file.add(chosen)
        counts = {"candidates": {"used": len(chosen), "left_out": {"too_short": 3}}}
        file.commit(Step(rule="sampled", settings={}, inputs=[], counts=counts))
    return path


def stored_set(folder: Path, count: int = 120, *, effect: float = 0.35, seed: int = 0) -> tuple[Path, ScoreStore]:
    """A set, and a score store of it: two targets, a placebo, two references; of the first target also the text repeated."""
    random = np.random.default_rng(seed)
    chosen = candidates(count, seed)
    lengths = [len(each.text.split()) for each in chosen]
    signs = np.array([1 if each.label else -1 for each in chosen])
    hard = random.normal(0, 0.4, count)
    ids = [random.integers(0, 500, length) for length in lengths]

    def made(label: str, role: str, strength: float, parameters: int, copies: int = 1) -> Pass:
        values: dict[str, list[Any]] = {name: [] for name in DEFAULT_STATISTICS}
        for row, length in enumerate(lengths):
            size = copies * length
            start = 0.8 * np.exp(-np.arange(size) / 8)
            loss = np.abs(random.normal(3 - strength * signs[row] / 2 + hard[row], 1.2, size)) + start
            values["token_id"].append(np.tile(ids[row], copies))
            values["log_prob"].append(-loss)
            values["mu"].append(-random.gamma(9, 0.33, size))
            values["sigma"].append(random.gamma(4, 0.4, size))
            values["rank"].append(np.floor(np.exp(loss / 2)).astype(int))
            values["top1_log_prob"].append(-np.minimum(loss, 0.5))
            values["logsumexp"].append(random.normal(10, 1, size))
        zlib = [20 + 3 * each for each in lengths]
        kind = "plain" if copies == 1 else "repeated"
        settings = {"copies": copies} if copies > 1 else {}
        return Pass(
            values, kind=kind, role=role, label=label, parameters=parameters, zlib_bytes=zlib, settings=settings,
            text_bytes=[4 * each for each in lengths],
        )  # fmt: skip

    attacked = [("small-1b", "target", effect, 10**9), ("large-7b", "target", 2 * effect, 7 * 10**9)]
    attacked.append(("placebo-1b", "placebo", 0.05, 10**9))
    passes = [made(*each, copies=copies) for each in attacked for copies in (1, 6)]
    passes += [made("ref-a", "reference", 0.0, 10**8), made("ref-b", "reference", 0.02, 3 * 10**8)]
    store = write_store(folder / "store", passes, labels=[each.label for each in chosen])
    pq.write_table(document_table(chosen), folder / "store" / "documents.parquet")
    return write_set(folder / "set.jsonl", chosen), ScoreStore(store.path)


def random_scores(
    chosen: Sequence[Candidate], attacks: Sequence[str] = ("loss", "zlib"), seed: int = 0, *, effect: float = 0.5
) -> ScoreTable:
    """Scores of one target by these attacks."""
    random = np.random.default_rng(seed)
    sides = np.array([each.label or 0 for each in chosen])
    count = len(sides)
    stamp = provenance.stamp("score-table", version=SCORES_VERSION, settings={"seed": seed}, inputs=[])
    columns = tuple(
        ScoreColumn(name, "model", "target", effect * sides + random.normal(size=count), [None] * count) for name in attacks
    )
    return ScoreTable(document_table(list(chosen)), columns, stamp)


def random_set(name: str, table: ScoreTable, texts: Sequence[Candidate] = (), **more: Any) -> SetResults:
    """Results of a set with an evaluation of these scores; blind baselines if there are texts."""
    options = EvaluationOptions(bootstrap=100, pairs=True, by=("domain",), folds=3, permutations=19, thresholds=(0.3, 0.6, 1.0))
    report = evaluate(table, options, texts=blind_inputs(texts) if texts else None)
    return SetResults(name=name, scores=table, evaluation=report.to_json(), **more)


def full_set(folder: Path, name: str = "natural", count: int = 120, **more: Any) -> SetResults:
    """Results of `stored_set`, with all that a report can show but series."""
    folder.mkdir(parents=True, exist_ok=True)
    path, store = stored_set(folder, count)
    first = run_attacks(store, ("loss", "zlib", "min-k", "ref"), options={"min-k": {"k": 0.2}})
    learned = [run_attacks(store, ("camia-lr",), options={"camia-lr": {"splits": 2, "share": each}}) for each in (0.3, 0.5)]
    table = ScoreTable(first.documents, tuple(column for each in (first, *learned) for column in each.columns), first.header)
    options = EvaluationOptions(
        bootstrap=100, pairs=True, by=("domain",), decision_fpr=0.05, folds=3, permutations=19, thresholds=(0.2, 0.4, 0.6, 1.0)
    )
    edited = [
        ScoreColumn(each.attack, each.model, each.role, each.scores[:60] - 0.1, each.reasons[:60]) for each in table.columns
    ]
    modified = ScoreTable(table.documents.slice(0, 60), tuple(edited), table.header)
    chosen = list(RecordSource((str(path),)).open().candidates())
    report = evaluate(table, options, against=table, modified=modified, texts=blind_inputs(chosen))
    return SetResults(
        name=name, scores=table, modified=modified, store=store, candidates=path, header=open_header(path),
        spans=[[(0, 12), (20, 31)] for _ in range(count)], tokens=lambda ids: [f"tok{each}" for each in ids],
        evaluation=report.to_json(), **more,
    )  # fmt: skip
