"""Real documents, and who of them is a member: random splits by seed and text, whatever the order of the files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ngramscope.errors import InputError, UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.sets.base import Candidate
from ngramscope.sets.cut import cut
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.seeds import draw

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Documents:
    """Candidates with distinct texts, and what was read and left out."""

    candidates: list[Candidate]
    sources: list[dict[str, Any]]
    left_out: dict[str, int]


def paths(names: Sequence[str]) -> list[Path]:
    """Files of the shared folder by name (``dated-web``, ``dated-web/rust-blog``), or a user's own."""
    shared = Path(os.environ.get("NGRAMSCOPE_SHARED") or REPOSITORY.parent / "shared") / "data"
    found: list[Path] = []
    for name in names:
        if Path(name).exists():
            found.append(Path(name))
        elif (shared / name).is_dir():
            found += sorted((shared / name).glob("*.jsonl.zst"))
        elif (shared / f"{name}.jsonl.zst").is_file():
            found.append(shared / f"{name}.jsonl.zst")
        else:
            raise UsageError(f"--corpus: {name}: no file, and none of {shared} (NGRAMSCOPE_SHARED)")
    return found


def load(names: Sequence[str], *, words: int | None, min_words: int, text_key: str, keys: Keys) -> Documents:
    """The documents of some files, cut to their first `words`; short ones, and copies of another one, are left out."""
    records = RecordSource(tuple(paths(names)), ReadOptions(text_key=text_key), keys).open()
    left_out: Counter[str] = Counter()
    chosen: dict[str, Candidate] = {}
    for each in records.candidates():
        each.text = cut(each.text, words)
        if len(each.text.split()) < min_words:
            left_out["too_short"] += 1
        elif each.text in chosen:
            left_out["same_text"] += 1
        else:
            chosen[each.text] = each
    candidates = list(chosen.values())
    if len({each.id for each in candidates}) < len(candidates) or any(each.id is None for each in candidates):
        for each in candidates:
            each.id = f"{Path(each.source or '').name}:{each.position}"
    report = records.report()
    left_out.update({f"unusable_{reason}": count for reason, count in report["unusable"].items() if count})
    return Documents(candidates, report["sources"], dict(sorted(left_out.items())))


def split(candidates: Sequence[Candidate], sizes: Mapping[str, int | None], seed: int) -> dict[str, list[Candidate]]:
    """Disjoint random parts of these sizes; parts of size None get equal shares of what is left."""
    order = sorted(candidates, key=lambda each: draw(seed, "split", each.text))
    rest = len(order) - sum(size or 0 for size in sizes.values())
    if rest < sum(size is None for size in sizes.values()):
        wanted = ", ".join(f"{size:,} {name}" if size else f"some {name}" for name, size in sizes.items() if size != 0)
        raise InputError(f"{len(order):,} documents do not suffice for {wanted}; ask for fewer, or name another --corpus")
    open_parts = [name for name, size in sizes.items() if size is None]
    parts, at = {}, 0
    for name, size in sizes.items():
        count = rest // len(open_parts) if size is None else size
        parts[name] = order[at : at + count]
        at += count
    return parts


def copies(members: Sequence[Candidate], rule: str, seed: int) -> list[int]:
    """How often each member stands in a pass: ``3``; ``1,2,4``: random groups of equal size; ``poisson:2``: at least once.

    Poisson numbers are drawn again while they are 0.
    """
    try:
        mean = float(rule.removeprefix("poisson:")) if rule.startswith("poisson:") else None
        counts = [int(each) for each in rule.split(",")] if mean is None else []
    except ValueError:
        mean, counts = None, []
    if mean is not None and 0.01 <= mean <= 1e6:
        return [_positive(mean, draw(seed, "copies", each.text)) for each in members]
    if not counts or min(counts) < 1:
        raise UsageError(f"--copies: {rule!r} is not known; a number, several as 1,2,4, or poisson:2")
    order = sorted(range(len(members)), key=lambda row: draw(seed, "copies", members[row].text))
    found = [0] * len(members)
    for place, row in enumerate(order):
        found[row] = counts[place % len(counts)]
    return found


def _positive(mean: float, seed: int) -> int:
    random = np.random.default_rng(seed)
    while not (count := int(random.poisson(mean))):
        pass
    return count
