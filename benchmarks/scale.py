"""Does a document cost the same however large the corpus and the filter are?

One filter size, for 20 GB of text with n = 7 and 13, which gets 20 MB, 200 MB, 2 GB and all of it:
throughput (also of what each step adds, without what the empty filter costs), memory, and the measured rate of false hits. And
one corpus into filters from 1 MiB up: the step from the caches to memory. The text is generated (see synthetic.py), shard by
shard, and deleted afterwards. Needs 20 GB of disk for the text and as much as the filter has (about 12 GiB).
"""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path

import engine
import synthetic
from lab import Findings, Lab, Sample, bench_dir, ngramscope, spread, timed

NS = (7, 13)
# Millions of bytes of a shard, and shards: each step adds nine times what was there.
STEPS = [(20, 1), (20, 9), (200, 9), (2000, 9)]
QUICK_STEPS = [(2, 1), (2, 9), (20, 9)]
# Distinct n-grams of the whole, for each n: at most so many for each byte.
NGRAMS_A_BYTE = 0.215
FILTERS = [10**5, 10**6, 10**7, 10**8, 10**9]
OTHER_SPANS = 999
FRESH_MB = 20
GIB, MIB = 1 << 30, 1 << 20


def build(sources: list[Path], out: Path, expected: int, *options: str | int) -> Sample:
    """`build-index` with both n: the process's figures and what came out."""
    command = [ngramscope(), "build-index", *sources, "--out", out, "--force", "--quiet", "--json"]
    command += [part for n in NS for part in ("--n", n)]
    sample = timed([*command, "--expected-ngrams", expected, *options])
    summary = json.loads(sample["stdout"])
    manifest = summary["manifest"]
    return sample | {
        "seconds": summary["seconds"],
        "passes": summary["passes"],
        "bytes": sum(source["bytes"] for source in manifest["sources"]),
        "documents": manifest["counts"]["documents"],
        "words": manifest["counts"]["words"],
        "filter_bytes": sum(each["blocks"] * 64 for each in manifest["sets"]),
        "rates": {str(each["n"]): each["rate"] for each in manifest["sets"]},
    }


def found_share(candidates: Path, index: Path) -> dict[str, float]:
    """Share of all n-gram occurrences of the candidates that the index has, by n."""
    hits, ngrams = dict.fromkeys(map(str, NS), 0), dict.fromkeys(map(str, NS), 0)
    for row in engine.overlap(candidates, index)["rows"]:
        hits[str(row["n"])] += row["hits"] or 0
        ngrams[str(row["n"])] += row["ngrams"] or 0
    return {n: hits[n] / ngrams[n] for n in hits}


def growing(lab: Lab, steps: list[tuple[int, int]], found: Findings) -> list[Path]:
    """The rows of one filter that takes more and more text; the folders of text."""
    folder = bench_dir() / "scale"
    total = sum(size * shards for size, shards in steps)
    expected = int(total * 1e6 * NGRAMS_A_BYTE)
    folders, first = [], 0
    for number, (size, shards) in enumerate(steps):
        print(f"  generating {size * shards} MB ...", flush=True)
        folders.append(synthetic.make(folder / f"{number}", first=first, shards=shards, megabytes=size))
        first += shards
    # Documents of the corpus, and documents that have no n-gram of these lengths in common with it.
    verbatim = synthetic.beginning(folders[0] / "0000.jsonl", 1)
    fresh = synthetic.make(
        folder / "fresh", first=9000, shards=1, megabytes=FRESH_MB // 10 if lab.quick else FRESH_MB, spans=OTHER_SPANS
    )

    def fill(count: int) -> Sample:
        out = lab.folder("scale")
        sample = build(folders[:count], out, expected)
        sample["verbatim"] = found_share(verbatim, out)
        sample["measured"] = found_share(fresh, out)
        lab.folder("scale")
        return sample

    cases = {f"{count} steps": engine.repeated(fill, count) for count in range(1, len(steps) + 1)}
    taken = [samples[0] for samples in lab.sample("scale", cases, repeats=1).values()]
    added = []
    for number, sample in enumerate(taken):
        row: Sample = {
            "MB": sample["bytes"] * 1e-6,
            "documents": sample["documents"],
            "filter GiB": sample["filter_bytes"] / GIB,
            "insert s": sample["seconds"]["insert"],
            "MB/s": sample["bytes"] * 1e-6 / sample["seconds"]["insert"],
        }
        # Before the third step the seconds that the empty filter takes, and their chances, outweigh those of the text.
        if number >= 2:
            before = taken[number - 1]
            seconds = sample["seconds"]["insert"] - before["seconds"]["insert"]
            added.append((sample["bytes"] - before["bytes"]) * 1e-6 / seconds)
            row["MB/s of what was added"] = added[-1]
            row["us a document"] = seconds * 1e6 / (sample["documents"] - before["documents"])
        row["write s"] = sample["seconds"]["write"] + sample["seconds"]["sync"]
        row["peak GiB"] = sample["rss"] / GIB
        for n in map(str, NS):
            row[f"rate, n = {n}"] = sample["rates"][n]
            row[f"measured, n = {n}"] = sample["measured"][n]
        row["other load"] = sample["others"]
        found.rows.append(row)
    last = taken[-1]
    lost = {n: share for sample in taken for n, share in sample["verbatim"].items() if share < 1}
    found.check("every n-gram of documents of the corpus is found, at every size", found=lost or 1.0, holds=not lost)
    found.check("one pass", found=[sample["passes"] for sample in taken], holds=all(s["passes"] == 1 for s in taken))
    # Too few false hits to measure where the filter is almost empty.
    ratios = [
        round(sample["measured"][n] / sample["rates"][n], 3)
        for sample in taken
        for n in sample["rates"]
        if sample["rates"][n] > 1e-3
    ]
    found.check("measured over computed rate, where that is over 0.1 %", found=ratios, holds=all(0.9 < r < 1.1 for r in ratios))
    found.goal("filters, GiB", found=last["filter_bytes"] / GIB, at_least=0.0 if lab.quick else 8.0)
    found.goal("highest computed rate", found=max(last["rates"].values()), at_most=0.005 * 1.05)
    for faster, slower in pairwise(added):
        found.goal("MB/s of what one step adds over the step before", found=slower / faster, at_least=0.85)
    found.goal("peak over filters, GiB", found=(max(s["rss"] for s in taken) - last["filter_bytes"]) / GIB, at_most=0.5)
    return folders


def growing_filter(lab: Lab, folders: list[Path], found: Findings) -> None:
    """The rows of one corpus that goes into larger and larger filters."""
    sources = folders[:2]

    def insert(expected: int) -> Sample:
        out = lab.folder("scale")
        # The smallest get many times what they were made for; what an insertion costs does not depend on that.
        sample = build(sources, out, expected, "--accept-overfull")
        lab.folder("scale")
        return sample

    filters = FILTERS[:3] if lab.quick else FILTERS
    cases = {f"{expected} expected": engine.repeated(insert, expected) for expected in filters}
    samples = lab.sample("scale", cases, repeats=min(3, lab.repeats))
    for taken in samples.values():
        found.rows.append(
            {
                "MB": taken[0]["bytes"] * 1e-6,
                "documents": taken[0]["documents"],
                "filter GiB": taken[0]["filter_bytes"] / GIB,
                "insert s": spread([s["seconds"]["insert"] for s in taken]),
                "MB/s": spread([s["bytes"] * 1e-6 / s["seconds"]["insert"] for s in taken]),
                "other load": spread([s["others"] for s in taken]),
            }
        )


def measure(lab: Lab) -> Findings:
    found = Findings(versions={"ngramscope": engine.version()})
    folders = growing(lab, QUICK_STEPS if lab.quick else STEPS, found)
    growing_filter(lab, folders, found)
    shutil.rmtree(bench_dir() / "scale", ignore_errors=True)
    shutil.rmtree(bench_dir() / "out" / "scale", ignore_errors=True)
    found.notes.append("rows with MB/s of what was added: one filter, more text; the last rows: one corpus, larger filters")
    return found
