"""A04, A05, A06: line ends, odd fields, malformed records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ngramscope import Index, ReadOptions
from tests.conftest import ROOT, Cli, read_jsonl
from tests.trials.support import build, finished, lenient, refused, refuses

A05_UNUSABLE = {"null_text": 1, "missing_text": 1, "text_not_a_string": 2, "not_an_object": 2}
A05_DOCUMENTS = 13


@pytest.mark.parametrize(
    "name", ["bom", "bom_again_after_cat", "crlf", "blank_lines_no_final_newline", "line_separators_inside_strings"]
)
def test_a04_only_lf_and_crlf_end_a_record(trials: Path, expected: dict[str, Any], tmp_path: Path, name: str) -> None:
    manifest = build(tmp_path / "index", trials / "A04" / f"{name}.jsonl", n=1)
    assert manifest["counts"]["documents"] == expected["A04"][name]
    assert sum(manifest["counts"]["unusable"].values()) == expected["A04"]["malformed_anywhere"]


def test_a04_text_with_a_document_a_line(trials: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    path = trials / "A04" / "one_doc_per_line.txt"
    manifest = build(tmp_path / "lines", path, n=1, text_lines=True, words="whitespace")
    assert manifest["counts"]["documents"] == expected["A04"]["one_doc_per_line.txt"]
    index = Index.open(tmp_path / "lines")
    (table,) = index.overlap_files(path, read=ReadOptions(text_lines=True))
    assert table.words.tolist() == [5, 5, 1]  # U+2028 and the form feed separate words, not documents
    assert build(tmp_path / "whole", path, n=1)["counts"]["documents"] == 1


def test_a05_records_without_text_are_counted_by_reason(
    cli: Cli, trials: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    path = trials / "A05" / "fields.jsonl"
    refused(cli("build-index", path, "--out", "index"), f"{path}:3", "missing_text", "--max-bad-records")
    refused(cli("build-index", path, "--out", "index", "--max-bad-records", 4), path, "--max-bad-records 4")
    manifest = build(tmp_path / "index", path, n=2, **lenient(5))  # a null text is no error
    counts = manifest["counts"]
    assert counts["records"] == expected["A05"]["lines"]
    assert counts["documents"] == A05_DOCUMENTS
    assert counts["unusable"] == A05_UNUSABLE


def test_a05_ids_come_out_as_they_were_and_rows_stay_apart(
    cli: Cli, trials: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    path = trials / "A05" / "fields.jsonl"
    build(tmp_path / "index", path, n=2, **lenient())
    done = cli("overlap", path, "--index", "index", "--max-bad-records", 10)
    errors = finished(done, 3)
    rows = read_jsonl(done.stdout)
    assert [row["position"] for row in rows] == list(range(expected["A05"]["lines"]))
    read = [row for row in rows if row["null_reason"] in (None, "fewer_than_n_words")]
    assert len(read) == A05_DOCUMENTS
    lines = done.stdout.decode().splitlines()
    assert '"id": 12345678901234567890123,' in lines[8]  # digit for digit
    assert '"id": 1.0,' in lines[9]
    found = [str(row["id"]) for row in read]
    for wanted in map(str, expected["A05"]["must_be_read"]):
        assert wanted in found
    assert found.count("dup") == 2
    reasons = {rows[line]["id"]: rows[line]["null_reason"] for line in range(5)}
    assert reasons == {
        "ok-1": None, "null": "null_text", "missing": "missing_text", "number": "text_not_a_string", "list": "text_not_a_string"
    }  # fmt: skip
    assert [rows[line]["null_reason"] for line in (16, 17)] == ["not_an_object"] * 2
    for reason, count in A05_UNUSABLE.items():
        assert (
            f"{count} records without usable text ({reason})" in errors
            or f"{count} record without usable text ({reason})" in errors
        )


def test_a05_the_rules_for_duplicate_keys_and_python_style_numbers(trials: Path, tmp_path: Path) -> None:
    path = trials / "A05" / "fields.jsonl"
    build(tmp_path / "index", path, n=2, **lenient())
    table = Index.open(tmp_path / "index").overlap(
        ["second value", "first value", "python style NaN in another field", "number out of double range"]
    )
    assert table.overlap.tolist() == [1.0, 0.0, 1.0, 1.0]  # the last of two equal keys wins
    manual = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8").lower()
    for rule in ("equal keys in an object", "nan"):
        assert rule in manual


def test_a05_a_wrong_text_key_is_an_error_with_the_keys_seen(cli: Cli, trials: Path, tmp_path: Path) -> None:
    path = trials / "A05" / "other_key.jsonl"
    for bad in (0, 5):
        refused(cli("build-index", path, "--out", "index", "--max-bad-records", bad), path, '"text"', "id, content")
    assert build(tmp_path / "index", path, text_key="content", n=2)["counts"]["documents"] == 1


def test_a06_a_bad_line_is_named_by_its_number(cli: Cli, trials: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    path = trials / "A06" / "bad_third_line.jsonl"
    right = expected["A06"]["bad_third_line"]
    refused(cli("build-index", path, "--out", "index"), f"{path}:{right['bad_line_number']}", "invalid_json")
    done = cli("build-index", path, "--out", "index", "--max-bad-records", 1)
    assert f"bad_third_line.jsonl, line {right['bad_line_number']}: invalid_json" in finished(done, 3)
    manifest = build(tmp_path / "api", path, **lenient(1))
    assert manifest["counts"]["documents"] == right["good"]
    assert manifest["counts"]["unusable"] == {"invalid_json": right["bad"]}


def test_a06_bytes_that_are_not_utf8(
    cli: Cli, trials: Path, expected: dict[str, Any], tmp_path: Path, small_index: Path
) -> None:
    path = trials / "A06" / "bad_utf8.jsonl"
    right = expected["A06"]["bad_utf8"]
    refused(cli("build-index", path, "--out", "index"), f"{path}:{right['bad_lines'][0]}", "UTF-8")
    refused(cli("build-index", path, "--out", "index", "--max-bad-records", 1), path, "--max-bad-records 1")
    assert build(tmp_path / "api", path, n=1, **lenient(2))["counts"]["unusable"] == {"invalid_utf8": 2}
    done = cli("overlap", path, "--index", "api", "--max-bad-records", 2)
    finished(done, 3)
    rows = read_jsonl(done.stdout.decode("utf-8"))
    assert [row["position"] + 1 for row in rows if row["null_reason"] is None] == right["good_lines"]
    assert [row["position"] + 1 for row in rows if row["null_reason"] == "invalid_utf8"] == right["bad_lines"]


@pytest.mark.parametrize(
    ("name", "hints"), [("utf16.jsonl", ["UTF-16LE", "iconv"]), ("pretty_printed.json", ["JSON array", "JSON Lines"])]
)
def test_a06_other_kinds_of_file_are_recognised(cli: Cli, trials: Path, tmp_path: Path, name: str, hints: list[str]) -> None:
    path = trials / "A06" / name
    refused(cli("build-index", path, "--out", "index"), path, *hints)
    assert name in refuses(tmp_path / "index", path, **lenient())


def test_a06_left_out_files_are_listed_and_the_rest_is_used(cli: Cli, trials: Path, tmp_path: Path) -> None:
    done = cli("build-index", trials / "A06", "--out", "index", "--max-bad-records", 3, "--max-bad-files", 2)
    errors = finished(done, 3)
    for name in ("utf16.jsonl", "pretty_printed.json"):
        assert f"{name}: incomplete" in errors
    inspected = cli("inspect", "index", "--json").stdout.decode()
    assert "utf16.jsonl" in inspected
    assert "pretty_printed.json" in inspected
