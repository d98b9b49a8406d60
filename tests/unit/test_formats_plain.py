"""Plain records: keys, CSV, JSON arrays, and what cannot be used."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from ngramscope.errors import InputError, UsageError
from ngramscope.sets.formats import ImportOptions, import_set
from tests.formats import (
    lines,
    taken,
    wikimia,
)


def test_a_json_array_is_read_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    from ngramscope.sets.formats import _json_array

    monkeypatch.setattr(_json_array, "_CHUNK", 3)
    values = ["äöü\n\u2028", 12345, -1.5e10, {"a": [1, {"b": None}]}, [], True, ""]
    for indent in (None, 2):
        text = json.dumps(values, ensure_ascii=False, indent=indent).encode()
        assert list(_json_array.items(io.BytesIO(b"\xef\xbb\xbf" + text), "x", longest=100)) == values
    assert list(_json_array.items(io.BytesIO(b" [ ] "), "x", longest=100)) == []
    for broken in (b"", b"{}", b"[1", b"[1,]", b"[1 2]", b'["a', b"[nope]"):
        with pytest.raises(InputError, match=r"x, item \d: "):
            list(_json_array.items(io.BytesIO(broken), "x", longest=100))


def test_keys_dates_groups_and_fields_of_plain_records(data: Path, tmp_path: Path) -> None:
    path = lines(data / "a.jsonl", [{"doc": {"body": "t"}, "seen": False, "n": 3, "when": 2020, "who": ["x"], "z": {"q": 1}}])
    keys = {
        "text_key": "doc.body",
        "label_key": "seen",
        "id_key": "n",
        "date_key": "when",
        "group_key": "who",
        "fields": ("z",),
    }
    (row,) = taken(tmp_path, path, **keys)
    assert (row.text, row.label, row.id, row.date, row.group, row.extra) == ("t", 0, 3, 2020, '["x"]', {"z": {"q": 1}})
    (row,) = taken(tmp_path, path, **keys, member_label=0)
    assert row.label == 1
    with pytest.raises(InputError, match="no record has the key 'sene'"):
        taken(tmp_path, path, **{**keys, "label_key": "sene"})
    with pytest.raises(UsageError, match="--label-key: wikimia has its own keys"):
        taken(tmp_path, wikimia(data).input, name="wikimia", label_key="x")


def test_columns_of_csv_that_are_missing_are_named_with_those_that_there_are(data: Path, tmp_path: Path) -> None:
    path = data / "set.csv"
    path.write_text("body,seen\nx,1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"set\.csv: in none of the known formats; found: csv with the keys body, seen"):
        taken(tmp_path, path)
    with pytest.raises(InputError, match=r"set\.csv: --label: no column 'label'; it has body, seen"):
        taken(tmp_path, path, text_key="body", label_key="label")
    assert [each.label for each in taken(tmp_path, path, text_key="body", label_key="seen")] == [1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('text,label\na,1\n"never closed,1\n', "line 3: no CSV: .* is a quote not closed"),
        ('text,label\na,1\n"x" y,1\n', "line 3: no CSV"),
        ("text,text\na,1\n", "line 1: two columns have the name 'text'"),
        ("text,label\na,maybe\n", 'line 2: label "maybe" is not known'),
        ("text,label\n\n\na\n", "line 4: 1 cells, but the file has 2 columns"),
        ("", "is empty"),
    ],
)
def test_csv_that_is_none(data: Path, tmp_path: Path, text: str, message: str) -> None:
    (data / "set.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"set\.csv.*{message}"):
        taken(tmp_path, data / "set.csv")


def test_csv_in_another_encoding_and_tabs_and_compression(data: Path, tmp_path: Path) -> None:
    (data / "set.csv").write_text("text,label\nä,1\n", encoding="latin-1")
    with pytest.raises(InputError, match=r"set\.csv, line 2 or a little later: not UTF-8|set\.csv, line 1 or a little later"):
        taken(tmp_path, data / "set.csv")
    (data / "set.tsv.gz").write_bytes(gzip.compress(b"text\tlabel\na, b\t1\n"))
    assert [each.text for each in taken(tmp_path, data / "set.tsv.gz")] == ["a, b"]
    (data / "long.csv").write_text("text\n" + "x" * 300 + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"long\.csv, line 2: a cell longer than --max-record-size"):
        taken(tmp_path, data / "long.csv", max_record_size=200)


def test_records_that_cannot_be_used_are_counted(data: Path, tmp_path: Path) -> None:
    path = data / "WikiMIA_length32.jsonl"
    path.write_text('{"input": "a", "label": 1}\n{"input": "b"}\n{"input": null, "label": 1}\nnot json\n', encoding="utf-8")
    done = import_set([path], tmp_path / "set.jsonl", options=ImportOptions(max_bad_records=2))
    counts = done.header["history"][0]["counts"]["texts"]
    assert done.partial
    assert counts == {"read": 4, "used": 1, "left_out": {"invalid_json": 1, "missing_label": 1, "null_text": 1}}
    assert done.header["inputs"][0]["unusable"] == counts["left_out"]
    with pytest.raises(InputError, match="with it 2 records that cannot be used"):
        import_set([path], tmp_path / "other.jsonl", options=ImportOptions(max_bad_records=1))


def test_the_set_is_the_same_however_its_files_are_named_on_the_command_line(data: Path, tmp_path: Path) -> None:
    paths = [lines(data / f"{name}.jsonl", [{"text": name, "label": 1}]) for name in "abc"]
    found = set()
    for inputs in (paths, paths[::-1], [data], [data / "*.jsonl"]):
        import_set(inputs, tmp_path / "set.jsonl")
        found.add((tmp_path / "set.jsonl").read_bytes() + (tmp_path / "set.jsonl.meta.json").read_bytes())
    assert len(found) == 1
    with pytest.raises(UsageError, match="is one of the inputs"):
        import_set(paths, paths[0])
