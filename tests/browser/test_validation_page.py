"""The page of a validation in a browser: figures are drawn, nothing is fetched, a telephone shows all of it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope.report.validation import to_html
from ngramscope.sets import OverlapOptions, RecordSource
from ngramscope.sets.validate import ShiftRule, validate
from tests.conftest import write_jsonl

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: Debian's chromium")

# Frames, since a window cannot be as narrow as a telephone is.
MEASURE = """<!DOCTYPE html><title>frames</title><body>%s<pre id="found"></pre><script>
window.onload = () => {
  const found = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, root = page.documentElement;
    const boxes = [...page.querySelectorAll("figure svg")].map(each => each.getBoundingClientRect());
    const texts = [...page.querySelectorAll("figure svg text")].map(each => each.getBoundingClientRect().height);
    return {
      width: frame.clientWidth, wide: root.scrollWidth, figures: boxes.map(each => [each.width, each.height]),
      text: Math.min(...texts), fetched: frame.contentWindow.performance.getEntriesByType("resource").length,
      ink: getComputedStyle(page.querySelector("figure svg text")).fill, page: getComputedStyle(page.body).color,
    };
  });
  document.getElementById("found").textContent = JSON.stringify(found);
};
</script></body>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    chance = np.random.default_rng(5)
    sources = []
    for name, share in (("candidates", 0.3), ("reference", 0.4)):
        rows = [
            {
                "text": " ".join(chance.choice([f"word{each}" for each in range(50)], 30)),
                "hits": (chance.random(60) < chance.beta(10 * share, 10 * (1 - share))).tolist(),
                "date": f"{chance.integers(2014, 2019)}-05",
            }
            for _ in range(60)
        ]
        sources.append(RecordSource((write_jsonl(folder / f"{name}.jsonl", rows),)))
    rule = ShiftRule(permutations=199, resamples=199)
    return to_html(validate(sources[0], OverlapOptions(flags=("hits",)), sources[1], rule=rule))


def chromium(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM is not None
    return subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}", *arguments,
        ],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip


def test_the_page_in_a_browser(page: str, tmp_path: Path) -> None:
    widths = (1100, 375)
    frames = "".join(
        f'<iframe style="border:0;width:{width}px;height:700px" srcdoc="{escape(page)}"></iframe>' for width in widths
    )
    wrapper = tmp_path / "frames.html"
    wrapper.write_text(MEASURE % frames)
    done = chromium(tmp_path, "--dump-dom", wrapper.as_uri())
    shown = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    assert shown is not None, done.stderr
    found: list[dict[str, Any]] = json.loads(shown[1])
    for width, each in zip(widths, found, strict=True):
        assert each["width"] == width
        assert each["wide"] <= width  # wide tables scroll by themselves
        assert len(each["figures"]) == 4  # shifts, one n, length, date
        assert all(wide > 250 and high > 150 for wide, high in each["figures"])
        assert each["text"] >= 9  # pixels: the least of all letters
        assert each["ink"] == each["page"]  # light or dark, as the page
        assert each["fetched"] == 0
    # A page that breaks its own policy, or asks for something, says so in the console.
    assert "CONSOLE" not in done.stderr
