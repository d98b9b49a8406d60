"""Token frequencies of a corpus."""

from __future__ import annotations

import collections
import hashlib
import itertools
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow.parquet as pq
import pytest
import zstandard
from blake3 import blake3

from ngramscope.corpus.tokens import TokenCounts, count_tokens, load_tokenizer, rules_digest
from ngramscope.errors import InputError, MissingExtraError, UsageError
from ngramscope.index.options import ReadOptions
from tests.conftest import ROOT, WORDS, Cli, clean_environment, wait_until_started, write_jsonl

tokenizers = pytest.importorskip("tokenizers")

TEXTS = [" ".join(WORDS[number % 7 : 3 + number % 17]) + f" {number}é" for number in range(3000)]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A byte-level BPE trained on the spot, with a special token, truncation and padding that must not matter."""
    made = tokenizers.ByteLevelBPETokenizer()
    made.train_from_iterator(TEXTS, vocab_size=400, special_tokens=["<|end|>"], show_progress=False)
    made.enable_truncation(4)
    made.enable_padding()
    folder = tmp_path_factory.mktemp("tokenizer")
    made.save(str(folder / "tokenizer.json"))
    return folder


def naive(tokenizer: Path, texts: list[str], max_tokens: int | None = None) -> collections.Counter[int]:
    plain = tokenizers.Tokenizer.from_file(str(tokenizer / "tokenizer.json"))
    plain.no_truncation()
    plain.no_padding()
    return collections.Counter(
        number for text in texts for number in plain.encode(text, add_special_tokens=False).ids[:max_tokens]
    )  # fmt: skip


@pytest.mark.parametrize("max_tokens", [None, 5])
def test_counts_are_those_of_a_naive_count(tmp_path: Path, tokenizer: Path, max_tokens: int | None) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", TEXTS)
    found = count_tokens([path], load_tokenizer(str(tokenizer)), max_tokens=max_tokens)
    wanted = naive(tokenizer, TEXTS, max_tokens)
    assert {number: count for number, count in enumerate(found.counts.tolist()) if count} == dict(wanted)
    assert found.counts.dtype == np.int64
    vocabulary = json.loads((tokenizer / "tokenizer.json").read_text())["model"]["vocab"]
    assert len(found.counts) == 1 + max(vocabulary.values())
    assert found.tokens == [token for token, _ in sorted(vocabulary.items(), key=lambda item: item[1])]
    assert found.header["counts"] == {"documents": len(TEXTS), "tokens": sum(wanted.values()), "unusable": {}}


def test_a_special_token_is_not_added_but_counted_where_a_text_has_it(tmp_path: Path, tokenizer: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", ["alpha <|end|> beta", "gamma"])
    found = count_tokens([path], load_tokenizer(str(tokenizer)))
    assert found.counts[found.tokens.index("<|end|>")] == 1
    assert found.header["settings"]["special_tokens"] == "not added"


def test_the_digest_is_of_the_rules_only(tokenizer: Path) -> None:
    one, other = (load_tokenizer(str(tokenizer)).tokenizer for _ in range(2))
    other.enable_truncation(3)
    other.enable_padding()
    assert rules_digest(one) == rules_digest(other)
    other.add_tokens(["further"])
    assert rules_digest(one) != rules_digest(other)


def test_the_file_says_what_was_counted(tmp_path: Path, tokenizer: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", ["alpha", None, {"text": 3}])
    found = count_tokens([path], load_tokenizer(str(tokenizer / "tokenizer.json")), read=ReadOptions(max_bad_records=1))
    found.save(tmp_path / "counts.parquet")
    again = TokenCounts.load(tmp_path / "counts.parquet")
    assert again.counts.tolist() == found.counts.tolist()
    assert (again.tokens, again.header) == (found.tokens, json.loads(json.dumps(found.header)))
    header = again.header
    assert (header["artefact"], header["format_version"], header["partial"]) == ("token-counts", 1, True)
    assert header["settings"]["tokenizer"] == {
        "name": "tokenizer.json",
        "sha256": hashlib.sha256((tokenizer / "tokenizer.json").read_bytes()).hexdigest(),
        "digest": rules_digest(load_tokenizer(str(tokenizer)).tokenizer),
        "ids": len(found.counts),
    }
    assert header["counts"]["unusable"] == {"null_text": 1, "text_not_a_string": 1}
    assert header["inputs"][0]["blake3"] == blake3(path.read_bytes()).hexdigest()
    table = pq.read_table(tmp_path / "counts.parquet")
    assert table.column_names == ["token_id", "token", "count"]
    assert str(tmp_path) not in json.dumps(header)


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read as token counts"):
        TokenCounts.load(tmp_path / "nothing.parquet")
    write_jsonl(tmp_path / "a.parquet", ["alpha"])
    with pytest.raises(InputError, match="cannot be read as token counts"):
        TokenCounts.load(tmp_path / "a.parquet")
    import pyarrow as pa

    pq.write_table(pa.table({"count": [1]}), tmp_path / "b.parquet")
    with pytest.raises(InputError, match="not a file of token counts"):
        TokenCounts.load(tmp_path / "b.parquet")
    header = {"artefact": "token-counts", "format_version": 2}
    TokenCounts(np.zeros(1, np.int64), [None], header).save(tmp_path / "c.parquet")
    with pytest.raises(InputError, match="token counts of version 2; this ngramscope reads 1"):
        TokenCounts.load(tmp_path / "c.parquet")
    for metadata, message in (
        ("{", "cannot be read as token counts"),
        ("[]", "not a file of token counts"),
        ('{"artefact": "token-counts"}', "of version None"),
        ('{"artefact": "token-counts", "format_version": 1}', "without token"),
    ):
        table = pa.table({"count": [1]}).replace_schema_metadata({"ngramscope": metadata})
        pq.write_table(table, tmp_path / "d.parquet")
        with pytest.raises(InputError, match=message):
            TokenCounts.load(tmp_path / "d.parquet")


def test_tokenizers_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(InputError, match=r"holds no tokenizer\.json"):
        load_tokenizer(str(tmp_path))
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="not a tokenizer of the library tokenizers"):
        load_tokenizer(str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        InputError, match=r"--tokenizer: no/such: no such file or folder, .*; check the name and the connection"
    ):
        load_tokenizer("no/such")

    def unreachable(*_: object) -> str:
        logging.getLogger("huggingface_hub.utils._http").warning("Retrying in 1s")
        raise ConnectionError("nobody there")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", unreachable)
    with pytest.raises(InputError, match="nobody there"):
        load_tokenizer("no/such")
    assert not caplog.records
    with pytest.raises(InputError, match=r"--tokenizer: gone/tokenizer.json: no such file$"):  # the hub is not asked
        load_tokenizer("gone/tokenizer.json")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError, match=r"ngramscope\[tokens\]"):
        load_tokenizer("x")


@pytest.mark.parametrize("max_tokens", [0, -1, True])
def test_a_wrong_limit_is_refused(tokenizer: Path, max_tokens: Any) -> None:
    with pytest.raises(UsageError, match="--max-tokens"):
        count_tokens(["a"], load_tokenizer(str(tokenizer)), max_tokens=max_tokens)


def test_an_error_of_the_corpus_comes_through_and_leaves_no_file(cli: Cli, tmp_path: Path, tokenizer: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [*TEXTS, {"text": 3}])
    done = cli("token-counts", "a.jsonl", "--tokenizer", tokenizer)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"a.jsonl:3001: the text is not a string" in done.stderr
    assert not list(tmp_path.glob("*.parquet"))
    done = cli("token-counts", "a.jsonl", "--tokenizer", tokenizer, "--max-bad-records", 1, "--json")
    assert done.returncode == 3
    facts = json.loads(done.stdout)
    assert (facts["documents"], facts["tokens"], facts["partial"]) == (len(TEXTS), naive(tokenizer, TEXTS).total(), True)
    assert (tmp_path / "token-counts.parquet").exists()
    assert cli("token-counts", "a.jsonl", "--tokenizer", tokenizer, "--out", "a.csv").returncode == 2


def test_a_manifest_is_a_corpus_here_too(tmp_path: Path, tokenizer: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{"body": each} for each in TEXTS[:10]])
    manifest = tmp_path / "mine.toml"
    manifest.write_text('format = 1\nname = "mine"\n[corpus]\nkind = "files"\npaths = ["a.jsonl"]\ntext_key = "body"\n')
    found = count_tokens([manifest], load_tokenizer(str(tokenizer)))
    assert found.counts.sum() == naive(tokenizer, TEXTS[:10]).total()
    with pytest.raises(UsageError, match="only build-index reads it"):
        count_tokens(["python-stdlib.toml"], load_tokenizer(str(tokenizer)))


def test_ctrl_c_does_not_wait_for_the_tokenizer(tmp_path: Path, tokenizer: Path) -> None:
    # One document that takes the tokenizer far longer than the test waits.
    path = write_jsonl(tmp_path / "a.jsonl", [os.urandom(20_000_000).hex()])
    process = subprocess.Popen(
        [sys.executable, "-m", "ngramscope", "token-counts", str(path), "--tokenizer", str(tokenizer), "--out", "out.parquet"],
        cwd=tmp_path, env={**clean_environment(), "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait_until_started(process)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 130, errors
    assert b"interrupted" in errors
    assert not list(tmp_path.glob("*.parquet"))


def test_the_tokenizer_of_pythia(shared: Path, tmp_path: Path) -> None:
    data = zstandard.ZstdDecompressor().decompressobj()
    path = tmp_path / "tokenizer.json"
    path.write_bytes(data.decompress((shared / "data" / "tokenizers" / "pythia-20B_tokenizer.json.zst").read_bytes()))
    with zstandard.open(shared / "data" / "c4-sample" / "c4-sample.jsonl.zst", "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in itertools.islice(cast("IO[str]", file), 100)]
    corpus = write_jsonl(tmp_path / "c4.jsonl", texts)
    found = count_tokens([corpus], load_tokenizer(str(path)), max_tokens=64)
    assert len(found.counts) == 50277
    wanted = naive(tmp_path, texts, 64)
    assert {number: count for number, count in enumerate(found.counts.tolist()) if count} == dict(wanted)
