"""What a user writes around a pip-installable Bloom filter: a Python loop over white-space n-grams.

    python bloom_loop.py rbloom|abloom tuple|xxh3 N EXPECTED RATE CORPUS VERBATIM FRESH

`tuple` keys rest on Python's own string hash, salted per process: the filter dies with the process. `xxh3` keys
(joined words, hashed) are the portable way.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def texts(path: str) -> Iterator[str]:
    with Path(path).open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"]


def tuples(words: list[str], n: int) -> Iterable[Any]:
    return zip(*(words[i:] for i in range(n)), strict=False)


def hashes(words: list[str], n: int) -> Iterable[Any]:
    from xxhash import xxh3_64_intdigest

    return [xxh3_64_intdigest(" ".join(words[i : i + n]).encode()) >> 1 for i in range(len(words) - n + 1)]


def score(bloom: Any, path: str, keys: Any, n: int) -> dict[str, float]:
    started = time.process_time()
    shares, count = [], 0
    for text in texts(path):
        words = text.split()
        total = len(words) - n + 1
        if total > 0:
            shares.append(sum(key in bloom for key in keys(words, n)) / total)
            count += total
    used = time.process_time() - started
    return {"mean": sum(shares) / len(shares), "min": min(shares), "ngrams": count, "cpu": used}


def main() -> None:
    library, kind, n_text, expected, rate, corpus, verbatim, fresh = sys.argv[1:]
    module = importlib.import_module(library)
    kinds = {"rbloom": "Bloom", "abloom": "BloomFilter"}
    bloom = getattr(module, kinds[library])(int(expected), float(rate))
    n, keys, count = int(n_text), {"tuple": tuples, "xxh3": hashes}[kind], 0
    started = time.process_time()
    for text in texts(corpus):
        words = text.split()
        count += max(0, len(words) - n + 1)
        bloom.update(keys(words, n))
    index = {"cpu": time.process_time() - started, "ngrams": count}
    scores = {name: score(bloom, path, keys, n) for name, path in [("verbatim", verbatim), ("fresh", fresh)]}
    print(json.dumps({"index": index, **scores}))


if __name__ == "__main__":
    main()
