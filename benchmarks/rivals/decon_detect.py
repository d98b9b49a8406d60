"""AllenAI's decon through the third-party bindings `decontaminate`, with its own defaults and one thread.

    python decon_detect.py FOLDER ITEMS CORPUS

Every item is a question without an answer. Its start-up and the reading of the items are measured on a corpus of one
document, after a first run that fills what the process keeps, and taken off.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import decon


def detect(folder: Path, name: str, corpus: Path) -> tuple[float, list[dict[str, Any]]]:
    """Processor seconds, and a record for each pair of a document (its line from 0) and an item (its number)."""
    training = folder / name / "training"
    training.mkdir(parents=True)
    (training / "part.jsonl").symlink_to(corpus.resolve())
    started = time.process_time()
    report = decon.detect(decon.Config(str(training), str(folder / "items"), str(folder / name / "report"), worker_threads=1))
    used = time.process_time() - started
    return used, [json.loads(line) for path in Path(report).glob("*.jsonl") for line in path.read_text().splitlines()]


def main() -> None:
    folder, items, corpus = map(Path, sys.argv[1:])
    (folder / "items").mkdir()
    with items.open(encoding="utf-8") as lines, (folder / "items" / "items.jsonl").open("w", encoding="utf-8") as out:
        for record in map(json.loads, lines):
            number = record["id"]
            # Lines without a doc_id are passed over.
            item = {"eval_key": "items", "eval_instance_index": number, "doc_id": number, "question": record["text"]}
            out.write(json.dumps(item) + "\n")
    one = folder / "one.jsonl"
    with corpus.open("rb") as file:
        one.write_bytes(file.readline())
    detect(folder, "first", one)
    start, _ = detect(folder, "start", one)
    used, matches = detect(folder, "all", corpus)
    contaminated = {match["training_line"] for match in matches}
    with corpus.open("rb") as file:
        documents = [json.loads(line)["id"] for number, line in enumerate(file) if number in contaminated]
    found = sorted({match["eval_instance_index"] for match in matches})
    print(json.dumps({"cpu": used - start, "start_cpu": start, "documents": documents, "items": found}))


if __name__ == "__main__":
    main()
