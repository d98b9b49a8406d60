"""Formats of sets: each is found, read with the right labels, and where it is written too, read again."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ngramscope.errors import InputError, UsageError
from ngramscope.sets import Candidate, open_header
from ngramscope.sets.formats import ExportOptions, export_set, formats, import_set
from tests.conftest import read_jsonl
from tests.formats import (
    MAKERS,
    candidates,
    labelled,
    lines,
    set_of,
    taken,
)

WRITTEN = [name for name, each in formats().items() if each.keeps is not None]


def test_every_format_has_an_example() -> None:
    assert list(formats()) == sorted(MAKERS)


@pytest.mark.parametrize("name", MAKERS)
def test_it_is_found_and_read_with_the_right_labels(name: str, data: Path, tmp_path: Path) -> None:
    example = MAKERS[name](data)
    out = tmp_path / "set.jsonl"
    done = import_set([example.input], out, options=example.options)
    assert (done.format, done.partial) == (name, False)
    assert labelled(out) == example.rows
    # What was read adds up, file by file, and every file has its digest.
    header = open_header(out)
    assert header == json.loads(json.dumps(done.header))
    (step,) = header["history"]
    counts = step["counts"]["texts"]
    assert counts["read"] == counts["used"] + sum(counts["left_out"].values())
    assert counts["used"] == len(example.rows) == sum(each["documents"] for each in step["inputs"]) or name == "bff"
    assert sum(header["counts"].values()) == len(example.rows)
    assert all(each["bytes"] and len(each["blake3"]) == 64 for each in step["inputs"])
    assert str(tmp_path) not in json.dumps(header)
    ids = [each.id for each in candidates(out) if each.id is not None]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", MAKERS)
def test_a_file_that_does_not_fit_is_named_with_its_row(name: str, data: Path, tmp_path: Path) -> None:
    example = MAKERS[name](data)
    broken = example.break_it()
    out = tmp_path / "set.jsonl"
    inputs = broken if broken.name.startswith("bad.") else example.input
    with pytest.raises(InputError) as caught:
        import_set([inputs], out, format=name, options=example.options)
    for each in example.broken:
        assert each in str(caught.value)
    assert list(tmp_path.iterdir()) == [data]


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_another_layout_is_refused_with_the_keys_that_there_are(name: str, data: Path, tmp_path: Path) -> None:
    path = lines(data / "other.jsonl", [{"alpha": 1, "beta": 2}])
    with pytest.raises(InputError, match=r"other\.jsonl: not .*found: objects with the keys alpha, beta"):
        import_set([path], tmp_path / "set.jsonl", format=name)


def test_nothing_that_fits_and_several_that_fit(data: Path, tmp_path: Path) -> None:
    path = lines(data / "other.jsonl", [{"alpha": "text", "beta": 2}])
    with pytest.raises(InputError, match="none of the known formats; found: objects with the keys alpha, beta"):
        import_set([path], tmp_path / "set.jsonl")
    assert [each.text for each in taken(tmp_path, path, text_key="alpha")] == ["text"]
    both = lines(data / "both.jsonl", [{"input": "a", "label": 1, "snippet": "b"}])
    with pytest.raises(InputError, match=r"fits several formats: bookmia \(.*\); wikimia \(.*Name one with --format"):
        import_set([both], tmp_path / "set.jsonl")
    assert [each.text for each in taken(tmp_path, both, name="bookmia")] == ["b"]
    # Who names keys means plain records.
    assert [each.text for each in taken(tmp_path, both, text_key="input")] == ["a"]


ODD = [
    'quotes " and \\ and, commas',
    "lines\nand\r\nlines\rand \u2028 \u2029 \u0085 \x0b \x0c",
    "",
    " \t ",
    "\ufeffmark",
    "\u202eright to left \U0001f989 \u0301",
    "[1, 2]",
    "{}",
    "=1+1",
    "NULL",
    "long " * 50_000,
]


def written(path: Path, name: str, out: Path) -> Path:
    """Export the set, and import it again."""
    target = out / {"mimir": "cache", "csv": "out.csv", "parquet": "out.parquet"}.get(name, "out.jsonl.gz")
    export_set(
        path, target, name, options=ExportOptions(config="some", split="ngram_7_0.2", min_words=0, max_words=9, max_tokens=9)
    )
    again = out / "again.jsonl"
    import_set([target], again, format=name)
    return again


def round_trip(name: str, texts: list[tuple[str, int]], folder: Path) -> None:
    rows = [
        Candidate(f"é{number}", text, label, extra={"ngram_inclusion": "01" * number})
        for number, (text, label) in enumerate(texts)
    ]
    again = candidates(written(set_of(folder / "set.jsonl", rows), name, folder))
    # A folder of MIMIR has one side after the other.
    wanted = sorted(rows, key=lambda each: -(each.label or 0)) if name == "mimir" else rows
    assert [(each.text, each.label) for each in again] == [(each.text, each.label) for each in wanted]
    if name in ("csv", "jsonl", "parquet"):
        assert [each.id for each in again] == [each.id for each in rows]
    if name == "bff":
        assert [each.extra for each in again] == [each.extra for each in rows]


@pytest.mark.parametrize("name", WRITTEN)
def test_odd_texts_come_back(name: str, tmp_path: Path) -> None:
    round_trip(name, [(text, number % 2) for number, text in enumerate(ODD)], tmp_path)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)


@pytest.mark.parametrize("name", WRITTEN)
def test_any_text_comes_back(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.tuples(TEXTS, st.integers(0, 1)), min_size=2, max_size=8))
    def check(texts: list[tuple[str, int]]) -> None:
        sides = [(text, number % 2) for number, (text, _) in enumerate(texts)]
        round_trip(name, sides, tmp_path_factory.mktemp("odd"))

    check()


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_plain_tables_hold_all_columns(name: str, tmp_path: Path) -> None:
    rows = [
        Candidate("a", "x y", 1, "web", "g1", "2020-01-01", {"7": 0.25}, extra={"weight": 0.5, "tags": ["p", "q"]}),
        Candidate("b", "y z", 0, "web", None, None, {"7": None}, {"7": "fewer_than_n_words"}, extra={"weight": 1, "tags": []}),
        Candidate("c", "z", None),
    ]
    path = set_of(tmp_path / "set.jsonl", rows)
    target = tmp_path / f"out.{name}"
    stamp = export_set(path, target, name)
    assert stamp["counts"] == {"members": 1, "nonmembers": 1, "unlabelled": 1}
    assert stamp["lost"] == {"overlap_null": 1}
    fields = ("overlap_7", "weight", "tags")
    again = taken(tmp_path, target, fields=fields)
    for before, after in zip(rows, again, strict=True):
        for column in ("id", "text", "label", "domain", "group", "date"):
            assert getattr(before, column) == getattr(after, column)
    values = [tuple(each.extra[key] for key in fields) for each in again]
    if name == "csv":
        assert values == [("0.25", "0.5", '["p", "q"]'), (None, "1", "[]"), (None, None, None)]
    else:
        assert values == [(0.25, 0.5, ["p", "q"]), (None, 1, []), (None, None, None)]
    sidecar = tmp_path / f"{target.name}.meta.json"
    kept = json.loads(sidecar.read_bytes() if sidecar.exists() else pq.read_metadata(target).metadata[b"ngramscope"])
    assert (kept["artefact"], kept["settings"]["format"], kept["history"][0]["rule"]) == ("candidate-export", name, "made")


def test_a_parquet_column_of_mixed_values_is_strings(tmp_path: Path) -> None:
    rows = [Candidate(1, "a", 1, extra={"x": 1}), Candidate("two", "b", 0, extra={"x": {"y": 2}})]
    export_set(set_of(tmp_path / "set.jsonl", rows), tmp_path / "out.parquet", "parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    assert (table["id"].to_pylist(), table["x"].to_pylist()) == (["1", "two"], ["1", '{"y": 2}'])


def test_what_wikimia_does_not_hold_is_counted_and_what_has_no_label_refused(tmp_path: Path) -> None:
    rows = [Candidate("a", "x", 1, domain="web", overlap={"7": 0.5}, extra={"note": None}), Candidate("b", "y", 0, group="g")]
    path = set_of(tmp_path / "set.jsonl", rows)
    stamp = export_set(path, tmp_path / "out.jsonl", "wikimia")
    assert stamp["lost"] == {"domain": 1, "group": 1, "id": 2, "overlap": 1}
    assert read_jsonl(tmp_path / "out.jsonl") == [{"input": "x", "label": 1}, {"input": "y", "label": 0}]
    path = set_of(tmp_path / "mixed.jsonl", [*rows, Candidate("c", "z")])
    for name, out in (("wikimia", "no.jsonl"), ("mimir", "no")):
        options = ExportOptions(config="c", min_words=1, max_words=2, max_tokens=3)
        with pytest.raises(InputError, match="candidate 'c' has no label"):
            export_set(path, tmp_path / out, name, options=options)
        assert not (tmp_path / out).exists()
    with pytest.raises(InputError, match="candidate 'a': ngram_inclusion holds no flags"):
        export_set(path, tmp_path / "no.jsonl", "bff")
    with pytest.raises(UsageError, match="bookmia is only read; written are bff, csv"):
        export_set(path, tmp_path / "no.jsonl", "bookmia")
    with pytest.raises(UsageError, match="is one of the inputs"):
        export_set(path, path, "jsonl")
    assert not list(tmp_path.glob(".*"))
