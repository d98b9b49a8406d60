"""The report of a study in a browser: 20,000 documents, a desktop and a telephone, nothing fetched, keys and clicks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ngramscope.report.results import StudyResults
from ngramscope.report.write import write_report
from tests.browser.test_validation_page import CHROMIUM, chromium
from tests.studies import candidates, random_scores, random_set, write_set

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: Debian's chromium")

COUNT = 20_000
WIDTHS = (1200, 390)

# Frames, since a window cannot be as narrow as a telephone is.
MEASURE = """<!DOCTYPE html><title>frames</title><body>%s<pre id="found"></pre><script>
const wait = async test => { for (let n = 0; n < 400 && !test(); n++) await new Promise(next => setTimeout(next, 25)); };
const look = async frame => {
  const page = frame.contentDocument, root = page.documentElement, all = selector => [...page.querySelectorAll(selector)];
  const texts = all("figure svg text").map(each => each.getBoundingClientRect().height).filter(each => each > 0);
  const found = {
    width: frame.clientWidth, wide: root.scrollWidth, text: Math.min(...texts),
    figures: all("figure svg").map(each => each.getBoundingClientRect().width),
    before: all(".explorer tbody tr").length, contents: page.getElementById("contents").open,
  };
  page.querySelector(".explorer").scrollIntoView();
  const rows = () => all(".explorer tbody tr");
  await wait(() => rows().length);
  found.rows = rows().length;
  found.place = page.querySelector(".pager span").textContent;
  const heads = all(".explorer thead button");
  heads.find(each => each.textContent === "loss").click();
  found.first = rows()[0].textContent;
  all(".pager button")[1].click();
  found.second = page.querySelector(".pager span").textContent;
  const find = page.querySelector(".explorer input");
  find.value = "doc-19999";
  find.dispatchEvent(new Event("input"));
  found.found = rows().map(each => each.cells[0].textContent);
  rows()[0].querySelector("button").click();
  await wait(() => page.querySelector(".reader .text"));
  found.read = page.querySelector(".reader .text").textContent;
  found.marked = all(".reader mark").map(each => each.textContent);
  found.focused = page.activeElement.className;
  found.nodes = all("*").length;
  const choice = page.getElementById("highlight");
  choice.selectedIndex = 1;
  choice.dispatchEvent(new Event("change"));
  const dimmed = all("svg [data-attack]").map(each => [each.dataset.attack === choice.value, each.style.opacity]);
  found.dimmed = dimmed.every(([mine, opacity]) => mine ? opacity === "" : opacity === "0.12") && dimmed.length > 4;
  const table = page.querySelector("table[data-table=attacks]"), head = [...table.tHead.rows[0].cells].findIndex(each => each.textContent === "AUC");
  table.tHead.rows[0].cells[head].querySelector("button").click();
  found.sorted = [...table.tBodies[0].rows].map(each => Number(each.cells[head].dataset.value));
  found.sort = table.tHead.rows[0].cells[head].getAttribute("aria-sort");
  found.unnamed = all("button, select, input, a").filter(each => !(each.textContent.trim() || each.labels?.length)).length;
  found.wide2 = root.scrollWidth;
  found.fetched = frame.contentWindow.performance.getEntriesByType("resource").length;
  return found;
};
window.onload = async () => {
  const found = [];
  try { for (const frame of document.querySelectorAll("iframe")) found.push(await look(frame)); }
  catch (error) { found.push(String(error.stack)); }
  document.getElementById("found").textContent = JSON.stringify(found);
};
</script></body>"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("report")
    chosen = candidates(COUNT, words=24)
    for each in chosen:
        each.overlap, each.extra = {"7": each.overlap["7"]}, {}
    table = random_scores(chosen, ("loss", "zlib", "min-k"))
    spans = [[(0, 4)]] * COUNT
    results = random_set("large", table, candidates=write_set(place / "set.jsonl", chosen), spans=spans)
    write_report(place / "report.html", StudyResults(title="A large study", sets=(results,)), formats=())
    return place


def test_the_report_in_a_browser(folder: Path, tmp_path: Path) -> None:
    frames = "".join(f'<iframe style="border:0;width:{width}px;height:800px" src="report.html"></iframe>' for width in WIDTHS)
    (folder / "frames.html").write_text(MEASURE % frames)
    done = chromium(
        tmp_path,
        "--allow-file-access-from-files",
        "--virtual-time-budget=30000",
        "--dump-dom",
        (folder / "frames.html").as_uri(),
    )
    shown = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, flags=re.DOTALL)
    assert shown is not None, done.stderr
    found: list[dict[str, Any]] = json.loads(shown[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    chosen = candidates(COUNT, words=24)
    assert len(found) == len(WIDTHS), found
    for width, each in zip(WIDTHS, found, strict=True):
        assert each["width"] == width, each
        assert each["wide"] <= width  # wide tables scroll by themselves
        assert each["wide2"] <= width
        assert each["contents"] == (width > 900)
        assert min(each["figures"]) > 250
        assert each["text"] >= 8  # pixels: the least of all letters
        # Of 20,000 documents a page of rows is there, and nothing before the reader comes near.
        assert (each["before"], each["rows"]) == (0, 25)
        assert each["place"] == "1 to 25 of 20,000"
        assert each["second"] == "26 to 50 of 20,000"
        assert each["nodes"] < 20_000
        assert each["found"] == ["doc-19999"]
        assert each["read"] == chosen[19999].text
        assert each["marked"] == [chosen[19999].text[:4]]
        assert each["focused"] == "reader"
        assert each["dimmed"]
        assert each["sorted"] == sorted(each["sorted"], reverse=True)
        assert each["sort"] == "descending"
        assert each["unnamed"] == 0
        assert each["fetched"] == 0
    # A page that breaks its own policy, or asks for something, says so in the console.
    assert "CONSOLE" not in done.stderr, done.stderr
