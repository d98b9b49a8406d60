from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest

from ngramscope import progress as module
from ngramscope.progress import ProgressLine, describe


def step(**values: Any) -> Any:
    """A step with the attributes of `ngramscope.Progress`, which only the core can make."""
    defaults = {
        "phase": "insert", "pass_number": 1, "passes": 1, "documents": 1000, "bytes_done": 1 << 20, "bytes_total": 4 << 20,
        "ngrams": 50_000, "fill": 0.25, "seconds": 2.0,
    }  # fmt: skip
    return SimpleNamespace(**{**defaults, **values})


def test_a_line_says_how_far_how_fast_how_full_and_how_long() -> None:
    assert describe(step()) == (
        "indexing,  25% of 4 MiB, 1,000 documents, 50,000 n-grams, 25,000/s, fill at most 25%, 6 s left"
    )
    assert describe(step(pass_number=2, passes=3)).startswith("indexing (pass 2 of 3), ")
    assert "left" not in describe(step(bytes_total=0))


def test_what_is_not_counted_is_not_said() -> None:
    nothing = {"phase": "blind", "documents": 0, "bytes_done": 0, "bytes_total": 0, "ngrams": 0, "fill": None}
    assert describe(step(**nothing)) == "fitting blind baselines"
    assert describe(step(**nothing, pass_number=3)) == "fitting blind baselines (pass 3)"
    assert describe(step(**nothing, pass_number=3, passes=90)) == "fitting blind baselines (pass 3 of 90)"


def test_a_log_gets_plain_lines_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 11.0, 12.0, 22.0])
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))
    log = io.StringIO()
    line = ProgressLine(log)
    for _ in range(4):
        line(step())
    line.clear()
    assert log.getvalue().count("\n") == 2
    assert "\r" not in log.getvalue()
    assert "\x1b" not in log.getvalue()


def test_a_terminal_gets_one_live_line_that_can_be_cleared() -> None:
    terminal = io.StringIO()
    line = ProgressLine(terminal, live=True)
    line(step())
    line(step())  # within a tenth of a second
    assert terminal.getvalue().count("\r") == 1
    line.clear()
    line.clear()
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert "\n" not in terminal.getvalue()


def test_a_dumb_terminal_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    assert not ProgressLine(stream)._live
    monkeypatch.setenv("TERM", "xterm")
    assert ProgressLine(stream)._live
