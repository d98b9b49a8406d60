from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest
import zstandard

from ngramscope import Index, OverlapTable, QueryOptions, ReadOptions, ResourceError, UsageError
from ngramscope.index.output import OVERLAP_WRITERS, JsonLinesWriter, ParquetWriter, TableFile, check_fields
from tests.conftest import WORDS, read_jsonl, write_jsonl

RECORDS: list[Any] = [
    {"id": 12345678901234567890123, "text": " ".join(WORDS), "date": "2020-01-02", "tags": ["a", 1]},
    {"id": 'say "é"', "text": "alpha beta gamma"},
    {"text": "alpha"},
    {"id": 7, "text": None},
]


@pytest.fixture
def tables(small_index: Path, tmp_path: Path) -> list[OverlapTable]:
    path = write_jsonl(tmp_path / "candidates.jsonl", RECORDS)
    with path.open("a") as file:
        file.write('{"id": "nan", "text": "x y z", "tags": [NaN, Infinity, "NaN"]}\n')
    query = QueryOptions(flags=True, spans=True, matches=3)
    return list(Index.open(small_index).overlap_files(path, read=ReadOptions(fields=("date", "tags")), query=query))


def save(path: Path, tables: list[OverlapTable], *, with_source: bool = False) -> None:
    with TableFile(path, OVERLAP_WRITERS, with_source=with_source) as file:
        for table in tables:
            file.write(table)
        file.commit({"artefact": "overlap-table"})


def test_json_lines_hold_every_column_and_digit(tables: list[OverlapTable], tmp_path: Path) -> None:
    save(tmp_path / "out.jsonl", tables)
    assert '{"id": 12345678901234567890123, "position": 0, ' in (tmp_path / "out.jsonl").read_text()
    rows = read_jsonl(tmp_path / "out.jsonl")
    assert len(rows) == 10
    assert [row["n"] for row in rows] == [3, 5] * 5
    first = rows[0]
    assert list(first) == [
        "id", "position", "n", "words", "ngrams", "hits", "overlap", "overlap_corrected", "distinct_ngrams", "distinct_hits",
        "distinct_overlap", "longest_run", "null_reason", "flags", "spans", "spans_total", "matches", "date", "tags",
    ]  # fmt: skip
    assert (first["overlap"], first["longest_run"], first["date"], first["tags"]) == (1.0, 18, "2020-01-02", ["a", 1])
    assert first["matches"] == ["alpha beta gamma", "beta gamma delta", "gamma delta epsilon"]
    assert rows[2]["id"] == 'say "é"'
    assert (rows[4]["id"], rows[4]["overlap"], rows[4]["longest_run"]) == (None, None, None)
    assert rows[6]["null_reason"] == "null_text"
    assert rows[8]["tags"] == [None, None, "NaN"]


def test_csv_and_parquet_say_the_same(tables: list[OverlapTable], tmp_path: Path) -> None:
    for ending in ("jsonl", "csv", "parquet"):
        save(tmp_path / f"out.{ending}", tables, with_source=True)
    expected = read_jsonl(tmp_path / "out.jsonl")
    parquet = pq.read_table(tmp_path / "out.parquet").to_pylist()
    with (tmp_path / "out.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(expected) == len(parquet) == len(cells)
    for row, typed, cell in zip(expected, parquet, cells, strict=True):
        assert list(row) == list(typed) == list(cell)
        for name, value in row.items():
            if name in ("id", "tags", "spans"):
                continue
            assert typed[name] == value, name
            if name != "matches":
                assert cell[name] == ("" if value is None else str(value)), name
    assert [row["id"] for row in parquet[::2]] == ["12345678901234567890123", 'say "é"', None, "7", "nan"]
    assert parquet[0]["spans"] == [{"start": 0, "end": len(" ".join(WORDS))}]
    assert json.loads(cells[0]["spans"]) == expected[0]["spans"] == [[0, len(" ".join(WORDS))]]


def test_provenance_travels_with_the_table(tables: list[OverlapTable], tmp_path: Path) -> None:
    save(tmp_path / "out.parquet", tables)
    metadata = pq.read_metadata(tmp_path / "out.parquet").metadata
    assert json.loads(metadata[b"ngramscope"]) == {"artefact": "overlap-table"}
    save(tmp_path / "out.csv", tables)
    assert json.loads((tmp_path / "out.csv.meta.json").read_text()) == {"artefact": "overlap-table"}


def test_compressed_tables_hold_the_same_bytes(tables: list[OverlapTable], tmp_path: Path) -> None:
    for ending in ("", ".gz", ".zst"):
        save(tmp_path / f"out.jsonl{ending}", tables)
    plain = (tmp_path / "out.jsonl").read_bytes()
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == plain
    with zstandard.ZstdDecompressor().stream_reader((tmp_path / "out.jsonl.zst").read_bytes()) as reader:
        assert reader.read() == plain


def test_nothing_appears_before_the_whole(tables: list[OverlapTable], tmp_path: Path) -> None:
    out = tmp_path / "out" / "table.jsonl"
    out.parent.mkdir()
    out.write_text("earlier\n")
    with pytest.raises(KeyboardInterrupt), TableFile(out, OVERLAP_WRITERS, with_source=False) as file:
        file.write(tables[0])
        raise KeyboardInterrupt
    assert [path.name for path in out.parent.iterdir()] == ["table.jsonl"]
    assert out.read_text() == "earlier\n"


def test_a_full_disk_is_named_and_leaves_nothing(tables: list[OverlapTable]) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    writer = TableFile(Path("/dev/shm/ngramscope-test.jsonl"), OVERLAP_WRITERS, with_source=False)
    with pytest.raises(ResourceError, match=r"ngramscope-test\.jsonl: cannot write the table: No space left"), writer:
        with Path("/dev/full").open("wb", buffering=0) as full:
            writer._writer = JsonLinesWriter(full, with_source=False)
            writer.write(tables[0])
    assert not writer.path.exists()


def test_unknown_endings_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"known: \.jsonl, \.csv, \.parquet"):
        TableFile(tmp_path / "out.xlsx", OVERLAP_WRITERS, with_source=False)
    with pytest.raises(UsageError, match="known"):
        TableFile(tmp_path / "out.parquet.gz", OVERLAP_WRITERS, with_source=False)
    with pytest.raises(UsageError, match="there is no folder"):
        TableFile(tmp_path / "no" / "out.csv", OVERLAP_WRITERS, with_source=False)


def test_fields_may_not_hide_columns() -> None:
    with pytest.raises(UsageError, match="'overlap' is a column"):
        check_fields(["date", "overlap"])
    with pytest.raises(UsageError, match="twice"):
        check_fields(["date", "date"])


def test_arrow_and_pandas_have_nulls_where_there_is_no_overlap(tables: list[OverlapTable]) -> None:
    (table,) = tables
    arrow = table.to_arrow()
    undefined = [reason is not None for reason in table.null_reason]
    for name in ("overlap", "overlap_corrected", "distinct_overlap", "longest_run"):
        assert arrow[name].is_null().to_pylist() == undefined, name
    frame = table.to_pandas()
    assert frame["overlap"].isna().tolist() == undefined
    assert frame["id"].tolist()[:2] == [12345678901234567890123] * 2
    assert frame["date"].tolist()[:2] == ["2020-01-02"] * 2
    assert frame["date"].isna().tolist()[2:] == [True] * 8


def test_an_empty_input_still_gives_header_and_schema(small_index: Path, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    stream = Index.open(small_index).overlap_files(path, read=ReadOptions(fields=("date",)))
    tables = [stream.empty(), *stream]
    for ending in ("jsonl", "csv", "parquet"):
        save(tmp_path / f"out.{ending}", tables)
    assert (tmp_path / "out.jsonl").read_text() == ""
    assert next(csv.reader(io.StringIO((tmp_path / "out.csv").read_text())))[:3] == ["id", "position", "n"]
    assert pq.read_table(tmp_path / "out.parquet").column_names[-1] == "date"


def test_a_table_that_is_given_up_is_closed_before_its_file(tables: list[OverlapTable], tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), TableFile(tmp_path / "out.parquet", OVERLAP_WRITERS, with_source=False) as file:
        file.write(tables[0])
        raise KeyboardInterrupt
    assert isinstance(file._writer, ParquetWriter)
    assert file._writer._writer is not None
    assert not file._writer._writer.is_open  # else it would write to the closed file when it is collected
    assert not list(tmp_path.glob("*out*"))


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_halves_of_surrogate_pairs_and_nan_can_be_written(small_index: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "candidates.jsonl"
    path.write_text(r'{"id": "NaN \ud83d", "text": "x y z", "tags": [NaN, 1.50, "\udc00"]}')
    read = ReadOptions(fields=("tags",))
    save(tmp_path / f"out.{ending}", list(Index.open(small_index).overlap_files(path, read=read)))
    if ending == "jsonl":
        assert r'"id": "NaN \ud83d"' in (tmp_path / "out.jsonl").read_text()
        assert r'"tags": [null, 1.50, "\udc00"]' in (tmp_path / "out.jsonl").read_text()
    else:
        out = tmp_path / f"out.{ending}"
        first = (pq.read_table(out) if ending == "parquet" else pc.read_csv(out)).to_pylist()[0]
        assert (first["id"], first["tags"]) == ("NaN \ufffd", r'[null, 1.50, "\udc00"]')
