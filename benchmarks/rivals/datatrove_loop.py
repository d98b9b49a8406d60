"""datatrove's n-gram decontamination and its Bloom filter, called directly, without the executor.

    python datatrove_loop.py decontaminate|bloom N CORPUS VERBATIM FRESH
    python datatrove_loop.py scan N ITEMS CORPUS

`decontaminate`: hashes of CORPUS's n-grams into a set, then its filter over the held-out documents (a document counts
as found at its first hit). Its indexer wants lighteval at run time; `compute_hashes`, which does the work, does not.
`scan`: the same the other way round: hashes of the evaluation items, then its filter over CORPUS. It names no items.
`bloom`: SingleBloomFilter, which scores while it inserts. The size is one below a power of two: at a power of two it
would address two positions in all.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def documents(path: str) -> Iterator[Any]:
    from datatrove.data import Document

    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            yield Document(text=record["text"], id=record["id"])


def decontamination(n: int, known: str) -> tuple[Any, dict[str, Any]]:
    """The filter that knows the n-grams of a file; processor seconds of hashing them, and how many they are."""
    import numpy as np
    from datatrove.pipeline.decont import n_grams

    config = n_grams.NGramsDecontConfig(n_grams=n)
    n_grams.NGramsDecontIndexer._requires_dependencies = []  # lighteval: see above
    with tempfile.TemporaryDirectory() as folder:
        indexer = n_grams.NGramsDecontIndexer(folder, config=config)
        indexer.compute_hashes("The word tokenizer is loaded now, so that its start is not counted.")
        started, found = time.process_time(), set()
        count = 0
        for document in documents(known):
            keys = indexer.compute_hashes(document.text)
            count += len(keys)
            found.update(keys)
        np.array(list(found), dtype=config.hash_config.np_descr).tofile(f"{folder}/known.index.hashes")
        index = {"cpu": time.process_time() - started, "ngrams": count}
        scanner = n_grams.NGramsDecontFilter(folder, config=config)
        scanner.load_index_hashes()
    return scanner, index


def decontaminate(n: int, corpus: str, held_out: list[str]) -> dict[str, Any]:
    scanner, index = decontamination(n, corpus)
    result: dict[str, Any] = {"index": index}
    for name, path in zip(["verbatim", "fresh"], held_out, strict=True):
        started = time.process_time()
        hits = [float(scanner.filter(document) is not True) for document in documents(path)]
        result[name] = {"mean": sum(hits) / len(hits), "min": min(hits), "cpu": time.process_time() - started}
    return result


def scan(n: int, items: str, corpus: list[str]) -> dict[str, Any]:
    scanner, _ = decontamination(n, items)
    scanner.tokenizer.word_tokenize("The filter's own tokenizer is loaded now.")
    started = time.process_time()
    found = [document.id for document in documents(corpus[0]) if scanner.filter(document) is not True]
    return {"cpu": time.process_time() - started, "start_cpu": started, "documents": found, "items": None}


def bloom(n: int, corpus: str, held_out: list[str]) -> dict[str, Any]:
    from datatrove.pipeline.dedup.bloom_filter import BloomFilterConfig, SingleBloomFilter

    config = BloomFilterConfig(m_bytes=2**27 - 1, k=7, n_grams=n)
    with tempfile.TemporaryDirectory() as folder:
        step = SingleBloomFilter(folder, config)
        step.get_shingles("The word tokenizer is loaded now, so that its start is not counted.")
        started = time.process_time()
        for document in documents(corpus):
            step.step(document)
        result: dict[str, Any] = {"index": {"cpu": time.process_time() - started, "ngrams": step.total_shingles}}
        for name, path in zip(["verbatim", "fresh"], held_out, strict=True):
            shares = []
            for document in documents(path):
                indexes = step.get_indexes(step.get_shingles(document.text))
                if indexes:
                    shares.append(sum(map(step.query, indexes)) / len(indexes))
            result[name] = {"mean": sum(shares) / len(shares), "min": min(shares)}
        return result


if __name__ == "__main__":
    what, n_text, first_path, *rest = sys.argv[1:]
    print(json.dumps({"decontaminate": decontaminate, "bloom": bloom, "scan": scan}[what](int(n_text), first_path, rest)))
