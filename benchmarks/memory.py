"""How many bits does an n-gram take, and how much memory does a build?

Bits are counted against the number of distinct n-grams that the sizing pass estimated. The stated bound of the peak
resident size: filter range + 64 MiB + 64 MiB a thread + 3 x the longest record + decoder window + one column chunk.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import corpus
import engine
from lab import Findings, Lab, Sample, Skip, bench_dir, spread

MIB = 1 << 20
RATES = {"0.006": 11.3, "0.005": 11.7}
# The form the corpus is read in, and the decoder window that the bound allows for it.
WINDOWS = {"plain": 0, "gzip": 32 << 10, "zstd": 8 << 20, "zstd --long": 128 << 20, "parquet": 0}


def forms(source: corpus.Corpus) -> dict[str, Path]:
    """The corpus in other forms, made once."""
    made = {"plain": source.path}
    commands = {
        "gzip": (".gz", ["gzip", "-1", "--stdout", str(source.path)]),
        "zstd": (".zst", ["zstd", "-3", "--quiet", "--stdout", str(source.path)]),
        "zstd --long": (".long.zst", ["zstd", "-3", "--long=27", "--quiet", "--stdout", str(source.path)]),
    }
    for name, (ending, command) in commands.items():
        path = source.path.with_name(source.path.name + ending)
        if shutil.which(command[0]):
            if not path.exists():
                with path.with_suffix(".part").open("wb") as out:
                    subprocess.run(command, check=True, stdout=out)
                path.with_suffix(".part").rename(path)
            made[name] = path
    return made


def measure(lab: Lab) -> Findings:
    source = corpus.make(125)
    longest = max(map(len, source.path.open("rb")))
    files = forms(source)
    chunk: dict[str, int] = {}

    def build(name: str, threads: int, *options: str | int) -> Sample:
        path = files.get(name)
        if name == "parquet":
            path = source.path.with_suffix(".parquet")
            facts = path.with_suffix(".parquet-facts")
            if not facts.exists():
                engine.api("parquet", source.path, path)
                facts.write_text(json.dumps(engine.api("parquet", source.path, path)["chunk_bytes"]))
            chunk[name] = json.loads(facts.read_text())
        if path is None:
            raise Skip(f"no command here that makes {name}")
        sample = engine.build(path, lab.folder("memory"), "--threads", threads, *options)
        limit = int(options[1]) if options and options[0] == "--memory" else sample["filter_bytes"]
        fixed = 64 * MIB * (1 + threads) + 3 * longest + WINDOWS[name] + chunk.get(name, 0)
        return sample | {"bound": min(limit, sample["filter_bytes"]) + fixed}

    cases = {}
    for rate in RATES:
        cases[f"rate {rate}"] = engine.repeated(build, "plain", 2, "--filter-fpr", rate)
    for name in WINDOWS:
        cases[f"{name}, 2 threads"] = engine.repeated(build, name, 2)
    cases["plain, 1 thread"] = engine.repeated(build, "plain", 1)
    # About 220 MiB of filter through 64 MiB of memory.
    passes = ("--memory", 64 * MIB, "--expected-ngrams", 155_000_000)
    cases["plain, 2 threads, passes of 64 MiB"] = engine.repeated(build, "plain", 2, *passes)
    samples = lab.sample("memory", cases)
    shutil.rmtree(bench_dir() / "out" / "memory", ignore_errors=True)

    found = Findings(versions={"ngramscope": engine.version()})
    for name, taken in samples.items():
        if not taken:
            found.rows.append({"case": name, "bits an n-gram": "skipped"})
            continue
        bits = [s["filter_bytes"] * 8 / s["sizing"]["ngrams"] for s in taken]  # of those given, in the last case
        found.rows.append(
            {
                "case": name,
                "bits an n-gram": spread(bits),
                "filter MiB": taken[0]["filter_bytes"] / MIB,
                "passes": taken[0]["passes"],
                "peak MiB": spread([s["rss"] / MIB for s in taken]),
                "bound MiB": taken[0]["bound"] / MIB,
                "CPU s": spread([s["cpu"] for s in taken]),
            }
        )
        worst = max(s["rss"] / s["bound"] for s in taken)
        found.goal(f"{name}: peak over bound", found=worst, at_most=1.0)
    for rate, most in RATES.items():
        taken = samples[f"rate {rate}"]
        bits = [s["filter_bytes"] * 8 / s["sizing"]["ngrams"] for s in taken]
        found.goal(f"bits an estimated n-gram at {rate}", found=max(bits), at_most=most)
    one = {s["ngrams"] for taken in samples.values() for s in taken}
    found.check("every form and every number of passes has the same n-grams", found=sorted(one), holds=len(one) == 1)
    rates = {rate: samples[f"rate {rate}"][0]["rate"] for rate in RATES}
    kept = all(rates[rate] <= float(rate) * 1.01 for rate in RATES)
    found.check("the rate at the realised count keeps the target", found=rates, holds=kept)
    return found
