"""From what people name as a corpus to what the core reads: manifests are looked up, all else is passed on."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ngramscope.corpus.manifest import CorpusManifest, find_manifest, load_manifest, manifest_and_split
from ngramscope.errors import UsageError

if TYPE_CHECKING:
    from ngramscope.index.options import ReadOptions  # the index package reads corpora itself

__all__ = ["corpus_manifest", "corpus_sources", "read_by_manifest"]


def corpus_manifest(sources: Sequence[str | os.PathLike[str]]) -> tuple[CorpusManifest, str | None] | None:
    """The manifest that `sources` are, with the split that is named; None if they are no manifest.

    Raises
    ------
    UsageError
        A manifest and something else.
    InputError
        A manifest that cannot be read.
    """
    found = [each for source in sources if (each := manifest_and_split(os.fspath(source))) is not None]
    if not found:
        return None
    name, split = found[0]
    if len(sources) > 1:
        raise UsageError(f"{name}: a manifest describes a whole corpus; give it alone")
    return load_manifest(find_manifest(name)), split


def corpus_sources(sources: Sequence[str | os.PathLike[str]], read: ReadOptions) -> tuple[list[str], ReadOptions]:
    """The names that the core reads for `sources`, and how; a manifest's keys win over those of `read`.

    Raises
    ------
    UsageError, InputError
        See `corpus_manifest` and `CorpusManifest.sources`.
    """
    found = corpus_manifest(sources)
    if found is None:
        return [os.fspath(each) for each in sources], read
    manifest, split = found
    if manifest.kind != "files":
        raise UsageError(f"{manifest.path}: a corpus of kind {manifest.kind} has no files; only build-index reads it")
    return manifest.sources(split), read_by_manifest(manifest, read)


def read_by_manifest(manifest: CorpusManifest, read: ReadOptions) -> ReadOptions:
    """`read` with what the manifest says of the corpus; its keys win over defaults, since they describe the files."""
    return dataclasses.replace(
        read,
        text_key=manifest.text_key or read.text_key,
        id_key=manifest.id_key or read.id_key,
        domain_key=read.domain_key or manifest.domain_key,
        text_lines=read.text_lines if manifest.text_lines is None else manifest.text_lines,
        include=(*read.include, *manifest.include),
        exclude=(*read.exclude, *manifest.exclude),
    )
