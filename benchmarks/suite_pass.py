"""All attacks of some texts by ngramscope, then a loop of its own for each; run under the interpreter that has ngramscope.

    python suite_pass.py DATA TEXTS SLICES FOLDER

The model is a random GPT-NeoX of 5 M parameters. ngramscope: `score` with four kinds of passes into a store, then `attack`,
from texts to a written table. The loops do only what costs: the model sees what the attack asks of it, one text at a time.
Each slice of the texts goes through both before the next. Prints what it found as JSON.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import language_models
import numpy as np
from forward_pass import loop

from ngramscope.attacks.run import run_attacks
from ngramscope.corpus.tokens import count_tokens, load_tokenizer
from ngramscope.models.encode import Encoder
from ngramscope.models.load import LoadedModel, ModelOptions
from ngramscope.models.score import ScoreOptions, score_set
from ngramscope.models.store import ScoreStore
from ngramscope.models.threads import pick_threads
from ngramscope.sets import RecordSource

SHOTS, NEIGHBOURS, COPIES = 7, 5, 6
CONTEXT = 4096  # seven shots and a text fit
PASSES = ("plain", "prefix", "repeated", "neighbours")
# What the model must see for an attack, beside the text itself.
FURTHER = {"recall": "prefix", "camia": "repeated", "neighbourhood": "neighbours"}


def changed(text: str, random: np.random.Generator) -> str:
    """A neighbour: a twentieth of the words are others of the text."""
    words = text.split(" ")
    for place in random.choice(len(words), len(words) // 20, replace=False):
        words[place] = words[random.integers(len(words))]
    return " ".join(words)


class Inputs:
    """Files of one slice, and what loops see of it."""

    def __init__(self, texts: Sequence[str], shots: Path, folder: Path, encoder: Encoder) -> None:
        folder.mkdir(parents=True)
        random = np.random.default_rng(0)
        neighbours = [[changed(text, random) for _ in range(NEIGHBOURS)] for text in texts]
        self.folder, self.shots, self.texts = folder, shots, texts
        self.set, self.neighbours = folder / "set.jsonl", folder / "neighbours.jsonl"
        rows = [{"id": row, "text": text, "label": row % 2} for row, text in enumerate(texts)]
        self.set.write_text("".join(json.dumps(row) + "\n" for row in rows))
        self.neighbours.write_text(
            "".join(json.dumps({"id": row, "neighbours": found}) + "\n" for row, found in enumerate(neighbours))
        )
        before = encoder.prefix("".join(sorted(json.loads(line)["text"] for line in shots.read_text().splitlines())))

        def ids(text: str) -> list[int]:
            encoded = encoder.encode(text)
            return [*encoded.head.tolist(), *encoded.ids.tolist()]

        self.seen = {
            "plain": [ids(text) for text in texts],
            "prefix": [[*before, *encoder.encode(text).ids.tolist()] for text in texts],
            "repeated": [ids(" ".join([text] * COPIES)) for text in texts],
            "neighbours": [ids(text) for found in neighbours for text in found],
        }


def suite(loaded: LoadedModel, inputs: Inputs, counts: Path) -> tuple[list[str], ScoreStore]:
    """From texts to the table of scores; attacks, and the store."""
    options: dict[str, Any] = {
        "shots": SHOTS, "shots_file": str(inputs.shots), "copies": COPIES, "neighbours": (str(inputs.neighbours),),
    }  # fmt: skip
    score = ScoreOptions(model=ModelOptions(loaded.label), passes=PASSES, pass_options=options)
    score_set(RecordSource((inputs.set,)), inputs.folder / "store", score, loaded=loaded)
    store = ScoreStore(inputs.folder / "store")
    table = run_attacks(store, token_counts=counts)
    table.save(inputs.folder / "scores.parquet")
    # Compositions of CAMIA's signals see nothing more: one loop does for all of them.
    names = (re.split(r"[(.@]", each.attack)[0] for each in table.columns)
    return [name for name in dict.fromkeys(names) if not name.startswith("camia-")], store


def losses(store: ScoreStore, kind: str) -> Any:
    """Mean loss of each text of a pass."""
    (found,) = store.find(kind)
    return -found.stats.means(found.stats["log_prob"])


def compare(loaded: LoadedModel, texts: Sequence[str], slices: int, folder: Path) -> dict[str, Any]:
    """Seconds of each slice either way, of which attacks, and how far losses are apart."""
    encoder = Encoder(loaded)
    loaded.tokenizer.save_pretrained(folder / "tokenizer")
    shots = folder / "shots.jsonl"
    shots.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts[:SHOTS]))
    texts = texts[SHOTS:]
    rounds, attacks, worst = [], [], 0.0
    for number in range(slices):
        part = texts[number * len(texts) // slices : (number + 1) * len(texts) // slices]
        inputs = Inputs(part, shots, folder / f"slice-{number}", encoder)
        counts = folder / f"counts-{number}.parquet"
        count_tokens((str(inputs.set),), load_tokenizer(str(folder / "tokenizer"))).save(counts)
        started = time.perf_counter()
        attacks, store = suite(loaded, inputs, counts)
        ours = time.perf_counter() - started
        started = time.perf_counter()
        for _ in attacks:
            plain = [each[0] for each in loop(loaded, inputs.seen["plain"])]
        further = {kind: loop(loaded, inputs.seen[kind]) for kind in FURTHER.values()}
        theirs = time.perf_counter() - started
        worst = max(worst, float(abs(losses(store, "plain") - plain).max()))
        for kind in ("repeated", "neighbours"):
            worst = max(worst, float(abs(losses(store, kind) - [each[0] for each in further[kind]]).max()))
        rounds.append({"ngramscope": ours, "loops": theirs})
        print(number, rounds[-1], file=sys.stderr)
    return {
        "attacks": attacks,
        "rounds": rounds,
        "difference": worst,
        "parameters": loaded.facts()["parameters"],
        "libraries": loaded.facts()["libraries"],
    }


def main() -> None:
    data, count, slices, folder = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    pick_threads()
    documents = language_models.texts(data, count + SHOTS)
    print(json.dumps(compare(language_models.neox(documents, context=CONTEXT), documents, slices, folder)))


if __name__ == "__main__":
    main()
