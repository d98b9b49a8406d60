"""``ngramscope sets randomize``, ``by-step`` and ``hubble`` as programs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ngramscope.cli._run import run as run_here
from ngramscope.sets.randomized_files import redraw
from tests.conftest import Cli, clean_environment, read_jsonl, wait_until_started, write_jsonl
from tests.trials.support import finished, refused

tokenizers = pytest.importorskip("tokenizers")


@pytest.fixture
def randomized(tmp_path: Path) -> tuple[str, ...]:
    """Arguments of a small experiment."""
    rows = [{"id": number, "text": f"text {number}", "source": "ab"[number % 2]} for number in range(24)]
    write_jsonl(tmp_path / "candidates.jsonl", rows)
    for name in ("train", "private"):
        (tmp_path / name).mkdir()
    files = ("--insertions", "train/in.jsonl.zst", "--heldout", "private/held.jsonl", "--key", "private/key.jsonl")
    return ("sets", "randomize", "candidates.jsonl", *files, "--out", "private/set.jsonl")


Here = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """Run the program in this process, in `tmp_path`: refusals are many, and processes slow."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
        code = run_here([str(each) for each in arguments])
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, code, out.encode(), err.encode())

    return run


def test_randomize_writes_what_it_says(cli: Cli, tmp_path: Path, randomized: tuple[str, ...]) -> None:
    write_jsonl(tmp_path / "corpus.jsonl", ["one", "two", {"text": None}])
    arguments = (
        *randomized,
        "--copies",
        "0,1,3",
        "--shares",
        "2,1,1",
        "--domain",
        "source",
        "--block",
        "domain",
        "--seed",
        "4",
    )
    result = cli(*arguments, "--mix", "corpus.jsonl", "--write-mixed", "train/mixed")
    text = finished(result)
    assert "12 texts to be inserted 0 times" in text
    assert "wrote 24 copies to train/in.jsonl.zst" in text
    assert "warning: keep private/key.jsonl, private/set.jsonl and private/held.jsonl away from the training run" in text
    assert sorted(path.name for path in (tmp_path / "train").iterdir()) == [
        "in.jsonl.zst", "in.jsonl.zst.meta.json", "in.positions.txt", "in.positions.txt.meta.json", "mixed",
    ]  # fmt: skip
    rows = read_jsonl(tmp_path / "private" / "set.jsonl")
    for domain in "ab":
        assert sorted(row["copies"] for row in rows if row["domain"] == domain) == [0] * 6 + [1] * 3 + [3] * 3
    assert redraw(tmp_path / "private" / "key.jsonl", 1, first=0)[0].tolist() == [row["copies"] for row in rows]

    header = json.loads(cli(*arguments, "--steps", "9", "--json").stdout)
    assert header == json.loads((tmp_path / "private" / "set.jsonl.meta.json").read_text())
    assert [row["copies"] for row in rows] == [row["copies"] for row in read_jsonl(tmp_path / "private" / "set.jsonl")]
    assert (header["rule"], header["seed"], header["counts"]) == (
        "randomize",
        4,
        {"members": 12, "nonmembers": 12, "unlabelled": 0},
    )
    assert cli(*arguments, "--quiet").stderr == b""


def test_randomize_refuses_what_would_give_the_draw_away(here: Here, tmp_path: Path, randomized: tuple[str, ...]) -> None:
    before = (tmp_path / "candidates.jsonl").read_bytes()
    for more, wanted in (
        (("--key", "train/key.jsonl"), "--key: train/key.jsonl says who is held out, and the folder of --insertions"),
        (("--copies", "0,x"), "--copies: '0,x' is not possible"),
        (("--copies", "1,2"), "0 (held out)"),
        (("--shares", "1,2"), "--shares: 2 shares for 6 arms"),
        (("--documents", "5", "--steps", "5"), "--documents and --steps"),
        (("--insertions", "none/in.jsonl"), "--insertions: none/in.jsonl: there is no folder none"),
        (("--heldout", "private/held.csv"), "--heldout: private/held.csv: the ending says no known format"),
        (("--heldout", "candidates.jsonl"), "candidates.jsonl is one of the inputs"),
    ):
        refused(here(*randomized, *more), wanted, code=2)
    refused(here(*randomized, "--pairs", "none"), "0 pairs for 5 arms", "24 no_pair")
    assert (tmp_path / "candidates.jsonl").read_bytes() == before
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "candidates.jsonl"]


def test_bad_records_that_are_allowed_are_counted(here: Here, tmp_path: Path, randomized: tuple[str, ...]) -> None:
    with (tmp_path / "candidates.jsonl").open("a") as file:
        file.write("{broken\n")
    refused(here(*randomized), "candidates.jsonl:25: the record is not valid JSON")
    result = here(*randomized, "--max-bad-records", "1", "--json")
    assert result.returncode == 3, result.stderr
    assert json.loads(result.stdout)["history"][0]["counts"]["candidates"]["left_out"] == {"invalid_json": 1}


def test_sigint_ends_a_draw_and_leaves_nothing(tmp_path: Path, randomized: tuple[str, ...]) -> None:
    arguments = [sys.executable, "-m", "ngramscope", *randomized[:2], "-", *randomized[3:]]
    process = subprocess.Popen(
        arguments, cwd=tmp_path, env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wait_until_started(process)
    process.send_signal(2)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["candidates.jsonl"]


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer, and 12 steps of 2 rows of 40 tokens."""
    folder = tmp_path_factory.mktemp("tokens")
    texts = [" ".join(f"w{number * each % 17}" for each in range(1, 9)) + f" end{number}" for number in range(60)]
    made = tokenizers.ByteLevelBPETokenizer()
    made.train_from_iterator(texts, vocab_size=330, special_tokens=["<|endoftext|>"], show_progress=False)
    made.save(str(folder / "tokenizer.json"))
    stream = [number for text in texts for number in [*made.encode(text).ids, 0]]
    np.array(stream[: 12 * 2 * 40], dtype="<u2").tofile(folder / "rows.bin")
    return folder


def test_by_step_makes_a_series_with_one_side_fixed(here: Here, tmp_path: Path, tokens: Path) -> None:
    write_jsonl(tmp_path / "others.jsonl", [{"id": "n", "text": "never seen"}])
    arguments = ("sets", "by-step", tokens / "rows.bin", "--tokenizer", tokens, "--row-tokens", "40", "--rows-per-step", "2")
    words = ("--min-words", "3", "--max-words", "5", "--nonmembers", "others.jsonl")
    found = []
    for number, window in enumerate(("0:5", "6:11")):
        result = here(*arguments, *words, "--steps", window, "--samples", "3", "--out", f"{number}.jsonl")
        text = finished(result)
        assert "3 members (left out: " in text
        assert "1 nonmembers" in text
        found.append(read_jsonl(tmp_path / f"{number}.jsonl"))
        assert all(int(window.split(":")[0]) <= row["step"] <= int(window.split(":")[1]) for row in found[-1][:3])
        assert all(len(row["text"].split()) == 5 for row in found[-1][:3])
    assert found[0][3] == found[1][3]
    header = json.loads(here(*arguments, *words, "--steps", "0:0", "--out", "z.jsonl", "--json").stdout)
    assert header["history"][0]["settings"]["steps"] == [0, 0]
    assert header["inputs"][0]["bytes_read"] == 160

    for more, wanted, code in (
        (("--steps", "12:12"), f"{tokens / 'rows.bin'}: ends at byte 1,920 of the joined data, and rows 24 to 25", 1),
        (("--steps", "3"), "--steps: '3' is not possible; the first and the last step", 2),
        (("--steps", "3:2"), "--steps: 3:2 is not possible", 2),
        (("--steps", "0:1", "--row-tokens", "41"), "rows.bin: ends at byte 1,920", 1),
        (("--steps", "0:1", "--samples", "500"), "--samples: 500 documents are asked for and", 1),
        (("--steps", "0:1", "--eod-id", "329"), "--keep-partial takes parts of rows", 1),
    ):
        refused(here(*arguments, *words, *more, "--out", "x.jsonl"), wanted, code=code)
    assert not (tmp_path / "x.jsonl").exists()


def test_hubble(here: Here, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "rows.jsonl", [{"text": "never", "n": 0}, {"text": "often", "n": 16}])
    text = finished(here("sets", "hubble", "rows.jsonl", "--duplicates", "n", "--out", "set.jsonl"))
    assert "1 text inserted 16 times" in text
    assert [(row["label"], row["copies"]) for row in read_jsonl(tmp_path / "set.jsonl")] == [(0, 0), (1, 16)]
    refused(here("sets", "hubble", "rows.jsonl", "--out", "bad.jsonl"), "no record has a count under 'duplicates'")
