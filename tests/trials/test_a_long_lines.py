"""A07: lines that do not end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trials.support import build, finished, lenient, measured, refused, refuses

GIB = 1 << 30


@pytest.mark.slow
def test_a07_a_line_of_64_mib_is_used_whole(trials: Path, expected: dict[str, Any], tmp_path: Path) -> None:
    path = trials / "A07" / "line_64MiB_words.jsonl.gz"
    run = measured(tmp_path, "build-index", path, "--out", "index", "--filter", "exact")
    finished(run.done)
    manifest = json.loads((tmp_path / "index" / "index.json").read_bytes())
    right = expected["A07"]["line_64MiB_words"]
    assert manifest["counts"]["documents"] == right["docs"]
    assert manifest["counts"]["words"] == right["words_in_long"] + 4
    assert manifest["sets"][0]["occurrences"] == right["words_in_long"] - 6
    assert manifest["sets"][0]["distinct"] == 64  # 64 words, over and over
    assert run.peak_bytes < 1 * GIB
    assert run.cpu_seconds < 30  # linear: it is 64 MiB of text


def test_a07_the_limit_is_an_option_and_never_silent(trials: Path, tmp_path: Path) -> None:
    path = trials / "A07" / "line_64MiB_words.jsonl.gz"
    message = refuses(tmp_path / "index", path, max_record_size="1MiB")
    for part in (f"{path}:2", "record_too_long", "--max-record-size"):
        assert part in message
    manifest = build(tmp_path / "index", path, max_record_size="1MiB", n=1, **lenient(1))
    assert manifest["counts"]["documents"] == 2
    assert manifest["counts"]["unusable"] == {"record_too_long": 1}
    assert manifest["reading"]["max_record_bytes"] == 1 << 20


@pytest.mark.slow
def test_a07_a_line_of_more_than_a_gigabyte_is_reported_in_bounded_memory(trials: Path, tmp_path: Path) -> None:
    path = trials / "A07" / "line_1.1GiB_one_word.jsonl.zst"
    run = measured(tmp_path, "build-index", path, "--out", "index", "--n", "1", "--max-bad-records", "1")
    assert "record_too_long" in finished(run.done, 3)
    manifest = json.loads((tmp_path / "index" / "index.json").read_bytes())
    assert (manifest["counts"]["documents"], manifest["counts"]["unusable"]) == (2, {"record_too_long": 1})
    assert run.peak_bytes < 2 * GIB
    strict = measured(tmp_path, "build-index", path, "--out", "strict", "--n", "1")
    refused(strict.done, f"{path}:2", "record_too_long")
