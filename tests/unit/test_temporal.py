"""Sets by date: both sides of a cutoff, series of windows, versions of articles, distances."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from ngramscope import InputError, UsageError
from ngramscope.cli._run import run
from ngramscope.sets import RecordSource, open_header
from ngramscope.sets import series as series_module
from ngramscope.sets.dates import DateRule
from ngramscope.sets.series import given_windows, series
from ngramscope.sets.temporal import CutoffOptions, rdd, temporal
from ngramscope.sets.versions import versions
from tests.conftest import read_jsonl, write_jsonl

Rows = list[dict[str, Any]]
RULE = DateRule(latest="2030")


def documents(path: Path, dates: Iterable[Any], **more: Any) -> RecordSource:
    rows = [{"id": f"d{number}", "date": each, "text": f"text number {number}", **more} for number, each in enumerate(dates)]
    return RecordSource((write_jsonl(path, rows),))


def cutoff(at: str = "2023-03-01", **more: Any) -> CutoffOptions:
    return CutoffOptions(cutoff=at, dates=RULE, **more)


def ids(rows: Rows, label: int) -> list[str]:
    return [row["id"] for row in rows if row["label"] == label]


def counts(header: dict[str, Any], kind: str = "documents") -> dict[str, Any]:
    found: dict[str, Any] = header["history"][-1]["counts"][kind]
    assert found["read"] == found["used"] + sum(found["left_out"].values())
    return found


def test_both_sides_with_margins_and_bounds(tmp_path: Path) -> None:
    dates = ["2022-12-31", "2023-01-01", "2023-01-31", "2023-02-01", "2023-02-28", "2023-03-01", "2023-03-07"]
    dates += ["2023-03-08", "2023-05-31", "2023-06-01", "2023", "2023-03", None, "2023-01"]
    source = documents(tmp_path / "d.jsonl", dates)
    options = cutoff(margin_before="28d", margin_after="1w", members_from="2023", nonmembers_until="2023-06-01")
    header = temporal(source, tmp_path / "set.jsonl", options, left_out=tmp_path / "left.jsonl")
    rows = read_jsonl(tmp_path / "set.jsonl")
    assert ids(rows, 1) == ["d1", "d2", "d13"]
    assert ids(rows, 0) == ["d7", "d8"]
    assert [row["date_utc"] for row in rows] == [
        f"2023-{each}T00:00:00Z" for each in ("01-01", "01-31", "03-08", "05-31", "01-01")
    ]
    assert [row["date"] for row in rows] == ["2023-01-01", "2023-01-31", "2023-03-08", "2023-05-31", "2023-01"]
    wanted = {"between_sides": 4, "outside_window": 2, "straddles_cutoff": 2, "no_date": 1}
    assert counts(header) == {"read": 14, "used": 5, "left_out": wanted}
    assert header == open_header(tmp_path / "set.jsonl")
    assert header["settings"]["cutoff_utc"] == "2023-03-01T00:00:00Z"
    left = read_jsonl(tmp_path / "left.jsonl")
    assert Counter(row["reason"] for row in left) == wanted
    assert {row["id"] for row in left} | {row["id"] for row in rows} == {f"d{number}" for number in range(14)}
    assert left[-1] == {"id": "d12", "source": "d.jsonl", "position": 12, "date": None, "reason": "no_date"}
    # The header lists those whose date is of no use; others have one.
    assert set(header["history"][-1]["facts"]["left_out_samples"]) == {"straddles_cutoff", "no_date"}


def test_records_without_text_are_counted_too(tmp_path: Path) -> None:
    rows = [{"text": None, "date": "2023"}, {"text": "a", "date": "2022"}, {"text": "b", "date": "2024"}]
    header = temporal(RecordSource((write_jsonl(tmp_path / "d.jsonl", rows),)), tmp_path / "set.jsonl", cutoff())
    assert counts(header) == {"read": 3, "used": 2, "left_out": {"null_text": 1}}


def test_a_label_that_contradicts_the_date_is_not_believed(tmp_path: Path) -> None:
    rows = [
        {"id": f"{label}-{year}", "text": f"{label} {year}", "label": label, "date": year}
        for label in (0, 1, None)
        for year in ("2022", "2024")
    ]
    header = temporal(RecordSource((write_jsonl(tmp_path / "d.jsonl", rows),)), tmp_path / "set.jsonl", cutoff())
    kept = read_jsonl(tmp_path / "set.jsonl")
    assert (ids(kept, 1), ids(kept, 0)) == (["1-2022", "None-2022"], ["0-2024", "None-2024"])
    assert counts(header)["left_out"] == {"label_contradicts_date": 2}


def test_a_text_that_a_member_has_is_no_non_member(tmp_path: Path) -> None:
    rows = [
        {"id": "late", "text": "the same\n text", "date": "2024"},
        {"id": "early", "text": "the same text", "date": "2020"},
        {"id": "other", "text": "another text", "date": "2024"},
    ]
    header = temporal(RecordSource((write_jsonl(tmp_path / "d.jsonl", rows),)), tmp_path / "set.jsonl", cutoff())
    assert [row["id"] for row in read_jsonl(tmp_path / "set.jsonl")] == ["early", "other"]
    assert counts(header)["left_out"] == {"text_of_a_member": 1}


def test_members_that_are_known_otherwise(tmp_path: Path) -> None:
    source = documents(tmp_path / "d.jsonl", ["2022", "2024", "2025"])
    members = [{"id": "m1", "text": "text number 2"}, {"id": "m2", "text": "x", "date": "2024-05"}, {"id": "m3", "text": None}]
    known = RecordSource((write_jsonl(tmp_path / "m.jsonl", members),))
    header = temporal(source, tmp_path / "set.jsonl", cutoff(), members=known)
    rows = read_jsonl(tmp_path / "set.jsonl")
    assert (ids(rows, 1), ids(rows, 0)) == (["m1", "m2"], ["d1"])
    assert [row["date_utc"] for row in rows] == [None, "2024-05-01T00:00:00Z", "2024-01-01T00:00:00Z"]
    assert counts(header)["left_out"] == {"before_cutoff": 1, "text_of_a_member": 1}
    assert counts(header, "members") == {"read": 3, "used": 2, "left_out": {"null_text": 1}}
    assert [each["name"] for each in header["inputs"]] == ["m.jsonl", "d.jsonl"]


def test_a_set_goes_in_and_its_history_stays(tmp_path: Path) -> None:
    first = temporal(documents(tmp_path / "d.jsonl", ["2020", "2022", "2024", "2026"]), tmp_path / "a.jsonl", cutoff())
    second = temporal(RecordSource((tmp_path / "a.jsonl",)), tmp_path / "b.jsonl", cutoff("2021"))
    rows = read_jsonl(tmp_path / "b.jsonl")
    # d1 was a member, which its date now contradicts.
    assert [row["id"] for row in rows] == ["d0", "d2", "d3"]
    assert counts(second)["left_out"] == {"label_contradicts_date": 1}
    assert second["history"][0] == first["history"][0]
    assert (second["columns"], rows[0]["source"]) == (["date_utc"], "d.jsonl")


def test_the_order_of_files_does_not_change_what_is_in_the_set(tmp_path: Path) -> None:
    paths = [
        *documents(tmp_path / "a.jsonl", ["2022", "2024", "2023"]).paths,
        *documents(tmp_path / "b.jsonl", ["2024-02", "2021-05"], text="another text").paths,
    ]
    for name, given in (("one.jsonl", paths), ("other.jsonl", paths[::-1])):
        temporal(RecordSource(tuple(given)), tmp_path / name, cutoff())
    one, other = (sorted((tmp_path / each).read_bytes().splitlines()) for each in ("one.jsonl", "other.jsonl"))
    assert one == other


def test_a_set_needs_both_sides(tmp_path: Path) -> None:
    source = documents(tmp_path / "d.jsonl", ["2022", None, None])
    with pytest.raises(InputError, match=r"1 members and 0 non-members .*2 no_date"):
        temporal(source, tmp_path / "set.jsonl", cutoff(), left_out=tmp_path / "left.jsonl")
    assert [each.name for each in tmp_path.iterdir()] == ["d.jsonl"]


def test_inputs_that_cannot_be_read_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="standard input can be read only once"):
        temporal(RecordSource(("-",)), tmp_path / "set.jsonl", cutoff())
    source = documents(tmp_path / "d.jsonl", ["2022", "2024"])
    opened = RecordSource.open

    def changed(self: RecordSource, *arguments: Any) -> Any:
        documents(tmp_path / "d.jsonl", ["2022", f"2024-{len(list(tmp_path.iterdir())):02}"])
        (tmp_path / f"opened-{len(list(tmp_path.iterdir()))}").touch()
        return opened(self, *arguments)

    monkeypatch.setattr(RecordSource, "open", changed)
    with pytest.raises(InputError, match=r"d\.jsonl: changed while it was being read"):
        temporal(source, tmp_path / "set.jsonl", cutoff())
    assert not (tmp_path / "set.jsonl").exists()


@pytest.mark.parametrize(
    "options",
    [
        {"margin_before": "1"},
        {"members_from": "2023-03-01"},
        {"nonmembers_until": "2023-02"},
        {"cutoff": "03/01/2023"},
        {"members_from": "2023-01-31", "margin_before": "60d"},
    ],
)
def test_cutoffs_that_cannot_be(options: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"--cutoff|--margin-before"):
        CutoffOptions(**{"cutoff": "2023-03-01", **options})


def test_a_monthly_series_has_the_same_members_in_every_set(tmp_path: Path) -> None:
    days = [date(2022, 11, 15) + timedelta(days=7 * number) for number in range(40)]
    gone = [each for each in days if (each.year, each.month) != (2023, 5)]
    source = documents(tmp_path / "d.jsonl", [*map(str, gone), "2023", "2023-04", "nonsense"])
    options = cutoff("2023-02-10", margin_after="4d")
    header = series(source, tmp_path / "out", options, ["monthly"], left_out=tmp_path / "left.jsonl")
    assert json.loads((tmp_path / "out" / "series.json").read_bytes()) == header
    assert [each["name"] for each in header["sets"]] == ["2023-03", "2023-04", "2023-05", "2023-06", "2023-07", "2023-08"]
    members = [f"d{number}" for number, each in enumerate(gone) if each < date(2023, 2, 10)]
    for row in header["sets"]:
        own = [f"d{number}" for number, each in enumerate(gone) if str(each).startswith(row["name"])]
        own += [f"d{len(gone) + 1}"] if row["name"] == "2023-04" else []
        assert (row["members"], row["nonmembers"]) == (len(members), len(own))
        if not own:
            assert (row["name"], row["file"]) == ("2023-05", None)
            continue
        rows = read_jsonl(tmp_path / "out" / row["file"])
        assert (ids(rows, 1), ids(rows, 0)) == (members, own)
        set_header = open_header(tmp_path / "out" / row["file"])
        assert set_header is not None
        assert counts(set_header)["used"] == len(members) + len(own)
        assert counts(set_header)["read"] == len(gone) + 3
        assert set_header["settings"]["window"] == {key: row[key] for key in ("name", "start", "end")}
    february = sum(date(2023, 2, 14) <= each < date(2023, 3, 1) for each in gone)
    between = sum(date(2023, 2, 10) <= each < date(2023, 2, 14) for each in gone)
    assert header["counts"]["documents"]["left_out"] == {
        "outside_window": february, "straddles_cutoff": 1, "unknown_date_format": 1, **({"between_sides": between} if between else {}),
    }  # fmt: skip
    assert len(read_jsonl(tmp_path / "left.jsonl")) == sum(header["counts"]["documents"]["left_out"].values())


def test_a_long_series_is_written_in_several_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = documents(tmp_path / "d.jsonl", [str(year) for year in range(2000, 2012)])
    whole = series(source, tmp_path / "one", cutoff("2003"), ["yearly"])
    monkeypatch.setattr(series_module, "_AT_ONCE", 2)
    assert series(source, tmp_path / "several", cutoff("2003"), ["yearly"]) == whole
    assert len(whole["sets"]) == 9
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "several" / path.name).read_bytes()


def test_months_are_those_of_the_time_zone(tmp_path: Path) -> None:
    source = documents(tmp_path / "d.jsonl", ["2022", "2023-03-31T20:00:00Z", "2023-04-30T12:00:00Z"])
    options = CutoffOptions(cutoff="2023-03-01", dates=DateRule(timezone="Asia/Tokyo", latest="2030"))
    header = series(source, tmp_path / "out", options, ["monthly"])
    assert [(each["name"], each["nonmembers"]) for each in header["sets"]] == [("2023-03", 0), ("2023-04", 2)]
    assert header["sets"][1]["start"] == "2023-03-31T15:00:00Z"


def test_windows_of_ones_own(tmp_path: Path) -> None:
    source = documents(
        tmp_path / "d.jsonl", ["2022", "2023-04-01", "2023-05-31", "2023-06-15", "2023-05", "2023-09", "2023-06"]
    )
    (tmp_path / "windows.txt").write_text("2023-04-01/2023-06-01\n2023-05/2023-06-16\n", encoding="utf-8")
    header = series(source, tmp_path / "out", cutoff(), [str(tmp_path / "windows.txt")])
    found = [ids(read_jsonl(tmp_path / "out" / each["file"]), 0) for each in header["sets"]]
    assert [each["name"] for each in header["sets"]] == ["2023-04-01--2023-06-01", "2023-05--2023-06-16"]
    assert found == [["d1", "d2", "d4"], ["d2", "d3", "d4"]]
    assert header["counts"]["documents"]["left_out"] == {"outside_window": 1, "straddles_window": 1}
    set_header = open_header(tmp_path / "out" / header["sets"][0]["file"])
    assert set_header is not None
    assert counts(set_header)["left_out"] == {"in_another_window": 1, "outside_window": 1, "straddles_window": 1}


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["weekly"], "is no window"),
        (["2023-05-01/2023-04-01"], "ends before it begins"),
        (["2023-01-01/2023-04-01"], "begins before the cutoff"),
        (["2023-05/2023-06", "2023-05/2023-06"], "is given twice"),
        (["monthly", "2023-05/2023-06"], "is no window"),
        (["05/06/2023"], "is no window"),
    ],
)
def test_windows_that_cannot_be(values: list[str], why: str) -> None:
    with pytest.raises(UsageError, match="--series") as caught:
        given_windows(values, RULE, cutoff().moment)
    assert why in str(caught.value)


def test_a_series_without_sets_leaves_nothing(tmp_path: Path) -> None:
    source = documents(tmp_path / "d.jsonl", ["2022", "2023-03-05"])
    for windows in (["yearly"], ["2024/2025"]):
        with pytest.raises(
            InputError, match=r"no set of the series has members and non-members .* windows\); left out: .* of documents"
        ):
            series(source, tmp_path / "out", cutoff(), windows)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(UsageError, match=r"--out-dir: .* is not empty"):
        series(source, tmp_path / "full", cutoff(), ["monthly"])
    assert sorted(each.name for each in tmp_path.iterdir()) == ["d.jsonl", "full"]


def test_the_versions_next_to_the_cutoff(tmp_path: Path) -> None:
    rows = [
        {"article": article, "id": f"{article}-{when}", "text": text, "date": when}
        for article, when, text in [
            ("A", "2023-04-01", "A after"),
            ("A", "2021-01-01", "A old"),
            ("A", "2023-02-28T23:00:00Z", "A before"),
            ("A", "2024-01-01", "A much later"),
            ("B", "2022", "B"),
            ("B", "2024", "B  "),
            ("C", "2022", "C"),
            ("D", "2024", "D"),
            ("E", None, "E"),
            ("", "2024", "of none"),
            ("F", "2023", "F of a year that has both"),
            (7, "2022", "seven before"),
            (7, "2024", "seven after"),
        ]
    ]
    source = RecordSource((write_jsonl(tmp_path / "d.jsonl", rows),))
    header = versions(source, tmp_path / "set.jsonl", cutoff(), "article", left_out=tmp_path / "left.jsonl")
    kept = read_jsonl(tmp_path / "set.jsonl")
    assert [(row["group"], row["label"], row["text"]) for row in kept] == [
        ("A", 0, "A after"), ("A", 1, "A before"), ("7", 1, "seven before"), ("7", 0, "seven after")
    ]  # fmt: skip
    assert "article" not in kept[0]
    assert counts(header) == {
        "read": 13, "used": 4,
        "left_out": {
            "earlier_version": 1, "later_version": 1, "unchanged_text": 2, "no_version_after": 1, "no_version_before": 1,
            "no_date": 1, "no_article": 1, "straddles_cutoff": 1,
        },
    }  # fmt: skip
    wanted = {"unchanged_text": 1, "no_version_after": 1, "no_version_before": 1, "no_version_on_a_side": 2}
    assert counts(header, "articles") == {"read": 7, "used": 2, "left_out": wanted}
    assert header["balance"]["groups"] == {"members": 2, "nonmembers": 2}


def test_versions_of_one_date_are_chosen_by_what_they_say(tmp_path: Path) -> None:
    rows = [{"id": number, "title": "A", "text": f"version {number}", "date": "2022"} for number in range(6)]
    rows += [{"id": number, "title": "A", "text": f"version {number}", "date": "2024"} for number in range(6, 12)]
    chosen = set()
    for number, given in enumerate((rows, rows[::-1], rows[3:] + rows[:3])):
        source = RecordSource((write_jsonl(tmp_path / f"{number}.jsonl", given),))
        versions(source, tmp_path / f"set-{number}.jsonl", cutoff(), "title")
        chosen.add(frozenset(row["id"] for row in read_jsonl(tmp_path / f"set-{number}.jsonl")))
    assert len(chosen) == 1


def test_versions_by_the_group_of_a_set(tmp_path: Path) -> None:
    rows = [{"group": "G", "text": "a", "date": "2022"}, {"group": "G", "text": "b", "date": "2024"}]
    temporal(RecordSource((write_jsonl(tmp_path / "d.jsonl", rows),)), tmp_path / "set.jsonl", cutoff())
    header = versions(RecordSource((tmp_path / "set.jsonl",)), tmp_path / "pairs.jsonl", cutoff(), "group")
    assert counts(header, "articles")["used"] == 1


def test_distances_to_the_cutoff(tmp_path: Path) -> None:
    dates = ["2023-02-26", "2023-02-27", "2023-02-28T12:00:00Z", "2023-03-01", "2023-03-02T06:00:00Z", "2023-03-03", "2023-03"]
    source = documents(tmp_path / "d.jsonl", [*dates, "2023-03-02"])
    header = rdd(source, tmp_path / "set.jsonl", cutoff(), window="2d")
    rows = read_jsonl(tmp_path / "set.jsonl")
    assert {row["id"]: row["distance_days"] for row in rows} == {"d1": -2.0, "d2": -0.5, "d3": 0.0, "d4": 1.25, "d7": 1.0}
    assert all((row["distance_days"] < 0) == (row["label"] == 1) for row in rows)
    assert counts(header)["left_out"] == {"coarse_date": 1, "outside_window": 2}
    assert (header["rule"], header["settings"]["window"], header["settings"]["coarsest"]) == ("rdd", "2d", "day")
    rdd(source, tmp_path / "months.jsonl", cutoff(margin_after="1d"), window="5w", coarsest="month")
    months = {row["id"]: row["distance_days"] for row in read_jsonl(tmp_path / "months.jsonl")}
    assert months == {"d0": -3.0, "d1": -2.0, "d2": -0.5, "d4": 1.25, "d5": 2.0, "d7": 1.0}


def test_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    documents(tmp_path / "d.jsonl", ["2022", "2023-04-01", "03/04/2023", None], article="A")
    at = ["--cutoff", "2023-03-01"]
    assert run(["sets", "temporal", "d.jsonl", *at, "--out", "set.jsonl"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "set.jsonl: 1 member, 1 non-member" in said.err
    assert "1 ambiguous_date, as d2 ('03/04/2023'); --date-format" in said.err
    assert run(["sets", "temporal", "d.jsonl", *at, "--out", "set.jsonl", "--date-format", "%d/%m/%Y", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["counts"]["documents"] == {"read": 4, "used": 3, "left_out": {"no_date": 1}}
    assert run(["sets", "temporal", "d.jsonl", *at, "--series", "monthly", "--out-dir", "series"]) == 0
    assert "2023-04.jsonl: 1 member, 1 non-member" in capsys.readouterr().err
    assert run(["sets", "temporal", "d.jsonl", *at, "--version-of", "article", "--out", "v.jsonl", "-q"]) == 0
    assert run(["sets", "rdd", "d.jsonl", *at, "--window", "52w", "--coarsest", "year", "--out", "r.jsonl"]) == 1
    assert "0 members and 1 non-members" in capsys.readouterr().err
    for wrong, why in (
        (["temporal", "d.jsonl", *at], "--out"),
        (["temporal", "d.jsonl", *at, "--out", "a.jsonl", "--out-dir", "b", "--series", "monthly"], "--out"),
        (["temporal", "d.jsonl", *at, "--out-dir", "b"], "--out"),
        (["temporal", "d.jsonl", *at, "--out", "a.jsonl", "--version-of", "id", "--members", "d.jsonl"], "--version-of"),
        (["temporal", "d.jsonl", *at, "--out", "d.jsonl"], "is one of the inputs"),
        (["temporal", "d.jsonl", *at, "--out", "a.jsonl", "--left-out", "a.jsonl"], "--left-out"),
        (["temporal", "d.jsonl", *at, "--out", "a.jsonl", "--left-out", "d.jsonl"], "is one of the inputs"),
        (["temporal", "d.jsonl", *at, "--out", "a.jsonl", "--left-out", "left.txt"], "--left-out: left.txt: the ending"),
        (["rdd", "d.jsonl", *at, "--out", "a.jsonl", "--window", "9"], "--window"),
        (["rdd", "d.jsonl", "--cutoff", "soon", "--out", "a.jsonl", "--window", "9d"], "--cutoff"),
    ):
        assert run(["sets", *wrong]) == 2
        assert why in capsys.readouterr().err
    assert not (tmp_path / "a.jsonl").exists()
