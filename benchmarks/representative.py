"""What validation.py and dated.py ask of the Python API, run under the interpreter that has ngramscope.

    python representative.py splits DATA SPLITS           false alarms, and power by numbers of texts and planted shifts
    python representative.py dated DATA NAME CUTOFF       one dated corpus: held-out against later documents

DATA is the folder of shared corpora. Each prints what it found as JSON.
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from scipy.stats import spearmanr

from ngramscope import Index, QueryOptions, Scan, ScanOptions
from ngramscope.index.explain import explain_text
from ngramscope.sets import OverlapOptions, RecordSource
from ngramscope.sets.validate import HIGHER, LOWER, REPRESENTATIVE, ShiftRule, judge, validate

WORDS, LEAST = 200, 100
N = 7
HELD_OUT = 0.25
SIZES, SHIFTS = (50, 100, 300, 1000), (0.02, 0.05, 0.10)
SPLIT = 200
COMMON = 0.02
QUICK = ShiftRule(permutations=1_999, resamples=999)

Record = dict[str, Any]


def records(path: Path) -> Iterator[Record]:
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        for line in io.TextIOWrapper(stream, encoding="utf-8", newline="\n"):
            yield json.loads(line)


def order(text: str, seed: int = 0) -> bytes:
    return blake2b(text.encode(), key=seed.to_bytes(8, "little"), digest_size=8).digest()


def cut(text: str) -> str | None:
    """The first words; None if there are too few."""
    words = text.split()
    return " ".join(words[:WORDS]) if len(words) >= LEAST else None


def shares(index: Index, texts: Sequence[str], n: int = N) -> Any:
    return index.overlap(texts, n=[n]).overlap


def splits(data: str, count: str) -> Record:
    """Half of the documents is indexed; the others are split at random, again and again."""
    files = [path for folder in ("dated-web", "dated-specs") for path in sorted((Path(data) / folder).glob("*.jsonl.zst"))]
    texts = sorted((each["text"] for path in files for each in records(path)), key=order)
    half = len(texts) // 2
    with tempfile.TemporaryDirectory() as folder:
        index = Index.build(texts=texts[:half], out=Path(folder) / "index", n=[N], filter="exact")
        pool = shares(index, [text for each in texts[half:] if (text := cut(each)) is not None])
    found: list[Record] = []
    for size in (SPLIT, *SIZES):
        for shift in (0.0, *SHIFTS) if size in SIZES else (0.0,):
            found.append(power(pool, size, shift, int(count)))
            print(found[-1], file=sys.stderr, flush=True)
    return {"documents": half, "pool": len(pool), "mean": float(pool.mean()), "sd": float(pool.std()), "found": found}


def power(pool: Any, size: int, shift: float, count: int) -> Record:
    verdicts: Counter[str] = Counter()
    rejected = wrong = 0
    detectable = []
    for seed in range(count):
        chosen = np.random.default_rng([seed, size]).choice(len(pool), 2 * size, replace=False)
        candidates, reference = pool[chosen[:size]], pool[chosen[size:]]
        # As if a part of every candidate had been written anew: in the mean this takes `shift` away.
        candidates = candidates * (1 - shift / pool.mean())
        result = judge(candidates, reference, replace(QUICK, seed=seed))
        verdicts[result.verdict] += 1
        rejected += bool(result.rejected)
        wrong += shift > 0 and result.verdict == HIGHER
        detectable.append(result.detectable)
    return {
        "texts": size, "shift": shift, "splits": count, "rejected": rejected, "called": verdicts[LOWER] + verdicts[HIGHER],
        "wrong direction": wrong, "representative": verdicts[REPRESENTATIVE], "detectable": float(np.median(detectable)),
    }  # fmt: skip


def write(path: Path, rows: Sequence[Record]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def dated(data: str, name: str, cutoff: str) -> Record:
    everything = sorted(records(Path(data) / f"{name}.jsonl.zst"), key=lambda each: order(each["text"]))
    before = [each for each in everything if str(each["date"]) < cutoff]
    later = [each for each in everything if str(each["date"]) >= cutoff]
    held = round(HELD_OUT * len(before))
    indexed = before[held:]
    sides = {}
    for side, rows in (("heldout", before[:held]), ("later", later)):
        sides[side] = [{**row, "text": text} for row in rows if (text := cut(row["text"])) is not None]
    with tempfile.TemporaryDirectory() as name_of:
        folder = Path(name_of)
        corpus = write(folder / "indexed.jsonl", indexed)
        files = {side: write(folder / f"{side}.jsonl", rows) for side, rows in sides.items()}
        index = Index.build(corpus, out=folder / "index", n=[3, 5, N], filter="exact")
        report = validate(
            RecordSource((files["later"],)), OverlapOptions(indexes=index.paths), RecordSource((files["heldout"],))
        )
        return {
            "corpus": name, "cutoff": cutoff, "indexed": len(indexed),
            **{key: report[key] for key in ("verdict", "reason", "shift", "least", "interval", "p", "detectable", "texts")},
            "overlaps": {
                str(each["n"]): {
                    **{side: each[side]["mean"] for side in ("reference", "candidates")},
                    **{key: each["statistics"]["mean_shift"].get(key) for key in ("interval", "p", "p_holm")},
                    "auc": each["statistics"]["auc"]["value"],
                    "auc_p": each["statistics"]["auc"]["p_holm"],
                }
                for each in report["quantities"] if each["n"]
            },
            "words": {key: report["vocabulary"][key] for key in ("distance", "chance", "p")},
            "classifier": {key: report["classifier"][key] for key in ("auc", "p")},
            "series": series(index, sides, months=len(cutoff) > 4),
            "common": common(corpus, files, len(indexed)),
        }  # fmt: skip


def series(index: Index, sides: dict[str, list[Record]], *, months: bool) -> Record:
    """Mean overlap by year (or month), and whether overlap goes with the date among the later documents."""
    by: dict[str, dict[str, list[float]]] = {side: {} for side in sides}
    for side, rows in sides.items():
        for row, share in zip(rows, shares(index, [each["text"] for each in rows]).tolist(), strict=True):
            by[side].setdefault(str(row["date"])[: 7 if months else 4], []).append(share)
    periods = sorted(by["later"])
    ranks = [number for number, period in enumerate(periods) for _ in by["later"][period]]
    trend = spearmanr(ranks, [share for period in periods for share in by["later"][period]])
    return {
        **{
            side: {period: [len(values), float(np.mean(values))] for period, values in sorted(periods_of.items())}
            for side, periods_of in by.items()
        },
        "spearman": float(trend.statistic),
        "p": float(trend.pvalue),
    }


def common(corpus: Path, files: dict[str, Path], indexed: int) -> Record:
    """What n-grams of many indexed documents (headings, templates) do to the means, and where overlap comes from."""
    scan = Scan(list(files.values()), corpus, query=QueryOptions(n=(N,)), scan=ScanOptions(counts=True, top_sources=1))
    table = scan.table()
    assert table.documents is not None
    assert table.top_sources is not None
    rest: dict[str, list[float]] = {side: [] for side in files}
    having: dict[str, Counter[str]] = {side: Counter() for side in files}
    origins: dict[str, Counter[str]] = {side: Counter() for side in files}
    for number, (side, path) in enumerate(files.items()):
        texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
        for text, row in zip(texts, np.flatnonzero(table.source == number), strict=True):
            documents = np.array(table.documents[row])
            frequent = documents > COMMON * indexed
            rest[side].append(float(np.mean((documents > 0) & ~frequent)))
            ngrams = explain_text(text, scan.rule, [N])["ngrams"][N]
            having[side].update({ngrams[each]["text"] for each in np.flatnonzero(frequent)})
            origins[side].update(str(each["id"]) for each in table.top_sources[row] if each["shared"])

    def share(side: str, ngram: str) -> float:
        return having[side][ngram] / max(1, len(rest[side]))

    leaning = sorted(
        having["heldout"] | having["later"], key=lambda each: (share("heldout", each) - share("later", each), each)
    )
    return {
        "mean of the rest": {side: float(np.mean(values)) for side, values in rest.items()},
        "p of the rest": judge(rest["later"], rest["heldout"], QUICK).p,
        "more in later": [[each, share("heldout", each), share("later", each)] for each in leaning[:8]],
        "more in heldout": [[each, share("heldout", each), share("later", each)] for each in leaning[::-1][:8]],
        "top sources": {side: counts.most_common(5) for side, counts in origins.items()},
    }


if __name__ == "__main__":
    action, *rest = sys.argv[1:]
    print(json.dumps({"splits": splits, "dated": dated}[action](*rest)))
