"""Small examples of every format of sets, with the documented layout, and what tests of formats share."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ngramscope.sets import Candidate, RecordSource, SetFile, Step
from ngramscope.sets.formats import ImportOptions, import_set

WORDS = [f"w{number}" for number in range(64)]


@dataclass
class Example:
    """A benchmark in small: where it is, what is in it, and a file that breaks the layout."""

    input: Path
    rows: list[tuple[str, int | None]]
    options: ImportOptions = field(default_factory=ImportOptions)
    break_it: Callable[[], Path] = lambda: Path()
    broken: tuple[str, ...] = ()


def lines(path: Path, values: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in values), encoding="utf-8")
    return path


def parquet(path: Path, columns: Mapping[str, list[Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(dict(columns)), path)
    return path


def then(path: Path, value: Any) -> Callable[[], Path]:
    """Appends one more line to a file."""

    def append() -> Path:
        with path.open("a", encoding="utf-8") as file:
            file.write((value if isinstance(value, str) else json.dumps(value)) + "\n")
        return path

    return append


def mimir(folder: Path) -> Example:
    cache = folder / "cache_100_200_3_512"
    lines(cache / "train" / "wikipedia_(en)_ngram_13_0.8.jsonl", ["a m", "b m", ["c m", "d m"]])
    test = lines(cache / "test" / "wikipedia_(en)_ngram_13_0.8.jsonl", ["x n", "y n"])
    lines(cache / "train" / "temporal_wiki.jsonl", ["other"])
    lines(cache / "test" / "temporal_wiki.jsonl", ["other"])
    return Example(
        folder,
        [("a m", 1), ("b m", 1), ("c m", 1), ("d m", 1), ("x n", 0), ("y n", 0)],
        ImportOptions(config="wikipedia_(en)", split="ngram_13_0.8"),
        then(test, {"text": "z"}),
        ("line 3", "dict where a text should be"),
    )


def mimir_columns(folder: Path) -> Example:
    path = parquet(
        folder / "github" / "ngram_7_0.2-00000-of-00001.parquet",
        {"member": ["a m", "b m"], "nonmember": ["x n", "y n"], "member_neighbors": [["a1", "a2"], ["b1", "b2"]]},
    )
    return Example(
        path,
        [("a m", 1), ("b m", 1), ("x n", 0), ("y n", 0)],
        ImportOptions(),
        lambda: lines(folder / "bad.jsonl", [{"member": "a", "nonmember": "b"}, {"member": "a"}]),
        ("bad.jsonl:2", "nonmember", "keys seen: member"),
    )


def wikimia(folder: Path) -> Example:
    path = lines(folder / "WikiMIA_length64.jsonl", [{"input": "seen before", "label": 1}, {"input": "new", "label": 0}])
    lines(folder / "WikiMIA_length32.jsonl", [{"input": "shorter", "label": 1}])
    return Example(
        folder,
        [("seen before", 1), ("new", 0)],
        ImportOptions(split="WikiMIA_length64"),
        then(path, {"input": "no label"}),
        ("WikiMIA_length64.jsonl, line 3", "no 'label'", "it has input"),
    )


def wikimia_hard(folder: Path) -> Example:
    rows = [
        {"title": "A", "date": "2016-01-01", "input": "A before", "id": 0, "diff": 12, "label": 1},
        {"title": "A", "date": "2024-05-01", "input": "A after", "id": 0, "diff": 12, "label": 0},
    ]
    path = lines(folder / "test.jsonl", rows)
    return Example(
        folder, [("A before", 1), ("A after", 0)], ImportOptions(), then(path, {**rows[0], "label": 7}), ("line 3", "label 7")
    )


def wikimia_concat(folder: Path) -> Example:
    path = lines(folder / "WikiMIA_concat.jsonl", [{"input": " ".join(WORDS), "label": [1, 0]}])
    return Example(
        path,
        [(" ".join(WORDS[:32]), 1), (" ".join(WORDS[32:]), 0)],
        ImportOptions(),
        then(path, {"input": "too short", "label": [1]}),
        ("line 2", "1 labels for 2 words"),
    )


def bookmia(folder: Path) -> Example:
    rows = [{"book": "Emma", "book_id": 3, "snippet_id": 0, "snippet": "old book", "label": 1}]
    path = lines(folder / "train.jsonl", [*rows, {**rows[0], "book": "New", "snippet": "new book", "label": 0}])
    return Example(
        path, [("old book", 1), ("new book", 0)], ImportOptions(), then(path, {"snippet": "x"}), ("line 3", "no 'label'")
    )


def tection(folder: Path) -> Example:
    passages = {"Example_A": "real", "Example_B": "p1", "Example_C": "p2", "Example_D": "p3"}
    rows = [
        {"ID": "Emma", **passages, "Answer": "A", "Label": 1, "Length": "small"},
        {"ID": "Nova", **passages, "Answer": "C", "Label": 0, "Length": "small"},
    ]
    path = lines(folder / "BookTection.jsonl", rows)
    return Example(
        path, [("real", 1), ("p2", 0)], ImportOptions(), then(path, {"Example_A": "x"}), ("line 3", "no 'Label'", "Example_A")
    )


def traps(folder: Path) -> Example:
    rows = {"text": ["injected", "kept out"], "label": [1, 0], "perplexity_bucket": [3, 4]}
    path = parquet(folder / "data" / "seq_len_25_n_rep_10-00000-of-00001.parquet", rows)
    return Example(
        path,
        [("injected", 1), ("kept out", 0)],
        ImportOptions(),
        lambda: lines(folder / "bad.jsonl", [{"text": "x", "label": 1, "perplexity_bucket": 2}, {"text": "y", "label": 1}]),
        ("bad.jsonl, line 2", "no 'perplexity_bucket'"),
    )


def dataset_inference(folder: Path) -> Example:
    row = {"text": "trained on", "butter_fingers": "trainef on", "random_deletion": "on"}
    lines(folder / "wikipedia_train.jsonl", [row])
    path = lines(folder / "wikipedia_val.jsonl", [{**row, "text": "held out"}])
    return Example(
        folder,
        [("trained on", 1), ("held out", 0)],
        ImportOptions(),
        then(path, {"butter_fingers": "x"}),
        ("wikipedia_val.jsonl:2", "keys seen: butter_fingers"),
    )


def blind_mia(folder: Path) -> Example:
    place = folder / "multi_web"
    place.mkdir()
    (place / "member.txt").write_text("one member\n\nsecond member\n", encoding="utf-8")
    (place / "nonmember.txt").write_text("a non-member", encoding="utf-8")

    def damage() -> Path:
        (place / "member.txt").write_bytes(b"fine\n\xff\xfe\xfa broken\n")
        return place

    return Example(
        place, [("one member", 1), ("second member", 1), ("a non-member", 0)], ImportOptions(), damage, ("member.txt", "2")
    )


def muse(folder: Path) -> Example:
    place = folder / "privleak"
    place.mkdir()
    (place / "forget.json").write_text(json.dumps(["forgotten", "me too"]), encoding="utf-8")
    (place / "retain2.json").write_text(json.dumps(["retained"], indent=2), encoding="utf-8")
    (place / "holdout.json").write_text("[]", encoding="utf-8")
    (place / "holdout.json").write_text(json.dumps(["never seen"]), encoding="utf-8")

    def damage() -> Path:
        (place / "forget.json").write_text('["fine", "broken', encoding="utf-8")
        return place

    rows = [("forgotten", 1), ("me too", 1), ("never seen", 0), ("retained", 1)]
    return Example(place, rows, ImportOptions(), damage, ("forget.json, item 2",))


def bff_row(text: str, flags: list[bool], *, keep: bool = True) -> dict[str, Any]:
    count = {"bff_contained_ngram_count_before_dedupe": sum(flags)}
    return {"original": text, "text": text if keep else "", "ngram_inclusion": flags, **count}


def bff(folder: Path) -> Example:
    texts = {"first": ([True, False, False], [False, False, True]), "second": ([False], [False])}
    for shard in (0, 1):
        path = folder / "ngram_7" / "pile_cc" / str(shard) / "test_raw.jsonl.gz"
        path.parent.mkdir(parents=True)
        rows = [bff_row(text, flags[shard], keep=False) for text, flags in texts.items()]
        path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))

    def damage() -> Path:
        return lines(folder / "bad.jsonl", [bff_row("x", [True]), {**bff_row("y", [True]), "ngram_inclusion": "10"}])

    return Example(
        folder,
        [("first", 0), ("second", 0)],
        ImportOptions(label=0),
        damage,
        ("bad.jsonl, line 2", "no list of true and false"),
    )


def plain_jsonl(folder: Path) -> Example:
    rows = [{"text": "a", "label": "member"}, {"text": "b", "label": 0}, {"text": "", "label": None}]
    path = lines(folder / "set.jsonl", rows)
    return Example(path, [("a", 1), ("b", 0), ("", None)], ImportOptions(), then(path, {"tekst": 1}), ("set.jsonl:4", "tekst"))


def plain_csv(folder: Path) -> Example:
    path = folder / "set.csv"
    path.write_text('\ufefftext,label\n"two\nlines, ""quoted""",1\nb,0.0\n"",\n', encoding="utf-8")
    rows = [('two\nlines, "quoted"', 1), ("b", 0), ("", None)]
    return Example(path, rows, ImportOptions(), then(path, "one,two,three"), ("set.csv, line 6", "3 cells", "text, label"))


def plain_parquet(folder: Path) -> Example:
    path = parquet(folder / "set.parquet", {"text": ["a", "b"], "label": [True, False]})

    def damage() -> Path:
        return parquet(folder / "bad.parquet", {"text": ["a", "b"], "label": ["1", "perhaps"]})

    return Example(path, [("a", 1), ("b", 0)], ImportOptions(), damage, ("bad.parquet, line 2", "perhaps"))


MAKERS: dict[str, Callable[[Path], Example]] = {
    "bff": bff,
    "blind-mia": blind_mia,
    "bookmia": bookmia,
    "copyright-traps": traps,
    "csv": plain_csv,
    "dataset-inference": dataset_inference,
    "jsonl": plain_jsonl,
    "mimir": mimir,
    "mimir-columns": mimir_columns,
    "muse": muse,
    "parquet": plain_parquet,
    "tection": tection,
    "wikimia": wikimia,
    "wikimia-concat": wikimia_concat,
    "wikimia-hard": wikimia_hard,
}


def candidates(path: Path) -> list[Candidate]:
    return list(RecordSource((path,)).open().candidates())


def labelled(path: Path) -> list[tuple[str, int | None]]:
    return [(each.text, each.label) for each in candidates(path)]


def taken(folder: Path, *inputs: Path, name: str = "auto", **options: Any) -> list[Candidate]:
    import_set(inputs, folder / "taken.jsonl", format=name, options=ImportOptions(**options))
    return candidates(folder / "taken.jsonl")


def set_of(path: Path, rows: list[Candidate], settings: Mapping[str, Any] | None = None) -> Path:
    """A set, made without any format."""
    with SetFile(path) as file:
        file.add(rows)
        file.commit(Step("made", settings or {}, [], {}), overlap={"7": {"by": "test"}})
    return path
