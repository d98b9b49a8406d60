"""How does ngramscope compare with what a user can pip-install?

The same texts, n = 7, one process and one core for each; processor seconds of building (the rivals' without their
start-up, ngramscope's with it). Speeds span three orders of magnitude, so each gets as much of the corpus as it reads in
half a minute. Words differ: the loops over rbloom and abloom take white-space words, dolma Unicode words, datatrove
normalised spaCy words.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import corpus
import engine
import environments
from lab import HERE, Findings, Lab, Sample, bench_dir, spread, timed, warm

N, RATE = 7, 0.005


def part(source: corpus.Corpus, megabytes: float) -> Path:
    """The corpus's first megabytes: whole records."""
    path = bench_dir() / f"{source.path.stem}-first-{megabytes}.jsonl"
    if not path.exists():
        with source.path.open("rb") as file, path.open("wb") as out:
            while out.tell() < megabytes * 1e6 and (line := file.readline()):
                out.write(line)
    return path


def held_out(source: corpus.Corpus, known: Path) -> list[Path]:
    """Documents of `known`, and as many it does not have."""
    paths = [known.with_suffix(".verbatim.jsonl"), known.with_suffix(".fresh.jsonl")]
    with known.open("rb") as file:
        paths[0].write_bytes(b"".join(line for i, line in enumerate(file) if i < 2000 and i % 10 == 0))
    paths[1].write_bytes(source.fresh.read_bytes())
    return paths


def measure(lab: Lab) -> Findings:
    source = corpus.make(125)
    larger = corpus.make(20 if lab.quick else 500)
    sizes = {"loop": 60.0, "dolma": 40.0, "datatrove": 1.0}
    if lab.quick:
        sizes = {"loop": 10.0, "dolma": 10.0, "datatrove": 0.5}

    def script(environment: str, name: str, size: str, *before: str | float) -> Sample:
        known = part(source, sizes[size])
        warm(known)
        arguments = [*before, known, *held_out(source, known)]
        sample = timed([environments.python(environment), HERE / "rivals" / name, *arguments])
        result = json.loads(sample["stdout"].splitlines()[-1])
        cpu = result["index"]["cpu"] - result.get("start_cpu", 0.0)
        megabytes = known.stat().st_size * 1e-6
        return sample | {"megabytes": megabytes, "mb_per_cpu_s": megabytes / cpu, "index_cpu": cpu, "answers": result}

    def loop(library: str, keys: str) -> Callable[[], Sample]:
        expected = int(sizes["loop"] * 200_000)
        return engine.repeated(script, "bloom", "bloom_loop.py", "loop", library, keys, N, expected, RATE)

    def dolma() -> Sample:
        place = lab.folder("dolma")
        return script("dolma", "dolma_dedupe.py", "dolma", N, int(sizes["dolma"] * 250_000), RATE, 1, str(place))

    def ours(words: str) -> Sample:
        warm(larger.path)
        out = lab.folder("rivals")
        expected = int(larger.megabytes * 250_000)
        sample = engine.build(larger.path, out, "--threads", 1, "--words", words, "--expected-ngrams", expected)
        answers = {"verbatim": engine.shares(larger.verbatim, out), "fresh": engine.shares(larger.fresh, out)}
        return sample | {"index_cpu": sample["cpu"], "answers": answers}

    cases: dict[str, Callable[[], Sample]] = {
        "ngramscope, Unicode words": lambda: ours("uax29"),
        "ngramscope, white-space words": lambda: ours("whitespace"),
        "rbloom loop, tuple keys": loop("rbloom", "tuple"),
        "rbloom loop, xxh3 keys": loop("rbloom", "xxh3"),
        "abloom loop, tuple keys": loop("abloom", "tuple"),
        "dolma dedupe": dolma,
        "datatrove decontamination": lambda: script("datatrove", "datatrove_loop.py", "datatrove", "decontaminate", N),
        "datatrove Bloom filter": lambda: script("datatrove", "datatrove_loop.py", "datatrove", "bloom", N),
    }
    samples = lab.sample("rivals", cases)
    found = Findings(versions={"ngramscope": engine.version()})
    for name in environments.REQUIREMENTS:
        if any(name in case or (name == "bloom" and "loop" in case) for case, taken in samples.items() if taken):
            found.versions |= environments.versions(name)
    ours_rate = spread([s["mb_per_cpu_s"] for s in samples["ngramscope, Unicode words"]])["median"]
    for name, taken in samples.items():
        if not taken:
            found.rows.append({"tool": name, "corpus MB": "skipped"})
            continue
        rate = spread([s["mb_per_cpu_s"] for s in taken])
        verbatim, fresh = taken[0]["answers"]["verbatim"], taken[0]["answers"]["fresh"]
        found.rows.append(
            {
                "tool": name,
                "corpus MB": taken[0]["megabytes"],
                "MB a CPU s": rate,
                "ngramscope is faster by": ours_rate / rate["median"],
                "peak MiB": spread([s["rss"] / 2**20 for s in taken]),
                "of known documents": verbatim["mean"],
                "of new ones": fresh["mean"],
            }
        )
        found.check(f"{name}: known documents are found", found=verbatim["mean"], holds=verbatim["mean"] > 0.999)
    found.notes.append("datatrove's decontamination counts documents with any n-gram found, the others n-grams")
    return found
