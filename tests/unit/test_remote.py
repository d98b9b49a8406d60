"""Sources with a scheme: https, object stores, and what may go wrong on the way."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from blake3 import blake3

from ngramscope import Index
from ngramscope.cli._run import run
from ngramscope.corpus import http, remote
from ngramscope.errors import InputError, MissingExtraError, UsageError
from ngramscope.index.options import BuildOptions, ReadOptions, WordRule
from ngramscope.index.plan import plan_index
from ngramscope.index.scan import Scan
from tests.conftest import Cli, read_jsonl, write_jsonl
from tests.server import Site, serve

pytest.importorskip("requests")

ROWS = [{"id": f"d{number}", "text": " ".join(f"word{(number * k) % 97}" for k in range(1, 40))} for number in range(400)]


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BACKOFF", 0.01)
    http._session.cache_clear()


def json_lines(rows: list[dict[str, Any]] = ROWS) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(rows: list[dict[str, Any]] = ROWS, **settings: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), sink, row_group_size=100, **settings)
    return sink.getvalue()


def feather(rows: list[dict[str, Any]] = ROWS) -> bytes:
    sink = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=150)
    return sink.getvalue()


def arrow_stream(rows: list[dict[str, Any]] = ROWS) -> bytes:
    sink = io.BytesIO()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


FORMATS = {
    "a.jsonl": json_lines(),
    "a.jsonl.gz": gzip.compress(json_lines()),
    "a.jsonl.zst": zstandard.compress(json_lines()),
    "a.parquet": parquet(),
    "a.arrow": feather(),
    "a.arrows": arrow_stream(),
}


def build(folder: Path, *sources: str, **options: Any) -> Index:
    return Index.build(list(sources), out=folder / "index", n=3, filter="exact", force=True, **options)


@pytest.mark.parametrize("name", FORMATS)
def test_a_remote_file_makes_the_index_of_the_local_one(tmp_path: Path, name: str) -> None:
    data = FORMATS[name]
    (tmp_path / name).write_bytes(data)
    local = build(tmp_path, str(tmp_path / name)).manifests[0]
    with serve({name: data}) as site:
        index = build(tmp_path, f"{site.url}/{name}")
    manifest = index.manifests[0]
    assert [each["occurrences"] for each in manifest["sets"]] == [each["occurrences"] for each in local["sets"]]
    assert index.overlap([row["text"] for row in ROWS]).overlap.min() == 1
    source = manifest["sources"][0]
    assert source["name"] == f"{site.url}/{name}"
    assert source["blake3"] == blake3(data).hexdigest()
    assert (source["bytes"], source["documents"]) == (len(data), len(ROWS))
    jumping = name in ("a.parquet", "a.arrow")
    assert jumping == any(wanted for _, wanted in site.bodies())


def test_candidates_scans_and_plans_read_remote_files_too(tmp_path: Path) -> None:
    index = build(tmp_path, *_local(tmp_path, "a.jsonl"))
    with serve(FORMATS) as site:
        rows = sum(len(table) for table in index.overlap_files(f"{site.url}/a.parquet"))
        scan = Scan(f"{site.url}/a.jsonl.gz", [f"{site.url}/a.jsonl"])
        assert scan.sources == (f"{site.url}/a.jsonl.gz",)
        assert scan.table().own_documents.min() >= 1
        manifest = tmp_path / "far.toml"
        manifest.write_text(f'format = 1\nname = "far"\n[corpus]\nkind = "files"\npaths = ["{site.url}/a.arrows"]\n')
        for source in (manifest, f"{site.url}/a.arrows"):
            options = BuildOptions(read=ReadOptions(), rule=WordRule(), n=(3,))
            plan = plan_index([source], options)
            assert [each["name"] for each in plan["report"]["sources"]] == [f"{site.url}/a.arrows"]
            assert plan_index([source], options, sample="1GiB")["words"] == plan["words"]
            with pytest.raises(UsageError, match="only files of this machine can be sampled; give --count"):
                plan_index([source], options, sample=100)
        assert len(Scan(manifest, [manifest])) == len(ROWS)
    assert rows == len(scan) == len(ROWS)


def _local(folder: Path, name: str) -> list[str]:
    (folder / name).write_bytes(FORMATS[name])
    return [str(folder / name)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.parquet", "a.arrows"])
def test_a_dropped_connection_is_taken_up_where_it_broke(tmp_path: Path, name: str) -> None:
    with serve({name: FORMATS[name]}, drops=[1000, 0, 1, 10]) as site:
        index = build(tmp_path, f"{site.url}/{name}")
        assert ("/" + name, "bytes=1000-") in site.asked or name == "a.parquet"
    source = index.manifests[0]["sources"][0]
    assert (source["documents"], source["blake3"]) == (len(ROWS), blake3(FORMATS[name]).hexdigest())


def test_connections_that_keep_breaking_end_in_an_error_that_says_how_far_it_came(tmp_path: Path) -> None:
    with serve({"a.jsonl": FORMATS["a.jsonl"]}, drops=[1000] + [0] * 20) as site:
        with pytest.raises(InputError, match=rf"{site.url}/a\.jsonl: cannot be read: .*6 times in a row, after 1,000 bytes"):
            build(tmp_path, f"{site.url}/a.jsonl")
    assert not (tmp_path / "index").exists()


def test_without_ranges_a_short_body_is_an_error_and_never_a_shorter_corpus(tmp_path: Path) -> None:
    with serve({"a.jsonl": FORMATS["a.jsonl"]}, ranges=False) as site:
        build(tmp_path, f"{site.url}/a.jsonl")
        whole = FORMATS["a.jsonl"].index(b"\n", 5000) + 1  # the end of a line: nothing but the length tells
        site.drops = [whole]
        with pytest.raises(InputError, match="does not send parts of files, so it cannot go on there: download"):
            build(tmp_path, f"{site.url}/a.jsonl")


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_formats_that_are_read_by_jumping_about_need_ranges(tmp_path: Path, name: str) -> None:
    with serve({name: FORMATS[name]}, ranges=False) as site:
        with pytest.raises(InputError, match=rf"{name}: .* only sends it from its beginning; download it first"):
            build(tmp_path, f"{site.url}/{name}")


def test_a_file_that_changes_between_two_passes_is_an_error_even_when_lenient(tmp_path: Path) -> None:
    with serve({"a.jsonl": FORMATS["a.jsonl"]}) as site:

        def change(step: Any) -> None:
            if step.phase != "find":
                site.files["/a.jsonl"] = FORMATS["a.jsonl"].replace(b"word1 ", b"word2 ")

        with pytest.raises(InputError, match="changed while it was in use"):
            build(tmp_path, f"{site.url}/a.jsonl", max_bad_files=5, progress=change)


def test_a_busy_server_is_asked_again(tmp_path: Path) -> None:
    with serve({"a.jsonl": FORMATS["a.jsonl"]}, refusals=[(503, {}), (429, {"Retry-After": "0"})]) as site:
        assert build(tmp_path, f"{site.url}/a.jsonl").manifests[0]["counts"]["documents"] == len(ROWS)
        assert not site.refusals


def test_what_is_not_there_is_named_without_credentials_or_query(tmp_path: Path) -> None:
    with serve({}) as site:
        secret = site.url.replace("http://", "http://me:pass@") + "/no.jsonl?X-Signature=abc"
        with pytest.raises(InputError) as error:
            build(tmp_path, secret)
    assert str(error.value) == f"{site.url}/no.jsonl: cannot be read: the server answers 404 Not Found; no such file"
    with pytest.raises(InputError, match=r"^http://127\.0\.0\.1:9/a\.jsonl: cannot be read: .*refused"):
        build(tmp_path, "http://me:pass@127.0.0.1:9/a.jsonl?token=1")


def test_names_in_an_index_hold_no_credentials(tmp_path: Path) -> None:
    with serve({"a.jsonl": FORMATS["a.jsonl"]}) as site:
        index = build(tmp_path, site.url.replace("http://", "http://me:pass@") + "/a.jsonl?X-Signature=abc")
        assert site.asked[0][0] == "/a.jsonl?X-Signature=abc"
    text = (index.paths[0] / "index.json").read_text()
    assert f'"{site.url}/a.jsonl"' in text
    assert "pass" not in text
    assert "Signature" not in text


def test_decontamination_reads_remote_texts_as_often_as_it_needs(cli: Cli, tmp_path: Path) -> None:
    reference = write_jsonl(tmp_path / "reference.jsonl", [ROWS[3]])
    with serve({"a.jsonl": FORMATS["a.jsonl"]}) as site:
        command = ["decontaminate", f"{site.url}/a.jsonl", "--reference", reference, "--n", 5, "--max-overlap", 0.9, "--quiet"]
        done = cli(*command, "--max-documents", 400)
        assert done.returncode == 0, done.stderr
        assert [row["id"] for row in read_jsonl(done.stdout) if row["contaminated"]] == ["d3", "d100", "d197", "d294", "d391"]
        done = cli(*command, "--remove", "documents", "--clean", tmp_path / "clean")
        assert (done.returncode, b"what is elsewhere is not rewritten" in done.stderr) == (2, True)


def test_parts_are_made_of_remote_files(tmp_path: Path) -> None:
    files = {f"{number}.jsonl": json_lines(ROWS[number::4]) for number in range(4)}
    with serve(files) as site:
        urls = [f"{site.url}/{name}" for name in files]
        for part in (1, 2):
            Index.build(urls, out=tmp_path / f"part{part}", n=3, expected_ngrams=5000, part=(part, 2))
        Index.build(urls, out=tmp_path / "whole", n=3, expected_ngrams=5000)
        Index.merge([tmp_path / "part1", tmp_path / "part2"], tmp_path / "merged")
    assert (tmp_path / "merged" / "index.json").read_bytes() == (tmp_path / "whole" / "index.json").read_bytes()


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    with serve({"a.jsonl": FORMATS["a.jsonl"]}) as site:
        index = build(tmp_path, *[f"{site.url}/a.jsonl"] * 2)
    assert len(index.manifests[0]["sources"]) == 1


def test_an_empty_remote_file_has_no_documents(tmp_path: Path) -> None:
    with serve({"empty.jsonl": b"", "a.jsonl": FORMATS["a.jsonl"]}) as site:
        index = build(tmp_path, f"{site.url}/empty.jsonl", f"{site.url}/a.jsonl")
    assert sorted(each["documents"] for each in index.manifests[0]["sources"]) == [0, len(ROWS)]


def test_a_server_that_does_not_tell_the_length_is_read_front_to_back(tmp_path: Path) -> None:
    with serve({"a.jsonl.gz": FORMATS["a.jsonl.gz"]}, lengths=False, ranges=False) as site:
        assert build(tmp_path, f"{site.url}/a.jsonl.gz").manifests[0]["counts"]["documents"] == len(ROWS)


class TestStorage:
    """By fsspec's file system in memory, which is a real one as far as fsspec is concerned."""

    @pytest.fixture
    def bucket(self) -> Any:
        fsspec = pytest.importorskip("fsspec")
        fs = fsspec.filesystem("memory")
        for name, data in {**FORMATS, ".hidden.jsonl": b"{", "sub/b.jsonl": json_lines(ROWS[:7])}.items():
            fs.pipe_file(f"/bucket/{name}", data)
        yield fs
        fs.rm("/bucket", recursive=True)

    @pytest.mark.usefixtures("bucket")
    @pytest.mark.parametrize("name", FORMATS)
    def test_a_file(self, tmp_path: Path, name: str) -> None:
        source = build(tmp_path, f"memory://bucket/{name}").manifests[0]["sources"][0]
        assert source["name"] == f"memory://bucket/{name}"
        assert (source["blake3"], source["documents"]) == (blake3(FORMATS[name]).hexdigest(), len(ROWS))

    @pytest.mark.usefixtures("bucket")
    def test_folders_and_patterns(self, tmp_path: Path) -> None:
        index = build(tmp_path, "memory://bucket", include=["*.jsonl"])
        names = [each["name"] for each in index.manifests[0]["sources"]]
        assert names == ["memory://bucket/a.jsonl", "memory://bucket/sub/b.jsonl"]
        index = build(tmp_path, "memory://bucket/*.jsonl*", exclude=["*.gz"])
        names = [each["name"] for each in index.manifests[0]["sources"]]
        assert names == ["memory://bucket/a.jsonl", "memory://bucket/a.jsonl.zst"]
        with pytest.raises(InputError, match="include and exclude patterns leave none"):
            build(tmp_path, "memory://bucket", include=["*.tar"])

    @pytest.mark.usefixtures("bucket")
    def test_what_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"^memory://bucket/no: no such file"):
            build(tmp_path, "memory://bucket/no")
        with pytest.raises(InputError, match=r"^memory://bucket/\*\.tar: no files there"):
            build(tmp_path, "memory://bucket/*.tar")


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fsspec")
    for package, name in (("s3fs", "s3://bucket/a"), ("gcsfs", "gs://bucket/a")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtraError, match=rf"needs {package}, .*ngramscope\[remote\]"):
            remote.find(name)
    monkeypatch.setitem(sys.modules, "requests", None)
    with pytest.raises(MissingExtraError, match=r"needs requests, .*ngramscope\[remote\]"):
        remote.find("https://host/a")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtraError, match=r"needs datasets, .*ngramscope\[hf\]"):
        remote.find("hf://a/b")


@pytest.mark.parametrize("name", ["https://", "://x", "nonsense://x", "file:///etc/hostname"])
def test_a_name_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        remote.find(name)


@pytest.mark.parametrize("url", ["http://user:secret@[::1", "http://user:secret@[::1/a?key"])
def test_an_address_that_cannot_be_is_refused_without_its_credentials(
    url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for command in ("plan", "build-index"):
        assert run([command, url, *(("--out", str(tmp_path / "i")) if command == "build-index" else ())]) == 2
        message = capfd.readouterr().err
        assert message.startswith("ngramscope: error: http://[::1")
        assert "secret" not in message
        assert "key" not in message


def test_public_names() -> None:
    for url, public in [
        ("https://a:b@host:80/x/y.gz?sig=1#f", "https://host:80/x/y.gz"),
        ("s3://bucket/key", "s3://bucket/key"),
        ("hf://datasets/a/b@main/c.parquet", "hf://datasets/a/b@main/c.parquet"),
    ]:
        assert remote.public_name(url) == public


def test_a_stalled_server_does_not_hold_up_an_interrupt(tmp_path: Path) -> None:
    with serve({"a.jsonl": FORMATS["a.jsonl"]}) as site:
        _stall(site)

        def interrupt(step: Any) -> None:
            if step.phase == "count":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            build(tmp_path, f"{site.url}/a.jsonl", progress=interrupt)
        assert not site.go.is_set()  # it ended although nothing had come


def _stall(site: Site) -> None:
    site.go.clear()
