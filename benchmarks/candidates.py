"""What do candidate sets take: does a candidate cost the same among a million as among a hundred thousand, and how much memory?

Generated documents of 250 words, half of them members. Of each ten members one is a copy and one an edited copy of another (two
words changed), and of each twenty one begins with the same licence of 150 words. Non-members begin with words of a member, at
most half of them. Sampled without quotas, so that every text is compared and written, then filtered by overlap with an index of
the members.
"""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path

import engine
from lab import Findings, Lab, Sample, bench_dir, ngramscope, spread, timed

SIZES = [100_000, 1_000_000]
QUICK = [20_000, 100_000]
DOMAINS = 8
WORDS, LICENCE = 250, 150
MOST_MEMORY = 2 << 30
MOST_GROWTH = 1.3


def make(size: int) -> tuple[Path, Path]:
    """Members and non-members, half of `size` each; those that are there stay."""
    members, nonmembers = (bench_dir() / f"candidates-{size}-{side}.jsonl" for side in ("members", "nonmembers"))
    if nonmembers.exists():
        return members, nonmembers
    chance = random.Random(size)
    vocabulary = [f"{number:x}" for number in range(50_000)]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(vocabulary))))

    def words(count: int) -> list[str]:
        return chance.choices(vocabulary, cum_weights=weights, k=count)

    def row(number: int, text: list[str]) -> str:
        return json.dumps({"id": number, "text": " ".join(text), "domain": f"domain {number % DOMAINS}"}) + "\n"

    licence = words(LICENCE)
    with members.open("w", encoding="utf-8") as file:
        last: list[str] = []
        for number in range(size // 2):
            if number % 10 == 9:
                last = [f"edited{number}" if place in (40, 160) else word for place, word in enumerate(last)]
            elif number % 10 != 8:
                last = words(WORDS)
                if number % 20 == 0:
                    last[:LICENCE] = licence
            file.write(row(number, last))
    part = nonmembers.with_suffix(".part")
    with members.open(encoding="utf-8") as file, part.open("w", encoding="utf-8") as out:
        for number, line in enumerate(file):
            known = json.loads(line)["text"].split()[: int(chance.random() * WORDS / 2)]
            out.write(row(number, [*known, *words(WORDS - len(known))]))
    part.rename(nonmembers)
    return members, nonmembers


def command(name: str, *arguments: str | int | Path) -> Sample:
    """A command on sets: the process's figures, and what the new set's header says of its last step."""
    sample = timed([ngramscope(), "sets", name, *arguments, "--json"])
    return sample | {"header": json.loads(sample["stdout"])}


def measure(lab: Lab) -> Findings:
    sizes = QUICK if lab.quick else SIZES
    folder = lab.folder("candidates")
    cases = {}
    for size in sizes:
        cases[f"sample {size}"] = lambda size=size: sampled(size, folder)
    for size in sizes:
        cases[f"threshold {size}"] = lambda size=size: thresholded(size, folder)
    samples = lab.sample("candidates", cases)

    found = Findings(versions={"ngramscope": engine.version()})
    for name, taken in samples.items():
        size = int(name.split()[1])
        if not taken:
            found.rows.append({"case": name, "candidates": size, "CPU s": "skipped"})
            continue
        found.rows.append(
            {
                "case": name,
                "candidates": taken[0]["read"],
                "written": taken[0]["used"],
                "wall s": spread([s["wall"] for s in taken]),
                "CPU s": spread([s["cpu"] for s in taken]),
                "CPU us a candidate": spread([s["cpu"] / s["read"] * 1e6 for s in taken]),
                "peak MiB": spread([s["rss"] / 2**20 for s in taken]),
                "other load": spread([s["others"] for s in taken]),
            }
        )
        found.goal(f"{name}: peak, GiB", found=max(s["rss"] for s in taken) / 2**30, at_most=MOST_MEMORY / 2**30)
        if name.startswith("sample"):
            check_sample(found, size, taken[0])
        else:
            found.check(f"{name}: some go, some stay", found=taken[0]["used"], holds=0 < taken[0]["used"] < taken[0]["read"])
    for what in ("sample", "threshold"):
        small, large = (samples[f"{what} {size}"] for size in sizes)
        if small and large:
            each = [spread([s["cpu"] / s["read"] for s in taken])["median"] for taken in (small, large)]
            found.goal(
                f"{what}: CPU time a candidate, {sizes[1]:,} against {sizes[0]:,}", found=each[1] / each[0], at_most=MOST_GROWTH
            )
    return found


def check_sample(found: Findings, size: int, taken: Sample) -> None:
    """What was planted is what went."""
    planted = size // 2 // 10
    found.check(f"sample {size}: copies found", found=taken["copies"], holds=taken["copies"] == planted)
    # Two words are ten shingles of 196: a similarity of 0.90, of which signatures say less than 0.8 once in some thousand.
    near = taken["near"]
    found.check(f"sample {size}: edited copies found, of {planted:,}", found=near, holds=0.99 * planted <= near <= planted)
    found.check(f"sample {size}: non-members left out", found=taken["others_out"], holds=taken["others_out"] <= size // 10_000)


def sampled(size: int, folder: Path) -> Sample:
    """`sets sample` of all there is."""
    members, nonmembers = make(size)
    out = folder / f"{size}.jsonl"
    sample = command(
        "sample", "--members", members, "--nonmembers", nonmembers, "--per-domain", size, "--allow-fewer", "--out", out
    )  # fmt: skip
    counts = sample.pop("header")["history"][-1]["counts"]
    gone = counts["members"]["left_out"]
    return sample | {
        "read": sum(each["read"] for each in counts.values()),
        "used": sum(each["used"] for each in counts.values()),
        "copies": gone.get("exact_duplicate", 0),
        "near": gone.get("near_duplicate", 0),
        "others_out": sum(counts["nonmembers"]["left_out"].values()),
    }


def thresholded(size: int, folder: Path) -> Sample:
    """`sets thresholded` of that sample, with an index of the members."""
    made = folder / f"{size}.jsonl"
    if not made.exists():
        sampled(size, folder)
    index = folder / f"index-{size}"
    if not index.exists():
        engine.build(make(size)[0], index)
    out = folder / f"{size}-low.jsonl"
    sample = command("thresholded", made, "--index", index, "--n", 7, "--max-overlap", 0.2, "--out", out)
    header = sample.pop("header")
    used = header["counts"]["records"]["used"]
    with made.open("rb") as lines:
        read = sum(1 for _ in lines)
    return sample | {"read": read, "used": used}
