"""How fast does an exact scan read a corpus, against building an index of it?

Candidates of nearly two million n-grams, most of which the corpus does not have: documents of it with their words in a new
order, and a few of them as they are. Building is `build-index --expected-ngrams` into a filter of over 4 GiB.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import corpus
import engine
from lab import Findings, Lab, Sample, bench_dir, ngramscope, spread, timed, warm

EXPECTED, CORPUS_MB, CANDIDATE_WORDS = 3_000_000_000, 2200, 1_250_000
QUICK_EXPECTED, QUICK_MB, QUICK_WORDS = 60_000_000, 20, 100_000
AS_THEY_ARE = 100  # every hundredth candidate
SEED = 8


def candidates(source: Path, words: int) -> Path:
    """The file of candidates, made once."""
    path = bench_dir() / f"scan-{source.stem}-{words}.jsonl"
    if not path.exists():
        chance = random.Random(SEED)
        with source.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as out:
            for number, line in enumerate(lines):
                text = json.loads(line)["text"]
                if number % AS_THEY_ARE:
                    each = text.split()
                    chance.shuffle(each)
                    text = " ".join(each)
                out.write(json.dumps({"id": number, "text": text}) + "\n")
                words -= len(text.split())
                if words <= 0:
                    break
    return path


def measure(lab: Lab) -> Findings:
    source = corpus.make(QUICK_MB if lab.quick else CORPUS_MB)
    asked = candidates(source.path, QUICK_WORDS if lab.quick else CANDIDATE_WORDS)
    expected = QUICK_EXPECTED if lab.quick else EXPECTED

    def build(threads: int) -> Sample:
        warm(source.path)
        options = ("--expected-ngrams", expected, "--threads", threads)
        sample = engine.build(source.path, lab.folder("scan"), *options)
        lab.folder("scan")
        return sample

    def scan(threads: int) -> Sample:
        warm(source.path)
        command = [ngramscope(), "overlap", asked, "--scan", source.path, "--n", 7, "--quiet", "--threads", threads]
        sample = timed([*map(str, command)])
        rows = [json.loads(line) for line in sample.pop("stdout").splitlines()]
        scored = [row for row in rows if row["ngrams"]]
        as_they_are = [row for row in scored if row["id"] % AS_THEY_ARE == 0]
        return sample | {
            "mb_per_s": source.megabytes / sample["wall"],
            "ngrams": sum(row["ngrams"] for row in scored),
            "hits": sum(row["hits"] for row in scored),
            "known": min(row["overlap"] for row in as_they_are),
            "with_own": min(row["own_documents"] for row in as_they_are),
        }

    cases = {}
    for threads in (1, 2):
        cases[f"build {threads}"] = engine.repeated(build, threads)
        cases[f"scan {threads}"] = engine.repeated(scan, threads)
    samples = lab.sample("scan", cases)

    found = Findings(versions={"ngramscope": engine.version()})
    for name, taken in samples.items():
        row: Sample = {"case": name, "MB/s": spread([sample["mb_per_s"] for sample in taken])}
        row["peak MiB"] = spread([sample["rss"] / 2**20 for sample in taken])
        found.rows.append(row)
    for threads in (1, 2):
        pairs = zip(samples[f"scan {threads}"], samples[f"build {threads}"], strict=True)
        faster = spread([a["mb_per_s"] / b["mb_per_s"] for a, b in pairs])["median"]
        found.goal(f"scanning against building, {threads} thread(s)", found=faster, at_least=1.5)
    first = samples["scan 1"][0]
    share = first["hits"] / first["ngrams"]
    found.check("candidates of less than two million n-grams", found=first["ngrams"], holds=first["ngrams"] < 2_000_000)
    found.check("about a tenth of them hits", found=share, holds=0.08 <= share <= 0.12)
    every = [s for name, taken in samples.items() if name.startswith("scan") for s in taken]
    found.check(
        "documents of the corpus are found", found=min(s["known"] for s in every), holds=all(s["known"] == 1 for s in every)
    )
    found.check(
        "and have a document of their own", found=min(s["with_own"] for s in every), holds=all(s["with_own"] for s in every)
    )
    hits = {s["hits"] for s in every}
    found.check("every scan finds the same", found=sorted(hits), holds=len(hits) == 1)
    return found
