"""Recall and precision of the presets on real pages with planted benchmark items: the table of docs/decontaminate.md."""

from __future__ import annotations

import json
import random
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard

from ngramscope.decontaminate import PRESETS, Decontamination, DecontaminationRules
from ngramscope.index.options import WordRule

DOCS = Path(__file__).parents[2] / "docs" / "decontaminate.md"
ITEMS = 200
SEED = 11
RULES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "mimir": ("mimir", {}),
    "bff": ("bff", {}),
    "gpt3": ("gpt3", {}),
    "gpt3, max-near 0.4": ("gpt3", {"max_near": 0.4}),
    "max-hits 0": ("none", {"max_hits": 0}),
    "max-run 9": ("none", {"max_run": 9}),
}


def read(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        yield from map(json.loads, stream.read().splitlines())


def edited(text: str, chance: random.Random, vocabulary: list[str]) -> str:
    """Every tenth word, on average, is another one."""
    words = text.split()
    for place in chance.sample(range(len(words)), max(1, len(words) // 10)):
        words[place] = chance.choice(vocabulary)
    return " ".join(words)


def embedded(page: str, item: str) -> str:
    """In the middle of a page, at a sentence's end where there is one."""
    middle = page.find(". ", len(page) // 2) + 1 or len(page) // 2
    return f"{page[:middle]} {item}{page[middle:]}"


@pytest.fixture(scope="module")
def corpus(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Pages of C4 with items of TOFU planted in several ways, and those items."""
    folder = tmp_path_factory.mktemp("planted")
    chance = random.Random(SEED)
    items = [f"{each['question']} {each['answer']}" for each in read(shared / "data" / "tofu-qa" / "tofu-qa.jsonl.zst")]
    items = chance.sample(items, ITEMS)
    pages = [each["text"] for each in read(shared / "data" / "c4-sample" / "c4-sample.jsonl.zst")]
    long = [page for page in pages if len(page.split()) > 400]
    vocabulary = sorted({word for page in pages for word in page.split() if word.isalpha()})
    rows = [{"kind": "clean", "text": page} for page in pages]
    for item in items:
        changed = edited(item, chance, vocabulary)
        rows += [
            {"kind": "verbatim", "text": item},
            {"kind": "wrapped", "text": textwrap.fill(item, 50)},
            {"kind": "embedded", "text": embedded(chance.choice(long), item)},
            {"kind": "edited", "text": changed},
            {"kind": "edited and embedded", "text": embedded(chance.choice(long), changed)},
        ]
    chance.shuffle(rows)
    for name, lines in (("texts", rows), ("items", [{"id": number, "text": item} for number, item in enumerate(items)])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder / "texts.jsonl", folder / "items.jsonl"


@pytest.mark.parametrize("name", RULES)
def test_recall_and_precision_are_those_of_the_table(name: str, corpus: tuple[Path, Path]) -> None:
    preset, given = RULES[name]
    texts, items = corpus
    words = PRESETS[preset].get("words")
    run = Decontamination(
        texts,
        reference=items,
        rules=DecontaminationRules.of(preset, **given),
        rule=None if words is None else WordRule(words=words),
    )
    kinds = [json.loads(line)["kind"] for line in texts.read_text(encoding="utf-8").splitlines()]
    found = [kind for kind, row in zip(kinds, run.rows(), strict=True) if row["contaminated"]]
    planted = ["verbatim", "wrapped", "embedded", "edited", "edited and embedded"]
    recall = [found.count(kind) / kinds.count(kind) for kind in planted]
    precision = sum(kind != "clean" for kind in found) / len(found)
    row = f"| {name} | {' | '.join(f'{share:.3f}' for share in recall)} | {precision:.3f} | {found.count('clean')} |"
    assert row in DOCS.read_text(encoding="utf-8").splitlines(), row
