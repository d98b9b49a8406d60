"""What only the Python API can show, run under the interpreter that has ngramscope.

    python api.py query INDEX TEXTS load|mapped THREADS SECONDS     batches of about a million n-grams
    python api.py open INDEX                                        one opening, in a fresh process
    python api.py parquet SOURCE OUT                                JSON Lines as Parquet

Each prints its figures as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import ngramscope

BATCH_NGRAMS = 1_000_000
# Of the corpora made here: bytes of text a word 7-gram.
BYTES_A_NGRAM = 5.3


def batches(path: str) -> list[list[str]]:
    """Texts of a file in batches of about a million n-grams; at most eight."""
    found: list[list[str]] = [[]]
    size = 0
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            text = json.loads(line)["text"]
            if size > BATCH_NGRAMS * BYTES_A_NGRAM:
                if len(found) == 8:
                    break
                found.append([])
                size = 0
            found[-1].append(text)
            size += len(text.encode())
    return found


def query(index_path: str, texts: str, how: str, threads: str, seconds: str) -> dict[str, float]:
    groups = batches(texts)
    started = time.perf_counter()
    index = ngramscope.Index.open(index_path, load=how == "load")
    opened = time.perf_counter() - started
    # One batch first: it brings in what is mapped and starts the threads' code.
    hits = int(index.overlap(groups[0], threads=int(threads)).hits.sum())
    ngrams = turns = 0
    started, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - started < float(seconds):
        table = index.overlap(groups[turns % len(groups)], threads=int(threads))
        ngrams += int(table.ngrams.sum())
        turns += 1
    spent = time.perf_counter() - started
    return {
        "open_seconds": opened,
        "ngrams_per_s": ngrams / spent,
        "ngrams_per_cpu_s": ngrams / (time.process_time() - cpu),
        "batch_ngrams": ngrams / turns,
        "batches": turns,
        "hits": hits,
    }


def opening(index_path: str) -> dict[str, float]:
    started = time.perf_counter()
    index = ngramscope.Index.open(index_path)
    opened = time.perf_counter() - started
    index.overlap(["the first question to a new index, which reads a few pages of it"], threads=1)
    return {"open_seconds": opened, "first_answer_seconds": time.perf_counter() - started}


def parquet(source: str, out: str) -> dict[str, float]:
    import pyarrow.json
    import pyarrow.parquet

    table = pyarrow.json.read_json(source, pyarrow.json.ReadOptions(block_size=64 << 20))
    pyarrow.parquet.write_table(table, out, compression="zstd", row_group_size=2000)
    details = pyarrow.parquet.ParquetFile(out).metadata
    groups = [details.row_group(group) for group in range(details.num_row_groups)]
    chunks = [group.column(column).total_uncompressed_size for group in groups for column in range(group.num_columns)]
    return {"bytes": Path(out).stat().st_size, "chunk_bytes": max(chunks)}


if __name__ == "__main__":
    name, *rest = sys.argv[1:]
    actions: dict[str, Callable[..., dict[str, float]]] = {"query": query, "open": opening, "parquet": parquet}
    print(json.dumps(actions[name](*rest)))
