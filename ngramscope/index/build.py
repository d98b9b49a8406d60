"""From sources of any kind to an index folder."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ngramscope import _core
from ngramscope._core import Progress
from ngramscope.corpus.feed import Feeder
from ngramscope.corpus.manifest import CorpusManifest, default_manifest
from ngramscope.corpus.remote import public_name
from ngramscope.corpus.sources import corpus_manifest, read_by_manifest
from ngramscope.errors import UsageError
from ngramscope.index.options import BuildOptions, MergeOptions
from ngramscope.index.texts import check_texts

__all__ = ["BuildReport", "PathLike", "ProgressCallback", "build_index", "merge_indexes"]

PathLike = str | os.PathLike[str]
ProgressCallback = Callable[[Progress], None]

logger = logging.getLogger("ngramscope")


@dataclass(frozen=True)
class BuildReport:
    """What a build read, made and left out.

    Attributes
    ----------
    path
        The index folder.
    manifest
        Content of its ``index.json``.
    details
        Everything the core reported: reading report, passes, seconds, bytes.
    warnings
        What the user should know.
    """

    path: Path
    manifest: dict[str, Any]
    details: dict[str, Any]
    warnings: list[str]

    @property
    def partial(self) -> bool:
        """Some records or files were left out."""
        return bool(self.manifest["partial"])


def build_index(
    sources: Sequence[PathLike],
    out: Path,
    options: BuildOptions,
    *,
    texts: Iterable[Any] | None = None,
    progress: ProgressCallback | None = None,
) -> BuildReport:
    """Build an index of `sources`, or of `texts`, in the folder `out`.

    Parameters
    ----------
    sources
        Files, folders, globs, ``-`` (standard input), names with a scheme (docs/inputs.md), or one manifest (``NAME.toml`` or
        ``NAME.toml:SPLIT``). Empty: the embedded default corpus.
    texts
        Texts instead of files; see `Index.build`.
    progress
        Called some twenty times a second, on the calling thread.

    Raises
    ------
    UsageError
        Also: `out` has an unfinished build, and ``options.resume`` is not set, or its inputs or settings have changed.
    """
    if texts is not None:
        if sources:
            raise UsageError("sources and texts: give one of them")
        return _build_texts(texts, out, options, progress)
    if not sources:
        return _build_default(out, options, progress)
    found = corpus_manifest(sources)
    if found is not None:
        manifest, split = found
        if manifest.kind == "python-stdlib":
            return _build_stdlib(manifest, out, options, progress)
        return _run(manifest.sources(split), out, _with_manifest(manifest, options), progress)
    return _run([os.fspath(each) for each in sources], out, options, progress)


def merge_indexes(
    parts: Sequence[PathLike], out: Path, options: MergeOptions, *, progress: ProgressCallback | None = None
) -> BuildReport:
    """Merge the indexes in the folders `parts` into one in the folder `out`.

    Parts of one corpus that were built with the same plan come out byte for byte as the index that a single build makes.

    Raises
    ------
    UsageError
        Parts are missing, or `out` holds an index already.
    IndexFormatError, MismatchError
        Indexes that are damaged, differ in rules or geometry, or have read the same file.
    """
    folders = [os.fspath(each) for each in parts]
    logger.info("merging %s into %s", ", ".join(folders), out)
    return _report(out, _core.merge(folders, os.fspath(out), options, progress=progress))


def _run(paths: list[str], out: Path, options: BuildOptions, progress: ProgressCallback | None) -> BuildReport:
    logger.info("indexing %s into %s", ", ".join(map(public_name, paths)), out)
    if options.engine == "ray":
        from ngramscope.distributed import ray

        return _report(out, ray.build(paths, os.fspath(out), options, progress))
    return _report(out, _core.build(paths, os.fspath(out), options, progress=progress))


def _build_default(out: Path, options: BuildOptions, progress: ProgressCallback | None) -> BuildReport:
    if options.rule.words == "ids":
        raise UsageError("--words: 'ids' needs a corpus of token ids; name it: ngramscope build-index --words ids FILES")
    manifest = default_manifest()
    logger.warning(
        "no corpus was named: indexing the embedded demonstration corpus, the standard library of this Python %d.%d "
        "(%s.toml); name yours with: ngramscope build-index FILES",
        *sys.version_info[:2],
        manifest.name,
    )
    return _build_stdlib(manifest, out, options, progress)


def _build_stdlib(manifest: CorpusManifest, out: Path, options: BuildOptions, progress: ProgressCallback | None) -> BuildReport:
    from ngramscope.corpus import stdlib

    if options.resume:
        raise UsageError("--resume: the embedded corpus is made anew every time, and takes a second; name a corpus of files")
    with tempfile.TemporaryDirectory(prefix="ngramscope-") as folder:
        path = Path(folder) / f"{manifest.name}.jsonl"
        stdlib.write_jsonl(path, manifest.exclude)
        # The globs chose library files; they are not for the one file made of them.
        chosen = dataclasses.replace(manifest, include=(), exclude=())
        return _run([os.fspath(path)], out, _with_manifest(chosen, options), progress)


def _build_texts(texts: Iterable[Any], out: Path, options: BuildOptions, progress: ProgressCallback | None) -> BuildReport:
    texts = check_texts(texts)
    if options.engine == "ray":
        raise UsageError("--engine ray: texts cannot be read by several workers; write them to files")
    if isinstance(texts, Sized) and options.expected_ngrams is None:
        # Nothing is lost by spooling what is in memory already; only a one-shot iterator needs the caller's decision.
        options = dataclasses.replace(options, spool=True)
    with Feeder(texts, text_key=options.read.text_key, id_key=options.read.id_key) as feeder:

        def watch(step: Progress) -> None:
            feeder.check()
            if progress is not None:
                progress(step)

        summary = _core.build([], os.fspath(out), options, progress=watch, stream=(feeder.fileno, "texts"))
    return _report(out, summary)


def _with_manifest(manifest: CorpusManifest, options: BuildOptions) -> BuildOptions:
    """`options` with what the manifest says of the corpus."""
    read = read_by_manifest(manifest, options.read)
    return dataclasses.replace(options, read=read, name=options.name or manifest.name, demo=options.demo or manifest.demo)


def _report(out: Path, summary: str) -> BuildReport:
    details = json.loads(summary)
    manifest = details.pop("manifest")
    warnings = details.pop("warnings")
    for warning in warnings:
        logger.warning("%s", warning)
    seconds = ", ".join(f"{phase} {value:.2f} s" for phase, value in details["seconds"].items())
    logger.info("content id %s; inserting passes: %d; %s", manifest["content_id"], details["passes"], seconds)
    return BuildReport(path=out, manifest=manifest, details=details, warnings=warnings)
