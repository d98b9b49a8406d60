"""How dates are read: formats and reasons by table, zones and intervals by property."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscope.errors import UsageError
from ngramscope.sets.balance import Balance
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.dated import Sides
from ngramscope.sets.dates import DAY, LATEST, DateRule, Span, decimal_year, duration, middle, utc_text

UTC = timezone.utc
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# With a gap at midnight (Sao Paulo), a midnight read twice (Havana), half an hour of summer time (Lord Howe), a day that never
# was (Apia, 2011-12-30).
ZONES = [
    "UTC", "Asia/Tokyo", "America/Los_Angeles", "Europe/London", "America/Sao_Paulo", "America/Havana",
    "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia",
]  # fmt: skip
RULES = {zone: DateRule(timezone=zone, latest="9999") for zone in ZONES}
MOMENTS = st.datetimes(datetime(1980, 1, 1), datetime(2037, 12, 31), timezones=st.just(UTC))


def read(value: object, **options: object) -> object:
    """Its bounds as texts and its resolution, or the reason."""
    span = DateRule(latest="2030", **options).read(value)  # type: ignore[arg-type]
    return span if isinstance(span, str) else (utc_text(span.start), utc_text(span.end), span.resolution)


def micros(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("value", "start", "end", "resolution"),
    [
        ("2023", "2023-01-01T00:00:00Z", "2024-01-01T00:00:00Z", "year"),
        (2023, "2023-01-01T00:00:00Z", "2024-01-01T00:00:00Z", "year"),
        (2023.0, "2023-01-01T00:00:00Z", "2024-01-01T00:00:00Z", "year"),
        ("2023-12", "2023-12-01T00:00:00Z", "2024-01-01T00:00:00Z", "month"),
        ("March 2023", "2023-03-01T00:00:00Z", "2023-04-01T00:00:00Z", "month"),
        ("2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z", "day"),
        (" 2023/3/1 ", "2023-03-01T00:00:00Z", "2023-03-02T00:00:00Z", "day"),
        ("20230301", "2023-03-01T00:00:00Z", "2023-03-02T00:00:00Z", "day"),
        (20230301, "2023-03-01T00:00:00Z", "2023-03-02T00:00:00Z", "day"),
        ("2023-03-01+02:00", "2023-02-28T22:00:00Z", "2023-03-01T22:00:00Z", "day"),
        ("March 1st, 2023", "2023-03-01T00:00:00Z", "2023-03-02T00:00:00Z", "day"),
        ("1 Mar 2023", "2023-03-01T00:00:00Z", "2023-03-02T00:00:00Z", "day"),
        ("2023-03-01 05", "2023-03-01T05:00:00Z", "2023-03-01T06:00:00Z", "time"),
        ("2023-03-01T05:30+0530", "2023-03-01T00:00:00Z", "2023-03-01T00:01:00Z", "time"),
        ("20230301T053000Z", "2023-03-01T05:30:00Z", "2023-03-01T05:30:01Z", "time"),
        ("Wed, 01 Mar 2023 12:00:00 GMT", "2023-03-01T12:00:00Z", "2023-03-01T12:00:01Z", "time"),
        ("2023-03-01T00:00:00.1234567Z", "2023-03-01T00:00:00.123456Z", "2023-03-01T00:00:00.123457Z", "time"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z", "2017-01-01T00:00:00Z", "time"),
        (1677628800, "2023-03-01T00:00:00Z", "2023-03-01T00:00:01Z", "time"),
        ("1677628800", "2023-03-01T00:00:00Z", "2023-03-01T00:00:01Z", "time"),
        (1677628800000, "2023-03-01T00:00:00Z", "2023-03-01T00:00:00.001000Z", "time"),
        (1677628800.5, "2023-03-01T00:00:00.500000Z", "2023-03-01T00:00:00.500001Z", "time"),
        (100000000, "1973-03-03T09:46:40Z", "1973-03-03T09:46:41Z", "time"),
        (100000000000, "1973-03-03T09:46:40Z", "1973-03-03T09:46:40.001000Z", "time"),
    ],
)
def test_formats_that_leave_no_doubt(value: object, start: str, end: str, resolution: str) -> None:
    assert read(value) == (start, end, resolution)


@pytest.mark.parametrize(
    ("reason", "values"),
    [
        ("no_date", [None, "", "  "]),
        ("impossible_date", ["2023-02-30", "2023-02-29", "2023-13", "0000-00-00", 99999999]),
        ("impossible_date", ["2023-03-01T25:00", "2023-03-01T12:61", "2023-03-01T00:00+24:00"]),
        ("ambiguous_date", ["03/04/2023", "25/12/2023", "01.02.2023", "2023.03.01", "23-03-01", "1/2/3 12:00"]),
        ("ambiguous_date", [202303, -5, 1677628800000000, "2023.5", 10**25]),
        ("unknown_date_format", ["yesterday", "2023-W09-3", "2023-060", "3 Floreal 2023", True, ["2023"], {"y": 2023}, 1e300]),
        ("unknown_date_format", ["2023" + " " * 200 + "x", "9" * 5000]),
        ("placeholder_date", ["1970-01-01T00:00:00Z", "1970-01-01", 0, "0", 0.0, "0001-01-01T00:00:00Z"]),
        ("future_date", ["2031", "2999-01-01", 32503680000]),
    ],
)
def test_dates_that_say_nothing(reason: str, values: list[object]) -> None:
    assert [read(each) for each in values] == [reason] * len(values)


def test_1970_itself_is_a_year_like_others() -> None:
    assert read("1970") == ("1970-01-01T00:00:00Z", "1971-01-01T00:00:00Z", "year")
    assert read("1970-01-01T00:00:01Z") == ("1970-01-01T00:00:01Z", "1970-01-01T00:00:02Z", "time")
    assert read("1970-01-01", timezone="Asia/Tokyo") == "placeholder_date"


def test_a_date_that_begins_before_latest_ends_is_not_in_the_future() -> None:
    assert isinstance(DateRule(latest="2023-03-01").read("2023-03-01T23:59:59Z"), Span)
    assert DateRule(latest="2023-03-01").read("2023-03-02") == "future_date"
    assert isinstance(DateRule(latest="2023-03-01").read("2023"), Span)
    today = datetime.now(UTC)
    assert isinstance(DateRule().read(today.isoformat()), Span)
    assert DateRule().read((today + timedelta(days=2)).isoformat()) == "future_date"


def test_formats_that_are_asked_for_come_first() -> None:
    assert read("03/04/2023", formats=("%d/%m/%Y",)) == ("2023-04-03T00:00:00Z", "2023-04-04T00:00:00Z", "day")
    assert read("03/04/2023", formats=("%m/%d/%Y",)) == ("2023-03-04T00:00:00Z", "2023-03-05T00:00:00Z", "day")
    # What is not in the format is read as ever.
    assert read("2023-03", formats=("%m/%d/%Y",)) == ("2023-03-01T00:00:00Z", "2023-04-01T00:00:00Z", "month")
    assert read("13/13/2023", formats=("%m/%d/%Y",)) == "ambiguous_date"
    assert read("04.2023", formats=("%m.%Y",)) == ("2023-04-01T00:00:00Z", "2023-05-01T00:00:00Z", "month")
    assert read(202304, formats=("%Y%m",)) == ("2023-04-01T00:00:00Z", "2023-05-01T00:00:00Z", "month")
    assert read("04/2023 03 PM +0100", formats=("%j/%Y %I %p %z",)) == ("2023-01-04T14:00:00Z", "2023-01-04T15:00:00Z", "time")
    assert read(20230301, formats=("seconds",)) == ("1970-08-23T03:31:41Z", "1970-08-23T03:31:42Z", "time")
    assert read(5, formats=("milliseconds",)) == ("1970-01-01T00:00:00.005000Z", "1970-01-01T00:00:00.006000Z", "time")
    assert read(10**29, formats=("seconds",)) == "impossible_date"


def test_options_are_read_by_the_general_rule() -> None:
    rule = DateRule(formats=("%Y-%d-%m",))
    assert rule.moment("--cutoff", "2023-03-01") == micros(datetime(2023, 3, 1, tzinfo=UTC))
    with pytest.raises(UsageError, match=r"--cutoff: '03/04/2023' is no date \(ambiguous_date\)"):
        rule.moment("--cutoff", "03/04/2023")


@pytest.mark.parametrize(
    ("format_", "why"),
    [
        ("%m/%d", "%m says nothing without %Y"),
        ("%Y %d", "without %m"),
        ("%Y-%m-%d %M", "without %H or %I"),
        ("%Z %Y", "%Z is not"),
        ("%Y %Y", "once"),
        ("%Y%", "not possible"),
        ("", "no year"),
        ("years", "no year"),
    ],
)
def test_formats_that_cannot_be(format_: str, why: str) -> None:
    with pytest.raises(UsageError, match="--date-format") as caught:
        DateRule(formats=(format_,))
    assert why in str(caught.value)


@pytest.mark.parametrize("zone", ["Nowhere/Place", "localtime", "/etc/localtime", "../UTC", "", "+25:00", "CEST summer"])
def test_zones_that_are_not_known(zone: str) -> None:
    with pytest.raises(UsageError, match="--timezone"):
        DateRule(timezone=zone)


def test_offsets_are_zones_too() -> None:
    assert read("2023-03-01 12:00", timezone="+09:00") == ("2023-03-01T03:00:00Z", "2023-03-01T03:01:00Z", "time")


@pytest.mark.parametrize(
    ("text", "days"), [("0", 0.0), ("30d", 30.0), ("2w", 14.0), ("12h", 0.5), ("1.5d", 1.5)]
)  # fmt: skip
def test_lengths_of_time(text: str, days: float) -> None:
    assert duration("--window", text) == days * DAY


@pytest.mark.parametrize("text", ["30", "1y", "3m", "-1d", "d", "", "1e9d"])
def test_lengths_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="--window"):
        duration("--window", text)


@given(MOMENTS, st.sampled_from(ZONES), st.sampled_from(ZONES))
def test_a_time_with_an_offset_is_the_same_under_every_rule(moment: datetime, written: str, rule: str) -> None:
    text = moment.astimezone(ZoneInfo(written)).isoformat(timespec="microseconds")
    assert RULES[rule].span(text) == Span(micros(moment), micros(moment) + 1, "time")


@given(MOMENTS, st.sampled_from(ZONES), st.sampled_from(["hours", "minutes", "seconds", "microseconds"]))
def test_a_time_without_an_offset_means_every_moment_whose_clock_says_so(moment: datetime, zone: str, finest: str) -> None:
    wall = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    span = RULES[zone].span(wall.isoformat(timespec=finest))
    if isinstance(span, str):
        # The full hour was skipped, in which half an hour was not.
        assert finest == "hours"
        assert zone == "Australia/Lord_Howe"
    else:
        assert span.start <= micros(moment) < span.end


@given(MOMENTS, st.sampled_from(ZONES), st.integers(-2, 2))
def test_a_day_is_the_moments_whose_local_date_it_is(moment: datetime, zone: str, shift: int) -> None:
    local = moment.astimezone(ZoneInfo(zone)).date()
    day = local + timedelta(days=shift)
    span = RULES[zone].span(day.isoformat())
    if isinstance(span, str):
        assert (zone, day) == ("Pacific/Apia", date(2011, 12, 30))
    else:
        assert (span.start <= micros(moment) < span.end) == (shift == 0)


@given(MOMENTS, st.sampled_from(ZONES))
def test_days_make_months_and_months_make_years(moment: datetime, zone: str) -> None:
    rule, year = RULES[zone], moment.year
    spans = [rule.span(f"{year}-{month:02}") for month in range(1, 13)]
    whole = rule.span(str(year))
    assert isinstance(whole, Span)
    bounds = [each.start for each in spans if isinstance(each, Span)] + [spans[-1].end]  # type: ignore[union-attr]
    assert (bounds[0], bounds[-1]) == (whole.start, whole.end)
    assert all(each.end == after for each, after in zip(spans, bounds[1:], strict=True))  # type: ignore[union-attr]
    months = list(rule.periods("month", whole.start, whole.end))
    assert [span for _, span in months] == spans
    assert [name for name, _ in rule.periods("year", whole.start, whole.end)] == [str(year)]
    assert [name for name, _ in rule.periods("month", whole.start + 1, whole.end)] == [f"{year}-{m:02}" for m in range(2, 13)]


@given(st.lists(st.integers(0, 6), min_size=6, max_size=6))
def test_a_side_has_the_dates_that_lie_wholly_on_it(numbers: list[int]) -> None:
    first, before, after, last = sorted(numbers[:4])
    start, end = min(numbers[4:]), max(numbers[4:]) + 1
    inside = set(range(start, end))
    place = Sides((first, before), (after, last)).place(Span(start, end, "time"))
    if inside <= set(range(first, before)):
        assert place == MEMBER
    elif inside <= set(range(after, last)):
        assert place == NONMEMBER
    elif inside <= set(range(before, after)):
        assert place == "between_sides"
    elif end <= before or start >= after:
        assert place == "outside_window"
    else:
        assert place == "straddles_cutoff"


@pytest.fixture
def machine_zone() -> Iterator[None]:
    before = os.environ.get("TZ")
    yield
    if before is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("machine_zone")
def test_the_zone_of_the_machine_has_no_say() -> None:
    values = ["2023-03-01", "2023-03-01 00:30", 1677628800, "2023", "Wed, 01 Mar 2023 00:00:00"]
    read_there = []
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles"):
        os.environ["TZ"] = zone
        time.tzset()
        read_there.append([DateRule(formats=("%Y-%m-%d %H:%M",), latest="2030").read(each) for each in values])
    assert read_there[0] == read_there[1] == read_there[2]


def test_the_end_of_time() -> None:
    for zone in ("UTC", "Asia/Tokyo", "America/Los_Angeles"):
        rule = DateRule(timezone=zone, latest="2030")
        assert rule.read("9999-12-31") == rule.read("9999") == "future_date"
        span = rule.span("9999")
        assert isinstance(span, Span)
        assert utc_text(span.end).startswith("9999-12-31")
        assert span.end <= LATEST


def test_years_as_numbers() -> None:
    assert decimal_year(micros(datetime(2023, 1, 1, tzinfo=UTC))) == 2023.0
    assert decimal_year(micros(datetime(2024, 7, 2, tzinfo=UTC))) == 2024.5


def test_the_balance_of_a_set_compares_dates() -> None:
    balance = Balance()
    for label, value, extra in (
        (MEMBER, "2020", {}),
        (MEMBER, "03/04/2022", {"date_utc": "2022-01-01T00:00:00Z"}),
        (NONMEMBER, "2024", {}),
        (NONMEMBER, "03/04/2024", {}),
    ):
        balance.add(Candidate(id=None, text="a b", label=label, date=value, extra=extra))
    years = balance.to_dict()["covariates"]["year"]
    assert years["members"]["mean"] == pytest.approx(2021.25)  # the middle of 2020, and the first second of 2022
    assert (years["nonmembers"]["mean"], years["nonmembers"]["n"]) == (2024.5, 1)


def test_the_middle_of_what_a_date_means() -> None:
    assert middle("1970-01-02T12:00:00Z") // 1_000_000 == 86_400 + 43_200
    assert middle("1970-01-03") == 5 * DAY // 2
    assert middle(1971) == middle("1971") == 365 * DAY + 365 * DAY // 2
    assert middle("2999") == middle(2999)
    assert [middle(each) for each in ("1970-02-30", "soon", None, "03/04/2023")] == [
        "impossible_date", "unknown_date_format", "no_date", "ambiguous_date",
    ]  # fmt: skip
    assert decimal_year(int(middle("2018"))) == 2018.5
