"""Real corpora: an exact set against an oracle on strings, and the rates of filters against ten million absent n-grams."""

from __future__ import annotations

import filecmp
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from ngramscope import Index, ReadOptions
from tests import reference
from tests.golden.corpora import REAL, cut, flags, records

N = 7
RATES = (0.01, 0.005, 0.001)
SHARDS = (1, 7)
ABSENT = 10_000_000
RANDOM_DOCUMENTS = 50
RANDOM_WORDS = 100_000
SEED = 20_230_301
ODD = 0x9E3779B1

pytestmark = pytest.mark.slow


@dataclass
class Corpus:
    files: list[Path]
    candidates: list[str]
    """Real texts, most of whose n-grams are not in the corpus."""

    def texts(self) -> list[str]:
        return [each["text"] for path in self.files for each in records(path)]


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Corpus:
    files = [path for folder in REAL for path in sorted((shared / "data" / folder).glob("*.jsonl.zst"))]
    pile = sorted((shared / "data" / "mimir-ngram7").glob("*.jsonl.zst"))
    return Corpus(files, [each["text"] for path in pile for each in records(path) if each.get("text")])


@pytest.fixture(scope="module")
def exact(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Index:
    return Index.build(corpus.files, out=tmp_path_factory.mktemp("exact") / "index", n=N, filter="exact", threads=2)


def random_document(number: int) -> str:
    """Seeded words of eight hexadecimal digits, no word twice in all documents: every n-gram is another one."""
    places = np.arange(number * RANDOM_WORDS, (number + 1) * RANDOM_WORDS, dtype=np.uint64)
    values = (places * np.uint64(ODD) + np.uint64(SEED)) & np.uint64(0xFFFFFFFF)  # ODD is odd: one to one
    digits = (values[:, None] >> np.arange(28, -4, -4, dtype=np.uint64)) & np.uint64(15)
    letters = np.frombuffer(b"0123456789abcdef", dtype=np.uint8)[digits]
    return np.hstack([letters, np.full((RANDOM_WORDS, 1), ord(" "), np.uint8)]).tobytes().decode("ascii")


@pytest.fixture(scope="module")
def probes(corpus: Corpus) -> list[str]:
    """One text of all candidates, whose distinct n-grams are counted together, and random ones."""
    return ["\n\n".join(corpus.candidates), *map(random_document, range(RANDOM_DOCUMENTS))]


def test_an_exact_set_is_what_the_strings_say(corpus: Corpus, exact: Index) -> None:
    texts = corpus.texts()
    numbering = reference.Numbering()
    numbers = numbering.ngrams([numbering.words(cut(text)) for text in (*texts, *corpus.candidates)], N)
    inside, outside = np.concatenate(numbers[: len(texts)]), numbers[len(texts) :]
    known = np.zeros(1 + max(int(each.max()) for each in (inside, *outside) if each.size), dtype=bool)
    known[inside] = True
    (keys,) = exact.manifests[0]["sets"]
    assert keys["occurrences"] == inside.size
    assert keys["distinct"] == int(known.sum())
    table = exact.overlap(corpus.candidates, flags=True)
    assert table.ngrams.tolist() == [each.size for each in outside]
    for document, (ours, theirs) in enumerate(zip(flags(table), outside, strict=True)):
        assert np.array_equal(ours, known[theirs]), document
    distinct = [np.unique(each) for each in outside]
    assert table.distinct_ngrams.tolist() == [each.size for each in distinct]
    assert table.distinct_hits.tolist() == [int(known[each].sum()) for each in distinct]
    assert 0 < table.hits.sum() < table.ngrams.sum()


def loses_nothing(index: Index, corpus: Corpus) -> None:
    ngrams = 0
    for table in index.overlap_files(corpus.files, read=ReadOptions()):
        assert np.array_equal(table.hits, table.ngrams)
        ngrams += int(table.ngrams.sum())
    assert ngrams == index.manifests[0]["sets"][0]["occurrences"]


def test_an_exact_set_loses_nothing(corpus: Corpus, exact: Index) -> None:
    loses_nothing(exact, corpus)


def test_an_exact_set_is_the_same_whatever_the_memory_and_threads(corpus: Corpus, exact: Index, tmp_path: Path) -> None:
    index = Index.build(corpus.files[::-1], out=tmp_path / "index", n=N, filter="exact", memory="64MiB", threads=1)
    report = index.build_report
    assert report is not None
    assert report.details["passes"] > 1
    (folder,) = exact.paths
    assert {path.name for path in folder.iterdir()} == {path.name for path in (tmp_path / "index").iterdir()}
    for path in folder.iterdir():
        assert filecmp.cmp(path, tmp_path / "index" / path.name, shallow=False)


@pytest.mark.parametrize("rate", RATES)
def test_filters_lose_nothing_and_keep_their_rate(
    corpus: Corpus, exact: Index, probes: list[str], tmp_path: Path, rate: float
) -> None:
    truth = exact.overlap(probes)
    assert truth.distinct_hits[1:].tolist() == [0] * RANDOM_DOCUMENTS
    assert truth.distinct_ngrams[1:].tolist() == [RANDOM_WORDS - N + 1] * RANDOM_DOCUMENTS
    absent = int((truth.distinct_ngrams - truth.distinct_hits).sum())
    assert absent >= ABSENT
    hits = []
    for shards in SHARDS:
        index = Index.build(corpus.files, out=tmp_path / f"{shards}", n=N, filter_fpr=rate, shards=shards, threads=2)
        (keys,) = index.manifests[0]["sets"]
        assert len(keys["shards"]) == shards
        loses_nothing(index, corpus)
        hits.append(index.overlap(probes).distinct_hits)
        false_hits = int((hits[-1] - truth.distinct_hits).sum())
        measured = false_hits / absent
        # The rate at the count that came, by the formula in the engine and by a slower one; both count keys' collisions.
        count = exact.manifests[0]["sets"][0]["distinct"]
        formula = reference.blocked_rate(count / keys["blocks"], keys["k"])
        assert keys["rate"] == pytest.approx(formula, rel=0.03)
        assert measured == pytest.approx(formula, rel=0.05)
        assert measured == pytest.approx(keys["rate"], rel=0.05)
        assert measured <= rate + 3 * math.sqrt(rate * (1 - rate) / absent)
    assert np.array_equal(hits[0], hits[1])  # shards are a way to store it
