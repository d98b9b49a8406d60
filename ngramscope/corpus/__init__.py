"""Where corpora come from: manifests, the embedded default corpus, and iterators of texts."""

from __future__ import annotations

from ngramscope.corpus.manifest import CorpusManifest, default_manifest, find_manifest, load_manifest

__all__ = ["CorpusManifest", "default_manifest", "find_manifest", "load_manifest"]
