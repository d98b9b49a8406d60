"""Planning from a sample as a user runs it."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Cli, write_jsonl


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some 3 MB in six files, in which every fourth text has been before."""
    chance = random.Random(4)
    texts: list[str] = []
    for _ in range(6000):
        again = texts and chance.random() < 0.25
        texts.append(
            chance.choice(texts) if again else " ".join(f"w{chance.randrange(3000)}" for _ in range(chance.randrange(20, 160)))
        )
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(6):
        write_jsonl(folder / f"{number}.jsonl", texts[number * 1000 : (number + 1) * 1000])
    return folder


def planned(cli: Cli, *arguments: str | Path | int) -> dict[str, Any]:
    done = cli("plan", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    plan: dict[str, Any] = json.loads(done.stdout)
    return plan


def test_a_sample_predicts_what_counting_finds(cli: Cli, corpus: Path) -> None:
    lengths = ["--n", 3, "--n", 7]
    counted = planned(cli, corpus, *lengths, "--count")
    predicted = planned(cli, corpus, *lengths, "--sample", "20%")
    assert counted["sample"] is counted["predicted"] is None
    sample = predicted["sample"]
    assert sample["bytes_read"] == pytest.approx(0.2 * sample["bytes_total"], rel=0.01)
    assert (sample["files"], sample["files_read"], sample["files_from_beginning"]) == (6, 6, 0)
    for what in ("documents", "words"):
        real = counted["words"] if what == "words" else counted["report"]["documents"]
        assert predicted["predicted"][what]["low"] < real < predicted["predicted"][what]["high"]
    for distinct, keys, sized in zip(
        predicted["predicted"]["distinct"], counted["layout"]["sets"], predicted["layout"]["sets"], strict=True
    ):
        assert distinct["low"] < keys["sizing"]["ngrams"] < distinct["high"]
        assert sized["sizing"]["method"] == "predicted"
        assert sized["sizing"]["sized_for"] == pytest.approx(distinct["high"], abs=1)
    size = predicted["predicted"]["index_bytes"]
    assert size["low"] < counted["index_bytes"] < size["high"] == predicted["index_bytes"]
    time = predicted["time"]
    assert time["hours"] == time["hours_with_machines"] == pytest.approx(time["read_hours"] + time["insert_hours"])
    assert time["hours"] > 0
    assert planned(cli, corpus, *lengths, "--sample", "20%")["predicted"] == predicted["predicted"]
    assert planned(cli, corpus, *lengths, "--sample", "20%", "--seed", 2)["predicted"] != predicted["predicted"]


def test_an_index_is_built_from_the_plan(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    done = cli("plan", corpus, "--sample", "600KB", "--machines", 4, "--save", "plan.json")
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode()
    assert "sampled 5" in text
    assert "of 6 files (seed 1)" in text
    assert [*text.splitlines()[1].split()] == ["predicted", "low", "likely", "high"]
    assert "on 4 machines" in text
    assert cli("build-index", corpus, "--plan", "plan.json", "--out", "index").returncode == 0
    index = json.loads((tmp_path / "index" / "index.json").read_text())
    assert index["sets"][0]["sizing"]["method"] == "predicted"
    assert index["sets"][0]["rate"] < 0.005
    likely = planned(cli, corpus, "--sample", "600KB", "--size-for", "value")
    assert likely["layout"]["sets"][0]["blocks"] < json.loads((tmp_path / "plan.json").read_text())["sets"][0]["blocks"]


def test_what_is_small_or_a_stream_is_counted(cli: Cli, corpus: Path) -> None:
    assert planned(cli, corpus)["sample"] is None
    piped = cli("plan", "-", "--sample", "1KB", "--json", stdin=(corpus / "0.jsonl").read_bytes())
    assert piped.returncode == 0, piped.stderr
    assert json.loads(piped.stdout)["report"]["documents"] == 1000


def test_compressed_files_are_read_from_their_beginning(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "compressed"
    folder.mkdir()
    for path in corpus.iterdir():
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    counted = planned(cli, folder, "--count")
    done = cli("plan", folder, "--sample", "30%")
    assert done.returncode == 0, done.stderr
    assert b"can be read only from the beginning" in done.stdout
    predicted = planned(cli, folder, "--sample", "30%")
    assert predicted["sample"]["files_from_beginning"] > 0
    assert predicted["predicted"]["words"]["value"] == pytest.approx(counted["words"], rel=0.1)


def test_bad_records_of_a_sample_are_told(cli: Cli, corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    lines = (corpus / "0.jsonl").read_text().splitlines()
    (folder / "0.jsonl").write_text("\n".join(f'{line}\n{{"text": 7}}' for line in lines) + "\n")
    refused = cli("plan", folder, "--sample", "50%")
    assert refused.returncode == 1
    assert b"0.jsonl (from byte" in refused.stderr
    partial = cli("plan", folder, "--sample", "50%", "--max-bad-records", 5000)
    assert partial.returncode == 3
    assert b"without usable text" in partial.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sample", "5x"], "--sample: '5x' is not a size"),
        (["--sample", "150%"], "a share above 0 and below 1"),
        (["--sample", "2KB"], "too few to predict from"),
        (["--machines", "0"], "--machines: 0 is not possible"),
        (["--seed", "-1"], "--seed: -1 is not possible"),
    ],
)
def test_what_cannot_be_is_refused(cli: Cli, corpus: Path, options: list[str], message: str) -> None:
    refused = cli("plan", corpus, *options)
    assert refused.returncode == 2
    assert message in refused.stderr.decode()
