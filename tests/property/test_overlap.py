"""Every column of the overlap table against the oracle, for random corpora, candidates and settings."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ngramscope import Index, OverlapTable, WordRule
from ngramscope._core import words as word_bounds
from tests import reference
from tests.property.strategies import hard, lengths, plain

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MODES = ("uax29", "whitespace")


def cut(text: str, mode: str) -> list[str]:
    """The words of a text; those of `whitespace` are found without the tokeniser."""
    if mode == "whitespace":
        return reference.whitespace_words(text)
    return [text[start:end] for start, end in word_bounds(text, WordRule(words=mode))]


def check_row(table: OverlapTable, row: int, right: reference.Overlap, n: int) -> None:
    assert (table.n[row], table.words[row], table.ngrams[row]) == (n, right.words, right.ngrams)
    assert (table.hits[row], table.distinct_ngrams[row], table.distinct_hits[row]) == (
        right.hits,
        right.distinct_ngrams,
        right.distinct_hits,
    )
    assert table.longest_run[row] == right.longest_run
    assert table.flags is not None
    assert table.flags[row] == right.flags
    if right.ngrams:
        assert (table.overlap[row], table.distinct_overlap[row]) == (right.overlap, right.distinct_overlap)
        assert table.null_reason[row] is None
    else:
        assert math.isnan(table.overlap[row])
        assert math.isnan(table.overlap_corrected[row])
        assert table.null_reason[row] == "fewer_than_n_words"


@pytest.mark.parametrize("texts", [plain, hard], ids=["plain", "hard"])
@pytest.mark.parametrize("mode", MODES)
def test_every_column_is_what_the_definition_says(mode: str, texts: st.SearchStrategy[str]) -> None:
    @SETTINGS
    @given(
        corpus=st.lists(texts, min_size=1, max_size=4),
        candidates=st.lists(texts, min_size=1, max_size=4),
        ns=st.sets(lengths, min_size=1, max_size=2),
        threads=st.integers(1, 3),
    )
    def check(corpus: list[str], candidates: list[str], ns: set[int], threads: int) -> None:
        candidates = [*candidates, corpus[0]]
        with tempfile.TemporaryDirectory() as folder:
            index = Index.build(texts=corpus, out=Path(folder) / "index", n=ns, words=mode, filter="exact", threads=threads)
            table = index.overlap(candidates, flags=True, spans=True, matches=3, threads=threads)
        cut_corpus = [cut(text, mode) for text in corpus]
        assert len(table) == len(candidates) * len(ns)
        row = 0
        for position, text in enumerate(candidates):
            words = cut(text, mode)
            bounds = word_bounds(text, WordRule(words=mode))
            assert [text[start:end] for start, end in bounds] == words
            for n in sorted(ns):
                right = reference.overlap(words, reference.known_ngrams(cut_corpus, n), n)
                check_row(table, row, right, n)
                assert table.position[row] == position
                spans = reference.spans(bounds, right.flags, n)
                assert table.spans is not None
                assert table.spans_total is not None
                assert table.matches is not None
                assert [tuple(each) for each in table.spans[row]] == spans
                assert table.spans_total[row] == len(spans)
                assert [tuple(cut(each, mode)) for each in table.matches[row]] == right.matches[:3]
                row += 1
        # A text that is in the corpus is found whole.
        own = table.position == len(candidates) - 1
        assert np.array_equal(table.hits[own], table.ngrams[own])

    check()


@SETTINGS
@given(
    text=hard, corpus=hard, n=lengths, max_words=st.integers(1, 40), max_ngrams=st.integers(1, 40), mode=st.sampled_from(MODES)
)
def test_prefixes_are_those_of_the_definition(
    text: str, corpus: str, n: int, max_words: int, max_ngrams: int, mode: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index = Index.build(texts=[corpus], out=Path(folder) / "index", n=n, words=mode, filter="exact", threads=1)
        known = reference.known_ngrams([cut(corpus, mode)], n)
        whole = cut(text, mode)
        check_row(
            index.overlap([text], max_ngrams=max_ngrams, flags=True), 0, reference.overlap(whole, known, n, max_ngrams), n
        )
        head = reference.first_words(text, max_words)
        cut_head = reference.overlap(cut(head, mode), known, n, max_ngrams)
        check_row(index.overlap([text], max_words=max_words, max_ngrams=max_ngrams, flags=True), 0, cut_head, n)
        if mode == "whitespace":
            assert cut_head.words == min(max_words, len(whole))


@SETTINGS
@given(
    corpora=st.lists(st.lists(plain, min_size=1, max_size=3), min_size=1, max_size=3),
    candidates=st.lists(plain, min_size=1, max_size=4),
    n=lengths,
    rate=st.sampled_from([0.3, 0.01, 1e-6]),
)
def test_several_indexes_are_asked_together(corpora: list[list[str]], candidates: list[str], n: int, rate: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}" for number in range(len(corpora))]
        for path, corpus in zip(paths, corpora, strict=True):
            Index.build(texts=corpus, out=path, n=n, filter="blocked", filter_fpr=rate, accept_overfull=True, threads=1)
        together = Index.open(paths)
        table = together.overlap(candidates, flags=True)
        singly = [Index.open(path).overlap(candidates, flags=True) for path in paths]
        # The same index twice finds nothing more: its rate counts once.
        different = {index.manifests[0]["content_id"]: index.filter_fpr[n] for index in map(Index.open, paths)}
        rates = list(different.values())
    known = set().union(*(reference.known_ngrams([cut(text, "uax29") for text in corpus], n) for corpus in corpora))
    assert together.filter_fpr[n] == pytest.approx(1 - math.prod(1 - each for each in rates), rel=1e-9, abs=1e-15)
    assert table.flags is not None
    for row, text in enumerate(candidates):
        each_says = [each.flags[row] for each in singly if each.flags is not None]
        assert table.flags[row] == "".join(max(column) for column in zip(*each_says, strict=True))
        right = reference.overlap(cut(text, "uax29"), known, n)
        assert all(ours >= theirs for ours, theirs in zip(table.flags[row], right.flags, strict=True))  # none is lost
        assert table.hits[row] == table.flags[row].count("1")
        assert table.longest_run[row] == max(map(len, table.flags[row].split("0")))
        if right.ngrams:
            assert table.overlap_corrected[row] == pytest.approx(reference.corrected(table.overlap[row], rates), abs=1e-12)


@SETTINGS
@given(corpus=st.lists(hard, min_size=1, max_size=5), n=lengths, order=st.randoms(), threads=st.integers(1, 4))
def test_the_order_of_documents_and_the_threads_do_not_change_the_keys(
    corpus: list[str], n: int, order: object, threads: int
) -> None:
    shuffled = list(corpus)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as folder:
        shards = []
        for name, texts, count in (("a", corpus, 1), ("b", shuffled, threads)):
            index = Index.build(texts=texts, out=Path(folder) / name, n=n, filter="exact", threads=count)
            (path,) = (Path(folder) / name).glob("*.ngs")
            shards.append(path.read_bytes())
            assert index.manifests[0]["sets"][0]["distinct"] == len(
                reference.known_ngrams([cut(text, "uax29") for text in texts], n)
            )
    assert shards[0] == shards[1]


def test_half_a_surrogate_pair_is_the_same_in_corpus_and_candidate(tmp_path: Path) -> None:
    """Python strings and JSON escapes can hold what UTF-8 cannot; by the manual both count as U+FFFD."""
    text = "one \ud83d two \udca9 three"
    index = Index.build(texts=[text], out=tmp_path / "index", n=2, words="whitespace", filter="exact", threads=1)
    path = tmp_path / "candidates.jsonl"
    path.write_text('{"text": "one \\ud83d two \\udca9 three"}\n')
    (table,) = index.overlap_files(path)
    given_as_text = index.overlap([text, text.replace("\ud83d", "\ufffd").replace("\udca9", "\ufffd")], spans=True)
    assert table.overlap.tolist() == [1.0]
    assert given_as_text.overlap.tolist() == [1.0, 1.0]
    assert given_as_text.spans is not None
    assert [tuple(each) for each in given_as_text.spans[0]] == [(0, len(text))]
