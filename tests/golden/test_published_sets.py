"""Overlaps of Pile test documents as MIMIR's authors published them, through the commands that make sets of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope import ReadOptions
from ngramscope.cli._run import run as run_here
from ngramscope.sets import Keys, OverlapOptions, RecordSource
from ngramscope.sets.thresholded import ThresholdRule, threshold
from tests.conftest import read_jsonl

SHARDS = ("hits_shard0", "hits_shard1")

# For each domain: documents, 7-grams, mean overlap of whole documents and of the first 200 7-grams, documents whose first 200
# have an overlap below 0.2 and below 0.8, as the data's description has them.
PUBLISHED = {
    "bookcorpus2": (25, 1705724, 0.2302, 0.4482, 6, 24),
    "dm_mathematics": (1000, 3301795, 0.7315, 0.7291, 54, 480),
    "enron_emails": (281, 141047, 0.4904, 0.4377, 80, 246),
    "europarl": (80, 886687, 0.0992, 0.2008, 46, 80),
    "github": (1000, 949156, 0.4784, 0.5401, 135, 788),
    "hackernews": (1000, 1579410, 0.1764, 0.1942, 639, 996),
    "nih_exporter": (1000, 350180, 0.2302, 0.2462, 616, 950),
    "opensubtitles": (226, 1938808, 0.6301, 0.6139, 20, 147),
    "openwebtext2": (1000, 849859, 0.2282, 0.222, 601, 980),
    "philpapers": (56, 615823, 0.1476, 0.2149, 34, 54),
    "pile_cc": (1000, 941224, 0.2322, 0.2199, 636, 981),
    "pubmed_abstracts": (1000, 251390, 0.1635, 0.1716, 686, 999),
    "stackexchange": (1000, 444607, 0.257, 0.2466, 480, 998),
    "ubuntu_irc": (11, 542008, 0.1428, 0.1418, 9, 11),
    "uspto_backgrounds": (1000, 731295, 0.2488, 0.2842, 486, 938),
    "wikipedia_(en)": (1000, 730136, 0.251, 0.254, 500, 982),
    "youtubesubtitles": (280, 980071, 0.1253, 0.1371, 237, 276),
}

# Documents whose overlap as a whole is below 0.2 and below 0.8.
WHOLE = {"wikipedia_(en)": (506, 981), "github": (140, 884), "dm_mathematics": (52, 492)}


@pytest.fixture(autouse=True)
def few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Digests instead of texts: whether their words tell anything is of no interest here, and takes time."""
    monkeypatch.setattr("ngramscope.sets.removal.MAX_TEXTS", 20)


def files(shared: Path, domains: Sequence[str]) -> tuple[Path, ...]:
    folder = shared / "data" / "mimir-ngram7"
    return tuple(folder / f"{name.replace('_(en)', '_en')}.jsonl.zst" for name in domains)


def filtered(shared: Path, out: Path, rule: ThresholdRule) -> dict[str, Any]:
    # Most domains have no text here, but each document has the digest of its text.
    source = RecordSource(files(shared, list(PUBLISHED)), read=ReadOptions(text_key="sha256"), keys=Keys(fields=("n_ngrams",)))
    return threshold(source, OverlapOptions(flags=SHARDS), out, rule=rule, permutations=0)


def test_both_published_means_come_out(shared: Path, tmp_path: Path) -> None:
    header = filtered(shared, tmp_path / "all.jsonl", ThresholdRule(max_overlap=1.0, max_inclusive=True))
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in read_jsonl(tmp_path / "all.jsonl"):
        rows.setdefault(row["domain"], []).append(row)
    found = {
        domain: (
            len(mine),
            sum(row["n_ngrams"] for row in mine),
            round(float(np.mean([row["overlap"]["7"] for row in mine])), 4),
            round(float(np.mean([row["overlap_first"]["7"] for row in mine])), 4),
        )
        for domain, mine in rows.items()
    }
    assert found == {domain: numbers[:4] for domain, numbers in PUBLISHED.items()}
    assert header["history"][-1]["counts"]["records"]["left_out"] == {}


@pytest.mark.parametrize(("limit", "column"), [(0.2, 4), (0.8, 5)])
def test_the_published_numbers_below_a_limit_come_out(shared: Path, tmp_path: Path, limit: float, column: int) -> None:
    header = filtered(shared, tmp_path / "low.jsonl", ThresholdRule(max_overlap=limit))
    assert header["balance"]["domains"]["nonmembers"] == {domain: numbers[column] for domain, numbers in PUBLISHED.items()}


@pytest.mark.parametrize(("limit", "column"), [(0.2, 0), (0.8, 1)])
def test_whole_documents_below_a_limit(
    shared: Path, tmp_path: Path, limit: float, column: int, capfd: pytest.CaptureFixture[str]
) -> None:
    flags = [each for name in SHARDS for each in ("--flags", name)]
    arguments = ["--text", "sha256", *flags, "--n", "7", "--max-overlap", str(limit), "--whole-document", "--permutations", "0"]
    paths = map(str, files(shared, list(WHOLE)))
    assert run_here(["sets", "thresholded", *paths, *arguments, "--out", str(tmp_path / "low.jsonl"), "--json"]) == 0
    summary = json.loads(capfd.readouterr().out)
    assert summary["balance"]["domains"]["nonmembers"] == {name: counts[column] for name, counts in WHOLE.items()}
    kept = sum(counts[column] for counts in WHOLE.values())
    assert summary["counts"]["nonmembers"] == {"read": 3000, "used": kept, "left_out": {"too_much_overlap": 3000 - kept}}
    assert any("more than 20%" in each for each in summary["warnings"]) == (3000 - kept > 600)
