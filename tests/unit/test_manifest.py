from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from ngramscope.corpus import default_manifest, load_manifest
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
