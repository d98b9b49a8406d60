"""A collection of small files in odd forms, each with the number of documents that a good reader finds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ngramscope import Index, InputError
from tests.conftest import Cli
from tests.trials.support import adds_up, build, contents, lenient, refused, refuses

DAMAGED = ("truncated.jsonl.zst", "corrupt.jsonl.zst", "truncated.jsonl.gz", "truncated.parquet", "trailing_garbage.jsonl.zst")
BAD_RECORDS = {
    "invalid_utf8.jsonl": {"invalid_utf8": 1},
    "bad_json_line.jsonl": {"invalid_json": 1},
    "missing_text.jsonl": None,
}
REFUSED = {"array.json": "JSON array", "pretty.json": "several lines"}
LONG_WINDOW = "long_window31.jsonl.zst"


@pytest.fixture(scope="session")
def odd(shared: Path) -> Path:
    return shared / "data" / "odd-archives"


@pytest.fixture(scope="session")
def wanted(odd: Path) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((odd / "MANIFEST.json").read_text(encoding="utf-8"))
    return answers


def test_every_sound_file_has_its_documents(odd: Path, wanted: dict[str, Any], tmp_path: Path) -> None:
    special = {*DAMAGED, *BAD_RECORDS, *REFUSED, LONG_WINDOW}
    sound = {name: facts["docs"] for name, facts in wanted.items() if name not in special}
    assert len(sound) > 30
    found = {}
    for name in sound:
        manifest = build(tmp_path / name, odd / name)
        found[name] = manifest["counts"]["documents"]
        assert manifest["partial"] is False
    assert found == sound


def test_every_form_of_the_same_posts_holds_the_same_ngrams(odd: Path, tmp_path: Path) -> None:
    def keys(name: str) -> bytes:
        build(tmp_path / name, odd / name)
        (data,) = (data for file, data in contents(tmp_path / name).items() if file != "index.json")
        return data

    plain = keys("plain.jsonl")
    for name in (
        "no_final_newline.jsonl", "crlf.jsonl", "bom.jsonl", "blank_lines.jsonl", "single.jsonl.zst", "multiframe.jsonl.zst",
        "multiframe_midline.jsonl.zst", "skippable_frame.jsonl.zst", "empty_frame.jsonl.zst", "no_content_size.jsonl.zst",
        "single.jsonl.gz", "concatenated.jsonl.gz", "bgzf.jsonl.gz", "trailing_zeros.jsonl.gz", "plain_named_gz.jsonl.gz",
        "zst_named_gz.jsonl.gz", "single.jsonl.bz2", "single.jsonl.xz", "pile_style.jsonl.zst", "rowgroups.parquet",
        "table.arrow",
    ):  # fmt: skip
        assert keys(name) == plain, name


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_are_errors_and_are_listed_when_left_out(odd: Path, tmp_path: Path, name: str) -> None:
    assert str(odd / name) in refuses(tmp_path / "index", odd / name)
    manifest = build(tmp_path / "index", odd / name, odd / "plain.jsonl", **lenient(10, 1))
    assert manifest["partial"] is True
    (bad,) = (source for source in manifest["sources"] if source["name"] == name)
    assert bad["incomplete"]


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_bad_records_are_counted(odd: Path, wanted: dict[str, Any], tmp_path: Path, name: str) -> None:
    message = refuses(tmp_path / "index", odd / name)
    assert str(odd / name) in message
    if BAD_RECORDS[name] is not None:
        assert f"{name}:4" in message
    manifest = build(tmp_path / "index", odd / name, **lenient())
    assert manifest["counts"]["documents"] in (wanted[name]["docs"], wanted[name]["docs"] + (name == "missing_text.jsonl"))
    if BAD_RECORDS[name] is not None:
        assert manifest["counts"]["unusable"] == BAD_RECORDS[name]


@pytest.mark.parametrize("name", REFUSED)
def test_json_that_is_not_json_lines_is_recognised(odd: Path, tmp_path: Path, name: str) -> None:
    message = refuses(tmp_path / "index", odd / name)
    assert name in message
    assert REFUSED[name] in message


def test_a_long_window_is_refused_or_read_on_request(cli: Cli, odd: Path, tmp_path: Path) -> None:
    refused(cli("build-index", odd / LONG_WINDOW, "--out", "index"), LONG_WINDOW, "--max-window-log 31")
    assert build(tmp_path / "index", odd / LONG_WINDOW, max_window_log=31)["counts"]["documents"] == 12


def test_the_whole_folder_at_once(odd: Path, tmp_path: Path) -> None:
    """Everything that can be used is used, the rest is listed, at every thread count alike."""
    indexes = []
    for threads in (1, 4):
        index = Index.build(
            odd, out=tmp_path / f"{threads}", n=3, threads=threads, exclude=["*.md", "MANIFEST.json"], **lenient(100, 20)
        )
        adds_up(index.manifests[0])
        indexes.append(contents(tmp_path / f"{threads}"))
    assert indexes[0] == indexes[1]
    left_out = {source["name"] for source in index.manifests[0]["sources"] if "incomplete" in source}
    assert left_out == {*DAMAGED, *REFUSED, LONG_WINDOW}


@pytest.mark.parametrize(
    "make",
    [lambda folder: folder / "absent.jsonl", lambda folder: folder / "*.jsonl", lambda folder: folder],
    ids=["file", "glob", "folder"],
)
def test_nothing_to_read_is_an_error(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(InputError, match="in"):
        Index.build(make(tmp_path / "in"), out=tmp_path / "index")
    assert not (tmp_path / "index").exists()
