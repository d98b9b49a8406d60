"""JSON of the input, as it is handed on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ngramscope.errors import InputError
from ngramscope.json_texts import parse, without_nan


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('[NaN, -Infinity, 1e999, 1e2, "NaN"]', [None, None, None, 100.0, "NaN"]),
        (r'{"k\ud83d": ["\udc00", "\ud83d\ude00", "\\ud83d"]}', {"k\ufffd": ["\ufffd", "\U0001f600", r"\ud83d"]}),
        ("1" * 4000, int("1" * 4000)),
        (f"[NaN, -{'1' * 5000}]", [None, "-" + "1" * 5000]),
    ],
)
def test_values_can_be_written_again(text: str, value: Any) -> None:
    assert parse(text) == value
    json.dumps(parse(text), ensure_ascii=False, allow_nan=False).encode()


def test_what_python_cannot_follow_is_no_traceback() -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        parse("[" * 100_000 + "]" * 100_000)


def test_nan_becomes_null_and_all_else_stays_as_it_stands() -> None:
    text = rf'{{"NaN": [NaN,1.50E+2, -Infinity], "say \"NaN\" \ud83d": {"1" * 5000}}}'
    assert without_nan(text) == text.replace("[NaN", "[null").replace("-Infinity", "null")
