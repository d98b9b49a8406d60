"""Token frequencies of a corpus, by the `tokenizers` library: what DC-PDD compares a model's probabilities with.

Zhang et al., Pretraining Data Detection for Large Language Models: A Divergence-based Calibration Method, EMNLP 2024.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core, provenance
from ngramscope.corpus.hub import ask_hub
from ngramscope.corpus.sources import corpus_sources
from ngramscope.errors import InputError, MissingExtraError, ResourceError, UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.index.output import whole_file

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["TOKEN_COUNTS_VERSION", "LoadedTokenizer", "TokenCounts", "count_tokens", "load_tokenizer", "rules_digest"]

TOKEN_COUNTS_VERSION = 1
"""Version of the file that `TokenCounts.save` writes."""

_ARTEFACT = "token-counts"
_KEY = b"ngramscope"
_FILE = "tokenizer.json"
_WAIT = 0.05


@dataclass(frozen=True)
class LoadedTokenizer:
    """A tokenizer with the name it was asked for by and the SHA-256 digest of its ``tokenizer.json``."""

    tokenizer: Tokenizer
    name: str
    sha256: str


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """How often each token occurs in a corpus.

    Attributes
    ----------
    counts
        Shape (V,), int64: occurrences by token id; V is the largest id of the tokenizer, added tokens included, plus 1.
    tokens
        The token of each id as the tokenizer spells it; None for ids that it does not have.
    header
        Provenance: format version, settings (tokenizer and its digest among them), inputs with digests, and ``counts``
        (documents, tokens, unusable records by reason).
    """

    counts: NDArray[np.int64]
    tokens: list[str | None]
    header: dict[str, Any]

    def save(self, path: Path) -> None:
        """Write a Parquet file with the columns ``token_id``, ``token`` and ``count``; the header is in its schema metadata.

        Raises
        ------
        ResourceError
            It cannot be written; nothing is left under its name.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        tokens = pa.array(self.tokens, pa.string())
        columns: dict[str, Any] = {"token_id": np.arange(len(self.counts)), "token": tokens, "count": self.counts}
        table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(self.header)})
        try:
            with whole_file(path) as temporary:
                pq.write_table(table, temporary, compression="zstd")
        except OSError as error:
            raise ResourceError(f"{path}: cannot write the counts: {error.strerror or error}") from error

    @classmethod
    def load(cls, path: Path) -> TokenCounts:
        """Read what `save` wrote.

        Raises
        ------
        InputError
            It cannot be read, or is another file, or of a version that this release does not know.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            table = pq.ParquetFile(path).read()
            header = json.loads((table.schema.metadata or {}).get(_KEY, b"null"))
        except (OSError, ValueError, pa.ArrowException) as error:
            raise InputError(f"{path}: cannot be read as token counts: {error}") from error
        if not isinstance(header, dict) or header.get("artefact") != _ARTEFACT:
            raise InputError(f"{path}: not a file of token counts; ngramscope token-counts writes one")
        if header.get("format_version") != TOKEN_COUNTS_VERSION:
            raise InputError(
                f"{path}: token counts of version {header.get('format_version')}; this ngramscope reads {TOKEN_COUNTS_VERSION}"
            )
        lacking = [each for each in ("count", "token") if each not in table.column_names]
        if lacking or not isinstance(header.get("settings", {}).get("tokenizer"), dict):
            raise InputError(f"{path}: token counts without {lacking[0] if lacking else 'the name of their tokenizer'}")
        counts = table.column("count").to_numpy().astype(np.int64)
        return cls(counts, table.column("token").to_pylist(), header)


def load_tokenizer(name: str) -> LoadedTokenizer:
    """The tokenizer `name`: a ``tokenizer.json``, a folder that holds one, or a name on the Hugging Face hub.

    Raises
    ------
    InputError
        There is none, or it cannot be read.
    MissingExtraError
        `tokenizers` is not installed.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError("tokenizers", "tokens", "counting tokens") from error
    path = Path(name)
    if path.is_dir():
        path = path / _FILE
        if not path.is_file():
            raise InputError(f"{name}: holds no {_FILE}; AutoTokenizer.from_pretrained(...).save_pretrained(...) writes one")
    elif path.suffix == ".json" and not path.exists():
        raise InputError(f"--tokenizer: {name}: no such file")
    elif not path.is_file():
        path = _from_hub(name)
    try:
        data = path.read_bytes()
        tokenizer = Tokenizer.from_buffer(data)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except Exception as error:  # the library has no class of its own
        raise InputError(f"{path}: not a tokenizer of the library tokenizers: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # Not the path: it tells of the machine, and the digest says more.
    return LoadedTokenizer(tokenizer, path.name if Path(name).exists() else name, hashlib.sha256(data).hexdigest())


def rules_digest(tokenizer: Tokenizer) -> str:
    """SHA-256 of what decides a tokenizer's ids, whatever file it came from: not of truncation and padding."""
    rules = json.loads(tokenizer.to_str())
    rules.pop("truncation", None)
    rules.pop("padding", None)
    return hashlib.sha256(json.dumps(rules, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def count_tokens(
    sources: Sequence[str | os.PathLike[str]],
    tokenizer: LoadedTokenizer,
    *,
    read: ReadOptions | None = None,
    max_tokens: int | None = None,
    progress: Callable[[_core.Progress], None] | None = None,
) -> TokenCounts:
    """Count the tokens of all documents of a corpus.

    No special token is added; one that a text spells out counts as the tokenizer takes it.

    Parameters
    ----------
    sources
        Files, folders, globs, names with a scheme, ``-``, or one manifest.
    max_tokens
        Only the first N tokens of each document; None takes all. (The paper takes 1024.)
    progress
        Called some twenty times a second, on the calling thread.

    Raises
    ------
    UsageError, InputError
        An option or file that cannot be used.
    """
    if max_tokens is not None and (isinstance(max_tokens, bool) or max_tokens < 1):
        raise UsageError(f"--max-tokens: {max_tokens!r} is not possible; a whole number of at least 1")
    if not sources:
        raise UsageError("CORPUS: no file given")
    read = ReadOptions() if read is None else read
    names, how = corpus_sources(sources, read)
    reader = _core.Documents(names, how, progress)
    vocabulary = tokenizer.tokenizer.get_vocab(with_added_tokens=True)
    counter = _Counter(tokenizer.tokenizer, 1 + max(vocabulary.values(), default=-1), max_tokens)
    for documents in reader:
        counter.add(documents.text)
    counts = counter.finish()
    report = json.loads(reader.report())
    tokens: list[str | None] = [None] * len(counts)
    for token, number in vocabulary.items():
        tokens[number] = token
    settings = {
        "tokenizer": {
            "name": tokenizer.name,
            "sha256": tokenizer.sha256,
            "digest": rules_digest(tokenizer.tokenizer),
            "ids": len(counts),
        },
        "special_tokens": "not added",
        "max_tokens": max_tokens,
        "read": vars(how),
    }
    header = provenance.stamp(_ARTEFACT, version=TOKEN_COUNTS_VERSION, settings=settings, inputs=report["sources"])
    header["counts"] = {"documents": report["documents"], "tokens": int(counts.sum()), "unusable": report["unusable"]}
    header["partial"] = bool(report["bad_records"] or report["bad_files"])
    return TokenCounts(counts, tokens, header)


class _Counter:
    """Encodes on a thread of its own while the next texts are read, on all cores. Ctrl-C does not wait for it."""

    def __init__(self, tokenizer: Tokenizer, size: int, max_tokens: int | None) -> None:
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._counts = np.zeros(size, dtype=np.int64)
        self._error: BaseException | None = None
        self._waiting: queue.Queue[list[str] | None] = queue.Queue(2)
        self._thread = threading.Thread(target=self._run, name="ngramscope-tokens", daemon=True)
        self._thread.start()

    def add(self, texts: list[str] | None) -> None:
        """Count these too; None ends."""
        while self._error is None:
            try:
                return self._waiting.put(texts, timeout=_WAIT)
            except queue.Full:
                continue
        raise self._error

    def finish(self) -> NDArray[np.int64]:
        """The counts, when all texts are through."""
        self.add(None)
        while self._thread.is_alive():
            self._thread.join(_WAIT)
        if self._error is not None:
            raise self._error
        return self._counts

    def _run(self) -> None:
        try:
            while (texts := self._waiting.get()) is not None:
                encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
                ids = itertools.chain.from_iterable(each.ids[: self._max_tokens] for each in encodings)
                self._counts += np.bincount(np.fromiter(ids, dtype=np.int64), minlength=len(self._counts))
        except BaseException as error:  # noqa: BLE001 - raised again on the calling thread
            self._error = error


def _from_hub(name: str) -> Path:
    from huggingface_hub import hf_hub_download

    advice = f"check the name and the connection, or give a {_FILE} or a folder that holds one"
    with ask_hub(f"--tokenizer: {name}: no such file or folder, and it", advice):
        return Path(hf_hub_download(name, _FILE))
