"""Sets by date of real dated corpora, counted once more in plain Python."""

from __future__ import annotations

import io
import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import zstandard

from ngramscope.sets import RecordSource
from ngramscope.sets.dates import DateRule
from ngramscope.sets.series import series
from ngramscope.sets.temporal import CutoffOptions, rdd, temporal
from ngramscope.sets.versions import versions
from ngramscope.sets.wikimia import WikimiaOptions, wikimia
from tests.conftest import read_jsonl

RULE = DateRule(latest="2027-01-01")


def rows_of(*paths: Path) -> list[dict[str, Any]]:
    rows = []
    for path in paths:
        with path.open("rb") as file:
            stream = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), encoding="utf-8", newline="\n")
            rows += [json.loads(line) for line in stream]
    return rows


def test_proposals_before_and_after_a_day(shared: Path, tmp_path: Path) -> None:
    paths = sorted((shared / "data" / "dated-specs").glob("*.zst"))
    cutoff, margin = date(2018, 1, 1), 30
    rows = rows_of(*paths)
    days = [date.fromisoformat(row["date"]) for row in rows if row["date"] != "2014-19-19"]  # of a Rust RFC
    before = sum((cutoff - day).days > margin for day in days)
    after = sum((day - cutoff).days >= 0 for day in days)
    options = CutoffOptions(cutoff="2018-01-01", margin_before=f"{margin}d", dates=RULE)
    header = temporal(RecordSource(tuple(paths)), tmp_path / "set.jsonl", options)
    assert header["counts"] == {"members": before, "nonmembers": after, "unlabelled": 0}
    assert header["history"][-1]["counts"]["documents"]["left_out"] == {
        "between_sides": len(days) - before - after, "impossible_date": 1
    }  # fmt: skip
    assert len(rows) == len(days) + 1
    years = header["balance"]["covariates"]["year"]
    assert years["members"]["mean"] < 2018 <= years["nonmembers"]["quartiles"][0]


def test_posts_by_year_and_by_distance(shared: Path, tmp_path: Path) -> None:
    path = shared / "data" / "dated-web" / "rust-blog.jsonl.zst"
    days = [date.fromisoformat(row["date"]) for row in rows_of(path)]
    cutoff = date(2021, 1, 1)
    options = CutoffOptions(cutoff="2021-01-01", dates=RULE)
    header = series(RecordSource((path,)), tmp_path / "series", options, ["yearly"])
    by_year = Counter(str(day.year) for day in days if day >= cutoff)
    assert {each["name"]: each["nonmembers"] for each in header["sets"]} == by_year
    assert {each["members"] for each in header["sets"]} == {sum(day < cutoff for day in days)}

    rdd(RecordSource((path,)), tmp_path / "rdd.jsonl", options, window="180d")
    distances = [(day - cutoff).days for day in days if -180 <= (day - cutoff).days < 180]
    assert [row["distance_days"] for row in read_jsonl(tmp_path / "rdd.jsonl")] == distances


def test_files_of_two_releases(shared: Path, tmp_path: Path) -> None:
    paths = sorted((shared / "data" / "dated-code").glob("django*.zst"))
    texts: dict[str, dict[str, str]] = {}
    for row in rows_of(*paths):
        texts.setdefault(row["title"], {})["old" if row["date"] < "2023" else "new"] = " ".join(row["text"].split())
    header = versions(RecordSource(tuple(paths)), tmp_path / "set.jsonl", CutoffOptions(cutoff="2023", dates=RULE), "title")
    both = [each for each in texts.values() if len(each) == 2]
    changed = sum(each["old"] != each["new"] for each in both)
    assert header["history"][-1]["counts"]["articles"] == {
        "read": len(texts),
        "used": changed,
        "left_out": {
            "no_version_after": sum("new" not in each for each in texts.values()),
            "no_version_before": sum("old" not in each for each in texts.values()),
            "unchanged_text": len(both) - changed,
        },
    }
    rows = read_jsonl(tmp_path / "set.jsonl")
    assert Counter(Counter(row["group"] for row in rows).values()) == {2: changed}
    assert all(texts[row["group"]]["old" if row["label"] else "new"] == " ".join(row["text"].split()) for row in rows)


def test_old_and_new_posts_as_in_wikimia(shared: Path, tmp_path: Path) -> None:
    path = shared / "data" / "dated-web" / "us-gov-blogs.jsonl.zst"
    options = WikimiaOptions(members_before="2013-01-01", nonmembers_after="2018-01-01", dates=RULE)
    header = wikimia(RecordSource((path,)), tmp_path / "out", options)
    titled = [
        row for row in rows_of(path) if row["title"] and not row["title"].lower().startswith(("list of ", "timeline of "))
    ]
    old = {" ".join(row["text"].split()): row for row in titled if row["date"] < "2013"}
    new = {" ".join(row["text"].split()): row for row in titled if row["date"] >= "2018"}
    for text in old.keys() & new.keys():
        del old[text], new[text]
    for each in header["sets"]:
        length = each["length"]
        long = [[text for text in side if len(text.split()) >= length] for side in (old, new)]
        assert each["members"] == each["nonmembers"] == min(map(len, long)) > 0
        for row in read_jsonl(tmp_path / "out" / each["file"]):
            assert (len(row["text"].split()), row["label"]) == (length, 1 if row["date"] < "2013" else 0)
