"""dolma's Bloom deduper, the one installable command that builds an n-gram filter and scores documents by it.

    python dolma_dedupe.py N EXPECTED RATE PROCESSES FOLDER CORPUS VERBATIM FRESH

Build with `read_only: false`, then score with `read_only: true`; a whole document is one paragraph (a separator that
never occurs). Giving the size alone, as its help offers, panics, so count and rate are given too. Its start-up is
measured on an empty corpus and printed, so that it can be taken off.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any


def children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def dedupe(folder: Path, name: str, source: Path, filter_: dict[str, Any], n: int, processes: int) -> dict[str, float]:
    place = folder / name
    (place / "documents").mkdir(parents=True)
    (place / "documents" / "part.jsonl").symlink_to(source)
    settings = {
        "documents": [f"{place}/documents/*"],
        "dedupe": {
            "name": "overlap",
            "paragraphs": {
                "attribute_name": "share",
                "by_ngram": {"ngram_length": n, "stride": 1, "overlap_threshold": 0.0},
                "paragraph_separator": "\u0001\u0001never\u0001\u0001",
            },
        },
        "bloom_filter": filter_,
        "processes": processes,
        "work_dir": {"input": f"{place}/in", "output": f"{place}/out"},
    }
    (place / "settings.json").write_text(json.dumps(settings))
    command = [str(Path(sys.executable).parent / "dolma"), "-c", str(place / "settings.json"), "dedupe"]
    before = children_seconds()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    used = children_seconds() - before
    lines = (place / "attributes" / "overlap" / "part.jsonl").read_text().splitlines()
    shares = [span[2] for line in lines for span in json.loads(line)["attributes"]["share"]]
    return {"cpu": used, "mean": sum(shares) / max(1, len(shares)), "min": min(shares, default=math.nan)}


def main() -> None:
    n, expected, rate, processes, folder, corpus, verbatim, fresh = sys.argv[1:]
    place = Path(folder)
    bits = -int(expected) * math.log(float(rate)) / math.log(2) ** 2
    settings = {
        "file": f"{folder}/filter.bin",
        "read_only": False,
        "size_in_bytes": int(bits / 8),
        "estimated_doc_count": int(expected),
        "desired_false_positive_rate": float(rate),
    }
    empty = place / "empty.jsonl"
    empty.touch()

    def run(name: str, source: Path, **changed: Any) -> dict[str, float]:
        return dedupe(place, name, source, {**settings, **changed}, int(n), int(processes))

    start = run("start", empty, file=f"{folder}/unused.bin")["cpu"]
    result = {
        "start_cpu": start,
        "index": run("index", Path(corpus)),
        "verbatim": run("verbatim", Path(verbatim), read_only=True),
        "fresh": run("fresh", Path(fresh), read_only=True),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
