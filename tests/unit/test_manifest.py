from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ngramscope.cli._run import run
from ngramscope.corpus import default_manifest, load_manifest
from ngramscope.corpus.manifest import bundled_manifests, find_manifest, manifest_and_split
from ngramscope.corpus.remote import is_remote
from ngramscope.errors import InputError

GOOD = 'format = 1\nname = "mine"\n[corpus]\nkind = "files"\npaths = ["part.jsonl"]\ntext_key = "body"\n'


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_manifest_tells_where_and_how_relative_to_itself(tmp_path: Path) -> None:
    manifest = load_manifest(write(tmp_path, GOOD))
    assert (manifest.name, manifest.kind, manifest.text_key, manifest.id_key) == ("mine", "files", "body", None)
    assert manifest.sources() == [str(tmp_path / "part.jsonl")]


def test_digests_are_checked_before_anything_is_built(tmp_path: Path) -> None:
    (tmp_path / "part.jsonl").write_bytes(b"{}\n")
    digest = hashlib.sha256(b"{}\n").hexdigest()
    good = load_manifest(write(tmp_path, GOOD + f'[sha256]\n"part.jsonl" = "{digest}"\n'))
    assert good.sources()
    (tmp_path / "part.jsonl").write_bytes(b"{ }\n")
    with pytest.raises(InputError, match=f"part.jsonl: its SHA-256 is .* expects {digest}"):
        good.sources()
    (tmp_path / "part.jsonl").unlink()
    with pytest.raises(InputError, match=r"part\.jsonl: named by .*cannot be read"):
        good.sources()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not toml at all", "not a corpus manifest"),
        (GOOD.replace("format = 1", "format = 2"), "manifest format 2, but this ngramscope reads format 1"),
        (GOOD.replace('"files"', '"web"'), "corpus.kind is 'web'; known kinds: files, python-stdlib"),
        (GOOD.replace("text_key", "textkey"), "unknown key corpus.textkey; known: corpus.kind"),
        (GOOD.replace('name = "mine"', "name = 3"), "name has to be a str, not 3"),
        (GOOD.replace('name = "mine"\n', ""), "name is missing"),
        (GOOD.replace('paths = ["part.jsonl"]\n', ""), "corpus.paths is missing"),
        (GOOD.replace('["part.jsonl"]', "[1]"), "corpus.paths has to be a list of strings"),
        (GOOD + "[sha256]\na = 1\n", "sha256 has to be a table of file names"),
        (GOOD + '[[files]]\nurl = "https://a/b"\n', "files[0].path is missing"),
        (GOOD + '[[files]]\npath = "../a"\n', "files[0].path is '../a'; a path below the manifest's folder"),
        (GOOD.replace('"mine"', '"../mine"'), "name is '../mine'; files are named after it"),
        (GOOD.replace('"mine"', '"a\\u0000b"'), "name is 'a\\x00b'"),
        (GOOD + '[[files]]\npath = "a\\u0000b"\n', "files[0].path is 'a\\x00b'"),
        (GOOD + '[[files]]\npath = "./mine.lock.toml"\n', "files[0].path is './mine.lock.toml', which is that of the lock"),
        (GOOD + '[[files]]\npath = "a"\n[[files]]\npath = "./a"\n', "files[1].path is './a', which is that of files[0]"),
        (GOOD + '[[files]]\npath = "a"\nsize = 1\n', "unknown key files[0].size; known: files[0].path"),
        (GOOD + "[splits]\ntrain = 1\n", "splits.train has to be a table"),
        (GOOD + "[splits.train]\nsources = [1]\n", "splits.train.sources has to be a list of strings"),
    ],
)
def test_a_wrong_manifest_is_refused_by_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as error:
        load_manifest(path)
    assert str(error.value).startswith(f"{path}: ")
    assert message in str(error.value)


def test_a_missing_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.toml: cannot read the manifest"):
        load_manifest(tmp_path / "nothing.toml")


def test_the_default_corpus_is_marked_as_a_demonstration() -> None:
    manifest = default_manifest()
    assert manifest.demo
    assert manifest.kind == "python-stdlib"
    assert manifest.licence


@pytest.mark.parametrize("path", bundled_manifests(), ids=lambda path: path.stem)
def test_every_manifest_that_comes_along_can_be_read_and_says_what_people_ask(path: Path) -> None:
    manifest = load_manifest(path)
    assert manifest.name == path.stem
    assert find_manifest(path.stem) == find_manifest(path.name) == path
    assert manifest.title
    assert manifest.licence
    if manifest.kind == "files":
        assert manifest.home.startswith("https://")
        assert manifest.dates
        assert manifest.digests
        assert manifest.checked is not None
        assert manifest.split_names
        for split in manifest.split_names:
            files, sources = manifest.of_split(split)
            lists = manifest.splits[split].lists if split in manifest.splits else ()
            assert files or sources or lists
            assert all(manifest.url(each) for each in files)
            assert all(is_remote(each) for each in [*sources, *lists])


def test_a_split_that_there_is_not_is_refused_with_those_that_there_are(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["manifest", "show", "pile:none"]) == 2
    assert "has no split 'none'; it has train, val, test" in capfd.readouterr().err


def test_names_of_manifests_and_splits() -> None:
    assert manifest_and_split("a/b.toml") == ("a/b.toml", None)
    assert manifest_and_split("a/b.toml:val") == ("a/b.toml", "val")
    for source in ("a.jsonl", "a.toml.gz", "https://a/b.toml", "a.toml:b/c"):
        assert manifest_and_split(source) is None
    with pytest.raises(InputError, match=r"none-such\.toml: no such manifest; those that come along: .*pile"):
        find_manifest("none-such.toml")
