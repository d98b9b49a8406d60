"""A09: Parquet, and shards whose columns differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ngramscope import Index
from tests.conftest import Cli
from tests.trials.support import build, finished, refused

SOUND = ["nulls_dictionary_row_groups", "large_string", "dictionary_type", "text_is_binary"]


@pytest.mark.parametrize("name", SOUND)
def test_a09_nulls_are_counted_and_ids_belong_to_their_texts(
    trials: Path, expected: dict[str, Any], tmp_path: Path, name: str
) -> None:
    path = trials / "A09" / f"{name}.parquet"
    right = expected["A09"]["parquet"]
    manifest = build(tmp_path / "all", path, n=5)
    assert manifest["counts"]["records"] == right["rows"]
    assert manifest["counts"]["unusable"] == {"null_text": right["null_text"]}
    assert manifest["partial"] is False
    # An index of two texts only: exactly these rows may be found, under their ids.
    index = Index.build(texts=[right["p-0"], right["p-28"]], out=tmp_path / "two", n=5, filter="exact", threads=1)
    (table,) = index.overlap_files(path)
    assert len(table) == right["rows"]
    found = {name: overlap for name, overlap in zip(table.id, table.overlap.tolist(), strict=True) if overlap > 0}
    assert found == {"p-0": 1.0, "p-28": 1.0}
    assert table.null_reason.tolist() == ["null_text" if row % 4 == 1 else None for row in range(right["rows"])]
    assert table.position.tolist() == list(range(right["rows"]))


def test_a09_no_rows_and_all_nulls_are_no_errors(cli: Cli, trials: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    zero = build(tmp_path / "zero", trials / "A09" / "zero_rows.parquet")
    assert zero["counts"]["records"] == expected["A09"]["parquet"]["zero_rows"]
    done = cli("build-index", trials / "A09" / "all_null.parquet", "--out", "null")
    errors = finished(done)
    assert "30 records without usable text (null_text)" in errors
    assert "EMPTY" in errors


def test_a09_a_missing_column_is_named_with_those_present(cli: Cli, trials: Path, tmp_path: Path) -> None:
    path = trials / "A09" / "no_text_column.parquet"
    refused(cli("build-index", path, "--out", "index"), path, '"text"', "id, content")
    manifest = build(tmp_path / "index", path, text_key="content", n=5)
    assert (manifest["counts"]["records"], manifest["counts"]["documents"]) == (30, 22)


def test_a09_half_a_file_is_an_error(cli: Cli, trials: Path) -> None:
    path = trials / "A09" / "cut.parquet"
    message = refused(cli("build-index", path, "--out", "index"), path)
    assert "cut" in message.replace(str(path), "") or "damaged" in message.replace(str(path), "")


def test_a09_shards_with_other_columns(trials: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    manifest = build(tmp_path / "index", trials / "A09" / "drift", n=3)
    assert manifest["counts"]["documents"] == expected["A09"]["drift"]
    index = Index.open(tmp_path / "index")
    found = [
        (each, overlap)
        for table in index.overlap_files(trials / "A09" / "drift")
        for each, overlap in zip(table.id, table.overlap, strict=True)
    ]
    assert found == [("s0", 1.0), ("s1", 1.0), (2, 1.0)]
