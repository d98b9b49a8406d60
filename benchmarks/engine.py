"""ngramscope as its users call it: the commands these questions need, and what their JSON says."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lab import Sample, ngramscope, ngramscope_python, timed

HERE = Path(__file__).resolve().parent


def version() -> str:
    """As the command prints it."""
    return str(timed([ngramscope(), "--version"])["stdout"]).strip()


def build(source: Path, out: Path, *options: str | int, n: int = 7, env: Mapping[str, str] | None = None) -> Sample:
    """`build-index`: the process's figures, the seconds of each phase, and what came out."""
    command = [ngramscope(), "build-index", source, "--n", n, "--out", out, "--force", "--quiet", "--json", *options]
    sample = timed(command, env)
    summary = json.loads(sample["stdout"])
    manifest = summary["manifest"]
    keys = manifest["sets"][0]
    megabytes = sum(entry["bytes"] for entry in manifest["sources"]) * 1e-6
    seconds = summary["seconds"]
    without_sync = sample["wall"] - seconds["sync"]
    return sample | {
        "seconds": seconds,
        "passes": summary["passes"],
        "ngrams": keys["occurrences"],
        "filter_bytes": keys["blocks"] * 64,
        "k": keys["k"],
        "sizing": keys["sizing"],
        "rate": keys["rate"],
        "megabytes": megabytes,
        "without_sync": without_sync,
        "mb_per_s": megabytes / without_sync,
        "mb_per_cpu_s": megabytes / sample["cpu"],
        "ngrams_per_s": keys["occurrences"] / seconds["insert"],
    }


def overlap(candidates: Path, index: Path, *options: str | int) -> Sample:
    """`overlap`: the process's figures and a row for each document."""
    sample = timed([ngramscope(), "overlap", candidates, "--index", index, "--quiet", *map(str, options)])
    return sample | {"rows": [json.loads(line) for line in sample["stdout"].splitlines()]}


def shares(candidates: Path, index: Path) -> dict[str, Any]:
    """Mean and least overlap of the documents, and their n-grams: what benchmarks check answers by."""
    rows = [row for row in overlap(candidates, index)["rows"] if row["ngrams"]]
    found = [row["overlap"] for row in rows]
    return {"mean": sum(found) / len(found), "min": min(found), "ngrams": sum(row["ngrams"] for row in rows)}


def api(*arguments: str | Path | int) -> Sample:
    """Run api.py under the interpreter that has ngramscope: what it prints, as a sample."""
    sample = timed([ngramscope_python(), "-P", HERE / "api.py", *map(str, arguments)])
    printed: Sample = json.loads(sample["stdout"])
    return sample | printed


def repeated(make: Callable[..., Sample], *arguments: Any, **options: Any) -> Callable[[], Sample]:
    """`make` with its arguments, to be called later."""
    return lambda: make(*arguments, **options)
