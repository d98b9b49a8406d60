"""Does inserting cost more when the filter has more room, or a lower rate?

It should depend on the text: from a filter of 1 GiB on, ten times the room or a rate of 1e-6 slows inserting by less
than 2x. Memory has to be zeroed whatever the text, ten times as much for ten times the room; the `few texts` cases show
what that takes. The published scheme's optimal number of probes grows with the room instead; its last row shows that.
"""

from __future__ import annotations

from pathlib import Path

import corpus
import engine
from lab import Findings, Lab, Sample, printed, rival, spread, warm

# 11.65 bits a key at 0.5 %: 1 GiB.
EXPECTED = 740_000_000
CORPUS_MB, THREADS = 2200, 2


def measure(lab: Lab) -> Findings:
    source = corpus.make(125 if lab.quick else CORPUS_MB)
    expected = EXPECTED // 16 if lab.quick else EXPECTED
    model = rival("model")

    def ours(path: Path, *options: str | int) -> Sample:
        warm(path)
        out = lab.folder("room")
        sample = engine.build(path, out, "--threads", THREADS, *options)
        sample["verbatim"] = engine.shares(source.verbatim, out)["min"]
        lab.folder("room")
        return sample

    def theirs(keys: int, megabytes: float) -> Sample:
        command = [model, "--file", source.path, "--bytes", int(expected * 11.65 / 8), "--expected", keys]
        return printed([*command, "--limit-mb", megabytes])

    options: dict[str, tuple[str | int, ...]] = {
        "base": ("--expected-ngrams", expected),
        "room x10": ("--expected-ngrams", expected * 10),
        "rate 1e-6": ("--expected-ngrams", expected, "--filter-fpr", "1e-6"),
    }
    cases = {name: engine.repeated(ours, source.path, *words) for name, words in options.items()}
    cases |= {f"{name}, few texts": engine.repeated(ours, source.verbatim, *words) for name, words in options.items()}
    cases["model, base"] = engine.repeated(theirs, expected, 5)
    # The same bytes for a hundredth of the keys, as when a size is given by hand.
    cases["model, a hundredth of the keys"] = engine.repeated(theirs, expected // 100, 0.05)
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

    def inserting(name: str) -> list[float]:
        return [sample["seconds"]["insert"] for sample in samples[name]]

    for case in ("room x10", "rate 1e-6"):
        slower = [more / base for more, base in zip(inserting(case), inserting("base"), strict=True)]
        found.goal(f"{case}: inserting is slower by", found=spread(slower)["median"], at_most=2.0)
        few = zip(inserting(case), inserting(f"{case}, few texts"), strict=True)
        base = zip(inserting("base"), inserting("base, few texts"), strict=True)
        net = [(a - b) / (c - d) for (a, b), (c, d) in zip(few, base, strict=True)]
        found.goal(f"{case}: less what few texts take", found=spread(net)["median"], at_most=2.0)
    least = [s["verbatim"] for name, taken in samples.items() if not name.startswith("model") for s in taken]
    found.check("every n-gram of documents of the corpus is found", found=min(least), holds=min(least) == 1.0)
    return found
