"""7-gram overlap of Pile test documents with the Pile's training set, as its authors published it.

The training set is not here, but what its filter said of each n-gram is. The text under each run of n-grams that it had makes
a corpus with exactly these n-grams; an index of that corpus has to say the same of every n-gram of the documents.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ngramscope import Index, WordRule
from ngramscope._core import words as word_bounds
from tests import reference
from tests.golden.corpora import bits, cut, flags, records

WITH_TEXT = {
    "dm_mathematics": 1000,
    "nih_exporter": 1000,
    "stackexchange": 1000,
    "ubuntu_irc": 11,
    "uspto_backgrounds": 1000,
    "wikimia128_nonmembers": 222,
    "wikipedia_en": 1000,
}
CASES = [(name, 7) for name in WITH_TEXT] + [("wikimia128_nonmembers", 13)]
FILTER_RATES = (0.01, 0.001)

# Mean share of the first 200 7-grams found, and documents below 0.2, as the data's description has them.
PUBLISHED = {
    "dm_mathematics": (0.7315, 0.7291, 54),
    "nih_exporter": (0.2302, 0.2462, 616),
    "stackexchange": (0.257, 0.2466, 480),
    "ubuntu_irc": (0.1428, 0.1418, 9),
    "uspto_backgrounds": (0.2488, 0.2842, 486),
    "wikipedia_en": (0.251, 0.254, 500),
}


@dataclass
class Domain:
    n: int
    texts: list[str]
    ngrams: list[int]
    published: list[NDArray[np.bool_]]
    """What the published filter says of each n-gram of each document."""

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """All n-grams, equal numbers for equal ones."""
        numbering = reference.Numbering()
        return np.concatenate(numbering.ngrams([numbering.words(cut(text)) for text in self.texts], self.n))

    def runs(self) -> list[str]:
        """The text from the first to the last word of each maximal run of n-grams that were found."""
        pieces = []
        for text, found in zip(self.texts, self.published, strict=True):
            bounds = word_bounds(text, WordRule())
            edges = np.flatnonzero(np.diff(np.concatenate([[0], found.astype(np.int8), [0]])))
            pieces.extend(
                text[bounds[start][0] : bounds[end - 1 + self.n - 1][1]] for start, end in edges.reshape(-1, 2).tolist()
            )
        return pieces


@pytest.fixture(scope="module")
def domains(shared: Path) -> dict[tuple[str, int], Domain]:
    folder = shared / "data" / "mimir-ngram7"
    found: dict[tuple[str, int], Domain] = {}
    for name, count in WITH_TEXT.items():
        rows = list(records(folder / f"{name}.jsonl.zst"))
        assert len(rows) == count
        for row in rows:
            if "sha256" in row:
                assert hashlib.sha256(row["text"].encode()).hexdigest() == row["sha256"]
            domain = found.setdefault((name, row.get("ngram", 7)), Domain(row.get("ngram", 7), [], [], []))
            domain.texts.append(row["text"])
            domain.ngrams.append(row["n_ngrams"])
            domain.published.append(bits(row["hits_shard0"]) | bits(row["hits_shard1"]))
    return found


@pytest.fixture(scope="module")
def exact(domains: dict[tuple[str, int], Domain], tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Index]:
    folder = tmp_path_factory.mktemp("exact")
    return {
        (name, n): Index.build(texts=domain.runs(), out=folder / f"{name}-{n}", n=n, filter="exact", threads=2)
        for (name, n), domain in domains.items()
    }


@pytest.mark.parametrize(("name", "n"), CASES)
def test_every_document_has_the_published_number_of_ngrams(
    domains: dict[tuple[str, int], Domain], exact: dict[tuple[str, int], Index], name: str, n: int
) -> None:
    domain = domains[name, n]
    table = exact[name, n].overlap(domain.texts)
    assert table.ngrams.tolist() == domain.ngrams
    assert domain.ngrams == [len(each) for each in domain.published]


@pytest.mark.parametrize(("name", "n"), CASES)
def test_an_exact_index_gives_the_published_flags_back(
    domains: dict[tuple[str, int], Domain], exact: dict[tuple[str, int], Index], name: str, n: int
) -> None:
    domain = domains[name, n]
    table = exact[name, n].overlap(domain.texts, flags=True)
    for document, (ours, theirs) in enumerate(zip(flags(table), domain.published, strict=True)):
        assert np.array_equal(ours, theirs), document
    assert table.hits.tolist() == [int(each.sum()) for each in domain.published]


@pytest.mark.parametrize("rate", FILTER_RATES)
@pytest.mark.parametrize(("name", "n"), CASES)
def test_a_filter_loses_none_and_adds_at_its_rate(
    domains: dict[tuple[str, int], Domain], tmp_path: Path, name: str, n: int, rate: float
) -> None:
    domain = domains[name, n]
    index = Index.build(texts=domain.runs(), out=tmp_path / "index", n=n, filter_fpr=rate, threads=2)
    ours = np.concatenate(flags(index.overlap(domain.texts, flags=True)))
    theirs = np.concatenate(domain.published)
    assert not np.any(theirs & ~ours)
    misses = np.unique(domain.numbers[~theirs]).size
    surplus = np.unique(domain.numbers[~theirs & ours]).size
    formula = index.filter_fpr[n]
    assert formula <= rate * 1.05
    assert abs(surplus - formula * misses) <= 3 * math.sqrt(misses * formula * (1 - formula))


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_means_come_out(
    domains: dict[tuple[str, int], Domain], exact: dict[tuple[str, int], Index], name: str
) -> None:
    whole, first_200, below = PUBLISHED[name]
    texts = domains[name, 7].texts
    assert round(float(np.nanmean(exact[name, 7].overlap(texts).overlap)), 4) == pytest.approx(whole, abs=1.01e-4)
    first = exact[name, 7].overlap(texts, max_ngrams=200).overlap
    assert round(float(np.nanmean(first)), 4) == pytest.approx(first_200, abs=1.01e-4)
    assert int(np.sum(first < 0.2)) == below
