"""Does the interval that `ngramscope plan` predicts from a sample hold what is then counted?

Real and generated corpora are counted whole, and predicted from samples of several sizes, drawn anew each time. Told are the
share of samples whose interval held the truth (for n = 7 and 13 together), and the medians of the interval's ends over it.
Samples of small corpora are small: those with too few documents are refused, and counted here as refused.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sysconfig
from pathlib import Path

import engine
import synthetic
from lab import Findings, Lab, Sample, Skip, bench_dir, ngramscope

TIMES = [3, 10, 100, 1000]
DRAWS = 10
GENERATED_MB = 1000


def corpora(quick: bool) -> dict[str, list[str | Path]]:
    """What is planned: names, and arguments of the command."""
    sysroot = Path(subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip())
    cargo = Path.home() / ".cargo" / "registry" / "src"
    made = synthetic.make(bench_dir() / "predict", first=0, shards=10, megabytes=GENERATED_MB // (100 if quick else 10))
    found: dict[str, list[str | Path]] = {
        "generated": [made],
        "Python sources": [sysconfig.get_paths()["stdlib"], "--include", "*.py"],
        "manuals of Rust (HTML)": [sysroot / "share" / "doc", "--include", "*.html"],
        "sources of Rust libraries": [cargo, "--include", "*.rs"],
    }
    try:
        found["texts of many kinds"] = [synthetic.real(1)]
    except Skip as reason:
        print(f"  texts of many kinds: skipped: {reason}")
    return {name: arguments for name, arguments in found.items() if Path(arguments[0]).exists()}


def plan(arguments: list[str | Path], *options: str | int) -> Sample | None:
    """`plan`: what it prints; None where it refuses. Files that are no text are left out."""
    command = [ngramscope(), "plan", *arguments, "--n", 7, "--n", 13, "--json", "--quiet", "--max-bad-records", 10**6, *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode == 2 and "--sample" in done.stderr:
        return None
    if done.returncode not in (0, 3):
        raise RuntimeError(done.stderr)
    printed: Sample = json.loads(done.stdout)
    return printed


def measure(lab: Lab) -> Findings:
    found = Findings(versions={"ngramscope": engine.version()})
    within, held = [], []
    for name, arguments in corpora(lab.quick).items():
        whole = plan(arguments, "--count")
        assert whole is not None
        truth = {each["n"]: each["sizing"]["ngrams"] for each in whole["layout"]["sets"]}
        for times in TIMES[: 2 if lab.quick else None]:
            print(f"  predict {name} {times} ...", flush=True)
            ends: dict[str, list[float]] = {"low": [], "value": [], "high": []}
            words, documents, holds, refused = [], [], [], 0
            for seed in range(1, 1 + (2 if lab.quick else DRAWS)):
                drawn = plan(arguments, "--sample", repr(1 / times), "--seed", seed)
                if drawn is None:
                    refused += 1
                    continue
                predicted = drawn["predicted"]
                words.append(predicted["words"]["low"] <= whole["words"] <= predicted["words"]["high"])
                documents.append(drawn["sample"]["documents"])
                for each in predicted["distinct"]:
                    holds.append(each["low"] <= truth[each["n"]] <= each["high"])
                    for end, ratios in ends.items():
                        ratios.append(each[end] / truth[each["n"]])
            row: Sample = {"corpus": name, "MB": whole["report"]["bytes"] * 1e-6, "times the sample": times, "refused": refused}
            if documents:
                row["documents in the sample"] = int(statistics.median(documents))
                row["held: words"] = statistics.mean(words)
                row["held: distinct n-grams"] = statistics.mean(holds)
                row |= {f"{end} over counted": statistics.median(ratios) for end, ratios in ends.items()}
            found.rows.append(row)
            within += words
            held += holds
    found.goal("share of intervals that held the distinct n-grams", found=statistics.mean(held), at_least=0.9)
    found.goal("share of intervals that held the words", found=statistics.mean(within), at_least=0.9)
    return found
