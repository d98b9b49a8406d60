"""Does inserting cost more when the filter has more room, or a lower rate?

It should depend on the text: from a filter of 1 GiB on, ten times the room or a rate of 1e-6 slows inserting by less
than 2x. The published scheme's optimal number of probes grows with the room instead; its last row shows that.
"""

from __future__ import annotations

import corpus
import engine
from lab import Findings, Lab, Sample, printed, rival, spread, warm

# 11.65 bits a key at 0.5 %: 1 GiB.
EXPECTED = 740_000_000
CORPUS_MB, MODEL_MB = 500, 2


def measure(lab: Lab) -> Findings:
    source = corpus.make(20 if lab.quick else CORPUS_MB)
    expected = EXPECTED // 16 if lab.quick else EXPECTED
    model = rival("model")

    def ours(*options: str | int, threads: int) -> Sample:
        warm(source.path)
        out = lab.folder("room")
        sample = engine.build(source.path, out, "--threads", threads, *options)
        sample["verbatim"] = engine.shares(source.verbatim, out)["min"]
        lab.folder("room")
        return sample

    def theirs(keys: int) -> Sample:
        command = [model, "--file", source.path, "--bytes", int(expected * 11.65 / 8), "--expected", keys]
        return printed([*command, "--limit-mb", MODEL_MB])

    cases = {}
    for threads in (1, 2):
        cases[f"base {threads}"] = engine.repeated(ours, "--expected-ngrams", expected, threads=threads)
        cases[f"room x10 {threads}"] = engine.repeated(ours, "--expected-ngrams", expected * 10, threads=threads)
        options = ("--expected-ngrams", expected, "--filter-fpr", "1e-6")
        cases[f"rate 1e-6 {threads}"] = engine.repeated(ours, *options, threads=threads)
    cases["model, base"] = engine.repeated(theirs, expected)
    # The same bytes for a hundredth of the keys, as when a size is given by hand.
    cases["model, a hundredth of the keys"] = engine.repeated(theirs, expected // 100)
    samples = lab.sample("room", cases)

    found = Findings(versions={"ngramscope": engine.version()})
    for name, taken in samples.items():
        probes = taken[0].get("k", taken[0].get("hashers"))
        row: Sample = {"case": name, "filter GiB": taken[0]["filter_bytes"] / 2**30, "k": probes}
        if name.startswith("model"):
            row["M n-grams/s"] = spread([s["ngrams"] * 1e-6 / s["seconds"] for s in taken])
        else:
            row["M n-grams/s"] = spread([s["ngrams_per_s"] * 1e-6 for s in taken])
            row["insert s"] = spread([s["seconds"]["insert"] for s in taken])
            row["write s"] = spread([s["seconds"]["write"] for s in taken])
        found.rows.append(row)
    for threads in (1, 2):
        for case in ("room x10", "rate 1e-6"):
            pairs = zip(samples[f"{case} {threads}"], samples[f"base {threads}"], strict=True)
            slower = spread([other["seconds"]["insert"] / base["seconds"]["insert"] for other, base in pairs])["median"]
            found.goal(f"{case}, {threads} thread(s): slower by", found=slower, at_most=2.0)
    least = [s["verbatim"] for name, taken in samples.items() if not name.startswith("model") for s in taken]
    found.check("every n-gram of documents of the corpus is found", found=min(least), holds=min(least) == 1.0)
    found.notes.append("the insert phase includes zeroing the filter's memory: ten times as much for ten times the room")
    return found
