from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from ngramscope import MissingExtraError, UsageError
from ngramscope.report import figures

SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("ending", figures.FORMATS)
def test_every_format_is_drawn_whole_and_the_same_twice(tmp_path: Path, ending: str) -> None:
    series = [("a.jsonl", np.linspace(0, 1, 50)), ("b.jsonl", np.zeros(3)), ("c.jsonl", np.empty(0))]
    paths = [tmp_path / f"{number}{ending}" for number in range(2)]
    for path in paths:
        figures.overlap_histogram(path, [(7, series), (13, series)], note="index: test")
    data = paths[0].read_bytes()
    assert data.startswith(SIGNATURES[ending])
    assert data == paths[1].read_bytes()
    if ending == ".svg":
        text = data.decode()
        assert "<!-- a.jsonl (50 documents) -->" in text
        assert "<!-- index: test -->" in text
    assert len(list(tmp_path.iterdir())) == 2


def test_what_cannot_be_drawn_is_refused_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"known: \.png, \.svg, \.pdf"):
        figures.check(tmp_path / "a.jpg")
    with pytest.raises(UsageError, match="there is no folder"):
        figures.check(tmp_path / "no" / "a.png")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(figures.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ngramscope\[plot\]'"):
        figures.check(tmp_path / "a.png")
