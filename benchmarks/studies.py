"""What verdict.py and associated.py ask of the Python API, run under the interpreter that has ngramscope.

    python studies.py texts DATA FILE            texts and scores that studies draw from
    python studies.py verdicts FILE FROM TO      verdicts on semi-synthetic studies number FROM to TO - 1
    python studies.py table FILE ...             the verdicts counted, and how often membership was claimed
    python studies.py associated STUDIES         how often intervals of adjusted AUCs hold the truth

DATA is the folder of shared corpora. The second prints a JSON object for each study and kind of evidence, the others a list.

Texts are real: the first 100 words of documents of three dated corpora. Scores are of character n-gram models, trained on
other documents of the same corpora that no study uses; none saw either side. One is the base of the target, one the placebo;
a second placebo was trained on other text (C4). Where there is membership, members' scores on the target are raised by a part
of their standard deviation, not by the same for each. A text shift takes members from the older and non-members from the newer
half of a corpus, or the other way round, some or all of them.
"""

from __future__ import annotations

import io
import json
import math
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
import zstandard

from ngramscope import provenance
from ngramscope.attacks.table import SCORES_VERSION, ScoreColumn, ScoreTable
from ngramscope.blind.base import BlindInputs
from ngramscope.blind.folds import FoldRule
from ngramscope.blind.gain import conditional_gain
from ngramscope.blind.study import blind_study, fold_parts
from ngramscope.evaluate.associated import KINDS, Adjusted, adjusted
from ngramscope.evaluate.delong import Part, compare, measure, standard_error
from ngramscope.evaluate.evidence import BOTH, CODES, MEMBERSHIP, AttackEvidence, BlindEvidence, evidence_of
from ngramscope.evaluate.lines import Line
from ngramscope.evaluate.options import EvaluationOptions
from ngramscope.evaluate.randomization import randomization_p
from ngramscope.evaluate.report import AttackRow
from ngramscope.evaluate.run import evaluate
from ngramscope.evaluate.transfer import share
from ngramscope.evaluate.verdict import decide
from ngramscope.evaluate.verdict_words import TITLES

OTHER = "c4-sample/c4-sample"
CORPORA = ("dated-web/us-gov-blogs", "dated-specs/eips", "dated-abstracts/arxiv-cs")
WORDS = 100
SIDE = 200
STRENGTHS = (0.55, 0.6, 0.7, 0.8)
"""AUC that the added membership alone gives."""
MIXES = (0.6, 0.75, 1.0)
"""Share of the members that are of one half of the corpus; as many of the non-members are of the other."""
FOLDS, PERMUTATIONS = 3, 99
DRAWS = 999
ORDER = 6
_LOW = 0.2
OPTIONS = EvaluationOptions(bootstrap=0)

Floats = np.typing.NDArray[np.float64]


@dataclass(frozen=True)
class Corpus:
    """Documents that studies draw from, in order of date, and scores (attack, model) of each."""

    name: str
    texts: list[str]
    scores: dict[tuple[str, str], Floats]


class CharacterModel:
    """n-grams of characters up to `ORDER`, each order smoothed towards the one below (Dirichlet prior)."""

    PRIOR = 5.0

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts: list[tuple[Any, Any]] = []
        codes = np.frombuffer("\0".join(texts).encode("utf-8"), dtype=np.uint8)
        for keys in self._keys(codes):
            self._counts.append(np.unique(keys, return_counts=True))

    @staticmethod
    def _keys(codes: Any) -> Iterator[Any]:
        """For each order from 1 on the n-grams that end at each byte, as numbers."""
        keys = np.zeros(len(codes), dtype=np.uint64)
        for order in range(1, ORDER + 1):
            shifted = np.concatenate([np.zeros(order - 1, np.uint64), codes[: len(codes) - order + 1].astype(np.uint64)])
            keys = keys | (shifted << np.uint64(8 * (order - 1)))
            yield keys

    def _count(self, order: int, keys: Any) -> Any:
        known, counts = self._counts[order]
        place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.where(known[place] == keys, counts[place], 0)

    def log_probabilities(self, text: str) -> Floats:
        """Of each byte but the first `ORDER`, natural logarithms."""
        codes = np.frombuffer(text.encode("utf-8"), dtype=np.uint8)
        found = np.full(len(codes), 1 / 256)
        before = np.full(len(codes), self._counts[0][1].sum(), dtype=np.float64)
        for order, keys in enumerate(self._keys(codes)):
            found = (self._count(order, keys) + self.PRIOR * found) / (before + self.PRIOR)
            # The context of the next order is the n-gram of this one that ends a byte earlier.
            before = np.concatenate([[0], self._count(order, keys)[:-1]]).astype(np.float64)
        return np.log(found[ORDER:])


def read(path: Path) -> list[dict[str, Any]]:
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        return [json.loads(line) for line in io.TextIOWrapper(stream, encoding="utf-8", newline="\n")]


def corpora(data: Path) -> list[Corpus]:
    """Six in ten documents of each corpus are for studies, two for the target's base, two for the placebo."""
    pools: dict[str, list[dict[str, Any]]] = {}
    training: dict[str, list[str]] = {"target": [], "placebo": []}
    for name in CORPORA:
        pools[name] = []
        for each in read(data / f"{name}.jsonl.zst"):
            part = blake2b(each["text"].encode(), digest_size=1).digest()[0] % 10
            if part < 4:
                training["target" if part < 2 else "placebo"].append(each["text"])
            elif len(words := each["text"].split()) >= WORDS:
                pools[name].append({"date": each["date"], "text": " ".join(words[:WORDS])})
    training["elsewhere"] = [each["text"] for each in read(data / f"{OTHER}.jsonl.zst")]
    models = {name: CharacterModel(sorted(texts)) for name, texts in training.items()}
    found = []
    for name, pool in pools.items():
        pool.sort(key=lambda each: (str(each["date"]), each["text"]))
        texts = [each["text"] for each in pool]
        scores: dict[tuple[str, str], list[float]] = {}
        for model, trained in models.items():
            for text in texts:
                logs = np.sort(trained.log_probabilities(text))
                values = {
                    "loss": logs.mean(),
                    "min-k": logs[: max(1, int(_LOW * len(logs)))].mean(),
                    "zlib": logs.sum() / len(zlib.compress(text.encode())),
                }
                for attack, value in values.items():
                    scores.setdefault((attack, model), []).append(float(value))
        found.append(Corpus(name, texts, {key: np.array(values) for key, values in scores.items()}))
    return found


def draw(corpus: Corpus, mix: float, random: np.random.Generator) -> tuple[np.typing.NDArray[np.int64], Any]:
    """Documents of a study, members first; `mix` of the members are of one half of the corpus, .5: no shift."""
    order = random.permutation(len(corpus.texts)) if mix == 0.5 else np.arange(len(corpus.texts))
    halves = [random.permutation(order[: len(order) // 2]), random.permutation(order[len(order) // 2 :])]
    if random.random() < 0.5:
        halves.reverse()
    ours = round(mix * SIDE)
    rows = np.concatenate([halves[0][:ours], halves[1][: SIDE - ours], halves[1][SIDE - ours : SIDE], halves[0][ours:SIDE]])
    return rows, np.arange(2 * SIDE) < SIDE


def study(corpus: Corpus, number: int, mix: float) -> Iterator[dict[str, Any]]:
    """Verdicts on one draw of texts, with membership and without, by what evidence there is."""
    random = np.random.default_rng([number, round(100 * mix)])
    rows, members = draw(corpus, mix, random)
    unit = np.arange(len(rows))
    # Documents stand in no order of sides: folds must not see it.
    shuffled = random.permutation(len(rows))
    rows, members = rows[shuffled], members[shuffled]
    read_texts = BlindInputs([corpus.texts[row] for row in rows.tolist()])
    blind = blind_study(read_texts, members, unit, FoldRule(FOLDS, permutations=PERMUTATIONS, seed=number))
    ceiling = blind.ceiling
    assert ceiling.auc is not None and ceiling.p is not None  # noqa: PT018
    seen = BlindEvidence(ceiling.auc, ceiling.interval, ceiling.p)
    uneven = 1 + 0.5 * random.normal(size=len(rows))
    strength = STRENGTHS[number % len(STRENGTHS)]
    drawn = np.stack([members, *(random.permutation(members) for _ in range(DRAWS))])
    for membership in (None, strength):
        raised = 0.0 if membership is None else math.sqrt(2) * NormalDist().inv_cdf(membership)
        columns = []
        for (attack, model), values in corpus.scores.items():
            scores = values[rows]
            if model == "target":
                scores = scores + raised * scores.std() * uneven * members
            role = "target" if model == "target" else "placebo"
            columns.append(ScoreColumn(attack, model, role, scores, [None] * len(rows)))
        report = evaluate(score_table(members, columns), OPTIONS)
        targets = [each for each in columns if each.role == "target"]
        over = {}
        for each in targets:
            gain = conditional_gain(blind, each.scores[None], members, unit, permutations=PERMUTATIONS, seed=number)
            two = measure(list(fold_parts(np.stack([each.scores[None], blind.scores]), blind.folds, members)), members)
            error = standard_error(two.moved[0] - two.moved[1], two.used[0], members)
            over[each.name] = (gain.gain, gain.p, compare(float(two.auc[0] - two.auc[1]), error))
        chance = {each.name: randomization_p([each.scores], drawn) for each in targets}
        kinds = {
            "placebo": evidence_of(only(report.rows, "placebo"), seen, over),
            "placebo of other text": evidence_of(only(report.rows, "elsewhere"), seen, over),
            "no placebo": evidence_of(only(report.rows, None), seen, over),
        }
        if mix == 0.5:
            kinds["randomised"] = evidence_of(only(report.rows, None), seen, over, chance)
        for kind, evidence in kinds.items():
            verdict = decide(evidence)
            yield {
                "study": number, "corpus": corpus.name, "mix": mix, "membership": membership, "evidence": kind,
                "verdict": verdict.code, "because": verdict.because, "blind": ceiling.auc, "blind_p": ceiling.p,
                "aucs": {each.name: each.auc for each in evidence.attacks},
                "decided": verdict.decided,
                "parts": {each.name: parts(each) for each in evidence.attacks},
            }  # fmt: skip


def parts(attack: AttackEvidence) -> dict[str, Any]:
    """The tests of an attack, to try another rule on."""
    over = attack.over_blind
    return {
        "p": attack.p, "gain": attack.gain, "gain_p": attack.gain_p,
        "over_blind": None if over is None else [over.difference, over.p],
        "placebos": [[each.auc, each.p, each.difference.difference, each.difference.p] for each in attack.placebos],
    }  # fmt: skip


def only(rows: Sequence[AttackRow], placebo: str | None) -> list[AttackRow]:
    """The rows as if there were no other placebo."""
    return [
        replace(row, placebos=tuple(each for each in row.placebos if each.model == placebo))
        for row in rows
        if row.model in ("target", placebo)
    ]


def score_table(members: Any, columns: Sequence[ScoreColumn]) -> ScoreTable:
    ids = [f'"{row}"' for row in range(len(members))]
    stamp = provenance.stamp("score-table", version=SCORES_VERSION, settings={}, inputs=[])
    return ScoreTable(pa.table({"id": ids, "label": members.astype(np.int64)}), tuple(columns), stamp)


def texts(data: str, path: str) -> None:
    found = [
        {"name": each.name, "texts": each.texts, "scores": [[*name, values.tolist()] for name, values in each.scores.items()]}
        for each in corpora(Path(data))
    ]
    Path(path).write_text(json.dumps(found), encoding="utf-8")


def verdicts(path: str, first: str, last: str) -> None:
    pools = [
        Corpus(each["name"], each["texts"], {(attack, model): np.array(values) for attack, model, values in each["scores"]})
        for each in json.loads(Path(path).read_text(encoding="utf-8"))
    ]
    for number in range(int(first), int(last)):
        corpus = pools[number % len(pools)]
        for mix in (0.5, MIXES[number // len(pools) % len(MIXES)]):
            for found in study(corpus, number, mix):
                print(json.dumps(found), flush=True)


def table(*paths: str) -> None:
    """A row for each truth and kind of evidence, with Clopper and Pearson's interval of claims of membership."""
    rows = [json.loads(line) for path in paths for line in Path(path).read_text(encoding="utf-8").splitlines()]
    counted: dict[tuple[Any, ...], Counter[str]] = {}
    for row in rows:
        texts = "alike" if row["mix"] == 0.5 else "shifted"
        membership = row["membership"]
        strengths = ["none"] if membership is None else ["any", f"AUC {membership}"]
        for strength in strengths:
            counted.setdefault((texts, row["evidence"], strength), Counter())[row["verdict"]] += 1
    found = []
    for (texts, evidence, strength), verdicts in sorted(counted.items()):
        claimed = share(verdicts[MEMBERSHIP] + verdicts[BOTH], verdicts.total())
        found.append(
            {
                "texts": texts, "evidence": evidence, "truth": strength, "studies": verdicts.total(),
                **{TITLES[code]: verdicts[code] for code in CODES}, "claimed": claimed.value,
                "interval": [claimed.low, claimed.high],
            }
        )  # fmt: skip
    print(json.dumps(found))


@dataclass(frozen=True)
class Setting:
    """Simulated scores: `slope` times a function of overlap, plus normal noise, plus `effect` for members."""

    name: str
    size: int
    more: float
    effect: float
    wave: bool = False

    def scores(self, overlap: Floats, random: np.random.Generator) -> Floats:
        return (3 * np.sin(6 * overlap) if self.wave else 4 * overlap) + random.normal(size=len(overlap))

    def overlaps(self, members: bool, count: int, random: np.random.Generator) -> Floats:
        return random.beta(2 + self.more * members, 6, count)

    def auc(self, others: bool, random: np.random.Generator) -> float:
        """The true one, of members against non-members who overlap as they do, or against all."""
        ours = np.sort(self.scores(self.overlaps(True, _MANY, random), random) + self.effect)
        theirs = self.scores(self.overlaps(others, _MANY, random), random)
        return float(1 - np.searchsorted(ours, theirs).mean() / _MANY)


_MANY = 1_000_000
SETTINGS = (
    Setting("overlap alone, 150 + 150", 150, 1, 0.0),
    Setting("overlap alone, 500 + 500", 500, 1, 0.0),
    Setting("overlap and membership, 150 + 150", 150, 1, 0.5),
    Setting("overlap and membership, 300 + 300", 300, 1, 1.0),
    Setting("not monotone, far apart, 500 + 500", 500, 2, 0.3, wave=True),
)


def associated(studies: str) -> None:
    found = []
    for place, setting in enumerate(SETTINGS):
        random = np.random.default_rng([7, place])
        true, raw = setting.auc(True, random), setting.auc(False, random)
        members = np.arange(2 * setting.size) < setting.size
        rows: dict[str, list[Adjusted]] = {kind: [] for kind in KINDS}
        for number in range(int(studies)):
            overlap = np.concatenate([setting.overlaps(side, setting.size, random) for side in (True, False)])
            scores = setting.scores(overlap, random) + setting.effect * members
            line = Line("loss", "m", "target", "all", (Part(scores[None]),))
            for row in adjusted([line], members, None, overlap, seed=number):
                rows[row.kind].append(row)
        for kind, mine in rows.items():
            # Which members are retained is chance, too: where scores do not depend on overlap alone, the mean over studies
            # stands for the truth of matched ones.
            matched = kind == "matched"
            aucs = np.array([each.auc for each in mine])
            gaps = np.array([each.raw_less_adjusted.difference for each in mine if each.raw_less_adjusted])
            truths = {
                "AUC": 0.5 if setting.effect == 0 else aucs.mean() if matched else true,
                "raw - AUC": gaps.mean() if matched else raw - true,
            }
            found.append(
                {
                    "setting": setting.name, "by": kind, "mean": float(aucs.mean()),
                    "AUC": covered([each.interval for each in mine], truths["AUC"]),
                    "raw - AUC": covered(
                        [(d.low, d.high) if (d := each.raw_less_adjusted) and d.low is not None else None for each in mine],
                        truths["raw - AUC"],
                    ),
                    "raw AUC holds it": covered([each.raw_interval for each in mine], truths["AUC"]),
                }
            )  # fmt: skip
            shares = [each.share_interval for each in mine if each.share is not None]
            if len(shares) == len(mine):  # else it is given for some studies only, which are not like the others
                ratio = np.mean([each.share for each in mine]) if matched else (raw - true) / (raw - 0.5)
                found[-1]["share"] = covered(shares, float(ratio))
    print(json.dumps(found))


def covered(intervals: Sequence[Any], truth: float) -> float:
    return float(np.mean([each is not None and each[0] <= truth <= each[1] for each in intervals]))


if __name__ == "__main__":
    action, *rest = sys.argv[1:]
    {"texts": texts, "verdicts": verdicts, "table": table, "associated": associated}[action](*rest)
