"""Corpus manifests: TOML files that say where a corpus lives and how to read it, and never hold data.

::

    format = 1
    name = "my-corpus"                   # goes into the index
    title = "..."                        # optional, as are description, licence, home
    [corpus]
    kind = "files"
    paths = ["parts/*.jsonl.zst"]        # relative to the manifest; files, folders, globs
    text_key = "text"                    # optional, as are id_key, include, exclude, text_lines
    [sha256]                             # optional: digests that are checked before anything is built
    "parts/0.jsonl.zst" = "9f86d08..."
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ngramscope.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["MANIFEST_FORMAT", "CorpusManifest", "default_manifest", "load_manifest"]

MANIFEST_FORMAT = 1
_DEFAULT = "python-stdlib.toml"
_TOP = {
    "format": int,
    "name": str,
    "title": str,
    "description": str,
    "licence": str,
    "home": str,
    "demo": bool,
    "corpus": dict,
    "sha256": dict,
}
_CORPUS = {
    "kind": str,
    "paths": list,
    "text_key": str,
    "id_key": str,
    "include": list,
    "exclude": list,
    "text_lines": bool,
}
_KINDS = ("files", "python-stdlib")
_CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True)
class CorpusManifest:
    """One corpus, as its manifest describes it.

    `text_key`, `id_key` and `text_lines` are None where the manifest leaves them to the caller.
    """

    path: Path
    name: str
    kind: str
    title: str = ""
    description: str = ""
    licence: str = ""
    home: str = ""
    demo: bool = False
    paths: tuple[str, ...] = ()
    text_key: str | None = None
    id_key: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    text_lines: bool | None = None
    sha256: Mapping[str, str] = field(default_factory=dict)

    def sources(self) -> list[str]:
        """The paths of the corpus, as absolute as the manifest's own.

        Raises
        ------
        InputError
            A digest of the manifest is not that of its file; both are named.
        """
        folder = self.path.parent
        for name, expected in sorted(self.sha256.items()):
            found = _sha256(folder / name, self.path)
            if found != expected.lower():
                raise InputError(
                    f"{folder / name}: its SHA-256 is {found}, but {self.path} expects {expected.lower()}; "
                    "get the file again, or correct the manifest if the corpus was meant to change"
                )
        return [str(folder / each) for each in self.paths]


def load_manifest(path: str | Path) -> CorpusManifest:
    """Read the manifest at `path`.

    Raises
    ------
    InputError
        It cannot be read, is not TOML, or has a key or a value that has no meaning here; names the culprit.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except OSError as error:
        raise InputError(f"{path}: cannot read the manifest: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a corpus manifest (TOML): {error}") from error
    _check(path, "", data, _TOP, required=("format", "name", "corpus"))
    if data["format"] != MANIFEST_FORMAT:
        raise InputError(f"{path}: manifest format {data['format']}, but this ngramscope reads format {MANIFEST_FORMAT}")
    corpus = data.pop("corpus")
    _check(path, "corpus.", corpus, _CORPUS, required=("kind",))
    if corpus["kind"] not in _KINDS:
        raise InputError(f"{path}: corpus.kind is {corpus['kind']!r}; known kinds: {', '.join(_KINDS)}")
    if corpus["kind"] == "files" and not corpus.get("paths"):
        raise InputError(f"{path}: corpus.paths is missing; list the files, folders or globs of the corpus")
    for key in ("paths", "include", "exclude"):
        if not all(isinstance(each, str) for each in corpus.get(key, ())):
            raise InputError(f"{path}: corpus.{key} has to be a list of strings")
        corpus[key] = tuple(corpus.get(key, ()))
    if not all(isinstance(each, str) for each in data.get("sha256", {}).values()):
        raise InputError(f"{path}: sha256 has to be a table of file names and hexadecimal digests")
    del data["format"]
    return CorpusManifest(path=path, **data, **corpus)


def default_manifest() -> CorpusManifest:
    """The manifest of the corpus that is indexed when none is named."""
    return load_manifest(_manifest_folder() / _DEFAULT)


def _manifest_folder() -> Path:
    """``data_manifests/``: at the top of a checkout, inside the package of an installed wheel."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent
    if (checkout / "rust" / "py" / "Cargo.toml").is_file():
        return checkout / "data_manifests"
    return package / "data_manifests"


def _check(path: Path, prefix: str, table: Mapping[str, Any], known: Mapping[str, type], required: tuple[str, ...]) -> None:
    for key, value in table.items():
        if key not in known:
            raise InputError(f"{path}: unknown key {prefix}{key}; known: {', '.join(prefix + each for each in known)}")
        if not isinstance(value, known[key]) or (known[key] is int and isinstance(value, bool)):
            raise InputError(f"{path}: {prefix}{key} has to be a {known[key].__name__}, not {value!r}")
    for key in required:
        if key not in table:
            raise InputError(f"{path}: {prefix}{key} is missing")


def _sha256(file: Path, manifest: Path) -> str:
    digest = hashlib.sha256()
    try:
        with file.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise InputError(f"{file}: named by {manifest}, but cannot be read: {error.strerror}") from error
    return digest.hexdigest()
