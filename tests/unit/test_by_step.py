"""Members by step: rows of tokens, documents in them, and what is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard

from ngramscope.corpus.tokens import LoadedTokenizer, load_tokenizer
from ngramscope.errors import InputError, UsageError
from ngramscope.sets import RecordSource, SetFile, Step
from ngramscope.sets.base import Candidate
from ngramscope.sets.by_step import ByStepOptions, by_step, pieces
from ngramscope.sets.cut import cut
from ngramscope.sets.packed import PackedRows
from tests.conftest import read_jsonl

tokenizers = pytest.importorskip("tokenizers")

ROW, ROWS_PER_STEP, EOD = 60, 4, 0
WORDS = "río   naïve\tcafé alpha beta gamma delta  epsilon\nzeta 日本語 eta theta 🦉 iota kappa lambda \ufffd".split(" ")


def document(number: int) -> str:
    random = np.random.default_rng(number)
    return f"d{number} " + " ".join(WORDS[each] for each in random.integers(0, len(WORDS), random.integers(1, 22)))


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> LoadedTokenizer:
    made = tokenizers.ByteLevelBPETokenizer()
    made.train_from_iterator(
        [document(number) for number in range(300)], vocab_size=420, special_tokens=["<|endoftext|>"], show_progress=False
    )
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return load_tokenizer(str(path))


def packed(tokenizer: LoadedTokenizer, documents: int) -> np.ndarray[Any, np.dtype[np.uint16]]:
    """Documents with end-of-text between them, in rows, as many as are full steps."""
    stream: list[int] = []
    for number in range(documents):
        stream += [*tokenizer.tokenizer.encode(document(number)).ids, EOD]
    full = len(stream) // (ROW * ROWS_PER_STEP) * ROW * ROWS_PER_STEP
    return np.array(stream[:full], dtype=np.uint16).reshape(-1, ROW)


def naive(tokenizer: LoadedTokenizer, rows: Sequence[Sequence[int]], min_words: int, max_words: int) -> list[str]:
    """Cut texts of documents between two end-of-text tokens of one row, each once; by string operations alone."""
    found = []
    for row in rows:
        inner = " ".join(map(str, row))
        for middle in re.split(r"(?:^| )0(?= |$)", inner)[1:-1]:
            words = tokenizer.tokenizer.decode([int(each) for each in middle.split()], skip_special_tokens=False)
            spans = list(re.finditer(r"\S+", words))
            if len(spans) >= min_words:
                found.append(words[: spans[:max_words][-1].end()])
    return list(dict.fromkeys(found))


def options(first: int = 0, last: int = 5, **more: Any) -> ByStepOptions:
    return ByStepOptions(**{"steps": (first, last), "rows_per_step": ROWS_PER_STEP, "min_words": 5, "max_words": 9, **more})


def opened(*paths: Path, **more: Any) -> PackedRows:
    return PackedRows(paths, **{"row_tokens": ROW, **more})


@pytest.fixture(scope="module")
def rows(tokenizer: LoadedTokenizer) -> np.ndarray[Any, np.dtype[np.uint16]]:
    return packed(tokenizer, 150)


@pytest.fixture
def file(tmp_path: Path, rows: np.ndarray[Any, np.dtype[np.uint16]]) -> Path:
    path = tmp_path / "document.bin"
    path.write_bytes(rows.astype("<u2").tobytes())
    return path


def test_pieces_are_whole_only_between_two_ends() -> None:
    def of(row: list[int]) -> list[tuple[int, int, bool, bool]]:
        return list(pieces(np.array(row), 0))

    assert of([5, 6, 7]) == [(0, 3, True, True)]
    assert of([5, 0, 6, 7, 0, 8]) == [(0, 1, True, False), (2, 4, False, False), (5, 6, False, True)]
    assert of([0, 6, 7, 0]) == [(1, 3, False, False)]  # begins right after an end at the border, ends at the border
    assert of([0, 0, 7]) == [(1, 1, False, False), (2, 3, False, True)]


def test_cut_words_keeps_white_space_and_ends_with_a_word() -> None:
    text = " a\t b\n\nc  d \u2003e\n"
    assert [cut(text, number) for number in (1, 3, 5, 9)] == [" a", " a\t b\n\nc", text[:-1], text[:-1]]
    assert cut("  \n", 3) == ""


def test_whole_documents_come_back_and_steps_are_those_of_a_naive_reading(
    tmp_path: Path, tokenizer: LoadedTokenizer, rows: np.ndarray[Any, np.dtype[np.uint16]], file: Path
) -> None:
    steps = len(rows) // ROWS_PER_STEP
    assert steps >= 8
    originals = {document(number).rstrip() for number in range(150)}
    for first, last in ((0, 0), (2, 4), (0, steps - 1), (steps - 1, steps - 1)):
        window = rows[first * ROWS_PER_STEP : (last + 1) * ROWS_PER_STEP].tolist()
        for words in ((1, 9), (5, 1000)):
            out = tmp_path / "set.jsonl"
            header = by_step(opened(file), tokenizer, out, options=options(first, last, min_words=words[0], max_words=words[1]))
            found = read_jsonl(out)
            assert [row["text"] for row in found] == naive(tokenizer, window, *words)
            if words[1] == 1000:
                assert {row["text"] for row in found} <= originals
            assert all(row["label"] == 1 and first <= row["step"] <= last for row in found)
            assert all(row["step"] == row["position"] // ROWS_PER_STEP for row in found)
            counts = header["history"][0]["counts"]["members"]
            # Every piece is used or left out: there are as many as ends, and one more in each row that has no end at a border.
            pieces = sum(row.count(EOD) + 1 - (row[0] == EOD) - (row[-1] == EOD) for row in window)
            assert counts["read"] == pieces == counts["used"] + sum(counts["left_out"].values())
            assert counts["left_out"]["partial"] == sum((row[0] != EOD) + (row[-1] != EOD) for row in window)
            assert header["history"][0]["facts"]["rows"] == len(window)


def test_a_part_at_the_border_is_not_taken_even_if_it_is_whole(tmp_path: Path, tokenizer: LoadedTokenizer) -> None:
    def ids(text: str, size: int) -> list[int]:
        tokens: list[int] = tokenizer.tokenizer.encode(text).ids
        return [*tokens, *[EOD] * (size - len(tokens))]

    # Row 1 begins with a document, since row 0 ends with an end of text; but rows are shuffled, so nobody knows.
    rows = np.array([[EOD, *ids("one two three four five six", ROW - 1)], ids("alpha beta gamma delta epsilon zeta", ROW)])
    path = tmp_path / "rows.npy"
    np.save(path, rows.astype(np.int32))
    by_step(opened(path), tokenizer, tmp_path / "set.jsonl", options=options(0, 0, rows_per_step=2, max_words=100))
    assert [row["text"] for row in read_jsonl(tmp_path / "set.jsonl")] == ["one two three four five six"]
    more = options(0, 0, rows_per_step=2, max_words=100, keep_partial=True)
    by_step(opened(path), tokenizer, tmp_path / "set.jsonl", options=more)
    # Of what is cut, the word at the cut goes, since it may be the end of one.
    assert [row["text"] for row in read_jsonl(tmp_path / "set.jsonl")][1:] == ["beta gamma delta epsilon zeta"]


def test_parts_are_joined_byte_by_byte_in_any_order_and_read_only_where_needed(
    tmp_path: Path, tokenizer: LoadedTokenizer, file: Path
) -> None:
    data = file.read_bytes()
    by_step(opened(file), tokenizer, tmp_path / "whole.jsonl", options=options(1, 6))
    wanted = [(row["id"], row["text"]) for row in read_jsonl(tmp_path / "whole.jsonl")]
    size = len(data) // 4 - 37  # parts end in the midst of rows, and of tokens
    assert size % 2
    parts = []
    for number in range(5):
        parts.append(tmp_path / f"document-{number:05}-of-00004.bin")
        parts[-1].write_bytes(data[number * size : (number + 1) * size])
    header = by_step(opened(*reversed(parts)), tokenizer, tmp_path / "parts.jsonl", options=options(1, 6))
    assert [(row["id"], row["text"]) for row in read_jsonl(tmp_path / "parts.jsonl")] == wanted
    step = ROW * ROWS_PER_STEP * 2
    assert sum(each["bytes_read"] for each in header["inputs"]) == 6 * step
    assert all(each["bytes_read"] < each["bytes"] or each["bytes"] == size for each in header["inputs"])

    # Not all parts: with their size those that are there are enough for their rows.
    last = len(data) // step - 1
    by_step(opened(file), tokenizer, tmp_path / "whole.jsonl", options=options(last, last))
    some = opened(parts[3], parts[4], shard_bytes=size)
    by_step(some, tokenizer, tmp_path / "some.jsonl", options=options(last, last))
    assert [row["text"] for row in read_jsonl(tmp_path / "some.jsonl")] == [
        row["text"] for row in read_jsonl(tmp_path / "whole.jsonl")
    ]
    with pytest.raises(InputError, match=rf"{parts[3]}: begins at byte {3 * size:,} of the joined data, and rows 0 to 3"):
        by_step(some, tokenizer, tmp_path / "none.jsonl", options=options(0, 0))
    with pytest.raises(UsageError, match=r"part 0 is missing; give it, or with --shard-bytes"):
        opened(parts[3], parts[4])
    assert not (tmp_path / "none.jsonl").exists()


def test_arrays_are_joined_and_may_begin_at_any_step(
    tmp_path: Path, tokenizer: LoadedTokenizer, rows: np.ndarray[Any, np.dtype[np.uint16]], file: Path
) -> None:
    by_step(opened(file), tokenizer, tmp_path / "whole.jsonl", options=options(2, 4))
    cut = rows[2 * ROWS_PER_STEP :]
    for number, part in enumerate((cut[:5], cut[5:])):
        np.save(tmp_path / f"{number}.npy", part.astype(">u4"))
    arrays = opened(tmp_path / "0.npy", tmp_path / "1.npy")
    by_step(arrays, tokenizer, tmp_path / "arrays.jsonl", options=options(2, 4, first_step=2))
    assert [(row["id"], row["text"]) for row in read_jsonl(tmp_path / "arrays.jsonl")] == [
        (row["id"], row["text"]) for row in read_jsonl(tmp_path / "whole.jsonl")
    ]
    with pytest.raises(UsageError, match=r"--steps: 1:4 is not possible; .* from 2 \(--first-step\) on"):
        options(1, 4, first_step=2)
    with pytest.raises(InputError, match=r"0\.npy: >u4 of shape \(5, 60\); rows of 61 whole numbers"):
        opened(tmp_path / "0.npy", row_tokens=61)


def test_what_is_cut_off_is_an_error_that_names_file_and_byte(tmp_path: Path, tokenizer: LoadedTokenizer, file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[:-7])
    with pytest.raises(
        InputError, match=rf"{file}: ends at byte {len(data) - 7:,}, {ROW * 2 - 7} bytes into a row of {ROW * 2}"
    ):
        opened(file)
    whole = len(data) // (ROW * 2)
    file.write_bytes(data[: -ROW * 2])
    last = whole // ROWS_PER_STEP - 1
    with pytest.raises(InputError, match=rf"{file}: ends at byte {len(data) - ROW * 2:,} of the joined data, and rows"):
        by_step(opened(file), tokenizer, tmp_path / "set.jsonl", options=options(0, last))
    first, second, third = (tmp_path / f"x-{number:05}-of-00002.bin" for number in range(3))
    first.write_bytes(data[:1000])
    second.write_bytes(data[1000:1900])
    third.write_bytes(data[2000:2400])
    with pytest.raises(InputError, match=rf"{second}: ends at byte 900, and every part but the last has 1,000 bytes"):
        opened(first, second, third)
    np.save(tmp_path / "a.npy", np.zeros((8, ROW), dtype=np.uint16))
    array = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(array[:-100])
    with pytest.raises(InputError, match=rf"a\.npy: cannot be read as an array of numpy: .*ends at byte {len(array) - 100:,}"):
        opened(tmp_path / "a.npy")
    assert not (tmp_path / "set.jsonl").exists()


def test_rows_without_ends_are_refused_unless_parts_are_wanted(tmp_path: Path, tokenizer: LoadedTokenizer) -> None:
    stream = [number for each in range(40) for number in tokenizer.tokenizer.encode(document(each)).ids]
    rows = np.array(stream[: ROW * 8], dtype="<u2").reshape(-1, ROW)
    path = tmp_path / "rows.bin"
    path.write_bytes(rows.tobytes())
    with pytest.raises(InputError, match=r"rows\.bin: token 0 \(--eod-id\) is in none of the 8 rows.*--keep-partial"):
        by_step(opened(path), tokenizer, tmp_path / "set.jsonl", options=options(0, 1))
    header = by_step(opened(path), tokenizer, tmp_path / "set.jsonl", options=options(0, 1, keep_partial=True))
    assert header["history"][0]["facts"]["rows_without_eod"] == 8
    for row in read_jsonl(tmp_path / "set.jsonl"):
        text = tokenizer.tokenizer.decode(rows[row["position"]].tolist())
        # A row that begins with white space begins with a whole word.
        assert row["text"].split() == text.split()[not text[0].isspace() :][:9]


def test_what_cannot_be_decoded_is_left_out_but_the_replacement_character_is_text(
    tmp_path: Path, tokenizer: LoadedTokenizer
) -> None:
    half = tokenizer.tokenizer.token_to_id("ð")  # the first byte of an emoji
    good = tokenizer.tokenizer.encode("a \ufffd b c d e").ids
    texts = [good, [half, *good], [*good, 60000], [-1, *good], good]  # no such tokens
    row = [EOD, *(number for text in texts for number in [*text, EOD])]
    path = tmp_path / "rows.npy"
    np.save(path, np.array([row + [EOD] * (100 - len(row))], dtype=np.int32))
    header = by_step(
        opened(path, row_tokens=100), tokenizer, tmp_path / "set.jsonl", options=options(0, 0, rows_per_step=1, max_words=50)
    )
    assert [row["text"] for row in read_jsonl(tmp_path / "set.jsonl")] == ["a \ufffd b c d e"]
    left_out = header["history"][0]["counts"]["members"]["left_out"]
    assert left_out == {"empty": 100 - len(row), "exact_duplicate": 1, "undecodable": 3}


def test_a_sample_depends_on_texts_and_seed_alone(tmp_path: Path, tokenizer: LoadedTokenizer, file: Path) -> None:
    def sample(**more: Any) -> list[str]:
        by_step(opened(file), tokenizer, tmp_path / "set.jsonl", options=options(0, 7, **more))
        return [row["text"] for row in read_jsonl(tmp_path / "set.jsonl")]

    everything, chosen = sample(), sample(samples=10, seed=3)
    assert len(everything) > 30
    assert len(chosen) == 10
    assert chosen == [text for text in everything if text in set(chosen)] == sample(samples=10, seed=3)
    assert set(sample(samples=20, seed=3)) > set(chosen)
    assert set(sample(samples=10, seed=4)) != set(chosen)
    # The rows in another order: the same texts are chosen.
    data = np.fromfile(file, dtype="<u2").reshape(-1, ROW)[: 8 * ROWS_PER_STEP]
    file.write_bytes(data[::-1].tobytes())
    assert set(sample(samples=10, seed=3)) == set(chosen)
    with pytest.raises(InputError, match=rf"10,000 documents are asked for and {len(everything)} were found in steps 0 to 7"):
        sample(samples=10_000)


def test_nonmembers_are_joined_unchanged_and_the_same_for_every_window(
    tmp_path: Path, tokenizer: LoadedTokenizer, file: Path
) -> None:
    by_step(opened(file), tokenizer, tmp_path / "first.jsonl", options=options(0, 3))
    seen = read_jsonl(tmp_path / "first.jsonl")[0]["text"]
    others = [
        Candidate(id=1, text="  never seen\n", label=0, domain="x", overlap={"7": 0.25}, extra={"note": [1]}),
        Candidate(id="two", text=seen, label=None),
        Candidate(id=3, text="a member of something else", label=1),
    ]
    with SetFile(tmp_path / "others.jsonl") as set_file:
        set_file.add(others)
        set_file.commit(Step("made", {}, [], {}))
    kept = []
    for first, last in ((0, 3), (4, 7)):
        header = by_step(
            opened(file),
            tokenizer,
            tmp_path / "set.jsonl",
            options=options(first, last),
            nonmembers=RecordSource((tmp_path / "others.jsonl",)),
        )
        rows = read_jsonl(tmp_path / "set.jsonl")
        kept.append([row for row in rows if row["label"] == 0])
        assert seen not in [row["text"] for row in rows if row["label"] == 1]
        assert header["history"][-1]["counts"]["nonmembers"] == {"read": 3, "used": 2, "left_out": {"labelled_member": 1}}
        assert [each["rule"] for each in header["history"]] == ["made", "by-step"]
    assert kept[0] == kept[1]
    assert kept[0][0] == others[0].row()
    assert kept[0][1] == others[1].row() | {"label": 0, "note": None}


def test_pythias_tokenizer_gives_texts_back(tmp_path: Path, shared: Path) -> None:
    packed_file = shared / "data" / "tokenizers" / "pythia-20B_tokenizer.json.zst"
    if not packed_file.exists():
        pytest.skip("the tokenizer of Pythia is not in the shared data")
    (tmp_path / "tokenizer.json").write_bytes(zstandard.ZstdDecompressor().stream_reader(packed_file.read_bytes()).read())
    tokenizer = load_tokenizer(str(tmp_path / "tokenizer.json"))
    texts = [
        "def f(x):\n        return {\n            'a': x,  # <|padding|> spelt out\n    }\n\n\n" + "y = f(1)\t\t\n" * 40,
        "naïve café – “quotes” 日本語テキスト 🦉🦉 " * 30 + "end",
        "plain " * 250,
    ]
    row = [EOD]
    for text in texts:
        row += [*tokenizer.tokenizer.encode(text).ids, EOD]
    assert len(row) <= 2049
    tokens = np.full(2049, 5, dtype="<u2")
    tokens[: len(row)] = row
    path = tmp_path / "document.bin"
    path.write_bytes(tokens.tobytes())
    by_step(PackedRows([path]), tokenizer, tmp_path / "set.jsonl", options=ByStepOptions(steps=(0, 0), rows_per_step=1))
    found = [json.loads(line)["text"] for line in (tmp_path / "set.jsonl").read_text().splitlines()]
    assert found == [cut(text, 200) for text in texts]
    assert found[2] == " ".join(["plain"] * 200)


def test_parts_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    for name in ("a-00000-of-00001.bin", "b-00001-of-00001.bin", "plain.bin"):
        (tmp_path / name).write_bytes(bytes(ROW * 2))
    np.save(tmp_path / "a.npy", np.zeros((1, ROW), dtype=np.uint16))
    np.save(tmp_path / "b.npy", np.zeros((1, ROW), dtype=np.uint32))
    for names, message in (
        (("a-00000-of-00001.bin", "b-00001-of-00001.bin"), "not parts of one file"),
        (("a-00000-of-00001.bin", "a-00000-of-00001.bin"), "part 0 is given twice"),
        (("a-00000-of-00001.bin", "plain.bin"), "not parts of one file"),
        (("a.npy", "plain.bin"), r"plain\.bin: no \.npy file, but others are"),
    ):
        with pytest.raises(UsageError, match=message):
            opened(*(tmp_path / name for name in names))
    with pytest.raises(InputError, match=r"b\.npy: uint32, but .*a\.npy is uint16"):
        opened(tmp_path / "a.npy", tmp_path / "b.npy")
    with pytest.raises(UsageError, match="--shard-bytes: only for parts"):
        opened(tmp_path / "plain.bin", shard_bytes=100)
    with pytest.raises(InputError, match=r"none\.bin: cannot be read: No such file"):
        opened(tmp_path / "none.bin")
