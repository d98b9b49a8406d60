"""Trial E02: dates before and after a cutoff, wherever the machine is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Cli, read_jsonl
from tests.trials.support import finished, refused

CUTOFF = ("--cutoff", "2023-03-01T00:00:00Z", "--latest", "2030-01-01")
ZONES = ("UTC", "Asia/Tokyo", "America/Los_Angeles")


@pytest.mark.parametrize("zone", ZONES)
def test_e02_the_machine_is_somewhere(cli: Cli, trials: Path, tmp_path: Path, zone: str) -> None:
    expected = json.loads((trials / "expected.json").read_bytes())["E02"]
    documents = trials / "E02" / "dated.jsonl"
    done = cli(
        "sets", "temporal", documents, *CUTOFF, "--out", "set.jsonl", "--left-out", "left.jsonl", "--json", env={"TZ": zone}
    )
    finished(done)
    rows = read_jsonl(tmp_path / "set.jsonl")
    after = {row["id"] for row in rows if row["label"] == 0}
    before = {row["id"] for row in rows if row["label"] == 1}
    left = {row["id"]: row["reason"] for row in read_jsonl(tmp_path / "left.jsonl")}

    # In: also the two numbers, by the stated rule of seconds and milliseconds.
    assert after == {each.split()[0] for each in expected["in"]} | {"epoch_seconds", "epoch_millis"}
    assert not after & set(expected["out"])
    # Out: before the cutoff, but for the zero of Unix time, which is no date that anybody wrote.
    assert before == set(expected["out"]) - {"unix_zero"}
    assert {name: left[name] for name in expected["suspicious_reported"]} == {
        "future": "future_date", "unix_zero": "placeholder_date"
    }  # fmt: skip
    assert {name: left[name] for name in expected["unknown_never_silently_in"]} == {
        "year_only": "straddles_cutoff", "us_style": "ambiguous_date", "bad_day": "impossible_date",
        "empty": "no_date", "null": "no_date", "no_date_key": "no_date",
    }  # fmt: skip
    everything = [row["id"] for row in read_jsonl(documents)]
    assert sorted([*before, *after, *left]) == sorted(everything)
    counts = json.loads(done.stdout)["counts"]["documents"]
    assert counts == {
        "read": len(everything), "used": len(rows),
        "left_out": {
            "ambiguous_date": 1, "future_date": 1, "impossible_date": 1, "no_date": 3, "placeholder_date": 1,
            "straddles_cutoff": 1,
        },
    }  # fmt: skip


def test_e02_the_same_bytes_in_every_zone(cli: Cli, trials: Path, tmp_path: Path) -> None:
    made = []
    for zone in ZONES:
        folder = tmp_path / zone.replace("/", "-")
        folder.mkdir()
        finished(
            cli("sets", "temporal", trials / "E02" / "dated.jsonl", *CUTOFF, "--out", folder / "set.jsonl", env={"TZ": zone})
        )
        made.append([(folder / name).read_bytes() for name in ("set.jsonl", "set.jsonl.meta.json")])
    assert made[0] == made[1] == made[2]


def test_e02_an_ambiguous_date_with_its_format_given(cli: Cli, trials: Path, tmp_path: Path) -> None:
    documents = trials / "E02" / "dated.jsonl"
    for format_, day in (("%m/%d/%Y", "2023-03-04"), ("%d/%m/%Y", "2023-04-03")):
        finished(cli("sets", "temporal", documents, *CUTOFF, "--date-format", format_, "--out", "set.jsonl"))
        rows = {row["id"]: row for row in read_jsonl(tmp_path / "set.jsonl")}
        assert (rows["us_style"]["label"], rows["us_style"]["date_utc"]) == (0, f"{day}T00:00:00Z")
        assert rows["us_style"]["date"] == "03/04/2023"
    done = cli("sets", "temporal", documents, *CUTOFF, "--date-format", "%m/%d", "--out", "other.jsonl")
    refused(done, "--date-format", "%m/%d", code=2)
    assert not (tmp_path / "other.jsonl").exists()


def test_e02_times_without_a_zone_by_the_zone_that_is_given(cli: Cli, trials: Path, tmp_path: Path) -> None:
    documents = trials / "E02" / "dated.jsonl"
    finished(cli("sets", "temporal", documents, *CUTOFF, "--timezone", "Asia/Tokyo", "--out", "set.jsonl"))
    rows = {row["id"]: row for row in read_jsonl(tmp_path / "set.jsonl")}
    # Noon in Tokyo, and a day that began at 15:00 of the day before: the cutoff is within it.
    assert rows["naive"]["date_utc"] == "2023-03-01T03:00:00Z"
    assert "date_only" not in rows
    assert rows["utc_midnight"]["date_utc"] == "2023-03-01T00:00:00Z"
