"""Corpus manifests: TOML files that say where a corpus lives and how to read it, and never hold data. See docs/manifests.md.

::

    format = 1
    name = "my-corpus"                   # goes into the index
    title = "..."                        # optional, as are description, licence, home, dates, digests, checked
    base = "https://host/folder/"        # optional: what paths without a URL are fetched from
    [corpus]
    kind = "files"
    paths = ["parts/*.jsonl.zst"]        # relative to the manifest: files, folders, globs; or names with a scheme
    text_key = "text"                    # optional, as are id_key, domain_key, date_key, label_key, text_lines, include, ...
    [splits.train]                       # optional: parts of the corpus that are read one at a time
    sources = ["hf://some/corpus::train"]
    lists = ["https://host/urls.txt"]    # optional: lists of URLs, one a line
    documents = 1000                     # optional, as it was published
    [[files]]                            # optional: files one by one
    path = "parts/0.jsonl.zst"
    url = "https://..."                  # optional, as are split, bytes, documents, sha256, md5, blake3
    [sha256]                             # optional: digests that are checked before anything is built
    "parts/0.jsonl.zst" = "9f86d08..."
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ngramscope.corpus.remote import common_folder, is_remote, public_name, read_lines
from ngramscope.errors import InputError, UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "HASHES",
    "MANIFEST_FORMAT",
    "CorpusManifest",
    "ManifestFile",
    "ManifestSplit",
    "bundled_manifests",
    "default_manifest",
    "file_digests",
    "find_manifest",
    "is_below",
    "load_manifest",
    "lock_name",
    "manifest_and_split",
]

MANIFEST_FORMAT = 1
HASHES = ("sha256", "md5")
"""Digests that are compared wherever a file is read; BLAKE3 too, where the core computes it."""

_DEFAULT = "python-stdlib.toml"
_TOP = {
    "format": int,
    "name": str,
    "title": str,
    "description": str,
    "licence": str,
    "home": str,
    "dates": str,
    "digests": str,
    "checked": bool,
    "demo": bool,
    "base": str,
    "corpus": dict,
    "splits": dict,
    "files": list,
    "sha256": dict,
}
_CORPUS = {
    "kind": str,
    "paths": list,
    "text_key": str,
    "id_key": str,
    "domain_key": str,
    "date_key": str,
    "label_key": str,
    "include": list,
    "exclude": list,
    "text_lines": bool,
}
_SPLIT = {"sources": list, "lists": list, "documents": int, "description": str}
_FILE = {
    "path": str,
    "url": str,
    "split": str,
    "bytes": int,
    "documents": int,
    "sha256": str,
    "md5": str,
    "blake3": str,
    "digest": str,
}
_KINDS = ("files", "python-stdlib")
_CHUNK = 1 << 20
_SOURCE = re.compile(r"(?P<path>.*\.toml)(?::(?P<split>[^/:]+))?")


@dataclass(frozen=True, kw_only=True)
class ManifestFile:
    """One file of a corpus.

    Attributes
    ----------
    path
        Where a copy is, below the manifest's folder; ``/`` between its parts.
    url
        Where it comes from; None if the manifest does not say.
    bytes, documents, sha256, md5, blake3
        As they were published; None where they were not.
    digest
        ``published``, or ``computed`` when the file was fetched; empty where there is no digest.
    """

    path: str
    url: str | None = None
    split: str | None = None
    bytes: int | None = None
    documents: int | None = None
    sha256: str | None = None
    md5: str | None = None
    blake3: str | None = None
    digest: str = ""

    @property
    def hashes(self) -> dict[str, str]:
        """Its digests by the name of the hash, in lower case."""
        found = {name: getattr(self, name) for name in (*HASHES, "blake3")}
        return {name: digest.lower() for name, digest in found.items() if digest is not None}


@dataclass(frozen=True, kw_only=True)
class ManifestSplit:
    """A part of a corpus that is read on its own: the files that name it, `sources`, and what `lists` of URLs name."""

    sources: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    documents: int | None = None
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class CorpusManifest:
    """One corpus, as its manifest describes it.

    `text_key`, `id_key` and `text_lines` are None where the manifest leaves them to the caller. `checked` tells whether what it
    says was compared with what is published; None where it does not say.
    """

    path: Path
    name: str
    kind: str
    title: str = ""
    description: str = ""
    licence: str = ""
    home: str = ""
    dates: str = ""
    digests: str = ""
    checked: bool | None = None
    demo: bool = False
    base: str | None = None
    paths: tuple[str, ...] = ()
    text_key: str | None = None
    id_key: str | None = None
    domain_key: str | None = None
    date_key: str | None = None
    label_key: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    text_lines: bool | None = None
    splits: Mapping[str, ManifestSplit] = field(default_factory=dict)
    files: tuple[ManifestFile, ...] = ()
    sha256: Mapping[str, str] = field(default_factory=dict)

    @property
    def split_names(self) -> list[str]:
        """Names of the splits, in order."""
        return list(dict.fromkeys([*self.splits, *(each.split for each in self.files if each.split)]))

    def choose(self, split: str | None) -> str | None:
        """The split that is meant; None for a corpus without splits.

        Raises
        ------
        UsageError
            There is none of that name, or there are several and none was named; lists them.
        """
        known = self.split_names
        if split is None and len(known) <= 1:
            return known[0] if known else None
        if split not in known:
            what = f"has no split {split!r}; " if split else ""
            having = f"it has {', '.join(known)}; name one, as {self.path.name}:{known[0]}" if known else "it has no splits"
            raise UsageError(f"{self.path}: {what}{having}")
        return split

    def of_split(self, split: str | None) -> tuple[list[ManifestFile], list[str]]:
        """The files of a split, and its other sources as they are written; the corpus's own where there are no splits."""
        files = [each for each in self.files if each.split == split]
        others = self.splits[split].sources if split is not None and split in self.splits else self.paths
        return files, list(others)

    def resolved(self, split: str | None) -> tuple[list[ManifestFile], list[str]]:
        """Like `of_split`, with the files that its lists name; these are read from where they live."""
        files, others = self.of_split(split)
        if split is not None and split in self.splits:
            urls = [url for each in self.splits[split].lists for url in read_lines(each)]
            common = common_folder(urls)
            files += [ManifestFile(path=public_name(url.removeprefix(common)), url=url, split=split) for url in urls]
        return files, others

    def url(self, file: ManifestFile) -> str | None:
        """Where `file` comes from."""
        if file.url is None and self.base is not None:
            return self.base.rstrip("/") + "/" + file.path
        return file.url

    def sources(self, split: str | None = None) -> list[str]:
        """The sources of the corpus, or of one split: local copies where all files are there, else where they live.

        Raises
        ------
        UsageError
            See `choose`.
        InputError
            A digest of the manifest is not that of its file, or a file is neither here nor has a URL.
        """
        folder = self.path.parent
        files, others = self.resolved(self.choose(split))
        for name, expected in sorted(self.sha256.items()):
            self._compare(folder / name, {"sha256": expected.lower()})
        local = all((folder / each.path).is_file() for each in files)
        sources = []
        for file in files:
            if local:
                self._compare(folder / file.path, {name: file.hashes[name] for name in HASHES if name in file.hashes})
                sources.append(str(folder / file.path))
            else:
                url = self.url(file)
                if url is None:
                    raise InputError(f"{folder / file.path}: named by {self.path}, but not there, and it has no URL")
                sources.append(url)
        return sources + [each if is_remote(each) else str(folder / each) for each in others]

    def _compare(self, file: Path, expected: Mapping[str, str]) -> None:
        try:
            found = file_digests(file, expected)
        except OSError as error:
            raise InputError(f"{file}: named by {self.path}, but cannot be read: {error.strerror}") from error
        for name, digest in expected.items():
            if found[name] != digest:
                raise InputError(
                    f"{file}: its {name.upper().replace('SHA', 'SHA-')} is {found[name]}, but {self.path} expects {digest}; "
                    "get the file again, or correct the manifest if the corpus was meant to change"
                )


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
    if not is_below(data["name"]) or "/" in data["name"]:
        raise InputError(f"{path}: name is {data['name']!r}; files are named after it, so it has to be a plain name")
    if corpus["kind"] not in _KINDS:
        raise InputError(f"{path}: corpus.kind is {corpus['kind']!r}; known kinds: {', '.join(_KINDS)}")
    data["splits"] = {name: _split(path, name, table) for name, table in data.get("splits", {}).items()}
    data["files"] = tuple(_file(path, number, table) for number, table in enumerate(data.get("files", ())))
    _check_places(path, data["name"], data["files"])
    if corpus["kind"] == "files" and not (corpus.get("paths") or data["splits"] or data["files"]):
        raise InputError(f"{path}: corpus.paths is missing; list the files, folders or globs of the corpus")
    for key in ("paths", "include", "exclude"):
        corpus[key] = _strings(path, f"corpus.{key}", corpus.get(key, ()))
    if not all(isinstance(each, str) for each in data.get("sha256", {}).values()):
        raise InputError(f"{path}: sha256 has to be a table of file names and hexadecimal digests")
    del data["format"]
    return CorpusManifest(path=path, **data, **corpus)


def manifest_and_split(source: str) -> tuple[str, str | None] | None:
    """The parts of ``NAME.toml`` or ``NAME.toml:SPLIT``; None if `source` is no manifest."""
    match = None if is_remote(source) else _SOURCE.fullmatch(source)
    return None if match is None else (match["path"], match["split"])


def find_manifest(name: str) -> Path:
    """The manifest at path `name`, else the one of that name (with or without ``.toml``) that comes with the program.

    Raises
    ------
    InputError
        There is neither; lists those that come along.
    """
    if Path(name).is_file() or "/" in name:
        return Path(name)
    bundled = {each.stem: each for each in bundled_manifests()}
    try:
        return bundled[name.removesuffix(".toml")]
    except KeyError:
        raise InputError(f"{name}: no such manifest; those that come along: {', '.join(sorted(bundled))}") from None


def bundled_manifests() -> list[Path]:
    """The manifests that come with the program, by name."""
    return sorted(_manifest_folder().glob("*.toml"))


def default_manifest() -> CorpusManifest:
    """The manifest of the corpus that is indexed when none is named."""
    return load_manifest(_manifest_folder() / _DEFAULT)


def is_below(name: str) -> bool:
    """Whether `name` is a path that stays below the folder that it is joined to."""
    place = PurePosixPath(name)
    return bool(place.parts) and not place.is_absolute() and ".." not in place.parts and "\0" not in name


def lock_name(name: str) -> str:
    """Name of the lock of the manifest `name`."""
    return f"{name}.lock.toml"


def file_digests(file: Path, hashes: Iterable[str]) -> dict[str, str]:
    """Digests of a file by `hashlib`, in hexadecimal, by name.

    Raises
    ------
    OSError
        It cannot be read.
    """
    digests = {name: hashlib.new(name, usedforsecurity=False) for name in hashes}
    with file.open("rb") as stream:
        while digests and (chunk := stream.read(_CHUNK)):
            for digest in digests.values():
                digest.update(chunk)
    return {name: digest.hexdigest() for name, digest in digests.items()}


def _manifest_folder() -> Path:
    """``data_manifests/``: at the top of a checkout, inside the package of an installed wheel."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parent
    if (checkout / "rust" / "py" / "Cargo.toml").is_file():
        return checkout / "data_manifests"
    return package / "data_manifests"


def _split(path: Path, name: str, table: Any) -> ManifestSplit:
    prefix = f"splits.{name}."
    if not isinstance(table, dict):
        raise InputError(f"{path}: splits.{name} has to be a table")
    _check(path, prefix, table, _SPLIT, required=())
    lists = {key: _strings(path, prefix + key, table.get(key, ())) for key in ("sources", "lists")}
    return ManifestSplit(**{**table, **lists})


def _file(path: Path, number: int, table: Any) -> ManifestFile:
    if not isinstance(table, dict):
        raise InputError(f"{path}: files[{number}] has to be a table")
    _check(path, f"files[{number}].", table, _FILE, required=("path",))
    if not is_below(table["path"]):
        raise InputError(f"{path}: files[{number}].path is {table['path']!r}; a path below the manifest's folder")
    return ManifestFile(**table)


def _check_places(path: Path, name: str, files: Iterable[ManifestFile]) -> None:
    """Refuse files that would take the place of each other, or of the lock that `fetch` writes."""
    taken = {PurePosixPath(lock_name(name)): "is that of the lock that fetch writes"}
    for number, file in enumerate(files):
        why = taken.setdefault(PurePosixPath(file.path), f"is that of files[{number}]")
        if why != f"is that of files[{number}]":
            raise InputError(f"{path}: files[{number}].path is {file.path!r}, which {why}")


def _strings(path: Path, key: str, value: Iterable[Any]) -> tuple[str, ...]:
    strings = tuple(value)
    if not all(isinstance(each, str) for each in strings):
        raise InputError(f"{path}: {key} has to be a list of strings")
    return strings


def _check(path: Path, prefix: str, table: Mapping[str, Any], known: Mapping[str, type], required: tuple[str, ...]) -> None:
    for key, value in table.items():
        if key not in known:
            raise InputError(f"{path}: unknown key {prefix}{key}; known: {', '.join(prefix + each for each in known)}")
        if not isinstance(value, known[key]) or (known[key] is int and isinstance(value, bool)):
            raise InputError(f"{path}: {prefix}{key} has to be a {known[key].__name__}, not {value!r}")
    for key in required:
        if key not in table:
            raise InputError(f"{path}: {prefix}{key} is missing")
