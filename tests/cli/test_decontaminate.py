"""``ngramscope decontaminate``: rules, evidence, what is written again and what is refused."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
import zstandard

from ngramscope.cli._run import run as run_here
from tests.conftest import Cli


def words(prefix: str, count: int) -> str:
    return " ".join(f"{prefix}{number}" for number in range(count))


ITEM = words("q", 20)
PLAIN = words("plain", 100)


def write(path: Path, rows: list[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    return write(tmp_path / "reference.jsonl", [{"id": "item", "text": ITEM}])


def rows_of(text: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def run(cli: Cli, *arguments: str | Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows, and the summary."""
    result = cli("decontaminate", *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return rows_of(result.stdout), json.loads(result.stderr)


def clean(cli: Cli, *arguments: str | Path, out: Path) -> dict[str, Any]:
    result = cli("decontaminate", *arguments, "--clean", out, "--json")
    assert result.returncode == 0, result.stderr
    summary: dict[str, Any] = json.loads(result.stderr)
    return summary


def test_every_record_has_a_row_and_the_counts_add_up(cli: Cli, tmp_path: Path, reference: Path) -> None:
    texts = [
        {"id": "clean", "text": PLAIN},
        {"id": 12345678901234567890123, "text": f"{PLAIN} {ITEM}"},
        {"id": "short", "text": "too short"},
        {"id": "null", "text": None},
    ]
    rows, summary = run(cli, write(tmp_path / "texts.jsonl", texts), "--reference", reference)
    assert [row["id"] for row in rows] == [each["id"] for each in texts]
    assert [row["contaminated"] for row in rows] == [False, True, None, None]
    assert [row["null_reason"] for row in rows] == [None, None, "fewer_than_n_words", "null_text"]
    assert (summary["records"], summary["clean"], summary["contaminated"]) == (4, 1, 1)
    assert summary["unjudged"] == {"fewer_than_n_words": 1, "null_text": 1}
    found = rows[1]
    assert (found["words"], found["ngrams"], found["hits"], found["longest_run"], found["rule"]) == (120, 108, 8, 8, "hits")
    (evidence,) = found["evidence"]
    assert texts[1]["text"][evidence["start"] : evidence["end"]] == evidence["text"] == ITEM
    assert evidence["items"] == [{"source": "reference.jsonl", "line": 1, "id": "item"}]


def test_offsets_are_of_the_original_text(cli: Cli, tmp_path: Path) -> None:
    # gpt3 words: punctuation goes and letters are lower-cased before n-grams are made; 🦉 is one character.
    item = "The quick, brown fox (so they say) jumps over the lazy dog again and again!"
    reference = write(tmp_path / "reference.jsonl", [{"text": item.upper()}])
    text = f"🦉 é — {item} — the end of it all"
    ((row,), _) = run(cli, write(tmp_path / "texts.jsonl", [{"text": text}]), "--reference", reference, "--preset", "gpt3")
    (evidence,) = row["evidence"]
    assert text[evidence["start"] : evidence["end"]] == evidence["text"] == item[:-1]


@pytest.mark.parametrize("tiers", ["1", "2"])
def test_the_border_of_mimir_and_of_the_paper(cli: Cli, tmp_path: Path, tiers: str) -> None:
    corpus = write(tmp_path / "corpus.jsonl", [{"text": words("c", 21)}, {"text": words("c", 18)}])
    assert cli("build-index", corpus, "--n", "13", "--tiers", tiers, "--out", "index", "--filter-fpr", "1e-6").returncode == 0
    # 10 n-grams, of which 8, 7 and 9 are in the corpus.
    texts = [{"id": kept, "text": f"{words('c', 12 + kept)} {words('x', 10 - kept)}"} for kept in (8, 7, 9)]
    file = write(tmp_path / "texts.jsonl", texts)
    for more, contaminated in (([], [True, False, True]), (["--max-inclusive"], [False, False, True])):
        rows, summary = run(cli, file, "--index", "index", *more)
        assert [row["overlap"] for row in rows] == [0.8, 0.7, 0.9]
        assert [row["contaminated"] for row in rows] == contaminated
        assert summary["preset"] == "mimir"
    rows, _ = run(cli, file, "--reference", corpus, "--preset", "mimir")
    assert [row["contaminated"] for row in rows] == [True, False, True]


def test_bff_judges_lines_by_themselves_and_short_ones_as_a_whole(cli: Cli, tmp_path: Path) -> None:
    reference = write(tmp_path / "reference.jsonl", [{"text": f"{words('q', 13)}\n{words('s', 6)}\ntoo short line"}])
    text = f"{words('a', 30)}\n{words('q', 13)}\n{words('s', 6)}\n{words('s', 7)}\ntoo short line\n{words('b', 3)}"
    file = write(tmp_path / "texts.jsonl", [{"text": text, "more": 1}])
    ((row,), _) = run(cli, file, "--reference", reference, "--preset", "bff")
    assert (row["units"], row["contaminated_units"], row["rule"]) == (4, 2, "overlap")
    clean(cli, file, "--reference", reference, "--preset", "bff", "--remove", "spans", out=tmp_path / "clean")
    (kept,) = rows_of((tmp_path / "clean" / "texts.jsonl").read_bytes())
    assert kept == {"text": f"{words('a', 30)}\n{words('s', 7)}\ntoo short line\n{words('b', 3)}", "more": 1}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_end_of_a_line_goes_with_it(cli: Cli, tmp_path: Path, end: str) -> None:
    known = words("q", 13)
    reference = write(tmp_path / "reference.jsonl", [{"text": known}])
    lines = [words("a", 20), words("b", 20)]
    texts = [[known, *lines], [lines[0], known, lines[1]], [*lines, known]]
    file = write(tmp_path / "texts.jsonl", [{"text": end.join(text)} for text in texts])
    clean(cli, file, "--reference", reference, "--preset", "bff", "--remove", "spans", out=tmp_path / "clean")
    kept = [row["text"] for row in rows_of((tmp_path / "clean" / "texts.jsonl").read_bytes())]
    assert kept == [end.join(lines), end.join(lines), end.join([*lines, ""])]


def test_gpt3_cuts_around_matches_and_drops_small_pieces(cli: Cli, tmp_path: Path, reference: Path) -> None:
    head, tail, small = "h" * 450, "t" * 500, "s" * 300
    texts = [
        {"id": "cut", "text": f"{head} {ITEM} {tail}"},
        {"id": "one side", "text": f"{small} {ITEM} {tail}"},
        {"id": "nothing", "text": f"{small} {ITEM}"},
        {"id": "pieces", "text": f" {ITEM} ".join([head] * 12)},
        {"id": "ten", "text": f" {ITEM} ".join([head] * 10)},
    ]
    file = write(tmp_path / "texts.jsonl", texts)
    summary = clean(cli, file, "--reference", reference, "--preset", "gpt3", "--remove", "spans", out=tmp_path / "clean")
    kept = {row["id"]: row["text"] for row in rows_of((tmp_path / "clean" / "texts.jsonl").read_bytes())}
    # 200 characters go on either side, the space beside the match among them.
    assert kept["cut"] == head[:251] + "\n\n" + tail[:301]
    assert kept["one side"] == tail[:301]
    # Ten pieces, of which the eight in the middle are too short; eleven would be too many.
    assert kept["ten"] == head[:251] + "\n\n" + head[-251:]
    assert kept.keys() == {"cut", "one side", "ten"}
    assert summary["by_removal"] == {"cut": 3, "nothing_left": 1, "too_many_pieces": 1}
    removed = sum(len(each["text"]) for each in texts) - sum(len(text.replace("\n\n", "")) for text in kept.values())
    assert summary["removed_characters"] == removed


def test_ngrams_of_many_documents_do_not_count(cli: Cli, tmp_path: Path, reference: Path) -> None:
    common = [{"id": number, "text": f"{words(f'd{number}x', 20)} {ITEM} {ITEM}"} for number in range(3)]
    file = write(tmp_path / "texts.jsonl", common)
    for most, contaminated in ((2, 0), (3, 3)):
        rows, summary = run(cli, file, "--reference", reference, "--max-hits", "0", "--max-documents", str(most))
        assert summary["contaminated"] == contaminated
        assert summary["reference"]["common_ngrams"] == (8 if most == 2 else 0)
        assert [row["hits"] > 0 for row in rows] == [contaminated > 0] * 3


def test_rules_that_act_on_few_hits_refuse_an_index_with_false_ones(cli: Cli, tmp_path: Path) -> None:
    reference = write(tmp_path / "reference.jsonl", [{"text": words("r", 20_000)}])
    texts = write(tmp_path / "texts.jsonl", [{"text": PLAIN}])
    cli("build-index", reference, "--n", "13", "--out", "filter")
    cli("build-index", reference, "--n", "13", "--out", "exact", "--filter", "exact")
    for rule, refused in (
        (["--max-hits", "0"], True),
        (["--max-run", "0"], True),
        (["--max-hits", "20"], False),
    ):
        result = cli("decontaminate", texts, "--index", "filter", *rule)
        assert (result.returncode == 2) == refused, result.stderr
        if refused:
            assert rule[0].encode() in result.stderr
            assert b"--reference" in result.stderr
        assert cli("decontaminate", texts, "--index", "exact", *rule).returncode == 0


def test_unprotected_items_are_listed(cli: Cli, tmp_path: Path) -> None:
    reference = write(
        tmp_path / "reference.jsonl", [{"id": 1, "text": ITEM}, {"id": "b", "text": "a short one"}, {"id": 3, "text": ""}]
    )
    texts = write(tmp_path / "texts.jsonl", [{"text": PLAIN}])
    _, summary = run(cli, texts, "--reference", reference)
    assert [(each["line"], each["id"], each["words"], each["reason"]) for each in summary["unprotected"]] == [
        (2, "b", 3, "fewer_than_n_words"),
        (3, 3, 0, "fewer_than_n_words"),
    ]
    result = cli("decontaminate", texts, "--reference", reference)
    assert b"2 items of the reference are UNPROTECTED" in result.stderr


def test_a_reference_without_ngrams_is_a_loud_nothing(cli: Cli, tmp_path: Path) -> None:
    texts = write(tmp_path / "texts.jsonl", [{"text": PLAIN}])
    for number, items in enumerate(([], [{"text": "a short one"}])):
        reference = write(tmp_path / f"reference-{number}.jsonl", items)
        result = cli("decontaminate", texts, "--reference", reference)
        assert result.returncode == 0
        assert b"the reference is EMPTY" in result.stderr


def test_edited_and_wrapped_copies_stay_visible(cli: Cli, tmp_path: Path) -> None:
    long = words("q", 60)
    reference = write(tmp_path / "reference.jsonl", [{"id": "item", "text": long}])
    edited = " ".join("EDITED" if number % 10 == 5 else word for number, word in enumerate(long.split()))
    wrapped = "\n".join(" ".join(long.split()[at : at + 7]) for at in range(0, 60, 7))
    texts = write(
        tmp_path / "texts.jsonl",
        [
            {"id": "edited", "text": f"{PLAIN} {edited} {PLAIN}"},
            {"id": "wrapped", "text": f"{PLAIN}\n{wrapped}\n{PLAIN}"},
            {"id": "plain", "text": PLAIN},
        ],
    )
    rows, _ = run(cli, texts, "--reference", reference, "--max-near", "0.5")
    by_id = {row["id"]: row for row in rows}
    # Every tenth word breaks every 13-gram; of the 56 5-grams those with an edited word are lost.
    assert by_id["edited"]["hits"] == 0
    assert by_id["edited"]["near_score"] == pytest.approx(26 / 56)
    assert by_id["edited"]["near_item"]["id"] == "item"
    assert by_id["wrapped"]["near_score"] == 1.0
    assert by_id["wrapped"]["longest_run"] == 48
    assert (by_id["plain"]["near_score"], by_id["plain"]["near_item"]) == (None, None)
    rows, _ = run(cli, texts, "--reference", reference, "--max-near", "0.4")
    (evidence,) = next(row for row in rows if row["id"] == "edited")["evidence"]
    assert (evidence["near"], evidence["items"][0]["id"]) == (True, "item")
    assert evidence["text"] == " ".join(edited.split()[:60])[: len(evidence["text"])]
    # Lines are the units of bff: a copy wrapped at seven words escapes its rule, but not the near-match score.
    rows, _ = run(cli, texts, "--reference", reference, "--preset", "bff")
    wrapped_row = next(row for row in rows if row["id"] == "wrapped")
    assert (wrapped_row["contaminated"], wrapped_row["near_score"]) == (False, 1.0)


COMPRESSIONS: Mapping[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "": (bytes, bytes),
    ".gz": (gzip.compress, gzip.decompress),
    ".bz2": (bz2.compress, bz2.decompress),
    ".xz": (lzma.compress, lzma.decompress),
    ".zst": (
        lambda data: zstandard.ZstdCompressor().compress(data),
        lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    ),
}


@pytest.mark.parametrize("ending", COMPRESSIONS)
def test_what_is_left_alone_stays_byte_for_byte(cli: Cli, tmp_path: Path, reference: Path, ending: str) -> None:
    pack, unpack = COMPRESSIONS[ending]
    kept = f'{{"x" : 1.50,  "text":"caf\\u00e9 {PLAIN}", "n": 123456789012345678901234567890}}\r\n'.encode()
    tail = '{"text": "no line end", "é": [1, {"a": null}]}'.encode()
    cut = f'{{"id":7, "text" : "{"h" * 30} {ITEM}", "z":  true }}\n'.encode()
    (tmp_path / f"sub{ending}").mkdir()
    (tmp_path / f"sub{ending}" / f"texts.jsonl{ending}").write_bytes(pack(kept + b"\n" + cut + tail))
    arguments = (tmp_path / f"sub{ending}", "--reference", reference, "--max-hits", "0")
    clean(cli, *arguments, "--remove", "documents", out=tmp_path / "documents")
    assert unpack((tmp_path / "documents" / f"texts.jsonl{ending}").read_bytes()) == kept + b"\n" + tail
    clean(cli, *arguments, "--remove", "spans", out=tmp_path / "spans")
    cut = f'{{"id":7, "text" : "{"h" * 30} ", "z":  true }}\n'.encode()
    assert unpack((tmp_path / "spans" / f"texts.jsonl{ending}").read_bytes()) == kept + b"\n" + cut + tail
    stamp = json.loads((tmp_path / "spans" / "decontamination.json").read_text())
    assert stamp["artefact"] == "decontamination"
    assert {each["name"] for each in stamp["inputs"]} == {f"texts.jsonl{ending}", "reference.jsonl"}


@pytest.mark.parametrize("kind", ["parquet", "arrow file", "arrow stream"])
def test_tables_are_kept_by_value(cli: Cli, tmp_path: Path, reference: Path, kind: str) -> None:
    texts = [PLAIN, f"head {ITEM}", None, f"{ITEM}", PLAIN]
    table = pa.table(
        {
            "number": pa.array([1, 2, None, 4, 5], pa.int16()),
            "meta": pa.array([{"text": text, "k": [1]} for text in texts]),
        }
    ).replace_schema_metadata({"mine": "kept"})
    source = tmp_path / f"texts.{'parquet' if kind == 'parquet' else 'arrow'}"
    if kind == "parquet":
        pq.write_table(table, source, row_group_size=2, compression="gzip")
    else:
        with (ipc.new_file if kind == "arrow file" else ipc.new_stream)(source, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
    clean(
        cli, source, "--text-key", "meta.text", "--reference", reference, "--reference-text-key", "text", "--max-hits", "0",
        "--remove", "spans", out=tmp_path / "clean",
    )  # fmt: skip
    target = tmp_path / "clean" / source.name
    if kind == "parquet":
        out = pq.read_table(target)
        assert pq.ParquetFile(target).metadata.row_group(0).column(0).compression == "GZIP"
        assert pq.ParquetFile(target).metadata.num_row_groups == 3
    else:
        with pa.memory_map(str(target)) as file:
            out = (ipc.open_file if kind == "arrow file" else ipc.open_stream)(file).read_all()
    assert out.schema.equals(table.schema)
    assert (out.schema.metadata or {})[b"mine"] == b"kept"
    wanted = [
        {**row, "meta": {**row["meta"], "text": "head "}} if row["number"] == 2 else row
        for row in table.to_pylist()
        if row["number"] != 4
    ]
    assert out.to_pylist() == wanted


def clean_here(folder: Path, texts: Path, reference: Path, *more: str) -> int:
    return run_here(["decontaminate", str(texts), "--reference", str(reference), "--max-hits", "0", "--remove", "spans", "--quiet",
                     "--clean", str(folder), "--out", f"{folder}.jsonl", *more])  # fmt: skip


def test_the_summary_says_the_rules_as_options(tmp_path: Path, reference: Path, capfd: pytest.CaptureFixture[str]) -> None:
    texts = str(write(tmp_path / "texts.jsonl", [{"text": ITEM}]))
    given = ["decontaminate", texts, "--reference", str(reference), "--out", f"{tmp_path}/rows.jsonl"]
    spans = ["--remove", "spans", "--clean", f"{tmp_path}/clean"]
    for more, said in (
        ([], "(preset gpt3): --words gpt3 --n 13 --max-hits 0 --max-documents 10 --near 5"),
        (["--preset", "bff"], "(preset bff): --words uax29 --n 13 --unit paragraph --min-n 5 --max-overlap 0.8 --max-inclusive --near 5"),
        (["--max-run", "2", "--lowercase", *spans], "(preset none): --words uax29 --lowercase --n 13 --max-run 2 --near 5"),
        (["--preset", "gpt3", "--remove", "spans", "--clean", f"{tmp_path}/cut"], "--near 5 --around 200 --min-piece 200 --max-pieces 10"),
    ):  # fmt: skip
        assert run_here([*given, *more]) == 0
        assert f"{said}\n" in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["uncompressed", "string_view", "binary_view", "run_end_encoded"])
def test_tables_of_all_types_are_kept(tmp_path: Path, reference: Path, kind: str) -> None:
    texts = pa.array([PLAIN, f"head {ITEM}", ITEM])
    columns = {"text": texts, "other": pa.array(["a", "a", "b"])}
    if kind == "run_end_encoded":
        columns["other"] = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", "b"]))
    elif kind != "uncompressed":
        view = pa.string_view() if kind == "string_view" else pa.binary_view()
        columns = {name: each.cast(pa.binary() if kind == "binary_view" else pa.string()).cast(view)
                   for name, each in columns.items()}  # fmt: skip
    table = pa.table(columns)
    source = tmp_path / f"t.{'parquet' if kind == 'uncompressed' else 'arrow'}"
    if kind == "uncompressed":
        pq.write_table(table, source, compression={"text": "zstd", "other": "none"})
    else:
        with ipc.new_file(source, table.schema) as writer:
            writer.write_table(table)
    assert clean_here(tmp_path / "clean", source, reference) == 0
    target = tmp_path / "clean" / source.name
    out = pq.read_table(target) if kind == "uncompressed" else ipc.open_file(target).read_all()
    assert out.schema.equals(table.schema)
    head: Any = b"head " if kind == "binary_view" else "head "
    assert out.to_pylist() == [table.to_pylist()[0], {**table.to_pylist()[1], "text": head}]


@pytest.mark.parametrize("kind", ["in the middle", "at the end", "whole"])
def test_damaged_tables_are_left_out_as_other_files_are(
    tmp_path: Path, reference: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "good.jsonl", [{"text": PLAIN}])
    table = pa.table({"text": [f"{PLAIN} {number}" for number in range(300)]})
    source = tmp_path / "in" / ("t.parquet" if kind == "in the middle" else "t.arrow")
    if kind == "in the middle":
        pq.write_table(table, source, row_group_size=100, compression="zstd")
        data = bytearray(source.read_bytes())
        at = pq.ParquetFile(source).metadata.row_group(1).column(0).data_page_offset
        data[at + 20 : at + 80] = bytes(60)
        source.write_bytes(data)
    else:
        with (ipc.new_stream if kind == "at the end" else ipc.new_file)(source, table.schema) as writer:
            writer.write_table(table, max_chunksize=100)
        source.write_bytes(source.read_bytes()[:-5000])
    assert clean_here(tmp_path / "clean", source.parent, reference) == 1
    message = capfd.readouterr().err
    assert f"{source.name}: damaged" in message
    assert message.count("\n") == 1
    assert clean_here(tmp_path / "clean", source.parent, reference, "--max-bad-files", "1") == 3
    kept = {each.name for each in (tmp_path / "clean").iterdir()} - {"decontamination.json", "good.jsonl"}
    assert kept == (set() if kind == "whole" else {source.name})
    if kind == "in the middle":
        assert pq.read_table(tmp_path / "clean" / source.name).to_pylist() == table.to_pylist()[:100]


def test_names_of_cleaned_copies(tmp_path: Path, reference: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number, name in enumerate((b"a\xff.jsonl", b"a\xfe.jsonl")):
        write(folder / os.fsdecode(name), [{"text": f"{PLAIN} {number}"}])
    assert clean_here(tmp_path / "clean", folder, reference) == 0
    (tmp_path / "clean" / "decontamination.json").unlink()
    assert {each.name: each.read_text() for each in (tmp_path / "clean").iterdir()} == {
        each.name: each.read_text() for each in folder.iterdir()
    }
    # In a folder it is taken for the report of an earlier run; by its name it is a text.
    named = write(folder / "decontamination.json", [{"text": PLAIN}])
    assert clean_here(tmp_path / "again", folder, reference) == 0
    assert clean_here(tmp_path / "other", named, reference) == 2
    assert "--clean: decontamination.json: " in capfd.readouterr().err


@pytest.mark.parametrize("name", [".", "link", "dangling"])
def test_folders_that_cannot_be_replaced_are_refused_first(
    tmp_path: Path, reference: Path, name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    (tmp_path / "dangling").symlink_to("nowhere")
    monkeypatch.chdir(tmp_path / "empty" if name == "." else tmp_path)
    assert clean_here(Path(name), write(tmp_path / "texts.jsonl", [{"text": PLAIN}]), reference) == 2
    assert f"--clean: {name} is a link, a mount point or the current folder" in capfd.readouterr().err


@pytest.mark.parametrize("ending", ["jsonl.gz", "csv", "parquet"])
def test_rows_as_files(cli: Cli, tmp_path: Path, reference: Path, ending: str) -> None:
    texts = write(tmp_path / "texts.jsonl", [{"id": "a", "text": ITEM, "f": 1}, {"id": 2, "text": PLAIN}, {"text": ""}])
    out = tmp_path / f"rows.{ending}"
    result = cli("decontaminate", texts, "--reference", reference, "--out", out, "--field", "f")
    assert (result.returncode, result.stdout) == (0, b""), result.stderr
    if ending == "jsonl.gz":
        rows = rows_of(gzip.decompress(out.read_bytes()))
        assert [(row["id"], row["contaminated"], row["f"]) for row in rows] == [
            ("a", True, 1),
            (2, False, None),
            (None, None, None),
        ]
    elif ending == "parquet":
        read = pq.read_table(out)
        assert json.loads(pq.read_metadata(out).metadata[b"ngramscope"])["artefact"] == "decontamination"
        rows = read.to_pylist()
        assert [(row["id"], row["contaminated"], row["f"]) for row in rows] == [
            ("a", True, "1"),
            ("2", False, None),
            (None, None, None),
        ]
        assert json.loads(rows[0]["evidence"])[0]["items"][0]["id"] == "item"
        assert rows[2]["overlap"] is None
    else:
        lines = out.read_text().splitlines()
        assert len(lines) == 4
        assert lines[0].startswith('"id","position"')
    if ending != "parquet":
        assert json.loads((tmp_path / f"rows.{ending}.meta.json").read_text())["format_version"] == 1


def test_only_contaminated_rows(cli: Cli, tmp_path: Path, reference: Path) -> None:
    texts = write(tmp_path / "texts.jsonl", [{"id": 1, "text": PLAIN}, {"id": 2, "text": ITEM}])
    rows, summary = run(cli, texts, "--reference", reference, "--only-contaminated")
    assert [row["id"] for row in rows] == [2]
    assert summary["records"] == 2
    # A table without rows still has its head.
    plain = write(tmp_path / "plain.jsonl", [{"id": 1, "text": PLAIN}])
    for name in ("none.csv", "none.parquet"):
        done = cli("decontaminate", plain, "--reference", reference, "--only-contaminated", "--out", name)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "none.csv").read_text().startswith('"id","position","line"')
    assert pq.read_table(tmp_path / "none.parquet").num_rows == 0


def test_what_cannot_be(
    tmp_path: Path, reference: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = write(tmp_path / "texts.jsonl", [{"text": PLAIN}])
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("mine")
    (tmp_path / "ids.jsonl").write_text('{"text": [1, 2, 3]}\n')
    for arguments, said in (
        ((texts,), "--reference FILES or --index DIR"),
        ((texts, "--reference", reference, "--remove", "spans"), "go together"),
        ((texts, "--reference", reference, "--clean", "x"), "go together"),
        ((texts, "--reference", reference, "--remove", "spans", "--clean", "full"), "not empty"),
        ((texts, "--reference", reference, "--remove", "spans", "--clean", "no/where"), "no folder"),
        ((texts, "--reference", reference, "--preset", "none", "--remove", "spans", "--clean", "x"), "no rule"),
        ((texts, "--reference", reference, "--max-overlap", "1.5"), "between 0 and 1"),
        ((texts, "--reference", reference, "--max-inclusive", "--max-hits", "1"), "--max-overlap"),
        ((texts, "--reference", reference, "--near", "0", "--max-near", "0.5"), "--near"),
        ((texts, "--reference", reference, "--n", "0"), "--n"),
        (("-", "--reference", reference), "read only once"),
        (("-", "--reference", reference, "--max-hits", "0", "--remove", "documents", "--clean", "x"), "standard input"),
        ((texts, "--reference", reference, "--out", texts), "one of the inputs"),
        (("ids.jsonl", "--reference", "ids.jsonl", "--words", "ids", "--max-hits", "0", "--remove", "spans", "--clean", "x"), "token ids"),
    ):  # fmt: skip
        code = run_here(["decontaminate", *map(str, arguments)])
        message = capfd.readouterr().err
        assert (code, said in message) == (2, True), (arguments, message)
        assert not (tmp_path / "x").exists()
    assert run_here(["decontaminate", str(texts), "--reference", "absent.jsonl"]) == 1
    assert "absent.jsonl" in capfd.readouterr().err


def test_archives_and_records_too_long_to_keep_are_not_written_again(cli: Cli, tmp_path: Path, reference: Path) -> None:
    import tarfile
    import zipfile

    texts = write(tmp_path / "texts.jsonl", [{"text": PLAIN}, {"text": ITEM}])
    with tarfile.open(tmp_path / "texts.tar", "w") as tar:
        tar.add(texts, "texts.jsonl")
    with zipfile.ZipFile(tmp_path / "texts.zip", "w") as archive:
        archive.write(texts, "texts.jsonl")
    for name in ("texts.tar", "texts.zip"):
        result = cli("decontaminate", name, "--reference", reference, "--remove", "documents", "--clean", "clean")
        assert result.returncode == 2
        assert f"{name} is an archive".encode() in result.stderr
        rows, _ = run(cli, name, "--reference", reference)
        assert [row["contaminated"] for row in rows] == [False, True]
    write(texts, [{"text": "x" * 600_000}])
    lenient = ("--max-bad-records", "5", "--max-record-size", "200")
    result = cli("decontaminate", texts, "--reference", reference, "--remove", "documents", "--clean", "clean", *lenient)
    assert result.returncode == 2
    assert b"line 1" in result.stderr
    assert not (tmp_path / "clean").exists()


def test_unusable_records_are_kept_as_they_are(cli: Cli, tmp_path: Path, reference: Path) -> None:
    lines = [
        b'{"text": 5}',
        b"not json",
        json.dumps({"text": ITEM}).encode(),
        b'{"text": "\xff"}',
        json.dumps({"text": PLAIN}).encode(),
    ]
    (tmp_path / "texts.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    result = cli(
        "decontaminate", "texts.jsonl", "--reference", reference, "--remove", "documents", "--clean", "clean",
        "--max-bad-records", "9",
    )  # fmt: skip
    assert result.returncode == 3
    assert (tmp_path / "clean" / "texts.jsonl").read_bytes() == b"\n".join(lines[:2] + lines[3:]) + b"\n"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_halves_of_surrogate_pairs_in_tables(cli: Cli, tmp_path: Path, reference: Path, ending: str) -> None:
    (tmp_path / "texts.jsonl").write_text(rf'{{"id": "a \ud83d", "text": "{ITEM}", "f": ["\udc00"]}}' + "\n")
    done = cli("decontaminate", "texts.jsonl", "--reference", reference, "--field", "f", "--out", f"rows.{ending}")
    assert done.returncode == 0, done.stderr
    rows = tmp_path / f"rows.{ending}"
    row = (pq.read_table(rows) if ending == "parquet" else pc.read_csv(rows)).to_pylist()[0]
    assert (row["id"], row["contaminated"]) == ("a \ufffd", True)


def test_the_summary_says_what_was_written(cli: Cli, tmp_path: Path, reference: Path) -> None:
    texts = write(tmp_path / "texts.jsonl", [{"text": PLAIN}])
    said = [
        cli("decontaminate", texts, "--reference", reference, "--out", "rows.jsonl", *options).stderr.decode()
        for options in ([], ["--quiet"])
    ]
    assert "wrote rows.jsonl\n" in said[0]
    assert said[1] == ""
