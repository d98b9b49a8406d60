"""What does building as tasks of a Ray cluster cost on one machine, against building with threads?

5 GB of JSON Lines in shards, a filter near 1 GiB. Ray's default is one task a machine, which builds with as many threads
as there are processors; two tasks of one thread each build parts that are merged. Time is that of the build itself, less the
sync to disk: starting and ending the local cluster are apart.
"""

from __future__ import annotations

import json

import corpus
import engine
from lab import Findings, Lab, Sample, bench_dir, spread, warm

CORPUS_MB, EXPECTED, SHARDS = 5000, 1_000_000_000, 8
QUICK_MB, QUICK_EXPECTED = 125, 25_000_000
RATE = 0.03


def measure(lab: Lab) -> Findings:
    source = corpus.make(QUICK_MB if lab.quick else CORPUS_MB)
    expected = QUICK_EXPECTED if lab.quick else EXPECTED
    folder = bench_dir() / f"{source.path.stem}-shards"
    shards = sorted(folder.glob("*.jsonl")) if folder.exists() else []
    if len(shards) != SHARDS:
        folder.mkdir(exist_ok=True)
        outs = [(folder / f"part-{number}.jsonl").open("wb") for number in range(SHARDS)]
        with source.path.open("rb") as lines:
            for number, line in enumerate(lines):
                outs[number % SHARDS].write(line)
        for out in outs:
            out.close()
        shards = sorted(folder.glob("*.jsonl"))

    def build(*options: str | int) -> Sample:
        for shard in shards:
            warm(shard)
        out = lab.folder("cluster")
        sized = ("--expected-ngrams", expected, "--filter-fpr", str(RATE))
        sample = engine.build(folder, out, *sized, *options)
        content = json.loads((out / "index.json").read_text())["content_id"]
        lab.folder("cluster")
        seconds = sample["seconds"]
        # Apart: the program's start and end, the cluster's, and that of a single task's worker.
        building = seconds["count"] + seconds["insert"] + seconds["write"]
        return sample | {"content": content, "building": building, "apart": sample["wall"] - building}

    cases = {
        "2 threads": lambda: build("--threads", 2),
        "Ray, one task of 2 threads": lambda: build("--engine", "ray"),
        "Ray, two tasks of 1 thread": lambda: build("--engine", "ray", "--threads", 1),
    }
    samples = lab.sample("cluster", cases)
    found = Findings(versions={"ngramscope": engine.version()})
    for name, taken in samples.items():
        row: Sample = {"case": name, "building s": spread([s["building"] for s in taken])}
        row["MB/s"] = spread([s["megabytes"] / s["building"] for s in taken])
        row["start and end s"] = spread([s["apart"] for s in taken])
        row["filter MiB"] = taken[0]["filter_bytes"] / 2**20
        found.rows.append(row)
        pairs = zip(taken, samples["2 threads"], strict=True)
        if name != "2 threads":
            slower = spread([ours["building"] / threads["building"] for ours, threads in pairs])["median"]
            found.goal(f"{name}, against 2 threads", found=slower, at_most=1.15)
    contents = {s["content"] for taken in samples.values() for s in taken}
    found.check("every way makes the same index", found=sorted(contents), holds=len(contents) == 1)
    return found
