"""corpus-assay's commands build-index and scan, with its own defaults and one worker.

    python corpus_assay_scan.py FOLDER ITEMS CORPUS

The index of the items is made first and not counted; start-up is measured on a corpus of one document and taken off.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

# Of every contaminated document, not of a sample.
RECORDS = 10_000_000


def children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def assay(folder: Path, *arguments: str | Path | int) -> float:
    """Run a command of it: processor seconds."""
    command = list(map(str, [Path(sys.executable).parent / "corpus-assay", *arguments]))
    # `datasets` reads the items, and leaves a copy of them in its cache.
    env = {**os.environ, "HF_HOME": str(folder / "cache"), "HF_HUB_OFFLINE": "1"}
    before = children_seconds()
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout)
    return children_seconds() - before


def main() -> None:
    folder, items, corpus = map(Path, sys.argv[1:])
    settings, index = folder / "settings.yaml", folder / "items.native"
    # JSON is YAML. The thresholds are those of its manual.
    source = {"name": "items", "dataset": "json", "data_files": {"test": str(items)}, "splits": ["test"], "fields": ["text"]}
    settings.write_text(json.dumps({"benchmarks": [source], "ngram": 13, "min_hits": 3, "min_coverage": 0.001}))
    assay(folder, "build-index", "--config", settings, "--out-index", index, "--allow-unpinned")

    def scan(name: str, path: Path) -> float:
        options = ["--config", settings, "--index", index, "--input", path, "--id-key", "id", "--out-dir", folder / name]
        return assay(folder, "scan", *options, "--workers", 1, "--max-return-records", RECORDS)

    one = folder / "one.jsonl"
    with corpus.open("rb") as file:
        one.write_bytes(file.readline())
    start, used = scan("start", one), scan("all", corpus)
    summary = json.loads((folder / "all" / "_FINAL_SUMMARY.json").read_text())
    if summary["failed_files"]:
        sys.exit(f"corpus-assay failed to scan {corpus}")
    lines = [line for path in (folder / "all" / "contaminated_docs").iterdir() for line in path.read_text().splitlines()]
    records = [json.loads(line) for line in lines]
    documents = sorted({record["doc_id"].rpartition("-part-")[0] for record in records})
    found = sorted({hit["item_id"] for record in records for hit in record.get("item_hits", [])})
    print(json.dumps({"cpu": used - start, "start_cpu": start, "documents": documents, "items": found}))


if __name__ == "__main__":
    main()
