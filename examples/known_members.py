"""A small language model whose training data are known: half of the embedded demonstration corpus, drawn at random.

    python examples/known_members.py DIR

DIR gets ``members.jsonl``, ``nonmembers.jsonl``, ``model`` and ``placebo``, a model of the same shape that has learned nothing.
Takes a minute. `benchmarks/experiments` trains on other documents, and larger models.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

from ngramscope.corpus.manifest import find_manifest, load_manifest
from ngramscope.corpus.stdlib import write_jsonl

EXPERIMENTS = Path(__file__).resolve().parents[1] / "benchmarks" / "experiments"


def main(folder: Path) -> None:
    """Write the documents, train, and leave everything in `folder`, which is new."""
    sys.path.insert(0, str(EXPERIMENTS))
    train = importlib.import_module("train")
    with tempfile.TemporaryDirectory() as temporary:
        corpus = Path(temporary) / "standard-library.jsonl"
        write_jsonl(corpus, load_manifest(find_manifest("python-stdlib")).exclude)
        options = train.Options(
            corpus=(str(corpus),), words=150, members=240, nonmembers=240, third=120, epochs=4, learning_rate=3e-3,
            placebo=(train.UNTRAINED,),
        )  # fmt: skip
        manifest = train.run(options, folder, lambda message: print(message, file=sys.stderr))  # noqa: T201
    shape = manifest["shape"]
    print(f"a model of {shape['parameters']:,} parameters, trained on 240 documents four times over; in {folder}")  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]))
