"""Downloading and checking the files of manifests, from a server that misbehaves."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

from ngramscope import Index
from ngramscope.cli._run import run
from ngramscope.corpus import http
from ngramscope.corpus.copies import check_copies
from ngramscope.corpus.fetch import fetch
from ngramscope.corpus.manifest import CorpusManifest, load_manifest
from ngramscope.errors import InputError, ResourceError, UsageError
from tests.conftest import ROOT, Cli, clean_environment
from tests.server import Site, serve

pytest.importorskip("requests")

FILES = {
    f"parts/{name}.jsonl": "".join(
        json.dumps({"text": f"{name} alpha beta {number} gamma"}) + "\n" for number in range(count)
    ).encode()
    for name, count in (("a", 3000), ("b", 2000), ("c", 10))
}


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BACKOFF", 0.01)
    http._session.cache_clear()


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(FILES) as site:
        yield site


def manifest(folder: Path, site: Site, *, digests: bool = True, **changes: Any) -> CorpusManifest:
    """One with splits: train (a, b; published digests), test (c; none)."""
    text = f'format = 1\nname = "greek"\nbase = "{site.url}"\n[corpus]\nkind = "files"\ntext_key = "text"\n'
    text += "[splits.train]\ndocuments = 5000\n"
    for name, split, documents in (("a", "train", 3000), ("b", "train", 2000), ("c", "test", 10)):
        data = FILES[f"parts/{name}.jsonl"]
        text += f'[[files]]\npath = "parts/{name}.jsonl"\nsplit = "{split}"\ndocuments = {documents}\n'
        if split == "train":
            text += f"bytes = {len(data)}\n"
            if digests:
                text += f'sha256 = "{hashlib.sha256(data).hexdigest()}"\nmd5 = "{hashlib.md5(data).hexdigest()}"\n'
                text += f'blake3 = "{blake3(data).hexdigest()}"\n'
    for old, new in changes.items():
        text = text.replace(old, new)
    path = folder / "greek.toml"
    path.write_text(text, encoding="utf-8")
    return load_manifest(path)


def test_files_come_with_their_digests_and_a_lock_that_is_a_manifest(tmp_path: Path, site: Site) -> None:
    done = fetch(manifest(tmp_path, site), tmp_path / "out", split="train")
    assert [(each.file.path, each.status, each.file.digest) for each in done] == [
        ("parts/a.jsonl", "fetched", "published"),
        ("parts/b.jsonl", "fetched", "published"),
    ]
    for each in done:
        data = (tmp_path / "out" / each.file.path).read_bytes()
        assert data == FILES[each.file.path]
        assert each.file.blake3 == blake3(data).hexdigest()
    (test,) = fetch(manifest(tmp_path, site), tmp_path / "out", split="test")
    assert (test.file.digest, test.file.sha256) == ("computed", hashlib.sha256(FILES["parts/c.jsonl"]).hexdigest())
    assert sorted(each.name for each in (tmp_path / "out").rglob("*") if each.is_file()) == [
        "a.jsonl", "b.jsonl", "c.jsonl", "greek.lock.toml",
    ]  # fmt: skip
    lock = load_manifest(tmp_path / "out" / "greek.lock.toml")
    assert lock.split_names == ["train", "test"]
    assert lock.splits["train"].documents == 5000
    asked = len(site.asked)
    index = Index.build(f"{lock.path}:train", out=tmp_path / "index", n=3)
    assert index.manifests[0]["name"] == "greek"
    assert index.manifests[0]["counts"]["documents"] == 5000
    assert len(site.asked) == asked, "the local copies are read"


def test_without_local_copies_the_corpus_is_read_from_where_it_lives(tmp_path: Path, site: Site) -> None:
    made = manifest(tmp_path, site)
    index = Index.build(f"{made.path}:test", out=tmp_path / "index", n=3)
    assert [each["name"] for each in index.manifests[0]["sources"]] == [f"{site.url}/parts/c.jsonl"]


def test_what_is_there_and_right_is_not_fetched_again(tmp_path: Path, site: Site) -> None:
    made = manifest(tmp_path, site)
    for split in ("train", "test"):
        fetch(made, tmp_path / "out", split=split)
        asked = len(site.bodies())
        assert {each.status for each in fetch(made, tmp_path / "out", split=split)} == {"present"}
        assert len(site.bodies()) == asked
    for name in ("a", "c"):
        (tmp_path / "out" / "parts" / f"{name}.jsonl").write_bytes(b"something else")
    for split in ("train", "test"):  # with published digests, and with those of the lock
        with pytest.raises(InputError, match="is there already, but is not what it should be"):
            fetch(made, tmp_path / "out", split=split)


def test_a_connection_that_drops_is_taken_up_where_it_broke(tmp_path: Path, site: Site) -> None:
    site.drops = [5000, 0, 70_000]
    fetch(manifest(tmp_path, site), tmp_path / "out", split="train")
    assert (tmp_path / "out" / "parts" / "a.jsonl").read_bytes() == FILES["parts/a.jsonl"]
    assert ("/parts/a.jsonl", "bytes=5000-") in site.asked


def test_a_run_that_failed_goes_on_in_the_next_one(tmp_path: Path, site: Site) -> None:
    made = manifest(tmp_path, site)
    site.drops = [5000] + [0] * 50
    with pytest.raises(InputError, match=rf"{site.url}/parts/a\.jsonl: cannot be read: .*after 5,000 bytes"):
        fetch(made, tmp_path / "out", split="train")
    part = tmp_path / "out" / "parts" / "a.jsonl.part"
    assert part.stat().st_size == 5000
    assert not (tmp_path / "out" / "parts" / "a.jsonl").exists()
    site.drops = []
    site.sent = 0
    done = fetch(made, tmp_path / "out", split="train")
    assert [each.status for each in done] == ["resumed", "fetched"]
    whole = sum(len(FILES[f"parts/{name}.jsonl"]) for name in "ab")
    assert site.sent < whole - 4000
    assert not part.exists()


@pytest.mark.parametrize("what", ["another version", "a server that tells no version", "a server without parts"])
def test_a_part_is_only_kept_if_it_is_of_the_same_file(tmp_path: Path, site: Site, what: str) -> None:
    made = manifest(tmp_path, site, digests=False, bytes="# bytes")
    site.drops = [5000] + [0] * 50
    site.versions = what != "a server that tells no version"
    with pytest.raises(InputError):
        fetch(made, tmp_path / "out", split="train")
    site.drops = []
    wanted = FILES["parts/a.jsonl"]
    if what == "another version":
        wanted = site.files["/parts/a.jsonl"] = wanted.replace(b"alpha", b"omega")
    site.ranges = what != "a server without parts"
    assert fetch(made, tmp_path / "out", split="train")[0].status == "fetched"
    assert (tmp_path / "out" / "parts" / "a.jsonl").read_bytes() == wanted


def test_a_damaged_part_is_noticed_and_the_file_fetched_anew(tmp_path: Path, site: Site) -> None:
    made = manifest(tmp_path, site)
    site.drops = [5000] + [0] * 50
    with pytest.raises(InputError):
        fetch(made, tmp_path / "out", split="train")
    site.drops = []
    (tmp_path / "out" / "parts" / "a.jsonl.part").write_bytes(b"x" * 5000)
    assert fetch(made, tmp_path / "out", split="train")[0].status == "fetched"
    assert (tmp_path / "out" / "parts" / "a.jsonl").read_bytes() == FILES["parts/a.jsonl"]


@pytest.mark.parametrize("hash_name", ["sha256", "md5", "blake3"])
def test_wrong_bytes_are_refused_and_nothing_of_them_kept(tmp_path: Path, site: Site, hash_name: str) -> None:
    others = [name for name in ("sha256", "md5", "blake3") if name != hash_name]
    made = manifest(tmp_path, site, **{f"{name} =": f"# {name} =" for name in others})
    site.files["/parts/a.jsonl"] = FILES["parts/a.jsonl"].replace(b"alpha", b"omega")
    with pytest.raises(
        InputError, match=rf"{site.url}/parts/a\.jsonl: its {hash_name} is .* was published; nothing of it was kept"
    ):
        fetch(made, tmp_path / "out", split="train")
    site.files["/parts/a.jsonl"] = FILES["parts/a.jsonl"][:-1]
    with pytest.raises(InputError, match=r"it has [\d,]+ bytes, but [\d,]+ were published"):
        fetch(made, tmp_path / "out", split="train")
    assert list((tmp_path / "out" / "parts").iterdir()) == []


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again_when_it_says(tmp_path: Path, site: Site, status: int) -> None:
    site.refusals = [(status, {"Retry-After": "1"}), (status, {})]
    began = time.monotonic()
    fetch(manifest(tmp_path, site), tmp_path / "out", split="test")
    assert time.monotonic() - began >= 1.0
    site.refusals = [(status, {})] * 50
    with pytest.raises(InputError, match=f"the server answers {status}"):
        fetch(manifest(tmp_path, site), tmp_path / "other", split="test")


def test_what_cannot_be_fetched_is_told(tmp_path: Path, site: Site) -> None:
    made = manifest(tmp_path, site)
    with pytest.raises(UsageError, match=r"it has train, test; name one, as greek\.toml:train"):
        fetch(made, tmp_path / "out")
    with pytest.raises(UsageError, match="has no split 'dev'"):
        fetch(made, tmp_path / "out", split="dev")
    with pytest.raises(UsageError, match="no file of it has a URL"):
        fetch(manifest(tmp_path, site, base="# base"), tmp_path / "out", split="train")
    del site.files["/parts/a.jsonl"]
    with pytest.raises(InputError, match=rf"{site.url}/parts/a\.jsonl: .*404 Not Found; no such file"):
        fetch(made, tmp_path / "out", split="train")
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="cannot be written"):
        fetch(made, tmp_path / "file" / "below", split="test")


def test_datasets_and_folders_are_fetched_file_by_file(tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "train.jsonl").write_bytes(FILES["parts/a.jsonl"])
    path = tmp_path / "hub.toml"
    path.write_text(f'format = 1\nname = "hub"\n[corpus]\nkind = "files"\n[splits.train]\nsources = ["hf://{folder}"]\n')
    assert Index.build(f"{path}:train", out=tmp_path / "index", n=3).manifests[0]["counts"]["documents"] == 3000
    (done,) = fetch(load_manifest(path), tmp_path / "out")
    assert (done.file.path, done.file.url) == ("train/train.jsonl", "hf://set:default:train/train.jsonl")
    assert check_copies(load_manifest(path), tmp_path / "out").sound


def test_lists_of_urls_are_followed(tmp_path: Path, site: Site) -> None:
    site.files["/urls.txt"] = "".join(f"{site.url}/parts/{name}.jsonl\n" for name in "ab").encode()
    path = tmp_path / "listed.toml"
    path.write_text(
        f'format = 1\nname = "listed"\n[corpus]\nkind = "files"\n[splits.train]\nlists = ["{site.url}/urls.txt"]\n',
        encoding="utf-8",
    )
    index = Index.build(str(path), out=tmp_path / "index", n=3)
    assert sorted(each["name"] for each in index.manifests[0]["sources"]) == [f"{site.url}/parts/{name}.jsonl" for name in "ab"]
    assert [each.file.path for each in fetch(load_manifest(path), tmp_path / "out")] == ["a.jsonl", "b.jsonl"]
    assert check_copies(load_manifest(path), tmp_path / "out").sound
    site.files["/urls.txt"] = f"{site.url}/parts/a.jsonl\n{site.url}/parts/../../b.jsonl\n".encode()
    with pytest.raises(InputError, match=r"would be written to '\.\./\.\./b\.jsonl', which is not below"):
        fetch(load_manifest(path), tmp_path / "out")
    site.files["/urls.txt"] = b"\xff"
    with pytest.raises(InputError, match=r"urls\.txt: is no list of URLs"):
        fetch(load_manifest(path), tmp_path / "out")


def test_ctrl_c_keeps_the_part_for_the_next_run(tmp_path: Path, site: Site) -> None:
    big = FILES["parts/a.jsonl"] * 60
    site.files["/big.jsonl"] = big
    path = tmp_path / "big.toml"
    path.write_text(f'format = 1\nname = "big"\nbase = "{site.url}"\n[corpus]\nkind = "files"\n[[files]]\npath = "big.jsonl"\n')
    site.go.clear()
    process = subprocess.Popen(
        [sys.executable, "-m", "ngramscope", "manifest", "fetch", str(path), "--out", str(tmp_path / "out")],
        env={**clean_environment(), "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
    )
    part = tmp_path / "out" / "big.jsonl.part"
    while not site.bodies() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert (process.returncode, b"interrupted" in errors) == (130, True), errors
    site.go.set()
    assert part.exists()
    part.write_bytes(big[:1_000_000])  # as if it had come that far
    (done,) = fetch(load_manifest(path), tmp_path / "out")
    assert done.status == "resumed"
    assert (tmp_path / "out" / "big.jsonl").read_bytes() == big


class TestCheck:
    def test_all_is_well(self, tmp_path: Path, site: Site) -> None:
        made = manifest(tmp_path, site)
        fetch(made, tmp_path / "out", split="train")
        report = check_copies(made, tmp_path / "out", split="train", count=True)
        assert report.sound
        assert [(each.status, each.documents) for each in report.copies] == [("right", 3000), ("right", 2000)]

    def test_what_is_missing_or_wrong_is_told(self, tmp_path: Path, site: Site) -> None:
        made = manifest(tmp_path, site)
        out = tmp_path / "out"
        fetch(made, out, split="train")
        data = FILES["parts/a.jsonl"]
        for content, status in [
            (None, "missing"),
            (data[:-1], "wrong_size"),
            (data.replace(b"alpha", b"omega"), "wrong_digest"),
        ]:
            (out / "parts" / "a.jsonl").unlink(missing_ok=True)
            if content is not None:
                (out / "parts" / "a.jsonl").write_bytes(content)
            report = check_copies(made, out, split="train")
            assert not report.sound
            assert [each.status for each in report.copies] == [status, "right"]
            assert report.copies[0].detail

    def test_digests_of_the_download_stand_in_for_published_ones(self, tmp_path: Path, site: Site) -> None:
        made = manifest(tmp_path, site)
        out = tmp_path / "out"
        (out / "parts").mkdir(parents=True)
        (out / "parts" / "c.jsonl").write_bytes(FILES["parts/c.jsonl"])
        assert [each.status for each in check_copies(made, out, split="test").copies] == ["present"]
        fetch(made, out, split="test")
        assert [each.status for each in check_copies(made, out, split="test").copies] == ["right"]
        (out / "parts" / "c.jsonl").write_bytes(FILES["parts/c.jsonl"].replace(b"alpha", b"omega"))
        assert [each.status for each in check_copies(made, out, split="test").copies] == ["wrong_digest"]

    def test_counts_that_do_not_add_up(self, tmp_path: Path, site: Site) -> None:
        made = manifest(tmp_path, site, **{"documents = 5000": "documents = 5001", "documents = 2000": "documents = 2001"})
        fetch(made, tmp_path / "out", split="train")
        report = check_copies(made, tmp_path / "out", split="train", count=True)
        assert [each.status for each in report.copies] == ["right", "wrong_count"]
        assert report.copies[1].detail == "2,000 documents, 2,001 expected"
        assert report.problems == ["the files read have 5,000 documents in all, but split train has 5,001"]

    def test_nothing_to_compare(self, tmp_path: Path) -> None:
        path = tmp_path / "hub.toml"
        path.write_text('format = 1\nname = "hub"\n[corpus]\nkind = "files"\npaths = ["hf://some/set"]\n')
        with pytest.raises(UsageError, match=r"nothing to compare; fetch it first: ngramscope manifest fetch hub\.toml --out"):
            check_copies(load_manifest(path), tmp_path)

    def test_old_manifests_with_paths_and_digests(self, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_bytes(b"{}\n")
        path = tmp_path / "mine.toml"
        digest = hashlib.sha256(b"{}\n").hexdigest()
        path.write_text(
            'format = 1\nname = "mine"\n[corpus]\nkind = "files"\npaths = ["a.jsonl", "b.jsonl"]\n'
            f'[sha256]\n"a.jsonl" = "{digest}"\n'
        )
        report = check_copies(load_manifest(path), tmp_path)
        assert [(each.path, each.status) for each in report.copies] == [("a.jsonl", "right"), ("b.jsonl", "missing")]


def test_the_commands(cli: Cli, tmp_path: Path, site: Site, capfd: pytest.CaptureFixture[str]) -> None:
    made = manifest(tmp_path, site)

    def run_here(*arguments: str) -> tuple[int, str, str]:
        code = run(["manifest", *arguments])
        return (code, *capfd.readouterr())

    done = cli("manifest", "fetch", f"{made.path}:train", "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    assert [each["status"] for each in json.loads(done.stdout)["files"]] == ["fetched", "fetched"]
    out = str(tmp_path / "out")
    code, data, said = run_here("fetch", f"{made.path}:train", "--out", out)
    assert (code, data) == (0, "")
    assert re.search(r"2 files, .* 0 of them downloaded now", said)
    code, data, _ = run_here("check", f"{made.path}:train", "--root", out, "--json")
    assert (code, json.loads(data)["sound"]) == (0, True)
    (tmp_path / "out" / "parts" / "b.jsonl").write_bytes(b"")
    code, data, _ = run_here("check", f"{made.path}:train", "--root", out)
    assert code == 1
    assert re.search(r"^wrong_size +parts/b.jsonl: 0 bytes, ", data, re.MULTILINE)
    shown = json.loads(run_here("show", str(made.path), "--json")[1])
    assert (shown["name"], len(shown["files"])) == ("greek", 3)
    assert "split train: 2 files, 5,000 documents" in run_here("show", str(made.path))[1]
    assert run_here("show", "nothing-of-that-name")[0] == 1
    assert "python-stdlib" in run_here("list")[1]
    assert json.loads(run_here("list", "--json")[1])["manifests"]
