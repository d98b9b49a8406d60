"""The corpora: JSON Lines of realistic English, of any size, the same bytes from the same inputs.

Real prose (the shared texts, where the machine has them) and the Python installation's own sources and docs, topped up
by copies whose words are shuffled inside each sentence: see rivals/src/bin/corpus.rs.

    python3 benchmarks/corpus.py 125 500 2200      # megabytes
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from lab import bench_dir, rival, shared_data

SEED = 20
# Sets of texts in English; the others hold no prose, or no text at all.
PROSE = [
    "c4-sample/*", "dated-abstracts/*", "dated-code/django-2.0*", "dated-specs/*", "dated-speeches/*", "dated-web/*",
    "tofu-qa/*", "wikitext2/*",
    *(f"mimir-ngram7/{name}*" for name in ("nih_", "stack", "ubuntu", "uspto", "wikipedia_")),
]  # fmt: skip


@dataclass
class Corpus:
    """A corpus file, and documents to score against it."""

    path: Path
    bytes: int
    documents: int
    sha256: str

    @property
    def verbatim(self) -> Path:
        """Documents of the corpus's first part: their overlap is 1."""
        return self.path.with_suffix(".verbatim.jsonl")

    @property
    def fresh(self) -> Path:
        """Documents of the same words in an order no corpus has: their overlap is small."""
        return self.path.with_suffix(".fresh.jsonl")

    @property
    def megabytes(self) -> float:
        """Millions of bytes."""
        return self.bytes * 1e-6


def inputs() -> list[Path]:
    """The real texts: shared prose, then the standard library, each sorted."""
    data = shared_data()
    prose = sorted(path for pattern in PROSE for path in data.glob(f"{pattern}.zst")) if data else []
    library = Path(sysconfig.get_paths()["stdlib"])
    left_out = {"site-packages", "test", "tests", "idle_test", "__pycache__", "lib2to3"}
    sources = sorted(path for path in library.rglob("*.py") if not left_out & set(path.relative_to(library).parts))
    return prose + sources


def make(megabytes: int) -> Corpus:
    """The corpus of at least so many millions of bytes, made once and kept in the benchmark folder."""
    files = inputs()
    # The cache's key: what decides the bytes, short of reading the inputs.
    listing = "\n".join(f"{path.name} {path.stat().st_size}" for path in files)
    key = hashlib.sha256(f"{listing}\n{SEED}".encode()).hexdigest()[:8]
    path = bench_dir() / f"corpus-{megabytes}mb-{key}.jsonl"
    facts = path.with_suffix(".json")
    if not facts.exists():
        names = path.with_suffix(".list")
        names.write_text("\n".join(map(str, files)))
        command = [rival("corpus"), "--list", names, "--out", path, "--held-out", path, "--seed", SEED]
        subprocess.run([*map(str, command), "--bytes", str(megabytes * 1_000_000)], check=True, stdout=subprocess.PIPE)
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        with path.open("rb") as file:
            documents = sum(1 for _ in file)
        facts.write_text(json.dumps({"bytes": path.stat().st_size, "documents": documents, "sha256": digest}))
    return Corpus(path, **json.loads(facts.read_text()))


if __name__ == "__main__":
    for size in map(int, sys.argv[1:] or ["125"]):
        print(make(size))
