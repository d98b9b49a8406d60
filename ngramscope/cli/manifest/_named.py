"""``MANIFEST`` and ``MANIFEST:SPLIT`` as an argument."""

from __future__ import annotations

from ngramscope.corpus.manifest import CorpusManifest, find_manifest, load_manifest, manifest_and_split

__all__ = ["named"]


def named(argument: str) -> tuple[CorpusManifest, str | None]:
    """The manifest, by path or by name, and the split if one is given."""
    path, split = manifest_and_split(argument) or (argument, None)
    if not path.endswith(".toml") and "/" not in path:
        path, _, after = path.partition(":")
        split = after or None
    return load_manifest(find_manifest(path)), split
