"""The Python face of an index: building from anything, asking, and surviving threads, forks and pickles."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import ngramscope
from ngramscope import Index, IndexFormatError, InputError, MismatchError, Progress, UsageError
from tests.conftest import WORDS, write_jsonl

TEXT = " ".join(WORDS)


def test_texts_in_memory_need_no_options(tmp_path: Path) -> None:
    index = Index.build(texts=[TEXT, "one two three"], out=tmp_path / "i", n=3, filter="exact")
    assert index.n == (3,)
    assert index.build_report is not None
    assert index.build_report.manifest["counts"]["documents"] == 2
    assert not index.is_demo
    assert index.warnings == []
    table = index.overlap(["alpha beta gamma", "one two four", "two three one"])
    assert table.hits.tolist() == [1, 0, 0]


def test_an_iterator_needs_a_count_or_a_spool(tmp_path: Path) -> None:
    def texts() -> Iterator[str]:
        yield from (TEXT, "one two three")

    with pytest.raises(UsageError, match="--expected-ngrams"):
        Index.build(texts=texts(), out=tmp_path / "a", n=3)
    assert not (tmp_path / "a" / "index.json").exists()
    counted = Index.build(texts=texts(), out=tmp_path / "a", n=3, expected_ngrams=1000)
    spooled = Index.build(texts=texts(), out=tmp_path / "b", n=3, spool=True)
    for index in (counted, spooled):
        assert index.overlap([TEXT]).hits.tolist() == [len(WORDS) - 2]


def test_an_iterator_that_raises_leaves_nothing(tmp_path: Path) -> None:
    def texts() -> Iterator[str]:
        yield TEXT
        raise ZeroDivisionError("from the iterator")

    with pytest.raises(ZeroDivisionError, match="from the iterator"):
        Index.build(texts=texts(), out=tmp_path / "i", n=3, expected_ngrams=1000)
    assert not (tmp_path / "i" / "index.json").exists()


def test_one_string_is_not_a_list_of_texts(tmp_path: Path, small_index: Path) -> None:
    with pytest.raises(UsageError, match="one string"):
        Index.build(texts="text", out=tmp_path / "i")
    with pytest.raises(UsageError, match="one string"):
        Index.open(small_index).overlap("text")


def test_token_ids_as_lists_and_as_decimals(tmp_path: Path) -> None:
    index = Index.build(texts=[[5, 17, 17, 2, 9]], out=tmp_path / "i", n=3, words="ids", filter="exact")
    table = index.overlap(["5 17 17", "17 17 5", "9", [17, 17, 2, 9], None])
    assert table.hits.tolist() == [1, 0, 0, 2, 0]
    assert table.null_reason.tolist() == [None, None, "fewer_than_n_words", None, "null_text"]
    for wrong in ("5 seventeen 2", "007 1 2", [5, 17.0, 2], [5, True, 2]):
        with pytest.raises(UsageError, match=r"text 1 is not a token id"):
            index.overlap(["1 2 3", wrong])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="'a' in text 0 is not a token id"):
        index.explain("a b c")


def test_rows_keep_the_order_and_shares_follow_the_counts(small_index: Path) -> None:
    index = Index.open(small_index)
    table = index.overlap([TEXT, None, "alpha beta", "alpha beta gamma delta x", ""], flags=True, spans=True, matches=2)
    assert len(table) == 10
    assert table.n.tolist() == [3, 5] * 5
    assert table.position.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    reasons = table.null_reason.tolist()
    assert reasons[2:6] == ["null_text", "null_text", "fewer_than_n_words", "fewer_than_n_words"]
    assert reasons[8:] == ["fewer_than_n_words"] * 2
    assert np.isnan(table.overlap[2:6]).all()
    assert table.overlap[[0, 1, 6, 7]].tolist() == [1.0, 1.0, 2 / 3, 0.0]
    assert table.longest_run[[0, 6, 7]].tolist() == [len(WORDS) - 2, 2, 0]
    assert table.flags is not None
    assert table.flags.tolist()[6:8] == ["110", "0"]
    assert table.spans is not None
    assert table.spans.tolist()[6] == [(0, len("alpha beta gamma delta"))]
    assert table.spans_total is not None
    assert table.spans_total[6] == 1
    assert table.matches is not None
    assert table.matches.tolist()[6] == ["alpha beta gamma", "beta gamma delta"]


def test_spans_count_code_points(small_index: Path) -> None:
    table = Index.open(small_index).overlap(["«🦉é» alpha beta gamma, x"], n=3, spans=True)
    assert table.spans is not None
    start = len("«🦉é» ")
    assert table.spans.tolist() == [[(start, start + len("alpha beta gamma"))]]


def test_a_lone_surrogate_does_not_stop_a_batch(small_index: Path) -> None:
    table = Index.open(small_index).overlap(["\ud800 alpha beta gamma"], n=3, spans=True)
    assert table.hits.tolist() == [1]
    assert table.spans is not None
    assert table.spans.tolist() == [[(2, 18)]]


def test_prefixes(small_index: Path) -> None:
    index = Index.open(small_index)
    assert index.overlap([TEXT], n=3, max_words=5).ngrams.tolist() == [3]
    assert index.overlap([TEXT], n=3, max_ngrams=4).ngrams.tolist() == [4]


def test_what_contradicts_the_index_is_refused_with_both_values(small_index: Path) -> None:
    index = Index.open(small_index)
    with pytest.raises(MismatchError, match=r"n = 7 .*n = 3, n = 5"):
        index.overlap([TEXT], n=7)
    with pytest.raises(MismatchError, match="--words whitespace was asked for, but the index has uax29"):
        index.check_rule(words="whitespace")
    with pytest.raises(MismatchError, match="--lowercase on was asked for, but the index has off"):
        index.check_rule(lowercase=True)
    index.check_rule(words="uax29", normalize="none", lowercase=False)


def test_several_indexes_answer_as_one(tmp_path: Path, small_index: Path) -> None:
    other = tmp_path / "other"
    Index.build(texts=["one two three four"], out=other, n=3, filter_fpr=0.01)
    both = Index.open([small_index, other])
    assert both.n == (3,)
    assert both.overlap(["alpha beta gamma", "one two three"]).hits.tolist() == [1, 1]
    rates = [keys["rate"] for each in both.manifests for keys in each["sets"] if keys["n"] == 3]
    assert both.filter_fpr[3] == pytest.approx(1 - (1 - rates[0]) * (1 - rates[1]), rel=1e-9)
    lower = tmp_path / "lower"
    Index.build(texts=["one two three four"], out=lower, n=3, lowercase=True)
    with pytest.raises(MismatchError):
        Index.open([small_index, lower])


def test_explain_shows_words_ngrams_and_hits(small_index: Path) -> None:
    facts = Index.open(small_index).explain("alpha, beta gamma delta", n=3)
    assert [word["text"] for word in facts["words"]] == ["alpha", ",", "beta", "gamma", "delta"]
    ngrams = facts["ngrams"][3]
    assert [each["text"] for each in ngrams] == ["alpha, beta", ", beta gamma", "beta gamma delta"]
    assert [each["hit"] for each in ngrams] == [False, False, True]


def test_inspect_and_verify(small_index: Path) -> None:
    index = Index.open(small_index)
    facts = index.inspect()
    (only,) = facts["indexes"]
    files = [path for path in small_index.iterdir() if path.suffix == ".ngs"]
    assert only["bytes"] == sum(path.stat().st_size for path in files)
    assert only["name"] == "greek"
    assert set(facts["filter_fpr"]) == {"3", "5"}
    report = index.verify()
    assert (report["sound"], report["files"], report["bytes"]) == (True, len(files), only["bytes"])


def test_a_flipped_bit_is_found_by_verify(tmp_path: Path) -> None:
    Index.build(texts=[TEXT], out=tmp_path / "i", n=3)
    (shard,) = (tmp_path / "i").glob("*.ngs")
    data = bytearray(shard.read_bytes())
    data[-1] ^= 1
    shard.write_bytes(data)
    with pytest.raises(IndexFormatError, match=shard.name):
        Index.open(tmp_path / "i").verify()


def test_no_index_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(IndexFormatError, match="ngramscope build-index"):
        Index.open(tmp_path / "nowhere")


def test_an_existing_index_is_kept_unless_forced(tmp_path: Path) -> None:
    Index.build(texts=[TEXT], out=tmp_path / "i", n=3)
    before = {path.name: path.read_bytes() for path in (tmp_path / "i").iterdir()}
    with pytest.raises(UsageError, match="--force"):
        Index.build(texts=["one two three"], out=tmp_path / "i", n=3)
    assert {path.name: path.read_bytes() for path in (tmp_path / "i").iterdir()} == before
    again = Index.build(texts=["one two three"], out=tmp_path / "i", n=3, force=True)
    assert again.overlap(["one two three"]).hits.tolist() == [1]


def test_errors_of_input_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "fine"}\n{"text": \n')
    with pytest.raises(InputError, match=r"bad\.jsonl.*2") as error:
        Index.build(path, out=tmp_path / "i")
    assert isinstance(error.value, ngramscope.NgramscopeError)


def test_left_out_records_are_in_report_and_index(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "alpha beta gamma"}\n{"text": \n')
    index = Index.build(path, out=tmp_path / "i", n=3, max_bad_records=1)
    assert index.build_report is not None
    assert index.build_report.partial
    assert Index.open(tmp_path / "i").manifests[0]["partial"]


def test_a_pickled_or_copied_index_gives_the_same_answers(
    small_index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_index.parent)
    index = Index.open("index")
    data = pickle.dumps(index)
    monkeypatch.chdir(tmp_path)  # the pickle does not depend on the folder it is read in
    for again in (pickle.loads(data), copy.copy(index), copy.deepcopy(index)):
        assert again.overlap([TEXT]).hits.tolist() == index.overlap([TEXT]).hits.tolist()


def _child(index: Index, queue: multiprocessing.Queue[list[int]]) -> None:
    queue.put(index.overlap([TEXT, "x"] * 50).hits.tolist())


def test_an_index_works_after_a_fork(small_index: Path) -> None:
    index = Index.open(small_index)
    expected = index.overlap([TEXT, "x"] * 50).hits.tolist()
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[list[int]] = context.Queue()
    child = context.Process(target=_child, args=(index, queue))
    child.start()
    assert queue.get(timeout=30) == expected
    child.join(timeout=30)
    assert child.exitcode == 0


def test_four_threads_share_an_index(small_index: Path) -> None:
    index = Index.open(small_index)
    texts = [TEXT, "alpha beta gamma", "nothing of it here"] * 100
    expected = index.overlap(texts).hits.tolist()
    with ThreadPoolExecutor(4) as pool:
        for result in pool.map(lambda _: index.overlap(texts).hits.tolist(), range(40)):
            assert result == expected


def test_files_are_scored_table_by_table(small_index: Path, tmp_path: Path) -> None:
    a = write_jsonl(tmp_path / "a.jsonl", [TEXT, {"id": 12345678901234567890123, "text": "alpha beta gamma"}])
    b = write_jsonl(tmp_path / "b.jsonl", [{"text": None, "meta": {"date": "2020"}}])
    read = ngramscope.ReadOptions(fields=("meta.date",))
    stream = Index.open(small_index).overlap_files([a, b], read=read, query=ngramscope.QueryOptions(n=(3,)))
    tables = list(stream)
    assert stream.sources == ("a.jsonl", "b.jsonl")
    assert [each for table in tables for each in table.id] == ["d0", 12345678901234567890123, None]
    assert [each for table in tables for each in table.source.tolist()] == [0, 0, 1]
    assert [each for table in tables for each in table.fields["meta.date"]] == [None, None, '"2020"']
    assert [each for table in tables for each in table.null_reason.tolist()] == [None, None, "null_text"]
    report = stream.report()
    assert report["records"] == 3
    assert [source["name"] for source in report["sources"]] == ["a.jsonl", "b.jsonl"]


def test_progress_is_called_on_the_calling_thread(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "c.jsonl", (TEXT for _ in range(60_000)))
    seen: list[tuple[str, int, threading.Thread]] = []

    def progress(step: Progress) -> None:
        seen.append((step.phase, step.documents, threading.current_thread()))

    Index.build(path, out=tmp_path / "i", threads=1, progress=progress)
    assert {thread for _, _, thread in seen} == {threading.main_thread()}
    assert {phase for phase, _, _ in seen} <= {"count", "insert", "write", "sync"}


def test_an_exception_in_progress_stops_the_build(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "c.jsonl", (TEXT for _ in range(60_000)))

    def progress(_: Progress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        Index.build(path, out=tmp_path / "i", progress=progress)
    assert not (tmp_path / "i" / "index.json").exists()


def test_other_threads_run_while_the_core_works(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "c.jsonl", (TEXT for _ in range(100_000)))
    stop = threading.Event()
    gaps: list[float] = []

    def count() -> None:
        last = time.perf_counter()
        while not stop.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            gaps.append(now - last)
            last = now

    thread = threading.Thread(target=count)
    thread.start()
    started = time.perf_counter()
    Index.build(path, out=tmp_path / "i")
    elapsed = time.perf_counter() - started
    stop.set()
    thread.join()
    # Held for the whole build, the interpreter lock would show as one gap of its length.
    assert max(gaps) < max(0.5, elapsed / 2)
    assert len(gaps) > 20


def test_an_error_in_a_spooled_copy_names_the_source(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^texts:2: ") as error:
        Index.build(texts=["a", 3], out=tmp_path / "c", n=3, spool=True)
    assert "tmp" not in str(error.value)


def test_texts_come_from_pandas_and_numpy(small_index: Path, tmp_path: Path) -> None:
    import pandas as pd

    index = Index.open(small_index)
    frame = pd.DataFrame({"text": [TEXT, None, "x y z"]})
    assert index.overlap(frame["text"], n=np.int64(3)).null_reason.tolist() == [None, "null_text", None]
    assert index.overlap(frame["text"].astype("string"), n=(3, 3)).null_reason.tolist() == [None, "null_text", None]
    built = Index.build(texts=np.array([TEXT, "x y z"]), out=tmp_path / "i", n=3, filter="exact")
    assert built.overlap(frame["text"]).overlap.tolist()[0] == 1.0
    with pytest.raises(UsageError, match="a DataFrame was given; give its column"):
        index.overlap(frame)
    with pytest.raises(UsageError, match="a dict was given"):
        Index.build(texts={"text": TEXT}, out=tmp_path / "j")


@pytest.mark.parametrize(
    ("texts", "message"),
    [([TEXT, b"x"], "text 1 is a bytes"), (b"x", "one string"), (5, "5 was given"), ([["a"]], "text 0 is a list")],
)
def test_what_is_no_text_is_refused_by_position(small_index: Path, texts: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Index.open(small_index).overlap(texts)  # type: ignore[arg-type]


def test_an_index_that_is_named_twice_counts_once(small_index: Path) -> None:
    index = Index.open([small_index, small_index])
    assert index.paths == (small_index,)
    assert len(index.inspect()["indexes"]) == 1


def test_characters_that_become_several_words_have_one_span(tmp_path: Path) -> None:
    """Under NFKC `℀` is a/c: three words of one character, whose n-grams cover it."""
    index = Index.build(texts=["℀ b ﷺ"], out=tmp_path / "i", n=1, normalize="nfkc", filter="exact")
    table = index.overlap(["℀ b ﷺ x"], spans=True, matches=9)
    assert table.spans is not None
    assert table.matches is not None
    assert table.words.tolist() == [9]
    assert table.spans.tolist() == [[(0, 1), (2, 3), (4, 5)]]
    assert table.matches[0][0] == "℀"
    assert [(each["start"], each["end"]) for each in index.explain("℀ b")["words"]] == [(0, 1)] * 3 + [(2, 3)]


def test_an_index_can_be_replaced_while_others_open_and_ask_it(tmp_path: Path) -> None:
    """A reader may see index.json just before the files it names are removed; it then looks once more."""
    texts = [TEXT, TEXT + " and more"]
    folder = tmp_path / "index"
    Index.build(texts=texts[:1], out=folder, n=3, filter="exact", threads=1)
    held = Index.open(folder)
    done = threading.Event()
    opened = 0

    def replace() -> None:
        for number in range(40):
            Index.build(texts=texts[: 1 + number % 2], out=folder, n=3, filter="exact", threads=1, force=True)
        done.set()

    with ThreadPoolExecutor(1) as pool:
        replacing = pool.submit(replace)
        while not done.is_set() and not replacing.done():
            assert Index.open(folder).overlap([TEXT]).overlap.tolist() == [1.0]
            assert held.overlap([TEXT]).overlap.tolist() == [1.0]
            opened += 1
        replacing.result()
    assert opened > 10
