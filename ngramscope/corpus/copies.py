"""Compare the local copies of a corpus with its manifest."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ngramscope import _core
from ngramscope.corpus.lock import read_lock
from ngramscope.corpus.manifest import HASHES, CorpusManifest, ManifestFile, file_digests
from ngramscope.corpus.remote import is_remote
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.progress import Step

__all__ = ["Copy", "CopyReport", "check_copies"]

OK = ("right", "present")


@dataclass(frozen=True)
class Copy:
    """A local copy of one file.

    Attributes
    ----------
    status
        ``right`` (all that is known of it agrees, a digest among it), ``present`` (no digest is known), ``missing``,
        ``wrong_size``, ``wrong_digest`` or ``wrong_count``.
    detail
        What differs; empty if nothing does.
    documents
        As they were counted, if asked for.
    """

    path: str
    status: str
    detail: str = ""
    bytes: int | None = None
    documents: int | None = None


@dataclass(frozen=True)
class CopyReport:
    """All copies of a corpus or a split, and whether the counts add up."""

    name: str
    split: str | None
    root: Path
    copies: list[Copy]
    problems: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Nothing is missing or wrong."""
        return not self.problems and all(each.status in OK for each in self.copies)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "manifest": self.name,
            "split": self.split,
            "sound": self.sound,
            "files": [{key: value for key, value in vars(each).items() if value not in (None, "")} for each in self.copies],
            "problems": self.problems,
        }


def check_copies(
    manifest: CorpusManifest,
    root: Path,
    *,
    split: str | None = None,
    count: bool = False,
    progress: Callable[[Step | _core.Progress], None] | None = None,
) -> CopyReport:
    """Compare the copies below `root` with `manifest`, and with the lock that ``fetch`` left there.

    Parameters
    ----------
    count
        Also read every file and count its documents.

    Raises
    ------
    UsageError
        A split that there is not, or a corpus whose files neither the manifest nor a lock lists.
    """
    chosen = manifest.choose(split)
    files = _known(manifest, root, chosen)
    if not files:
        raise UsageError(
            f"{manifest.path}: lists no files, and {root} has no lock of it, so there is nothing to compare; "
            f"fetch it first: ngramscope manifest fetch {manifest.path.name} --out {root}"
        )
    copies = []
    for number, file in enumerate(files):
        if progress is not None:
            progress(Step("verify", bytes_done=number, bytes_total=len(files)))
        copy = _compare(file, root / file.path)
        copies.append(_counted(manifest, file, copy, root, progress) if count and copy.status in OK else copy)
    return CopyReport(manifest.name, chosen, root, copies, _sums(manifest, chosen, files, copies))


def _known(manifest: CorpusManifest, root: Path, split: str | None) -> list[ManifestFile]:
    """The files of the manifest, with digests from the lock where none were published, and those that only the lock knows."""
    lock = {path: file for path, file in read_lock(manifest, root).items() if file.split == split}
    files, others = manifest.of_split(split)
    known = [each if each.hashes else lock.get(each.path, each) for each in files]
    listed = {each.path for each in files}
    known += [file for path, file in lock.items() if path not in listed]
    digests = {name: ManifestFile(path=name, sha256=digest) for name, digest in manifest.sha256.items()}
    plain = [
        each for each in others if not is_remote(each) and not any(sign in each for sign in "*?[{") and each not in digests
    ]
    return known + list(digests.values()) + [ManifestFile(path=each) for each in plain if not (root / each).is_dir()]


def _compare(file: ManifestFile, path: Path) -> Copy:
    try:
        size = path.stat().st_size
        if file.bytes not in (None, size):
            return Copy(file.path, "wrong_size", f"{size:,} bytes, {file.bytes:,} expected", size)
        found = file_digests(path, [name for name in HASHES if name in file.hashes])
    except FileNotFoundError:
        return Copy(file.path, "missing", f"no file {path}")
    except OSError as error:
        return Copy(file.path, "missing", f"cannot be read: {error.strerror}")
    if "blake3" in file.hashes:
        found["blake3"] = _core.digest(path)
    for name, digest in file.hashes.items():
        if found[name] != digest:
            return Copy(file.path, "wrong_digest", f"{name} {found[name]}, {digest} expected", size)
    return Copy(file.path, "right" if found else "present", "" if found else "no digest is known", size)


def _counted(
    manifest: CorpusManifest,
    file: ManifestFile,
    copy: Copy,
    root: Path,
    progress: Callable[[Step | _core.Progress], None] | None,
) -> Copy:
    read = ReadOptions(
        text_key=manifest.text_key or ReadOptions.text_key,
        id_key=manifest.id_key or ReadOptions.id_key,
        text_lines=bool(manifest.text_lines),
    )
    reader = _core.Documents([str(root / file.path)], read, progress)
    for _ in reader:
        pass
    documents = json.loads(reader.report())["records"]
    if file.documents not in (None, documents):
        detail = f"{documents:,} documents, {file.documents:,} expected"
        return Copy(file.path, "wrong_count", detail, copy.bytes, documents)
    return Copy(file.path, copy.status, copy.detail, copy.bytes, documents)


def _sums(manifest: CorpusManifest, split: str | None, files: list[ManifestFile], copies: list[Copy]) -> list[str]:
    """Where documents of the files do not add up to those of the split."""
    expected = manifest.splits[split].documents if split is not None and split in manifest.splits else None
    problems = []
    for what, numbers in (
        ("the manifest's files", [each.documents for each in files]),
        ("the files read", [each.documents for each in copies]),
    ):
        known = [each for each in numbers if each is not None]
        if expected is not None and len(known) == len(files) and sum(known) != expected:
            problems.append(f"{what} have {sum(known):,} documents in all, but split {split} has {expected:,}")
    return problems
