"""The lock manifest that `fetch` leaves beside the files: what came, from where, with sizes and digests; itself a manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ngramscope._core import __version__
from ngramscope.corpus.manifest import MANIFEST_FORMAT, CorpusManifest, ManifestFile, load_manifest, lock_name
from ngramscope.index.output import write_whole

__all__ = ["lock_path", "read_lock", "write_lock"]

_DESCRIBING = ("name", "title", "description", "licence", "home", "dates", "digests", "demo")
_READING = ("text_key", "id_key", "domain_key", "date_key", "label_key", "text_lines")


def lock_path(manifest: CorpusManifest, out: Path) -> Path:
    """Where the lock of `manifest` is in the folder `out`."""
    return out / lock_name(manifest.name)


def read_lock(manifest: CorpusManifest, out: Path) -> dict[str, ManifestFile]:
    """The files that came before, by path; none if there is no lock."""
    path = lock_path(manifest, out)
    return {each.path: each for each in load_manifest(path).files} if path.exists() else {}


def write_lock(manifest: CorpusManifest, out: Path, files: Mapping[str, ManifestFile]) -> None:
    """Write the lock of `manifest` for `files`."""
    lines = [f"# What `ngramscope manifest fetch` {__version__} downloaded. Digests are of the files as they came."]
    lines += [_line("format", MANIFEST_FORMAT), *_lines(manifest, _DESCRIBING)]
    lines += ["", "[corpus]", _line("kind", "files"), *_lines(manifest, _READING)]
    for name, split in manifest.splits.items():
        if any(each.split == name for each in files.values()):
            lines += ["", f"[splits.{_text(name)}]", *_lines(split, ("documents", "description"))]
    for _, file in sorted(files.items()):
        lines += ["", "[[files]]", *_lines(file, tuple(each.name for each in fields(file)))]
    write_whole(lock_path(manifest, out), "\n".join(lines) + "\n")


def _lines(of: object, names: tuple[str, ...]) -> list[str]:
    return [_line(name, value) for name in names if (value := getattr(of, name)) not in (None, "", False)]


def _line(key: str, value: Any) -> str:
    return f"{key} = {_text(value) if isinstance(value, str) else json.dumps(value)}"


def _text(value: str) -> str:
    """A TOML string: JSON's escapes are among TOML's, but for DEL, which JSON leaves as it is."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
