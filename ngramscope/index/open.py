"""`Index`: the public face of an index folder, or of several that are asked together."""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ngramscope import _core
from ngramscope.corpus.sources import corpus_sources
from ngramscope.errors import MismatchError, UsageError
from ngramscope.index.build import BuildReport, PathLike, ProgressCallback, build_index, merge_indexes
from ngramscope.index.explain import explain_text
from ngramscope.index.options import (
    DOMAIN,
    BuildOptions,
    MergeOptions,
    QueryOptions,
    ReadOptions,
    WordRule,
    default_index,
    index_folder,
    lengths,
)
from ngramscope.index.summary import index_warnings
from ngramscope.index.table import Objects, OverlapTable
from ngramscope.index.texts import as_decimals, as_strings, check_texts

__all__ = ["Index", "OverlapStream"]

logger = logging.getLogger("ngramscope")


class Index:
    """One or several indexes, opened for questions; several answer "found in any of them".

    Opening maps the files and reads none of the filters. An object can be used from several threads, after a fork, and
    pickled (it is opened again from its path).

    Examples
    --------
    >>> index = Index.build(texts=["one two three four five six seven eight"], out="my-index", n=7)
    >>> table = index.overlap(["zero one two three four five six seven eight nine"])
    >>> table.hits.tolist(), table.ngrams.tolist()
    ([2], [4])
    """

    build_report: BuildReport | None = None
    """What was read and left out, if this object comes from `build`."""

    def __init__(self, core: _core.Index, *, load: bool) -> None:
        self._core = core
        self._paths = tuple(map(os.fspath, core.folders))  # without those that were named twice
        # Now, not when pickled: the working folder may be another one by then.
        self._absolute = tuple(os.fspath(Path(each).resolve()) for each in self._paths)
        self._load = load
        self.manifests: tuple[dict[str, Any], ...] = tuple(json.loads(each) for each in core.manifests)
        rates = ", ".join(f"n = {n}: {rate:.4g}" for n, rate in self.filter_fpr.items())
        logger.info("opened %s; false-positive rate %s", ", ".join(self._paths), rates)

    @classmethod
    def open(cls, path: PathLike | Sequence[PathLike] | None = None, *, load: bool = False) -> Index:
        """Open the index in folder `path`, or in several folders.

        Parameters
        ----------
        path
            None: ``NGRAMSCOPE_INDEX``, else ``./ngramscope-index``.
        load
            Copy the filters into memory first (huge pages where the system grants them): slower to open, faster to ask.

        Raises
        ------
        IndexFormatError
            There is no index, it is damaged, or of an unknown version.
        MismatchError
            Several indexes that differ in their word rule.
        UsageError
            Several indexes that share no n.
        """
        if path is None:
            folders: tuple[str, ...] = (os.fspath(default_index()),)
        elif isinstance(path, str | os.PathLike):
            folders = (os.fspath(path),)
        else:
            folders = tuple(os.fspath(each) for each in path)
            if not folders:
                raise UsageError("--index: no folder given")
        if "" in folders:
            raise UsageError("--index: '' is not possible; name a folder, . for this one")
        return cls(_core.Index(folders, load), load=load)

    @classmethod
    def build(
        cls,
        sources: PathLike | Sequence[PathLike] = (),
        *,
        texts: Iterable[str | Sequence[int] | Mapping[str, Any]] | None = None,
        out: PathLike | None = None,
        n: int | Iterable[int] = (7,),
        words: str = WordRule.words,
        normalize: str = WordRule.normalize,
        lowercase: bool = WordRule.lowercase,
        filter: str = BuildOptions.filter,  # noqa: A002 - the command line's name
        filter_fpr: float = BuildOptions.filter_fpr,
        expected_ngrams: int | None = None,
        shards: int | None = None,
        tiers: int = BuildOptions.tiers,
        threads: int | None = None,
        memory: int | str | None = None,
        force: bool = False,
        accept_overfull: bool = False,
        name: str | None = None,
        spool: bool = False,
        plan: PathLike | None = None,
        like: PathLike | None = None,
        part: tuple[int, int] | str | None = None,
        resume: bool = False,
        verify_inputs: bool = False,
        engine: str = BuildOptions.engine,
        ray_address: str | None = None,
        ray_parts: int | None = None,
        scratch: PathLike | None = None,
        text_key: str = ReadOptions.text_key,
        id_key: str = ReadOptions.id_key,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        text_lines: bool = False,
        max_record_size: int | str = ReadOptions.max_record_size,
        max_window_log: int = ReadOptions.max_window_log,
        max_column_chunk: int | str = ReadOptions.max_column_chunk,
        max_bad_records: int = 0,
        max_bad_files: int = 0,
        progress: ProgressCallback | None = None,
    ) -> Index:
        """Build an index and open it. Parameters have the names and defaults of ``ngramscope build-index``.

        Parameters
        ----------
        sources
            Files, folders, globs, names with a scheme, or one manifest (``*.toml``). Empty, and without `texts`: the embedded
            default corpus.
        texts
            Instead of `sources`: strings, lists of token ids (``words="ids"``) or whole records. A list is spooled to disk
            (compressed) so that it can be read twice; an iterator needs `expected_ngrams` or ``spool=True``. It runs on
            a thread of its own.
        out
            Folder of the index; None: ``NGRAMSCOPE_INDEX``, else ``./ngramscope-index``.
        n, words, normalize, lowercase, filter, filter_fpr, expected_ngrams, shards, tiers, threads, memory, force
            See `BuildOptions` and `WordRule`.
        accept_overfull, name, spool, plan, like, part, resume, verify_inputs, engine, ray_address, ray_parts, scratch
            See `BuildOptions`.
        text_key, id_key, include, exclude, text_lines, max_record_size, max_window_log, max_column_chunk
            See `ReadOptions`.
        max_bad_records, max_bad_files
            See `ReadOptions`; what was left out is in `build_report`.
        progress
            Called some twenty times a second with a `Progress`, on the calling thread.

        Raises
        ------
        UsageError, InputError, ResourceError
            Nothing is left under `out`; with `resume`, the same call continues the build.
        """
        options = BuildOptions(
            read=ReadOptions(
                text_key=text_key,
                id_key=id_key,
                include=tuple(include),
                exclude=tuple(exclude),
                text_lines=text_lines,
                max_record_size=max_record_size,
                max_window_log=max_window_log,
                max_column_chunk=max_column_chunk,
                max_bad_records=max_bad_records,
                max_bad_files=max_bad_files,
            ),
            rule=WordRule(words=words, normalize=normalize, lowercase=lowercase),
            n=lengths(n),
            filter=filter,
            filter_fpr=filter_fpr,
            expected_ngrams=expected_ngrams,
            shards=shards,
            tiers=tiers,
            threads=threads,
            memory=memory,
            force=force,
            accept_overfull=accept_overfull,
            name=name,
            spool=spool,
            plan=plan,
            like=like,
            part=part,
            resume=resume,
            verify_inputs=verify_inputs,
            engine=engine,
            ray_address=ray_address,
            ray_parts=ray_parts,
            scratch=scratch,
        )
        folder = index_folder(out)
        paths = (sources,) if isinstance(sources, str | os.PathLike) else tuple(sources)
        report = build_index(paths, folder, options, texts=texts, progress=progress)
        index = cls.open(folder)
        index.build_report = report
        return index

    @classmethod
    def merge(
        cls,
        parts: Sequence[PathLike],
        out: PathLike | None = None,
        *,
        name: str | None = None,
        threads: int | None = None,
        memory: int | str | None = None,
        force: bool = False,
        accept_overfull: bool = False,
        progress: ProgressCallback | None = None,
    ) -> Index:
        """Merge indexes into one and open it. Parameters have the names and defaults of ``ngramscope merge``.

        Parameters
        ----------
        parts
            Folders of indexes that were built with the same geometry (``plan``, ``like`` or ``expected_ngrams``).
        out
            Folder of the merged index; None: ``NGRAMSCOPE_INDEX``, else ``./ngramscope-index``.
        name, threads, memory, force, accept_overfull
            See `MergeOptions`.
        progress
            Called some twenty times a second with a `Progress`, on the calling thread.

        Raises
        ------
        UsageError, MismatchError, IndexFormatError, ResourceError
            Nothing is left under `out`.
        """
        options = MergeOptions(threads=threads, memory=memory, force=force, accept_overfull=accept_overfull, name=name)
        folder = index_folder(out)
        report = merge_indexes(parts, folder, options, progress=progress)
        index = cls.open(folder)
        index.build_report = report
        return index

    @property
    def paths(self) -> tuple[Path, ...]:
        """The folders."""
        return tuple(Path(each) for each in self._paths)

    @property
    def n(self) -> tuple[int, ...]:
        """The lengths that every one of the indexes has, ascending."""
        common = set.intersection(*({keys["n"] for keys in each["sets"]} for each in self.manifests))
        return tuple(sorted(common))

    @property
    def rule(self) -> WordRule:
        """What a word is in these indexes."""
        words = self.manifests[0]["words"]
        return WordRule(words=words["mode"], normalize=words["normalization"], lowercase=words["lowercase"])

    @property
    def filter_fpr(self) -> dict[int, float]:
        """For each n, the rate at which an absent n-gram counts as found: 1 - prod(1 - p) over the indexes."""
        return {n: self._combined(n) for n in self.n}

    @property
    def tiers(self) -> int:
        """Tiers that all of the indexes have; 2: they tell which n-grams at least two documents have."""
        return self._core.tiers

    @property
    def distinct_ngrams(self) -> dict[int, float | None]:
        """For each n, about how many distinct n-grams the indexes have together; None when that cannot be told.

        For one index it comes from the set itself (an exact set counts); for several from their registers, merged by maximum,
        with a relative standard error of 0.8 %: what a common index would be sized for.
        """
        return {n: self._core.distinct(n) for n in self.n}

    @property
    def is_demo(self) -> bool:
        """One of the indexes holds the embedded demonstration corpus."""
        return any(each["demo"] for each in self.manifests)

    @property
    def warnings(self) -> list[str]:
        """What a reader of any number from these indexes has to know: demonstration, incomplete, empty, over-full."""
        return index_warnings(self.manifests)

    def overlap(
        self,
        texts: Iterable[str | Sequence[int] | None],
        *,
        n: int | Iterable[int] = (),
        max_words: int | None = None,
        max_ngrams: int | None = None,
        flags: bool = False,
        spans: bool = False,
        max_spans: int = QueryOptions.max_spans,
        matches: int = 0,
        own_share: float = QueryOptions.own_share,
        threads: int | None = None,
    ) -> OverlapTable:
        """Overlap of `texts` with the index, one row for each (text, n), in order.

        Parameters
        ----------
        texts
            Strings; for an index of word mode ``ids`` lists of integers, or strings of decimals with spaces between. None, and
            what pandas makes of it (NaN, NA), gives a row without overlap.
        n, max_words, max_ngrams, flags, spans, max_spans, matches, own_share, threads
            See `QueryOptions`.

        Raises
        ------
        MismatchError
            A length that the index does not have.
        UsageError
            Something else than a list of texts; a text of an index of token ids with other words in it.
        """
        checked = check_texts(texts)
        present = as_decimals(checked) if self.rule.words == "ids" else as_strings(checked)
        options = QueryOptions(
            n=lengths(n),
            max_words=max_words,
            max_ngrams=max_ngrams,
            flags=flags,
            spans=spans,
            max_spans=max_spans,
            matches=matches,
            own_share=own_share,
            threads=threads,
        )
        batch = self._core.overlap(present, options)
        return self._table(batch, options, sources=("texts",), fields=())

    def overlap_files(
        self,
        sources: PathLike | Sequence[PathLike],
        *,
        read: ReadOptions | None = None,
        query: QueryOptions | None = None,
        progress: ProgressCallback | None = None,
    ) -> OverlapStream:
        """Overlap of the records of files with the index, table by table, in bounded memory and input order.

        Parameters
        ----------
        sources
            Files, folders, globs, ``-`` (standard input), names with a scheme, or one manifest.
        read, query
            How to read and what to compute; None takes the defaults.
        progress
            Called now and then, on the calling thread.
        """
        paths = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
        names, read = corpus_sources(paths, ReadOptions() if read is None else read)
        query = QueryOptions() if query is None else query
        core_read, fields = read.carried()
        core = self._core.overlap_files(names, core_read, query, progress)
        return OverlapStream(self, core, query, fields)

    def explain(self, text: str, *, n: int | Iterable[int] = ()) -> dict[str, Any]:
        """Words of `text`, its n-grams, and which of them the index has.

        Returns
        -------
        dict
            See `ngramscope.index.explain.explain_text`.
        """
        table = self.overlap([text], n=n, flags=True)
        flags = zip(table.n.tolist(), cast("Objects", table.flags).tolist(), strict=True)
        return explain_text(text, self.rule, dict(flags), tiers=self.tiers)

    def inspect(self) -> dict[str, Any]:
        """Everything the index says of itself, with sizes on disk and the combined rates."""
        indexes = []
        for path, manifest in zip(self.paths, self.manifests, strict=True):
            size = sum(shard["bytes"] for keys in manifest["sets"] for shard in keys["shards"])
            indexes.append({"path": os.fspath(path), "bytes": size, **manifest})
        return {
            "indexes": indexes,
            "filter_fpr": {str(n): rate for n, rate in self.filter_fpr.items()},
            "distinct_ngrams": {str(n): count for n, count in self.distinct_ngrams.items()},
        }

    def verify(self, *, progress: ProgressCallback | None = None) -> dict[str, Any]:
        """Read every byte and compare the checksums.

        Raises
        ------
        IndexFormatError
            Names the first file that differs, and where.
        """
        report: dict[str, Any] = json.loads(self._core.verify(progress))
        return report

    def check_rule(self, *, words: str | None = None, normalize: str | None = None, lowercase: bool | None = None) -> None:
        """Refuse a word rule that is not the index's; None agrees with anything.

        Raises
        ------
        MismatchError
            Names both values.
        """
        rule = self.rule
        for option, asked, has in (
            ("--words", words, rule.words),
            ("--normalize", normalize, rule.normalize),
            ("--lowercase", lowercase, rule.lowercase),
        ):
            if asked is not None and asked != has:
                raise MismatchError(
                    f"{self._paths[0]}: {option} {_spelled(asked)} was asked for, but the index has {_spelled(has)}; "
                    "leave the option out, or build an index by the other rule"
                )

    def __repr__(self) -> str:
        return f"Index({', '.join(map(repr, self._paths))}, n={list(self.n)}, words={self.rule.words!r})"

    def __reduce__(self) -> tuple[object, tuple[tuple[str, ...], bool]]:
        return _reopen, (self._absolute, self._load)

    def _combined(self, n: int) -> float:
        rates = [keys["rate"] for manifest in self.manifests for keys in manifest["sets"] if keys["n"] == n]
        if any(rate >= 1 for rate in rates):
            return 1.0
        # By logarithms: rates near 2^-64 would vanish in 1 - p.
        return -math.expm1(sum(math.log1p(-rate) for rate in rates))

    def _table(
        self, batch: _core.OverlapBatch, query: QueryOptions, *, sources: Sequence[str], fields: Sequence[str]
    ) -> OverlapTable:
        return OverlapTable.from_batch(
            batch,
            sources=sources,
            fields=fields,
            filter_fpr=self.filter_fpr,
            index_is_demo=self.is_demo,
            flags=query.flags,
            spans=query.spans,
            matches=query.matches > 0,
            tiers=self.tiers,
        )


class OverlapStream(Iterator[OverlapTable]):
    """Tables of one pass over files; see `Index.overlap_files`."""

    def __init__(self, index: Index, core: _core.OverlapStream, query: QueryOptions, fields: tuple[str, ...]) -> None:
        self._index = index
        self._core = core
        self._query = query
        self._fields = fields

    @property
    def has_domains(self) -> bool:
        """Whether records carry the domain that they are from."""
        return DOMAIN in self._fields

    @property
    def filter_fpr(self) -> dict[int, float]:
        """For each n that is scored, the rate at which an absent n-gram counts as found."""
        rates = self._index.filter_fpr
        return {n: rates[n] for n in self._query.n or self._index.n}

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the inputs; `OverlapTable.source` counts in them."""
        return tuple(self._core.sources)

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the inputs that are files."""
        return tuple(map(os.fspath, self._core.paths))

    def __next__(self) -> OverlapTable:
        batch = next(self._core)
        return self._index._table(batch, self._query, sources=self.sources, fields=self._fields)

    def empty(self) -> OverlapTable:
        """A table without rows but with the columns of this pass, for inputs without records."""
        return self._index._table(
            self._index._core.overlap([], self._query), self._query, sources=self.sources, fields=self._fields
        )

    def report(self) -> dict[str, Any]:
        """What was read and left out, with sizes and digests of the inputs. After the last table only."""
        report: dict[str, Any] = json.loads(self._core.report())
        return report


def _spelled(value: str | bool) -> str:
    return value if isinstance(value, str) else "on" if value else "off"


def _reopen(paths: tuple[str, ...], load: bool) -> Index:
    return Index.open(paths, load=load)
