"""Has the generated corpus of the scale test the statistics of real text?

Compared at equal sizes: how many different words there are, and which share of the 7- and of the 13-gram occurrences has
occurred before; and how often the words of each rank occur. Real: shared texts of many kinds (web pages, articles, code,
mail, patents, speeches, and samples of the Pile's domains), in random order. The constants in rivals/src/bin/synthetic.rs
were fitted to these figures; beyond the real texts' size they are an extrapolation.

    python3 benchmarks/synthetic.py            # the comparison alone
"""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import engine
from lab import Findings, Lab, Sample, Skip, bench_dir, ngramscope, print_table, rival, shared_data, timed

TEXTS = ["c4-sample/*", "dated-*/*", "mimir-ngram7/*", "wikitext2/*"]
MEGABYTES = [1, 3, 10, 30, 100]
# Up to this size the mean of several orders.
AVERAGED, ORDERS = 10, 8
RANKS = [1, 10, 100, 1000, 10_000]
NS = (1, 7, 13)


def make(folder: Path, *, first: int, shards: int, megabytes: int, spans: int | None = None) -> Path:
    """Generate shards `first` on in `folder`, each of so many millions of bytes; those that are there stay."""
    if all((folder / f"{number:04}.jsonl").exists() for number in range(first, first + shards)):
        return folder
    command = [rival("synthetic"), "--out", folder, "--first", first, "--shards", shards, "--bytes", megabytes * 1_000_000]
    command += [] if spans is None else ["--spans", spans]
    subprocess.run([str(part) for part in command], check=True, stdout=subprocess.DEVNULL)
    return folder


def real(order: int, megabytes: float | None = None) -> Path:
    """The shared texts in a random order, or so many millions of bytes of them, as JSON Lines."""
    data = shared_data()
    files = sorted(path for pattern in TEXTS for path in data.glob(f"{pattern}.zst")) if data else []
    if not files:
        raise Skip("no shared folder of real texts; NGRAMSCOPE_SHARED says where it is")
    path = bench_dir() / f"real-{order}-{megabytes or 'all'}.jsonl"
    if not path.exists():
        names = path.with_suffix(".list")
        names.write_text("\n".join(map(str, files)))
        part = path.with_suffix(".part")
        command = [rival("corpus"), "--list", names, "--out", part, "--seed", order, "--bytes"]
        # With no more than the real bytes asked for, every text comes as it is.
        total = json.loads(timed([*command, 1])["stdout"])["real_bytes"]
        timed([*command, total if megabytes is None else min(total, int(megabytes * 1e6))])
        part.rename(path)
    return path


def beginning(source: Path, megabytes: float) -> Path:
    """A file's first documents, of so many millions of bytes together."""
    path = bench_dir() / f"{source.parent.name}-{source.stem}-{megabytes:g}mb.jsonl"
    left = megabytes * 1e6
    with source.open("rb") as lines, path.open("wb") as out:
        for line in lines:
            out.write(line)
            left -= len(line)
            if left <= 0:
                break
    return path


def count(path: Path) -> Sample:
    """Words, different words, and shares of n-gram occurrences that have occurred before."""
    command = [ngramscope(), "plan", path, "--count", "--json", "--quiet"]
    for n in NS:
        command += ["--n", n]
    plan = json.loads(timed(command)["stdout"])
    distinct = [each["sizing"]["ngrams"] for each in plan["layout"]["sets"]]
    repeated = [1 - some / all_ for some, all_ in zip(distinct, plan["occurrences"], strict=True)]
    return {"words": plan["words"], "vocabulary": distinct[0], "repeated": dict(zip(NS, repeated, strict=True))}


def frequencies(path: Path) -> dict[int, float]:
    """Share of all words that the word of each rank has."""
    counts: Counter[str] = Counter()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            counts.update(re.findall(r"\w+|[^\w\s]", json.loads(line)["text"]))
    ranked = counts.most_common()
    return {rank: ranked[rank - 1][1] / counts.total() for rank in RANKS if rank <= len(ranked)}


def average(paths: list[Path]) -> Sample:
    """`count` of each, averaged: one long document can be a third of a small sample."""
    counts = [count(path) for path in paths]
    facts = {"vocabulary": [each["vocabulary"] / each["words"] * 1000 for each in counts]}
    facts |= {f"repeated {n}-grams": [each["repeated"][n] for each in counts] for n in NS[1:]}
    return {name: sum(values) / len(values) for name, values in facts.items()}


def measure(lab: Lab) -> Findings:
    made = make(bench_dir() / "synthetic", first=0, shards=ORDERS, megabytes=100)
    whole = real(1)
    found = Findings(versions={"ngramscope": engine.version()})
    ratios: dict[str, list[float]] = {}
    for size in MEGABYTES[:2] if lab.quick else MEGABYTES:
        orders = range(1, 1 + (ORDERS if size <= AVERAGED else 1))
        facts = {
            "real": average([real(order, size) if size <= AVERAGED else beginning(whole, size) for order in orders]),
            "generated": average([beginning(made / f"{order - 1:04}.jsonl", size) for order in orders]),
        }
        row: Sample = {"MB": size}
        for what in facts["real"]:
            row |= {f"{what}, {name}": each[what] for name, each in facts.items()}
            ratios.setdefault(what, []).append(facts["generated"][what] / facts["real"][what])
        found.rows.append(row)
    words = {"real": frequencies(whole), "generated": frequencies(made / "0000.jsonl")}
    for rank in RANKS:
        found.rows.append({"rank": rank, **{f"share of words, {name}": each[rank] for name, each in words.items()}})
    for what, values in ratios.items():
        worst = max(values, key=lambda ratio: abs(ratio - 1))
        found.check(f"{what}: generated over real, at worst", found=round(worst, 3), holds=0.7 <= worst <= 1.4)
    return found


if __name__ == "__main__":
    findings = measure(Lab())
    print_table(findings.rows)
    for each in findings.checks:
        print(f"{'right' if each['holds'] else 'WRONG'}: {each['answer']}: {each['found']}")
