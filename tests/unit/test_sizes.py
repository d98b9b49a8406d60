from __future__ import annotations

import pytest

from ngramscope.errors import UsageError
from ngramscope.sizes import counted, format_count, format_distinct, format_size, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        (17, 17),
        ("17", 17),
        ("17B", 17),
        ("4GiB", 4 << 30),
        ("4G", 4 << 30),
        ("4 GB", 4_000_000_000),
        ("1.5KiB", 1536),
        ("2tib", 2 << 40),
        ("0.5M", 1 << 19),
    ],
)
def test_sizes_are_read_with_binary_and_decimal_units(text: int | str, size: int) -> None:
    assert parse_size(text, option="--memory") == size


@pytest.mark.parametrize("text", ["", "GiB", "-1", "1XB", "1e9", "0", 0, -5, True, "nan", 1 << 63, "9999999P", 1.5])
def test_what_is_no_size_is_refused_by_option_name(text: object) -> None:
    with pytest.raises(UsageError, match="--memory"):
        parse_size(text, option="--memory")  # type: ignore[arg-type]


def test_sizes_and_counts_are_written_for_people() -> None:
    assert format_size(17) == "17 B"
    assert format_size(1536) == "1.5 KiB"
    assert format_size(4 << 30) == "4 GiB"
    assert format_size((1 << 30) - 1) == "1 GiB"
    assert format_count(1_234_567) == "1,234,567"
    assert format_count(12_345_678) == "12.3 M"
    assert format_count(2_001_794_995_090) == "2 T"
    assert counted(1, "document") == "1 document"
    assert counted(0, "document") == "0 documents"
    assert counted(1_234, "word") == "1,234 words"


def test_what_a_filter_estimates_is_not_written_as_if_counted() -> None:
    assert format_distinct(1_858_461, "exact") == "1,858,461"
    assert format_distinct(1_858_461, "blocked") == "about 1,860,000"
    assert format_distinct(None, "blocked") == "more than it can tell"
