"""A01, A02: several compressed parts in one file; cut and damaged files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ngramscope import Index
from ngramscope.index.options import QueryOptions, ReadOptions
from tests.conftest import Cli
from tests.trials.support import build, contents, finished, lenient, refused, refuses

PARTS = [
    "two_frames.jsonl.zst",
    "border_inside_line.jsonl.zst",
    "skippable_and_empty_frame.jsonl.zst",
    "two_members.jsonl.gz",
    "first_member_is_one_byte.jsonl.gz",
    "border_inside_line.jsonl.gz",
]
DAMAGED = ["cut.jsonl.gz", "cut.jsonl.zst", "trailing_garbage.jsonl.gz", "bad_crc.jsonl.gz"]


def ids(path: Path, index: Path, **read: Any) -> list[Any]:
    stream = Index.open(index).overlap_files(path, read=ReadOptions(**read), query=QueryOptions(threads=2))
    return [each for table in stream for each in table.id]


@pytest.mark.parametrize("name", PARTS)
def test_a01_every_part_is_read(trials: Path, expected: dict[str, Any], tmp_path: Path, name: str) -> None:
    right = expected["A01"]
    manifest = build(tmp_path / "index", trials / "A01" / name)
    assert manifest["counts"]["documents"] == right["docs_in_every_file"]
    assert manifest["counts"]["unusable"] == {}
    found = ids(trials / "A01" / name, tmp_path / "index")
    assert (found[0], found[-1], len(found)) == (right["first_id"], right["last_id"], right["docs_in_every_file"])


def test_a01_all_forms_of_one_corpus_hold_the_same_ngrams(trials: Path, tmp_path: Path) -> None:
    sets = []
    for number, name in enumerate(PARTS):
        build(tmp_path / f"{number}", trials / "A01" / name)
        sets.append(
            {name.split("-")[0]: data for name, data in contents(tmp_path / f"{number}").items() if name != "index.json"}
        )
    assert all(each == sets[0] for each in sets)


def test_a01_a_window_of_2_gib_is_refused_with_its_size_or_read_when_allowed(trials: Path, tmp_path: Path) -> None:
    path = trials / "A01" / "window_2GiB.jsonl.zst"
    message = refuses(tmp_path / "index", path)
    for part in (path.name, "2048 MiB", "--max-window-log 31"):
        assert part in message
    assert build(tmp_path / "index", path, max_window_log=31)["counts"]["documents"] == 6


@pytest.mark.parametrize("name", DAMAGED)
def test_a02_a_damaged_file_is_an_error_that_names_it(cli: Cli, trials: Path, tmp_path: Path, name: str) -> None:
    path = trials / "A02" / name
    refused(cli("build-index", path, "--out", "index"), path)
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("name", DAMAGED)
def test_a02_scoring_a_damaged_file_is_an_error_too(cli: Cli, trials: Path, small_index: Path, name: str) -> None:
    path = trials / "A02" / name
    refused(cli("overlap", path, "--index", small_index, "--out", "rows.jsonl"), path)


def test_a02_zero_padding_is_harmless(trials: Path, tmp_path: Path) -> None:
    manifest = build(tmp_path / "index", trials / "A02" / "zero_padded.jsonl.gz")
    assert (manifest["counts"]["documents"], manifest["partial"]) == (3, False)


def test_a02_a_plain_file_cut_inside_a_line_has_one_malformed_record(cli: Cli, trials: Path, tmp_path: Path) -> None:
    path = trials / "A02" / "cut_plain.jsonl"
    refused(cli("build-index", path, "--out", "index"), f"{path}:3")
    manifest = build(tmp_path / "index", path, **lenient(1))
    assert manifest["counts"] == {**manifest["counts"], "documents": 2, "unusable": {"invalid_json": 1}}
    assert manifest["partial"] is True


def test_a02_going_on_uses_the_sound_files_and_lists_the_bad_ones(cli: Cli, trials: Path, tmp_path: Path) -> None:
    command = ["build-index", trials / "A02", "--max-bad-records", "10", "--max-bad-files", "4", "--out"]
    summary = finished(cli(*command, "index"), 3)
    inspected = cli("inspect", "index").stdout.decode()
    manifest = build(tmp_path / "again", trials / "A02", filter="blocked", **lenient(10, 4))
    assert contents(tmp_path / "index") == contents(tmp_path / "again")  # a second lenient build gives the same index
    assert manifest["partial"] is True
    by_name = {source["name"]: source for source in manifest["sources"]}
    assert {name for name, source in by_name.items() if "incomplete" in source} == set(DAMAGED)
    assert by_name["zero_padded.jsonl.gz"]["documents"] == 3
    for name in DAMAGED:
        assert f"{name}: incomplete" in summary
        assert f"{name}:" in inspected
    assert inspected.count("INCOMPLETE") == len(DAMAGED)
    assert "INCOMPLETE" in finished(cli("overlap", trials / "D" / "corpus.jsonl", "--index", "index"))


def test_a02_more_bad_files_than_allowed_end_it(cli: Cli, trials: Path) -> None:
    refused(
        cli("build-index", trials / "A02", "--max-bad-records", "10", "--max-bad-files", "2", "--out", "index"),
        "--max-bad-files 2",
    )
