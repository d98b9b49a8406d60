"""The report of a study: its numbers are those of the evaluation, and no corner of a study leaves a hole in it."""

from __future__ import annotations

import base64
import csv
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from ngramscope.attacks.base import Inputs
from ngramscope.attacks.camia.features import SIGNALS
from ngramscope.attacks.camia.learned import weights
from ngramscope.attacks.table import ScoreColumn, ScoreTable
from ngramscope.errors import UsageError
from ngramscope.evaluate.evidence import NOTHING
from ngramscope.report.explorer import merged
from ngramscope.report.looks import COLOURS, family, looks
from ngramscope.report.parts import Chart, Number, text_of
from ngramscope.report.results import SetResults, StudyResults
from ngramscope.report.sections.auc_by_overlap import auc_by_overlap
from ngramscope.report.sections.overlap import _measured
from ngramscope.report.sections.positions import by_position
from ngramscope.report.sections.references import reference_of
from ngramscope.report.sections.roc import mean_rate
from ngramscope.report.verdict import verdict_html
from ngramscope.report.view import View
from ngramscope.report.write import write_report
from ngramscope.sets.base import Candidate
from tests.studies import candidates, full_set, random_scores, random_set, write_set

HOLES = re.compile(r"\b(NaN|nan|undefined|None|null|Infinity|inf)\b")
VOID = {"meta", "input", "br", "path", "use", "rect", "circle", "line"}


class Page(HTMLParser):
    """A page taken apart: visible text, tables by name, links, data of scripts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.text, self.tables, self.links, self.scripts = "", {}, [], dict[str, str]()
        self.lookups: list[tuple[str, str]] = []
        self._open: list[str] = []
        self._table: list[list[dict[str, Any]]] | None = None
        self._script = ""
        self.feed(self.source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.lookups += [
            (name, found[name]) for name in ("src", "href", "xlink:href", "action", "data", "style") if name in found
        ]
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            self._table = self.tables.setdefault(found["data-table"], [])
        elif tag == "tr" and self._table is not None:
            self._table.append([])
        elif tag in ("td", "th") and self._table is not None:
            self._table[-1].append({"text": "", **found})
        elif tag == "a":
            self.links.append(found["href"])
        elif tag == "script":
            self._script = found.get("id", "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        if tag == "table":
            self._table = None

    def handle_data(self, data: str) -> None:
        if "script" in self._open:
            self.scripts[self._script] = self.scripts.get(self._script, "") + data
        elif "style" not in self._open and "pre" not in self._open:
            self.text += f"{data} "
            if self._table and {"td", "th"} & set(self._open):
                self._table[-1][-1]["text"] += data

    def rows(self, name: str) -> Iterator[dict[str, dict[str, Any]]]:
        """Rows of a table by the heads of its columns."""
        heads = [each["text"] for each in self.tables[name][0]]
        for row in self.tables[name][1:]:
            yield dict(zip(heads, row, strict=True))


def plain(count: int, seed: int = 0) -> list[Candidate]:
    """Candidates without overlap: a report of them is soon drawn."""
    return [replace(each, overlap={}, extra={}) for each in candidates(count, seed, domains=("wiki",))]


def drawn(folder: Path, *sets: SetResults, **more: Any) -> Page:
    options = {"formats": (), **{name: more.pop(name) for name in ("formats", "characters") if name in more}}
    write_report(folder / "report.html", StudyResults(title="A study", sets=sets, **more), **options)
    return Page(folder / "report.html")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def whole(place: Path) -> SetResults:
    return full_set(place)


@pytest.fixture(scope="module")
def page(place: Path, whole: SetResults) -> Page:
    models = [{"label": "small-1b", "parameters": 10**9}, {"label": "large-7b", "parameters": 7 * 10**9}]
    return drawn(place, whole, models=models, formats=("svg",), header={"name": "A study"})


def same(cell: Mapping[str, Any], value: float | None, low: float | None = None, high: float | None = None) -> bool:
    """Whether a cell has exactly these numbers; an empty one has none."""
    if value is None:
        return "data-value" not in cell
    return (
        float(cell["data-value"]) == value
        and [float(cell[end]) if end in cell else None for end in ("data-low", "data-high")] == [low, high]
    )  # fmt: skip


def ends(interval: Any) -> tuple[Any, Any]:
    return tuple(interval or (None, None))


def compared(each: Mapping[str, Any] | None) -> tuple[Any, ...]:
    return (None,) if each is None else (each["difference"], each["low"], each["high"])


def test_the_table_of_attacks_is_that_of_the_evaluation(whole: SetResults, page: Page) -> None:
    evaluation = whole.evaluation or {}
    shown = [row for name in ("attacks", "attacks-2", "attacks-3") if name in page.tables for row in page.rows(name)]
    assert len(shown) == len(evaluation["rows"]) > 20
    placebos = gains = 0
    order = {key: [] for key in dict.fromkeys((row["split"], tuple(row["seeds"])) for row in evaluation["rows"])}
    for row in evaluation["rows"]:
        order[row["split"], tuple(row["seeds"])].append(row)
    for row, cells in zip((row for rows in order.values() for row in rows), shown, strict=True):
        assert [cells[name]["text"] for name in ("attack", "model", "role")] == [row["attack"], row["model"], row["role"]]
        assert same(cells["members"], row["n1"])
        assert same(cells["non-members"], row["n0"])
        assert same(cells["AUC"], row["auc"], *ends(row["interval"]))
        assert same(cells["p"], row["p"])
        assert same(cells["less loss"], *compared(row["to_baseline"]))
        for tpr in row["tprs"]:
            cell = cells.get(f"TPR at {100 * tpr['target']:g} % FPR", {})
            assert same(cell, tpr["tpr"], *(ends(tpr["interval"]) if tpr["tpr"] is not None else ()))
            assert tpr["tpr"] is None or ("*" in cell["text"]) == tpr["unreliable"]
        if row["placebos"]:
            placebos += 1
            assert same(cells["placebo"], row["placebos"][0]["auc"], *ends(row["placebos"][0]["interval"]))
            assert same(cells["less placebo"], *compared(row["placebos"][0]["difference"]))
        beyond = [e for e in evaluation["blind"]["attacks"] if (e["attack"], e["model"]) == (row["attack"], row["model"])]
        if beyond:
            gains += 1
            assert same(cells["gain over text alone"], beyond[0]["gain"]["gain"])
            assert same(cells["p of the gain (Holm)"], beyond[0]["gain_p_holm"])
        if row["auc"] is not None:
            assert cells["AUC"]["text"].startswith(f"{row['auc']:.3f}")
    assert placebos > 3
    assert gains > 3


def test_other_tables_are_those_of_the_evaluation(whole: SetResults, page: Page) -> None:
    evaluation = whole.evaluation or {}
    (part,) = evaluation["overlap"]
    assert part["n"] == 7
    for row, cells in zip(part["curves"], page.rows("auc-by-overlap-7"), strict=True):
        assert cells["restricted"]["text"] == ("non-members" if row["restricted"] == "nonmembers" else "both sides")
        assert same(cells["overlap at most"], row["at_most"])
        assert same(cells["members"], row["n1"])
        assert same(cells["AUC"], row["auc"], *ends(row["interval"]))
        assert same(cells["less raw"], *compared(row["less_raw"]))
    for row, cells in zip(part["strata"], page.rows("overlap-strata-7"), strict=True):
        assert same(cells["AUC"], row["auc"], *ends(row["interval"]))
    for row, cells in zip(part["adjusted"], page.rows("adjusted-7"), strict=True):
        assert same(cells["raw AUC"], row["raw"], *ends(row["raw_interval"]))
        assert same(cells["adjusted AUC"], row["auc"], *ends(row["interval"]))
        assert same(cells["raw less adjusted"], *compared(row["raw_less_adjusted"]))
    for row, cells in zip(evaluation["pairs"], page.rows("pairs"), strict=True):
        assert [cells["first"]["text"], cells["second"]["text"]] == [row["first"], row["second"]]
        assert same(cells["AUC difference"], *compared(row["difference"]))
        assert same(cells["p (Holm)"], row["difference"]["p_holm"])
        assert same(cells["first only"], row["first_only"])
    for name in ("transfer", "modified"):
        for row, cells in zip(evaluation[name], page.rows(name), strict=True):
            assert same(cells["flagged"], row["flagged"]["value"], row["flagged"]["low"], row["flagged"]["high"])
            assert same(cells["FPR here"], row["target_fpr"])
    for row, cells in zip(evaluation["changes"], page.rows("changes"), strict=True):
        assert same(cells["change"], *compared(row["change"]))
    for row, cells in zip(evaluation["strata"], page.rows("strata-1"), strict=True):
        assert same(cells["AUC"], row["auc"], *ends(row["interval"]))
    for row, cells in zip(evaluation["stability"], page.rows("stability"), strict=True):
        assert same(cells["members"], row["members"] and row["members"]["mean"])
    blind = evaluation["blind"]
    for row, cells in zip([*blind["baselines"], blind["ceiling"]], page.rows("blind"), strict=True):
        assert same(cells["AUC"], row["auc"], *ends(row["interval"]))
        assert same(cells["p"], row["p"])
    for row, cells in zip(blind["attacks"], page.rows("beyond-text"), strict=True):
        assert same(cells["difference"], *compared(row["less_ceiling"]))
        assert same(cells["gain over text alone"], row["gain"]["gain"])
    balance = (whole.header or {})["balance"]["covariates"]
    assert [cells["covariate"]["text"] for cells in page.rows("balance")][:2] == ["words", "characters"]
    for row, cells in zip(balance.values(), page.rows("balance"), strict=True):
        assert same(cells["standardised difference"], row["smd"])


def test_verdict_and_warnings_stand_on_top(whole: SetResults, page: Page) -> None:
    evaluation = whole.evaluation or {}
    top = page.text[: page.text.index("Across models and sets", page.text.index("members / non-members"))]
    for sentence in evaluation["verdict"]["sentences"]:
        assert sentence in top
    for warning in evaluation["warnings"]:
        assert warning[1:] in top
    assert f"{evaluation['blind']['ceiling']['auc']:.3f}" in top


def test_every_section_has_something_to_show(page: Page) -> None:
    # All but what was not run: validation, whole sets.
    assert re.findall(r'class="missing">(.*?)<', page.source) == [
        "Sets of documents were not evaluated (the table [setmi] of a study, or ngramscope setmi)."
    ]
    for name in ("weights", "attack-set-share", "references", "lengths", "roc-log-1", "positions-1", "series-parameters"):
        assert f"{name}.svg" in page.source
    assert not HOLES.search(page.text)


def test_nothing_is_fetched_and_links_lead_to_files(place: Path, page: Page) -> None:
    assert all(value.startswith(("#", "report-files/", "--")) or name == "style" for name, value in page.lookups)
    assert not re.search(r"url\((?!#)|@import|https?://(?!www\.w3\.org/)", page.source)
    assert "default-src 'none'" in page.source
    files = {each for each in page.links if not each.startswith("#")}
    assert files == {
        str(each.relative_to(place)) for kind in ("figures", "tables") for each in (place / "report-files" / kind).iterdir()
    }
    assert len(files) > 60
    anchors = set(re.findall(r'id="([^"]*)"', page.source))
    assert {each[1:] for each in page.links if each.startswith("#")} <= anchors
    listed = json.loads((place / "report-files" / "files.json").read_bytes())
    assert sorted(f"report-files/{each}" for each in listed["files"]) == sorted(files)


def test_tables_as_csv_and_latex(place: Path, page: Page) -> None:
    with (place / "report-files" / "tables" / "attacks.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row, cells in zip(rows, page.rows("attacks"), strict=True):
        assert row["attack"] == cells["attack"]["text"]
        for name, end in (("AUC", "data-value"), ("AUC low", "data-low"), ("AUC high", "data-high")):
            assert row[name] == cells["AUC"].get(end, "")
    latex = (place / "report-files" / "tables" / "attacks.tex").read_text()
    body = latex.split("\\midrule\n")[1].split("\\bottomrule")[0].splitlines()
    assert len(body) == len(rows)
    assert all(line.count(" & ") == latex.split("\\toprule\n")[1].splitlines()[0].count(" & ") for line in body)
    assert "5 \\% FPR" in latex


def test_a_figure_s_file_can_be_read_on_a_dark_page(place: Path, page: Page) -> None:
    for file in (place / "report-files" / "figures").glob("*.svg"):
        assert re.search(r'<svg[^>]*>\s*<rect width="100%" height="100%" fill="#ffffff"/>', file.read_text())
    assert 'height="100%" fill="#ffffff"' not in page.source


def test_figures_are_tagged_by_attack_and_described(page: Page) -> None:
    figures = re.findall(r"<figure.*?</figure>", page.source, flags=re.DOTALL)
    assert all(re.search(r'role="img" aria-label="[^"]{20,}"', each) for each in figures)
    options = dict(re.findall(r'<option value="(\d+)">([^<]*)</option>', page.source))
    roc = next(each for each in figures if 'aria-label="ROC curves on large-7b' in each)
    shown = re.search(r'linear: ([^"]*)"', roc)
    assert shown
    tagged = {options[each] for each in re.findall(r'data-attack="(\d+)"', roc)}
    assert len(", ".join(tagged)) == len(shown[1])
    assert all(each in shown[1] for each in tagged)
    ids = re.findall(r' id="([^"]*)"', page.source)
    assert [each for each in ids if ids.count(each) > 1] == []


def test_documents_of_the_explorer(whole: SetResults, page: Page) -> None:
    assert whole.scores is not None
    assert whole.store is not None
    data = json.loads(page.scripts["documents-data"])
    chosen = candidates(120)
    assert data["ids"] == [each.id for each in chosen]
    assert data["label"] == [each.label for each in chosen]
    assert [data["domains"][each] for each in data["domain"]] == [each.domain for each in chosen]
    columns = {each["name"]: each["values"] for each in data["columns"]}
    assert columns["overlap 7"] == pytest.approx([each.overlap["7"] for each in chosen], rel=1e-3)
    loss = next(each for each in whole.scores.columns if (each.attack, each.model) == ("loss", "large-7b"))
    assert columns["loss"] == pytest.approx(loss.scores.tolist(), rel=1e-3)
    (piece,) = (value for name, value in page.scripts.items() if name == "documents-data-0")
    documents = json.loads(zlib.decompress(base64.b64decode(piece)))
    for each, document in zip(chosen, documents, strict=True):
        segments, cut = document["text"]
        assert "".join(text for _, text in segments) == each.text
        assert cut == 0
        assert [text for matched, text in segments if matched] == [each.text[:12], each.text[20:31]]
    stats = whole.store.find("plain", role="target")[0].stats
    first = slice(*stats.offsets[:2])
    worst = int(np.argmin(stats["log_prob"][first]))
    token = documents[0]["tokens"][0]
    assert token[0] == f"tok{stats['token_id'][worst]}"
    assert token[1:] == [round(-float(stats["log_prob"][worst]), 2), int(stats["rank"][worst]), worst + 1]


def test_spans_are_joined() -> None:
    assert merged([(5, 9), (0, 3), (2, 4), (9, 12), (20, 20)]) == [(0, 4), (5, 12)]


CORNERS: dict[str, dict[str, Any]] = {
    "one domain": {"domains": ("wiki",)},
    "one attack": {"attacks": ("loss",)},
    "ten documents": {"count": 10, "overlap": True},
    "two documents": {"count": 2, "overlap": True},
    "no overlap": {},
    "no leave-one-out overlap": {"overlap": True, "loo": False},
    "one side": {"side": 1, "overlap": True},
    "scores all tied": {"tied": True, "overlap": True},
    "scores missing": {"missing": True},
    "separated": {"effect": 100.0},
    "no texts": {"texts": False},
    "groups": {"groups": True},
    "odd names": {"names": True},
}


@pytest.mark.parametrize("corner", CORNERS)
def test_corners_leave_no_hole(corner: str, tmp_path: Path) -> None:
    how = CORNERS[corner]
    chosen = candidates(how.get("count", 40), domains=how.get("domains", ("wiki", "code")))
    for each in chosen:
        if "overlap" not in how:
            each.overlap = {}
        if "overlap" not in how or not how.get("loo", True):
            each.extra = {}
        if "side" in how:
            each.label = how["side"]
        if "groups" in how:
            each.group = f"group {int(str(each.id)[4:]) % 9}"
        if "names" in how:
            each.id, each.domain = f"</script><b>{each.id}", f'"<&\u2028{each.domain}'
            each.text += " </script><!-- \ud83d\ude00 "
    table = random_scores(chosen, how.get("attacks", ("loss", "zlib")), effect=how.get("effect", 0.5))
    if "tied" in how or "missing" in how:
        first, second = table.columns
        lost = np.full(len(chosen), np.nan if "missing" in how else 1.0)
        table = replace(table, columns=(first, replace(second, scores=lost, reasons=["one_token"] * len(chosen))))
    more = {"candidates": write_set(tmp_path / "set.jsonl", chosen)} if how.get("texts", True) else {}
    page = drawn(tmp_path, random_set("one", table, **more))
    assert not HOLES.search(page.text), page.text[max(0, HOLES.search(page.text).start() - 80) :][:200]  # type: ignore[union-attr]
    assert not re.search(r'data-(value|low|high)="(nan|inf|-inf|None)"', page.source)
    assert "<figure" in page.source or corner in ("one side", "two documents")
    assert not re.search(r'<div class="figures">\s*</div>', page.source)
    data = json.loads(page.scripts["documents-data"])
    assert data["ids"] == [each.id for each in chosen]
    if "texts" in how:
        assert "The texts are not part of this page." in page.text
    if "overlap" not in how:
        assert "has no overlap of its documents" in page.text
    if corner == "one attack":
        assert "only one attack" in page.text


def test_a_study_without_models(tmp_path: Path) -> None:
    page = drawn(tmp_path, SetResults(name="only a set", header={"counts": {"members": 3, "nonmembers": 4, "unlabelled": 0}}))
    assert "No attack was evaluated" in page.text
    assert "3 members, 4 non-members" in page.text
    assert "<figure" not in page.source
    assert not HOLES.search(page.text)


def test_what_is_only_known_from_the_validation_shows_both_sides() -> None:
    counts = {"candidates": [3, 1], "reference": [1, 1]}
    quantities = [
        {"n": 7, "histogram": {"edges": [0.0, 0.5, 1.0], **counts}, "candidates": {"n": 4}, "reference": {"n": 2}},
        {"n": 13, "histogram": {"edges": [0.0, 0.5, 1.0], **counts}, "candidates": {"n": 0}, "reference": {"n": 2}},
        {"n": None, "histogram": {"edges": [0.0, 9.0], "candidates": [4], "reference": [2]}},
    ]
    view = View(SetResults(name="only a set", validation={"quantities": quantities}), {})
    shown = {n: [(name, heights, total) for name, _, heights, _, total in curves] for n, curves in _measured(view).items()}
    assert shown == {7: [("non-members", [1.5, 0.5], 4), ("reference", [1.0, 1.0], 2)], 13: [("reference", [1.0, 1.0], 2)]}


def test_that_there_is_no_attack_is_said_once() -> None:
    sentence = "No attack has an AUC, so nothing is known of membership."
    verdict = {"code": NOTHING, "because": "no_attack", "sentences": [sentence]}
    said = verdict_html(View(SetResults(name="only texts", evaluation={"verdict": verdict}), {}))
    assert re.findall(r"<p>(.*?)</p>", said) == [sentence]


def test_ceiling_and_overlap_alone_look_different(whole: SetResults) -> None:
    view = View(whole, looks({row["attack"] for row in (whole.evaluation or {})["rows"]}))
    section = auc_by_overlap(view)
    assert section is not None
    seen = 0
    for part in [each for each in section.parts if isinstance(each, Chart)]:
        for axes in part.figure.axes:
            styles = {line.get_label(): (line.get_linestyle(), line.get_marker()) for line in axes.get_lines()}
            if {"ceiling", "overlap"} <= set(styles):
                assert styles["ceiling"] != styles["overlap"]
                seen += 1
    assert seen == 4  # two curves, adjusted, strata


def test_a_series_of_sets_and_steps(tmp_path: Path) -> None:
    sets = []
    for at in (1000, 4000):
        table = random_scores(plain(24), ("loss",), at, effect=at / 4000)
        later = [replace(each, model="model@step9", scores=each.scores + 0.1 * np.arange(24)) for each in table.columns]
        sets.append(random_set(f"seen at {at}", replace(table, columns=(*table.columns, *later)), at=at))
    models = [{"label": "model", "step": 1}, {"label": "model@step9", "step": 9}]
    page = drawn(tmp_path, *sets, series="training step of the members", models=models, formats=("svg",))
    figures = {each.name for each in (tmp_path / "report-files" / "figures").iterdir()}
    assert {"series-sets.svg", "seen-at-1000-series-step.svg", "seen-at-4000-series-step.svg"} <= figures
    rows = list(page.rows("series"))
    wanted = [(each.name, row) for each in sets for row in (each.evaluation or {})["rows"]]
    assert len(rows) == len(wanted) == 4
    for (name, row), cells in zip(wanted, rows, strict=True):
        assert cells["set"]["text"] == name
        assert same(cells["AUC"], row["auc"], *ends(row["interval"]))
    assert page.source.count('role="tab"') == 2
    for each in sets:
        assert f'data-set="{each.name}"' in page.source
    for each, cells in zip(sets, page.rows("verdicts"), strict=True):
        evaluation = each.evaluation or {}
        best = max(evaluation["rows"], key=lambda row: row["auc"])
        assert same(cells["highest AUC"], best["auc"], *ends(best["interval"]))
        assert all(sentence in page.text for sentence in evaluation["verdict"]["sentences"])
    ids = re.findall(r' id="([^"]*)"', page.source)
    assert [each for each in ids if ids.count(each) > 1] == []
    assert not HOLES.search(page.text)


def test_texts_are_cut_or_left_out(tmp_path: Path) -> None:
    chosen = plain(12)
    given = random_set("one", random_scores(chosen, ("loss",)), candidates=write_set(tmp_path / "set.jsonl", chosen))
    page = drawn(tmp_path, given, characters=20)
    documents = json.loads(zlib.decompress(base64.b64decode(page.scripts["documents-data-0"])))
    assert documents[3]["text"] == [[[0, chosen[3].text[:20]]], len(chosen[3].text) - 20]
    page = drawn(tmp_path, given, characters=0)
    assert json.loads(page.scripts["documents-data"])["piece"] is None
    assert not any(each.text in page.source for each in chosen)


def test_a_report_is_replaced_and_nothing_else_is(tmp_path: Path) -> None:
    given = random_set("one", random_scores(plain(12), ("loss",)))
    drawn(tmp_path, given, formats=("svg",))
    first = (tmp_path / "report.html").read_bytes()
    (tmp_path / "report-files" / "figures" / "old.svg").write_text("old")
    drawn(tmp_path, given, formats=("svg",))
    assert (tmp_path / "report.html").read_bytes() == first
    assert not (tmp_path / "report-files" / "figures" / "old.svg").exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["report-files", "report.html"]
    (tmp_path / "mine-files").mkdir()
    with pytest.raises(UsageError, match="not the folder of an earlier report"):
        write_report(tmp_path / "mine.html", StudyResults(title="A", sets=(given,)))
    with pytest.raises(UsageError, match="html"):
        write_report(tmp_path / "mine.pdf", StudyResults(title="A", sets=(given,)))
    with pytest.raises(UsageError, match="--formats"):
        write_report(tmp_path / "new.html", StudyResults(title="A", sets=(given,)), formats=("bmp",))


def test_a_section_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "mine.py").write_text(
        "from ngramscope.report.parts import Column, Section, Table\n"
        "from ngramscope.report.registry import section\n"
        "@section('mine', 'My own section', place=5)\n"
        "def mine(view):\n"
        "    return Section(['Hello.'], [Table(view.named('mine'), 'Mine.', [Column('x', 'number')], [[len(view.rows)]])])\n"
    )
    monkeypatch.setenv("NGRAMSCOPE_SECTIONS", str(tmp_path / "plugins"))
    try:
        page = drawn(tmp_path, random_set("one", random_scores(plain(12), ("loss",))))
    finally:
        from ngramscope.report import registry

        registry._registry.pop("mine", None)
    assert [float(cells["x"]["data-value"]) for cells in page.rows("mine")] == [1.0]
    assert "My own section" in page.text


def contrast(colour: str) -> float:
    """With white (WCAG 2, relative luminance)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in parts]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def test_looks() -> None:
    assert min(map(contrast, COLOURS)) >= 4.5
    names = ["loss", "zlib", "min-k", *(f"min-k(k=0.{each})" for each in range(1, 9)), "min-k++", "ref.a", "ref.b", "recall"]
    found = looks(names)
    assert len(set(found.values())) == len(names)
    assert {found[each][0] for each in names if family(each) == "min-k"} == {found["min-k"][0]}
    # The usual ones look alike in every report.
    assert looks(["loss", "zlib"]) == {each: found[each] for each in ("loss", "zlib")}
    assert len({found[each][0] for each in ("loss", "zlib", "min-k", "min-k++", "ref.a", "recall")}) == 6
    assert [family(each) for each in ("min-k++(k=0.3)", "ref(form=ratio).m-2.8b", "camia.loss-200", "camia-lr@3", "ref.m")] == [
        "min-k++", "ref", "camia", "camia-lr", "ref"
    ]  # fmt: skip


def test_cells() -> None:
    assert text_of(Number(0.71249, 0.6, 0.8), "auc") == "0.712 [0.600, 0.800]"
    assert text_of(Number(-0.00001), "difference") == "+0.000"
    assert text_of(Number(0.0123, 0.0, 0.05), "share") == "1.23 % [0.00 %, 5.00 %]"
    assert [text_of(each, "p") for each in (0.00001, 0.0312)] == ["< .0001", "0.0312"]
    assert [text_of(each, "number") for each in (2018.4, 123456.7, 0.0001234)] == ["2018", "123,457", "0.0001234"]
    assert text_of(None, "auc") == ""
    assert reference_of("ref(form=ratio).model-2.8b") == "model-2.8b"
    assert reference_of("min-k(k=0.1)") is None


def test_roc_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(1)
    members = random.random(300) < 0.4
    scores = np.round(random.normal(size=300) + members, 1)
    scores[5] = np.nan
    known = ~np.isnan(scores)
    fpr, tpr, _ = roc_curve(members[known], scores[known], drop_intermediate=False)
    grid = np.linspace(0, 1, 40)
    expected = [tpr[fpr <= each + 1e-12].max() for each in grid]
    assert mean_rate([scores], members, grid) == pytest.approx(expected)
    assert mean_rate([scores, scores], members, grid) == pytest.approx(expected)


def test_mean_loss_by_position(whole: SetResults) -> None:
    assert whole.store is not None
    stats = whole.store.find("plain", role="placebo")[0].stats
    chosen = whole.store.labels == 1
    at, mean, error = by_position(stats, chosen)
    first = [-float(each[0]) for row, each in zip(stats.rows, stats.each("log_prob"), strict=True) if chosen[row] and len(each)]
    assert at[0] == 1  # shorter than the number of ranges: each position is one
    assert mean[0] == pytest.approx(np.mean(first), rel=1e-5)
    assert error[0] == pytest.approx(np.std(first, ddof=1) / np.sqrt(len(first)), rel=1e-5)
    assert all(np.diff(at) > 0)


def test_weights_are_those_that_the_attack_learned(whole: SetResults) -> None:
    assert whole.store is not None
    inputs = Inputs(whole.store, "small-1b")
    found = weights(inputs, splits=2)
    assert found.shape == (2, len(SIGNALS))
    assert np.abs(found).max() > 0
    assert found == pytest.approx(weights(inputs, splits=2))


def test_modified_and_learned_columns_are_found(whole: SetResults) -> None:
    assert isinstance(whole.scores, ScoreTable)
    assert all(isinstance(each, ScoreColumn) for each in whole.scores.columns)
    rows = (whole.evaluation or {})["rows"]
    assert {row["split"] for row in rows} == {"all", "held-out"}
