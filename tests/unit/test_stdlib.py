from __future__ import annotations

import heapq
from pathlib import Path

import pytest

from ngramscope.corpus import default_manifest, stdlib
from ngramscope.errors import InputError
from tests.conftest import read_jsonl


def test_the_library_and_the_help_topics_are_there_and_the_tests_are_not() -> None:
    documents = dict(stdlib.documents(default_manifest().exclude))
    assert documents["Lib/heapq.py"] == Path(heapq.__file__).read_text(encoding="utf-8")
    assert any(name.startswith("pydoc_data/topics/") for name in documents)
    assert not [name for name in documents if "/test/" in name or "site-packages" in name or "_sysconfigdata" in name]
    assert len(documents) > 300


def test_the_same_python_gives_the_same_bytes(tmp_path: Path) -> None:
    exclude = default_manifest().exclude
    count = stdlib.write_jsonl(tmp_path / "a.jsonl", exclude)
    stdlib.write_jsonl(tmp_path / "b.jsonl", exclude)
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    rows = read_jsonl(tmp_path / "a.jsonl")
    assert len(rows) == count == len({row["id"] for row in rows})


def test_a_python_without_sources_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdlib.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(stdlib, "_topics", dict)
    with pytest.raises(InputError, match="name the corpus: ngramscope build-index FILES"):
        stdlib.write_jsonl(tmp_path / "out.jsonl")


def test_a_source_in_another_encoding_is_read_by_its_declaration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\n# caf\xe9\n")
    (tmp_path / "broken.py").write_bytes(b"# caf\xe9\n")
    monkeypatch.setattr(stdlib.sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(stdlib, "_topics", dict)
    assert [name for name, _ in stdlib.documents()] == ["Lib/latin.py"]
    assert "café" in dict(stdlib.documents())["Lib/latin.py"]
