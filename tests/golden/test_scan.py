"""A scan of real documents equals counting strings by brute force, leave-one-out included, without any cap."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ngramscope import Index, QueryOptions, ReadOptions, Scan, ScanOptions
from tests import reference
from tests.conftest import read_jsonl, write_jsonl
from tests.golden.corpora import cut, records

N = 7
SHARE = 0.9
MAX_WORDS = 200

pytestmark = pytest.mark.slow


@dataclass
class Truth:
    """What the corpus has of the candidates' n-grams."""

    occurrences: Counter[reference.Gram] = field(default_factory=Counter)
    documents: dict[reference.Gram, set[int]] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def files(shared: Path) -> list[Path]:
    return sorted((shared / "data" / "dated-specs").glob("*.jsonl.zst"))


@pytest.fixture(scope="module")
def candidates(files: list[Path], shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents of the corpus, cut ones, edited ones, and some from elsewhere."""
    specs = [each["text"] for path in files for each in records(path)][::40]
    cut_ones = [reference.first_words(text, 150) for text in specs[::2]]
    edited = [
        " ".join("new" if place % 25 == 24 else word for place, word in enumerate(text.split(" "))) for text in specs[::3]
    ]
    web = next(iter(sorted((shared / "data" / "dated-web").glob("*.jsonl.zst"))))
    others = [each["text"] for each in list(records(web))[:40]]
    return write_jsonl(tmp_path_factory.mktemp("scan") / "candidates.jsonl", [*specs, *cut_ones, *edited, *others, "few words"])


@pytest.fixture(scope="module")
def scored(candidates: Path) -> list[list[reference.Gram]]:
    """The n-grams that are scored of each candidate."""
    texts = [reference.first_words(each["text"], MAX_WORDS) for each in read_jsonl(candidates)]
    return [reference.ngrams(cut(text), N) for text in texts]


@pytest.fixture(scope="module")
def truth(files: list[Path], scored: list[list[reference.Gram]]) -> Truth:
    truth = Truth()
    wanted = {gram for grams in scored for gram in grams}
    for document, record in enumerate(each for path in files for each in records(path)):
        truth.texts.append(record["text"])
        for gram in reference.ngrams(cut(record["text"]), N):
            if gram in wanted:
                truth.occurrences[gram] += 1
                truth.documents.setdefault(gram, set()).add(document)
    return truth


def own_documents(grams: list[reference.Gram], truth: Truth) -> set[int]:
    distinct = set(grams)
    shared = Counter(document for gram in distinct for document in truth.documents.get(gram, ()))
    return {document for document, count in shared.items() if count >= SHARE * len(distinct)}


@pytest.mark.parametrize("cap", [64, 1 << 30], ids=["capped", "uncapped"])
def test_a_scan_equals_counting_strings(
    files: list[Path], candidates: Path, scored: list[list[reference.Gram]], truth: Truth, cap: int
) -> None:
    scan = Scan(
        candidates,
        files,
        query=QueryOptions(n=(N,), max_words=MAX_WORDS, flags=True),
        scan=ScanOptions(own_cap=cap, counts=True),
    )
    table = scan.table()
    assert len(table) == len(scored)
    assert table.flags is not None
    assert table.occurrences is not None
    assert table.documents is not None
    assert table.own_documents is not None
    assert table.exact_duplicates is not None
    assert table.loo_hits is not None
    whole = [each["text"] for each in read_jsonl(candidates)]
    with_own = 0
    for row, grams in enumerate(scored):
        of = [truth.documents.get(gram, set()) for gram in grams]
        assert table.flags[row] == "".join("1" if each else "0" for each in of)
        assert table.occurrences[row] == [truth.occurrences[gram] for gram in grams]
        assert table.documents[row] == [len(each) for each in of]
        own = own_documents(grams, truth) if grams else set()
        assert table.own_documents[row] == len(own)
        assert table.exact_duplicates[row] == sum(truth.texts[document] == whole[row] for document in own)
        assert table.loo_hits[row] == sum(bool(each - own) for each in of)
        with_own += bool(own)
    assert with_own > 90  # the candidates from the corpus, at least, have one
    assert scan.corpus_report()["documents"] == len(truth.texts)


def test_a_scan_after_an_index_removes_its_false_hits_and_no_others(
    files: list[Path], candidates: Path, truth: Truth, scored: list[list[reference.Gram]], tmp_path: Path
) -> None:
    index = Index.build(files, out=tmp_path / "index", n=N, filter_fpr=0.2, accept_overfull=True)
    query = QueryOptions(max_words=MAX_WORDS, flags=True)
    asked = next(index.overlap_files(candidates, read=ReadOptions(), query=query))
    verified = Scan(candidates, files, query=query, index=index).table()
    assert verified.flags is not None
    right = ["".join("1" if gram in truth.documents else "0" for gram in grams) for grams in scored]
    assert verified.flags.tolist() == right
    assert asked.hits.sum() > verified.hits.sum() + 100
    plain = Scan(candidates, files, query=QueryOptions(n=(N,), max_words=MAX_WORDS)).table()
    for name in ("loo_hits", "own_documents", "exact_duplicates"):
        assert getattr(verified, name).tolist() == getattr(plain, name).tolist()
