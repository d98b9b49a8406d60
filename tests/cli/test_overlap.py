from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ngramscope import Index
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from tests.conftest import WORDS, Cli, read_jsonl, write_jsonl

TEXT = " ".join(WORDS)


@pytest.fixture
def candidates(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "c.jsonl", [TEXT, "alpha beta gamma x y", {"text": None}, "x"])


def score(cli: Cli, *arguments: Any) -> tuple[list[dict[str, Any]], subprocess.CompletedProcess[bytes]]:
    done = cli("overlap", *arguments)
    assert done.returncode == 0, done.stderr
    return read_jsonl(done.stdout), done


def test_one_row_a_record_and_n_in_order(cli: Cli, small_index: Path, candidates: Path) -> None:
    rows, done = score(cli, candidates, "--index", small_index)
    assert [(row["id"], row["n"]) for row in rows] == [(name, n) for name in ("d0", "d1", None, "d3") for n in (3, 5)]
    assert "source" not in rows[0]
    assert b"n = 3: 2 of 4 documents scored; 2 without overlap (1 fewer_than_n_words, 1 null_text)" in done.stderr


def test_only_the_lengths_asked_for(cli: Cli, small_index: Path, candidates: Path) -> None:
    rows, _ = score(cli, candidates, "--index", small_index, "--n", 3)
    assert [row["n"] for row in rows] == [3] * 4
    done = cli("overlap", candidates, "--index", small_index, "--n", 7)
    assert done.returncode == 1
    assert b"7" in done.stderr
    assert b"n = 3, n = 5" in done.stderr
    assert done.stdout == b""


def test_another_rule_is_refused(cli: Cli, small_index: Path, candidates: Path) -> None:
    done = cli("overlap", candidates, "--index", small_index, "--words", "whitespace")
    assert done.returncode == 1
    assert b"--words whitespace was asked for, but the index has uax29" in done.stderr
    score(cli, candidates, "--index", small_index, "--words", "uax29", "--no-lowercase")


def test_domains_are_a_column_and_summed_up(cli: Cli, small_index: Path, tmp_path: Path) -> None:
    domains = ["ArXiv", "ArXiv", "Pile-CC", None, 3]
    texts = [TEXT, "x y z", "alpha beta gamma q", "one two three", "x"]
    records = [{"text": text, "meta": {"pile_set_name": name}} for text, name in zip(texts, domains, strict=True)]
    path = write_jsonl(tmp_path / "pile.jsonl", records)
    for where in (["--index", small_index], ["--scan", path]):
        rows, done = score(cli, path, *where, "--n", 3, "--domain-key", "meta.pile_set_name", "--json")
        assert [row["domain"] for row in rows] == domains
        summed = json.loads(done.stderr)["by_n"][0]["by_domain"]
        assert [(each["domain"], each["documents"], each["scored"]) for each in summed] == [
            ("3", 1, 0), ("ArXiv", 2, 2), ("Pile-CC", 1, 1), (None, 1, 1),
        ]  # fmt: skip
        for each in summed:
            overlaps = [row["overlap"] for row in rows if row["domain"] in (each["domain"], 3) and row["overlap"] is not None]
            if each["domain"] != "3":
                assert each["mean"] == pytest.approx(sum(overlaps) / len(overlaps))
        assert summed[0]["mean"] is None
    manifest = tmp_path / "pile.toml"
    manifest.write_text(
        'format = 1\nname = "p"\n[corpus]\nkind = "files"\npaths = ["pile.jsonl"]\ndomain_key = "meta.pile_set_name"\n'
    )
    rows, done = score(cli, manifest, "--index", small_index, "--n", 3)
    assert [row["domain"] for row in rows] == domains
    assert b"  ArXiv: mean 0.5000 of 2 documents" in done.stderr
    assert b"  3: mean undefined of 0 documents" in done.stderr
    (table,) = Index.open(small_index).overlap_files(path, read=ReadOptions(domain_key="meta.pile_set_name"))
    assert table.to_arrow().column("domain").to_pylist()[::2] == [None if name is None else str(name) for name in domains]
    for options in ({"domain_key": ""}, {"domain_key": "a", "fields": ("domain",)}):
        with pytest.raises(UsageError, match="--domain-key"):
            ReadOptions(**options)


def test_evidence_fields_and_prefixes(cli: Cli, small_index: Path, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "e.jsonl", [{"id": 1, "text": "é alpha beta gamma delta x", "meta": {"date": "2020"}}])
    rows, _ = score(cli, path, "--index", small_index, "--n", 3, "--flags", "--spans", "--matches", 1, "--field", "meta.date")
    assert rows[0]["flags"] == "0110"
    assert rows[0]["spans"] == [[2, 24]]
    assert rows[0]["matches"] == ["alpha beta gamma"]
    assert rows[0]["meta.date"] == "2020"
    rows, _ = score(cli, path, "--index", small_index, "--n", 3, "--max-words", 4)
    assert (rows[0]["words"], rows[0]["hits"]) == (4, 1)
    rows, _ = score(cli, path, "--index", small_index, "--n", 3, "--max-ngrams", 1)
    assert (rows[0]["ngrams"], rows[0]["hits"]) == (1, 0)
    done = cli("overlap", path, "--index", small_index, "--field", "hits")
    assert done.returncode == 2


def test_several_inputs_name_their_source(cli: Cli, small_index: Path, candidates: Path, tmp_path: Path) -> None:
    other = write_jsonl(tmp_path / "d.jsonl", ["alpha beta gamma"])
    rows, _ = score(cli, candidates, other, "--index", small_index, "--n", 3)
    assert [row["source"] for row in rows] == ["c.jsonl"] * 4 + ["d.jsonl"]
    assert [row["position"] for row in rows] == [0, 1, 2, 3, 0]


def test_out_chooses_the_format_and_carries_provenance(cli: Cli, small_index: Path, candidates: Path, tmp_path: Path) -> None:
    rows, _ = score(cli, candidates, "--index", small_index)
    done = cli("overlap", candidates, "--index", small_index, "--out", "o.parquet")
    assert done.stdout == b""
    assert pq.read_table(tmp_path / "o.parquet")["hits"].to_pylist() == [row["hits"] for row in rows]
    provenance = json.loads(pq.read_metadata(tmp_path / "o.parquet").metadata[b"ngramscope"])
    assert provenance["format_version"] == 1
    assert provenance["settings"]["n"] == [3, 5]
    assert provenance["settings"]["indexes"][0]["name"] == "greek"
    assert len(provenance["inputs"][0]["blake3"]) == 64
    done = cli("overlap", candidates, "--index", small_index, "--out", candidates)
    assert done.returncode == 2
    assert b"one of the inputs" in done.stderr


def test_the_summary_for_machines_is_one_json_object_on_standard_error(cli: Cli, small_index: Path, candidates: Path) -> None:
    done = cli("overlap", candidates, "--index", small_index, "--json")
    facts = json.loads(done.stderr)
    assert facts["documents"] == 4
    assert facts["inputs"]["records"] == 4
    assert facts["warnings"] == []
    assert [each["n"] for each in facts["by_n"]] == [3, 5]


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_histogram_of_several_inputs(cli: Cli, small_index: Path, candidates: Path, tmp_path: Path, ending: str) -> None:
    other = write_jsonl(tmp_path / "d.jsonl", ["alpha beta gamma"])
    score(cli, candidates, other, "--index", small_index, "--plot", f"h.{ending}")
    assert (tmp_path / f"h.{ending}").stat().st_size > 1000


def test_left_out_records_end_with_three(cli: Cli, small_index: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": 1, "text": "alpha beta gamma"}\nnot json\n{"id": 3, "text": "x y z"}\n')
    done = cli("overlap", path, "--index", small_index)
    assert done.returncode == 1
    assert b"bad.jsonl" in done.stderr
    assert b"2" in done.stderr
    done = cli("overlap", path, "--index", small_index, "--n", 3, "--max-bad-records", 1)
    assert done.returncode == 3
    rows = read_jsonl(done.stdout)
    assert [row["position"] for row in rows] == [0, 1, 2]  # rows line up with the input
    assert rows[1]["null_reason"]
    assert rows[1]["overlap"] is None
    assert b"bad.jsonl: 1 record without usable text (invalid_json)" in done.stderr


def test_a_failure_leaves_no_table(cli: Cli, small_index: Path, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": 1, "text": "alpha beta gamma"}\nnot json\n')
    done = cli("overlap", path, "--index", small_index, "--out", "o.jsonl")
    assert done.returncode == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.jsonl"]


def test_an_empty_index_is_a_loud_warning(cli: Cli, candidates: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    done = cli("build-index", "empty.jsonl", "--out", "empty")
    assert done.returncode == 0, done.stderr
    assert b"EMPTY" in done.stderr
    _, done = score(cli, candidates, "--index", "empty")
    assert done.stderr.count(b"EMPTY") == 2


def test_scoring_leaves_the_index_as_it_is(cli: Cli, candidates: Path, small_index: Path) -> None:
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in small_index.iterdir()}
    first, _ = score(cli, candidates, "--index", small_index)
    again, _ = score(cli, candidates, "--index", small_index, "--load", "--threads", 1)
    assert first == again
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in small_index.iterdir()} == before


def test_explain_with_and_without_an_index(cli: Cli, small_index: Path) -> None:
    done = cli("explain", "alpha beta gamma x", "--index", small_index, "--n", 3)
    assert b"hit   'alpha beta gamma'" in done.stdout
    assert b"miss  'beta gamma x'" in done.stdout
    done = cli("explain", "A b.", "--words", "gpt3", "--n", 2, "--json")
    facts = json.loads(done.stdout)
    assert facts["rule"]["words"] == "gpt3"
    assert facts["ngrams"]["2"] == [{"text": "A b.", "start": 0, "end": 4, "hit": None}] or len(facts["ngrams"]["2"]) == 1
    done = cli("explain", "-", "--n", 2, stdin="größer als x")
    assert "'größer als'".encode() in done.stdout


@pytest.mark.parametrize("named", ["file", "folder", "glob", "link"])
def test_no_output_replaces_an_input(cli: Cli, small_index: Path, tmp_path: Path, named: str) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    inputs = [write_jsonl(folder / name, [TEXT]) for name in ("a.jsonl", "t.jsonl.meta.json")]
    plot = folder / "t.svg"
    plot.write_text(TEXT, encoding="utf-8")
    (tmp_path / "link").symlink_to(folder)
    inputs.append(plot)
    before = [each.read_bytes() for each in inputs]
    argument = {"file": folder / "a.jsonl", "folder": folder, "glob": folder / "*", "link": tmp_path / "link"}[named]
    outputs = [("--out", folder / "a.jsonl")]
    if named != "file":
        outputs += [("--out", folder / "t.jsonl"), ("--plot", plot)]
    for option, output in outputs:
        done = cli("overlap", argument, "--index", small_index, option, output)
        assert done.returncode == 2, (option, output)
        assert option.encode() in done.stderr
        assert b"is one of the inputs" in done.stderr
    assert [each.read_bytes() for each in inputs] == before


def test_a_folder_in_the_way_of_the_table_is_refused(cli: Cli, small_index: Path, candidates: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    done = cli("overlap", candidates, "--index", small_index, "--out", tmp_path / "t.csv")
    assert done.returncode == 2
    assert not (tmp_path / "t.csv.meta.json").exists()


def test_the_same_index_twice_counts_once(cli: Cli, small_index: Path, candidates: Path, tmp_path: Path) -> None:
    (tmp_path / "again").symlink_to(small_index)
    once, _ = score(cli, candidates, "--index", small_index)
    twice, _ = score(cli, candidates, "--index", small_index, "--index", tmp_path / "again")
    assert once == twice


def test_a_strict_run_that_fails_writes_no_rows_of_that_part(cli: Cli, small_index: Path, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "bad.jsonl", [TEXT, {"text": 5}])
    done = cli("overlap", path, "--index", small_index)
    assert done.returncode == 1
    assert done.stdout == b""
    assert b"bad.jsonl:2" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["--include", "["], b"--include"),
        (["--id-key", ""], b"--id-key"),
        (["--field", ""], b"--field"),
        (["--index", ""], b"--index"),
    ],
)
def test_values_that_make_no_sense_are_refused_by_option(
    cli: Cli, small_index: Path, candidates: Path, arguments: list[str], option: bytes
) -> None:
    index = [] if "--index" in arguments else ["--index", small_index]
    done = cli("overlap", candidates, *index, *arguments)
    assert done.returncode == 2, done.stderr
    assert option in done.stderr
