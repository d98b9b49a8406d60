"""``ngramscope sets import``, ``export`` and ``formats`` as they are typed."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ngramscope.cli._run import run as run_here
from ngramscope.sets.formats import formats
from tests.conftest import ROOT, Cli, read_jsonl
from tests.hub_server import hub
from tests.trials.support import finished, refused


def test_a_table_to_a_set_and_back(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text('body,seen,published\n"a, b",1,2020-01-02\nc,0,\n', encoding="utf-8")
    done = cli(
        "sets", "import", "table.csv", "--text", "body", "--label", "seen", "--date-key", "published", "--out", "set.jsonl"
    )
    said = finished(done)
    assert done.stdout == b""
    assert "read as csv: csv with the key body" in said
    assert "2 candidates: 1 member, 1 non-member, 0 unlabelled; wrote set.jsonl" in said
    rows = read_jsonl(tmp_path / "set.jsonl")
    assert [(row["text"], row["label"], row["date"], row["source"]) for row in rows] == [
        ("a, b", 1, "2020-01-02", "table.csv"),
        ("c", 0, None, "table.csv"),
    ]
    done = cli("sets", "export", "set.jsonl", "--format", "wikimia", "--out", "out.jsonl")
    assert "wikimia does not hold these columns, which so many candidates had: date (1)\n" in finished(done)
    assert read_jsonl(tmp_path / "out.jsonl") == [{"input": "a, b", "label": 1}, {"input": "c", "label": 0}]
    done = cli("sets", "export", "set.jsonl", "--format", "parquet", "--out", "out.parquet", "--json", "--quiet")
    assert finished(done) == ""
    assert json.loads(done.stdout)["counts"] == {"members": 1, "nonmembers": 1, "unlabelled": 0}
    assert pq.read_table(tmp_path / "out.parquet")["text"].to_pylist() == ["a, b", "c"]


def test_repositories_of_the_hub_are_read_as_plain_files(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    cache = "cache_100_200_1000_512"
    served = {
        "README.md": b"# MIMIR\n",
        "mimir.py": b"raise SystemExit('a loading script is never run')\n",
        **{
            f"{cache}/{side}/{name}.jsonl": json.dumps(f"{side} {name}").encode() + b"\n"
            for side in ("train", "test")
            for name in ("wikipedia_(en)_ngram_13_0.8", "wikipedia_(en)_ngram_7_0.2", "c4")
        },
    }
    with hub(served) as (address, asked):
        env = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
        # A name as the hub has it, and one with a scheme.
        for number, name in enumerate(("some/set", "hf://some/set")):
            out = tmp_path / f"set{number}.jsonl"
            choice = ("--config", "wikipedia_(en)", "--split", "ngram_13_0.8")
            finished(cli("sets", "import", name, *choice, "--out", out, "--quiet", env=env))
            texts = [(row["text"], row["label"], row["source"]) for row in read_jsonl(out)]
            where = f"hf://datasets/some/set/{cache}"
            assert texts == [
                ("train wikipedia_(en)_ngram_13_0.8", 1, f"{where}/train/wikipedia_(en)_ngram_13_0.8.jsonl"),
                ("test wikipedia_(en)_ngram_13_0.8", 0, f"{where}/test/wikipedia_(en)_ngram_13_0.8.jsonl"),
            ]
        # Of the texts, what was asked for and what the layout was told by; nothing that is no data.
        assert not any(path.endswith((".md", ".py")) for path in asked if "/resolve/" in path)
        refused(cli("sets", "import", "some/set", "--out", "no.jsonl", env=env), "--config", "c4, wikipedia_(en)", code=2)


def test_a_split_of_wikimia_from_the_hub(cli: Cli, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    served = {}
    for length in (32, 64):
        sink = io.BytesIO()
        pq.write_table(pa.table({"input": [f"member {length}", f"other {length}"], "label": [1, 0]}), sink)
        served[f"data/WikiMIA_length{length}-00000-of-00001.parquet"] = sink.getvalue()
    with hub(served) as (address, _):
        env = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
        done = cli(
            "sets", "import", "hf://datasets/some/set/data", "--split", "WikiMIA_length64", "--out", "set.jsonl", env=env
        )
        assert "read as wikimia" in finished(done)
        texts = [(row["text"], row["label"]) for row in read_jsonl(tmp_path / "set.jsonl")]
        assert texts == [("member 64", 1), ("other 64", 0)]


def test_what_is_neither_here_nor_on_the_hub(cli: Cli, tmp_path: Path) -> None:
    with hub({}) as (address, _):
        env = {"HF_ENDPOINT": address, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "0"}
        refused(cli("sets", "import", "no/such", "--out", "set.jsonl", env=env), "no/such: no such file here")
    (tmp_path / "empty").mkdir()
    refused(cli("sets", "import", "empty", "--out", "set.jsonl"), "empty: no file of data")


def here(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run in this process."""
    code = run_here(["sets", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_options_that_cannot_be(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text('{"text": "a", "label": 1}\n', encoding="utf-8")
    for arguments, wanted in (
        (("import", "a.jsonl", "--out", "set.jsonl", "--format", "csvv"), "'csvv' is not known; known: bff, blind-mia"),
        (("import", "a.jsonl", "--out", "set.jsonl", "--field", "label"), "--field: 'label' is not possible"),
        (("import", "a.jsonl", "--out", "set.txt"), "--out: set.txt: the ending says no known format"),
        (("import", "a.jsonl", "--out", "a.jsonl"), "--out: a.jsonl is one of the inputs"),
        (("export", "a.jsonl", "--format", "csv", "--out", "a.csv"), "no candidate set; make one with"),
    ):
        code, out, errors = here(capsys, *arguments)
        assert (code, out) == (2, "")
        assert wanted in errors
    assert here(capsys, "import", "a.jsonl", "--out", "set.jsonl", "--quiet") == (0, "", "")
    code, _, errors = here(capsys, "export", "set.jsonl", "--format", "mimir", "--out", "cache")
    assert code == 2
    assert "--config, --min-words, --max-words, --max-tokens: the set's history does not say" in errors
    numbers = ("--config", "c", "--min-words", "1", "--max-words", "2", "--max-tokens", "3")
    code, _, errors = here(capsys, "export", "set.jsonl", "--format", "mimir", "--out", "cache", *numbers)
    assert code == 0
    assert "warning: 1 members and 0 non-members" in errors
    assert Path("cache/cache_1_2_1_3/train/c.jsonl").read_bytes() == b'"a"\n'


def test_records_left_out_are_listed_and_end_with_3(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl").write_text('{"text": "a", "label": 1}\nbroken\n', encoding="utf-8")
    code, out, errors = here(capsys, "import", "a.jsonl", "--out", "set.jsonl")
    assert (code, out) == (1, "")
    assert "a.jsonl:2" in errors
    assert not Path("set.jsonl").exists()
    code, _, errors = here(capsys, "import", "a.jsonl", "--out", "set.jsonl", "--max-bad-records", "1")
    assert code == 3
    assert "1 record without usable text (invalid_json)" in errors


def test_the_list_of_formats(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = here(capsys, "formats")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(formats())
    _, out, _ = here(capsys, "formats", "--json")
    assert [each["name"] for each in json.loads(out)["formats"]] == list(formats())


def test_the_manual_has_every_format_and_says_what_is_written() -> None:
    manual = (ROOT / "docs" / "sets" / "formats.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| (yes|no) \|", manual, flags=re.MULTILINE))
    assert rows == {name: "no" if each.keeps is None else "yes" for name, each in formats().items()}
