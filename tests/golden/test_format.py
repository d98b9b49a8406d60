"""The index format as docs/index-format.md has it, byte by byte, computed here again from words.

A change that breaks these tests breaks every index that was ever written: it needs another format version or hash name.
"""

from __future__ import annotations

import json
import math
import string
import struct
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscope import FORMAT_VERSION, Index
from tests import reference
from tests.conftest import WORDS, read_jsonl
from tests.golden.xxh3 import xxh3_64

MASK = (1 << 64) - 1
MULTIPLIER = 0xD6E8FEB86659FD93
HEADER = struct.Struct("<8s6I7Q")  # magic to checksum of the table
PAYLOAD = 4096
TEXT = " ".join(WORDS[:12])
MIXED = "naïve 日本 a bb ccc dddd eeeeeeee ffffffffffffffff " + "g" * 33 + " " + "h" * 65 + " " + "i" * 128


def mix(value: int) -> int:
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def remix(value: int) -> int:
    value = (value ^ value >> 32) * 0x9E3779B97F4A7C15 & MASK
    return (value ^ value >> 29) * MULTIPLIER & MASK


def key(gram: Iterable[str]) -> int:
    value = 0
    for word in gram:
        value = (value * MULTIPLIER + xxh3_64(word.encode())) & MASK
    return mix(value)


def keys(text: str, n: int) -> list[int]:
    return sorted({key(gram) for gram in reference.ngrams(reference.whitespace_words(text), n)})


def places(number: int, k: int) -> list[int]:
    """The bits that a key sets in its block."""
    bits, word = [], number
    for i in range(k):
        if i % 7 == 0:
            word = remix(word)
        bits.append(word >> 9 * (i % 7) & 511)
    return bits


def bloom(numbers: Iterable[int], blocks: int, k: int) -> bytes:
    words = np.zeros(blocks * 8, dtype="<u8")
    for number in numbers:
        block = number * blocks >> 64
        for bit in places(number, k):
            words[block * 8 + bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
    return words.tobytes()


def test_golden_vectors() -> None:
    assert xxh3_64(b"") == 0x2D06800538D394C2
    assert xxh3_64(b"a") == 0xE6C632B61E964E1F
    assert key(["the", "cat", "sat"]) == 0xFC250C289AA88F54


def registers(numbers: Iterable[int]) -> str:
    """For each of 2^14 registers the largest rank of the keys that begin with its number, as a digit of base64."""
    ranks = [0] * (1 << 14)
    for number in numbers:
        rank = 51 - (number & (1 << 50) - 1).bit_length()
        ranks[number >> 50] = max(ranks[number >> 50], rank)
    return "".join((string.ascii_uppercase + string.ascii_lowercase)[rank] for rank in ranks)


def built(folder: Path, text: str, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
    """Manifest and shard files of an index of one text."""
    Index.build(texts=[text], out=folder, words="whitespace", threads=1, **options)
    manifest = json.loads((folder / "index.json").read_bytes())
    return manifest, [(folder / shard["file"]).read_bytes() for keys in manifest["sets"] for shard in keys["shards"]]


@pytest.mark.parametrize("text", [TEXT, MIXED], ids=["greek", "mixed"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_an_exact_set_holds_the_sorted_keys(tmp_path: Path, text: str, n: int) -> None:
    manifest, (data,) = built(tmp_path / "index", text, n=n, filter="exact")
    wanted = keys(text, n)
    assert data[PAYLOAD : PAYLOAD + 8 * len(wanted)] == struct.pack(f"<{len(wanted)}Q", *wanted)
    assert manifest["sets"][0]["distinct"] == len(wanted)
    assert check_file(data, kind=2, n=n, k=0, shard=0, shards=1, blocks=1 << 32, first=0, end=1 << 32) == 8 * len(wanted)


@pytest.mark.parametrize(("n", "rate", "room"), [(1, 0.005, 20), (2, 0.3, 12), (5, 0.0001, 8), (3, 1e-6, 10)])
def test_a_filter_holds_the_bits_of_the_keys(tmp_path: Path, n: int, rate: float, room: int) -> None:
    manifest, (data,) = built(tmp_path / "index", MIXED, n=n, filter_fpr=rate, expected_ngrams=room, accept_overfull=True)
    (entry,) = manifest["sets"]
    blocks, k = entry["blocks"], entry["k"]
    assert data[PAYLOAD : PAYLOAD + 64 * blocks] == bloom(keys(MIXED, n), blocks, k)
    assert check_file(data, kind=1, n=n, k=k, shard=0, shards=1, blocks=blocks, first=0, end=blocks) == 64 * blocks


@pytest.mark.parametrize("kind", ["exact", "blocked"])
def test_shards_are_ranges_of_one_set(tmp_path: Path, kind: str) -> None:
    options: dict[str, Any] = {"filter": kind, "expected_ngrams": None if kind == "exact" else 400}
    manifest, files = built(tmp_path / "index", TEXT, n=2, shards=3, **options)
    _, (whole,) = built(tmp_path / "one", TEXT, n=2, shards=1, **options)
    (entry,) = manifest["sets"]
    blocks = entry["blocks"]
    joined = b""
    for number, (data, shard) in enumerate(zip(files, entry["shards"], strict=True)):
        first, end = blocks * number // 3, blocks * (number + 1) // 3
        assert (shard["first_block"], shard["blocks"], shard["bytes"]) == (first, end - first, len(data))
        code = 2 if kind == "exact" else 1
        size = check_file(data, kind=code, n=2, k=entry["k"], shard=number, shards=3, blocks=blocks, first=first, end=end)
        joined += data[PAYLOAD : PAYLOAD + size]
        if kind == "exact":
            held = struct.unpack(f"<{size // 8}Q", data[PAYLOAD : PAYLOAD + size])
            assert all(first <= each * blocks >> 64 < end for each in held)
    assert joined == whole[PAYLOAD : PAYLOAD + len(joined)]


TEXTS = [MIXED, TEXT + " " + TEXT, MIXED + " z", " ".join(WORDS[5:]), "a bb ccc"]


def test_a_second_tier_counts_the_bits_of_documents_as_far_as_two(tmp_path: Path) -> None:
    n, options = 2, {"n": 2, "words": "whitespace", "tiers": 2, "threads": 1}
    Index.build(texts=TEXTS, out=tmp_path / "index", filter_fpr=0.02, expected_ngrams=40, accept_overfull=True, **options)
    manifest = json.loads((tmp_path / "index" / "index.json").read_bytes())
    (entry,) = manifest["sets"]
    blocks, k = entry["blocks"], entry["k"]
    counts = np.zeros((blocks, 512), dtype=int)
    for text in TEXTS:
        for number in keys(text, n):
            counts[number * blocks >> 64, sorted(set(places(number, k)))] += 1
    lines = [np.packbits(counts >= least, axis=1, bitorder="little") for least in (1, 2)]
    (path,) = (tmp_path / "index").glob("*.ngs")
    data = path.read_bytes()
    assert data[PAYLOAD : PAYLOAD + 128 * blocks] == np.hstack(lines).tobytes()
    size = check_file(data, kind=1, n=n, k=k, shard=0, shards=1, blocks=blocks, first=0, end=blocks, tiers=2)
    assert size == 128 * blocks
    assert (manifest["tiers"], manifest["counting_unit"]) == (2, "document")
    tier = entry["second_tier"]
    assert tier["fill"] == pytest.approx((counts >= 2).mean())
    assert tier["measured_rate"] == pytest.approx(np.mean((counts >= 2).mean(axis=1) ** k))
    assert tier["insertions"] == sum(len(keys(text, n)) for text in TEXTS)

    Index.build(texts=TEXTS, out=tmp_path / "exact", filter="exact", **options)
    (path,) = (tmp_path / "exact").glob("*.ngs")
    documents = Counter(number for text in TEXTS for number in keys(text, n))
    wanted = sorted((documents & Counter(dict.fromkeys(documents, 2))).elements())
    assert np.fromfile(path, dtype="<u8")[PAYLOAD // 8 :][: len(wanted)].tolist() == wanted


def check_file(
    data: bytes, *, kind: int, n: int, k: int, shard: int, shards: int, blocks: int, first: int, end: int, tiers: int = 1
) -> int:
    """Assert everything about a shard file but its payload, and return the payload's size."""
    fields = HEADER.unpack_from(data)
    size, table_sum = fields[11], fields[13]
    payload = data[PAYLOAD : PAYLOAD + size]
    table = data[PAYLOAD + -(-size // 64) * 64 :]
    assert fields[0] == b"ngrmscp\n"
    assert fields[1:11] == (FORMAT_VERSION, kind, n, k, shard, shards, blocks, first, end, PAYLOAD)
    assert fields[12] == 1 << 20
    assert struct.unpack_from("<I", data, 88) == (tiers,)
    assert not any(data[92:120])
    assert struct.unpack_from("<Q", data, 120) == (xxh3_64(data[:120]),)
    assert not any(data[128:PAYLOAD])
    assert not any(data[PAYLOAD + size : len(data) - len(table)])
    assert table_sum == xxh3_64(table)
    if 0 < size <= 128:
        assert table == struct.pack("<Q", xxh3_64(payload))
    else:
        assert len(table) == 8 * -(-size // (1 << 20))
    return int(size)


def test_a_corpus_gives_the_keys_that_the_manual_says(trials: Path, tmp_path: Path) -> None:
    corpus = trials / "D" / "corpus.jsonl"
    Index.build(corpus, out=tmp_path / "index", n=13, filter="exact")
    (path,) = (tmp_path / "index").glob("*.ngs")
    wanted = sorted({number for row in read_jsonl(corpus) for number in keys(row["text"], 13)})
    assert np.fromfile(path, dtype="<u8")[PAYLOAD // 8 :][: len(wanted)].tolist() == wanted


GEOMETRY: dict[tuple[int, float], tuple[int, int]] = {
    (1_000, 0.01): (20, 6),
    (1_000_000, 0.01): (19_372, 6),
    (1_000_000, 0.006): (21_874, 6),
    (1_000_000, 0.005): (22_531, 7),
    (1_000_000, 0.001): (30_588, 8),
    (50_000, 1e-06): (3_803, 15),
}
"""Blocks and bits a key for a number of n-grams and a rate, on every platform."""


@pytest.mark.parametrize(("room", "rate"), GEOMETRY)
def test_the_size_of_a_filter_is_the_smallest_that_keeps_the_rate(tmp_path: Path, room: int, rate: float) -> None:
    manifest, _ = built(tmp_path / "index", TEXT, n=2, filter_fpr=rate, expected_ngrams=room)
    (entry,) = manifest["sets"]
    blocks, k = entry["blocks"], entry["k"]
    assert reference.blocked_rate(room / blocks, k) <= rate * 1.01
    # Not even 1.5 % smaller would do, whatever the number of bits a key sets.
    assert min(reference.blocked_rate(room / (blocks * 0.985 - 1), other) for other in range(max(1, k - 2), k + 5)) > rate
    assert (blocks, k) == GEOMETRY[room, rate]


@pytest.mark.parametrize(("rate", "limit"), [(0.006, 11.3), (0.005, 11.7)])
def test_bits_for_each_estimated_ngram_keep_their_limit(rate: float, limit: float) -> None:
    """A counted corpus is sized for its estimate plus three standard errors of 2^18 registers."""
    margin = 1 + 3 * 1.04 / math.sqrt(1 << 18)
    assert GEOMETRY[1_000_000, rate][0] * 512 / 1e6 * margin <= limit


def test_names_and_fields_of_the_manifest(tmp_path: Path) -> None:
    manifest, _ = built(tmp_path / "index", TEXT, n=[2, 3])
    assert (manifest["format"], manifest["format_version"], manifest["hash"]) == ("ngramscope-index", 1, "xxh3-64/poly/mix13")
    assert (manifest["counting_unit"], manifest["tiers"], manifest["minimum_n"]) == ("occurrence", 1, None)
    assert [keys["sketch"] for keys in manifest["sets"]] == [registers(keys(TEXT, n)) for n in (2, 3)]
    names = [shard["file"] for keys in manifest["sets"] for shard in keys["shards"]]
    short = manifest["content_id"][:16]
    assert names == [f"n2-0000-of-0001-{short}.ngs", f"n3-0000-of-0001-{short}.ngs"]
    assert len(manifest["content_id"]) == 32
    assert sorted(path.name for path in (tmp_path / "index").iterdir() if not path.name.startswith(".")) == sorted(
        ["index.json", *names]
    )
    text = (tmp_path / "index" / "index.json").read_text()
    assert str(tmp_path) not in text
