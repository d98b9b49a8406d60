"""How fast is querying, per n-gram, against building; and how long does opening take?

A filter of over 4 GiB, filled by the 500 MB corpus; batches of a million n-grams of other text through the Python API,
the filter mapped as it is or loaded into huge pages first. Building is timed in the same turn.
"""

from __future__ import annotations

from pathlib import Path

import corpus
import engine
from lab import Findings, Lab, Sample, bench_dir, cool, spread, warm

EXPECTED, CORPUS_MB, SECONDS = 3_000_000_000, 500, 3
QUICK_EXPECTED, QUICK_MB, QUICK_SECONDS = 60_000_000, 20, 1


def measure(lab: Lab) -> Findings:
    source = corpus.make(QUICK_MB if lab.quick else CORPUS_MB)
    # Texts of another corpus: a part of their n-grams is in the filter, most are not.
    texts = corpus.make(125).path
    index = bench_dir() / "out" / "query"
    options = ("--expected-ngrams", QUICK_EXPECTED if lab.quick else EXPECTED)

    def build(threads: int) -> Sample:
        warm(source.path)
        return engine.build(source.path, lab.folder("query"), *options, "--threads", threads)

    def query(how: str, threads: int) -> Sample:
        warm_index(index)
        return engine.api("query", index, texts, how, threads, QUICK_SECONDS if lab.quick else SECONDS)

    def opening(cold: bool) -> Sample:
        if cold:
            cool(index)
        else:
            warm_index(index)
        return engine.api("open", index)

    def command(*extra: str) -> Sample:
        warm_index(index)
        sample = engine.overlap(texts, index, *extra)
        return sample | {"ngrams_per_s": sum(row["ngrams"] for row in sample.pop("rows")) / sample["wall"]}

    cases = {}
    for threads in (1, 2):
        cases[f"build {threads}"] = engine.repeated(build, threads)
        cases[f"query, loaded {threads}"] = engine.repeated(query, "load", threads)
        cases[f"query, mapped {threads}"] = engine.repeated(query, "mapped", threads)
    cases["open, warm"] = engine.repeated(opening, cold=False)
    cases["open, cold"] = engine.repeated(opening, cold=True)
    cases["overlap command, mapped"] = command
    cases["overlap command, loaded"] = engine.repeated(command, "--load")
    if not index.exists():  # a run that goes on after the builds were sampled
        build(2)
    samples = lab.sample("query", cases)
    answers = {"verbatim": engine.shares(source.verbatim, index), "fresh": engine.shares(source.fresh, index)}
    lab.folder("query").rmdir()
    return findings(samples, answers)


def warm_index(index: Path) -> None:
    for file in index.iterdir():
        warm(file)


def findings(samples: dict[str, list[Sample]], answers: dict[str, Sample]) -> Findings:
    found = Findings(versions={"ngramscope": engine.version()})
    for name, taken in samples.items():
        row: Sample = {"case": name}
        for title, key, scale in [
            ("M n-grams/s", "ngrams_per_s", 1e-6),
            ("a CPU s", "ngrams_per_cpu_s", 1e-6),
            ("open ms", "open_seconds", 1e3),
            ("first answer ms", "first_answer_seconds", 1e3),
        ]:
            if key in taken[0]:
                row[title] = spread([sample[key] * scale for sample in taken])
        found.rows.append(row)

    def ratio(above: str, below: str) -> float:
        pairs = zip(samples[above], samples[below], strict=True)
        return spread([a["ngrams_per_s"] / b["ngrams_per_s"] for a, b in pairs])["median"]

    for threads in (1, 2):
        for how, least in (("loaded", 1.0), ("mapped", 0.5)):
            speed = ratio(f"query, {how} {threads}", f"build {threads}")
            found.goal(f"{how}, against building, {threads} thread(s)", found=speed, at_least=least)
    opened = spread([sample["open_seconds"] * 1e3 for sample in samples["open, warm"]])
    found.goal("opening, page cache warm, ms", found=opened["median"], at_most=20)
    hits = {name: [s["hits"] for s in taken] for name, taken in samples.items() if "hits" in taken[0]}
    same = len({each for taken in hits.values() for each in taken}) == 1
    found.check("loaded and mapped find the same n-grams of a batch", found=hits, holds=same)
    verbatim, fresh = answers["verbatim"], answers["fresh"]
    found.check("every n-gram of documents of the corpus is found", found=verbatim["min"], holds=verbatim["min"] == 1.0)
    found.check("documents in a new word order are not found", found=fresh["mean"], holds=fresh["mean"] < 0.1)
    batch = samples["query, loaded 1"][0]["batch_ngrams"]
    found.check("batches of about a million n-grams", found=batch, holds=0.8e6 < batch < 1.3e6)
    return found
