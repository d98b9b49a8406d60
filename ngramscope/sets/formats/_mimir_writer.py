"""A set to a MIMIR cache folder."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from ngramscope.errors import InputError, ResourceError, UsageError
from ngramscope.sets.base import MEMBER, Candidate
from ngramscope.sets.formats._mimir_names import NONE, normal
from ngramscope.sets.formats.base import SetToExport

__all__ = ["KIND", "MimirFolder", "neighbors_kind"]

KIND = "neighbors_kind"
"""Setting of an imported set: how its neighbours were made, as MIMIR names it."""

_NUMBERS = ("min_words", "max_words", "max_tokens")


class MimirFolder:
    """``OUT/cache_MINWORDS_MAXWORDS_SAMPLES_MAXTOKENS/{train,test}/CONFIG_SPLIT.jsonl``; OUT appears when all is written.

    Neighbours are written beside them where all texts have some.

    Raises
    ------
    UsageError
        OUT has something in it, or a name or number is missing: MIMIR finds its files by them.
    """

    def __init__(self, out: Path, source: SetToExport) -> None:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise UsageError(f"--out: {out} is not empty; name a new or empty folder")
        if not out.absolute().parent.is_dir():
            raise UsageError(f"--out: {out}: there is no folder {out.absolute().parent}")
        values = {name: _asked(source, name) for name in ("config", "split", *_NUMBERS)}
        if values["config"] is None:
            domains = {each for side in source.header["balance"]["domains"].values() for each in side}
            values["config"] = next(iter(domains)) if len(domains) == 1 else None
        lacking = [name for name in ("config", *_NUMBERS) if values[name] in (None, "")]
        if lacking:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in lacking)
            raise UsageError(f"{options}: the set's history does not say; MIMIR has it in the names of its files, so give it")
        counts = source.header["counts"]
        samples = max(counts["members"], counts["nonmembers"])
        split = normal(values["split"] or NONE)
        self._stem = normal(values["config"]) + ("" if split == NONE else f"_{split}")
        if "/" in self._stem:
            raise UsageError(f"--config, --split: {self._stem!r} is not possible as the name of a file")
        self._cache = f"cache_{values['min_words']}_{values['max_words']}_{samples}_{values['max_tokens']}"
        self._kind = neighbors_kind(source)
        self._out = out
        self._temporary = out.absolute().with_name(f".{out.absolute().name}.{os.getpid()}.tmp")
        self._stack = ExitStack()

    @property
    def names(self) -> Sequence[Path]:
        """The folder."""
        return (self._out,)

    def __enter__(self) -> MimirFolder:
        with self._writing():
            self._temporary.mkdir()
            self._texts = {side: self._open(side, "") for side in ("train", "test")}
            suffix = f"_neighbors_{self._kind}"
            sides = ("train", "test") if self._kind is not None else ()
            self._neighbors = {side: self._open(f"{side}_neighbors", suffix) for side in sides}
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()
        shutil.rmtree(self._temporary, ignore_errors=True)

    def write(self, table: list[Candidate]) -> None:
        """Append these."""
        with self._writing():
            for each in table:
                side = "train" if each.label == MEMBER else "test"
                self._texts[side].write(_line(each.text))
                if self._kind is not None:
                    neighbors = each.extra.get("neighbors")
                    if not isinstance(neighbors, list):
                        raise InputError(f"candidate {each.id!r}: has no neighbours, but others have; MIMIR pairs them by line")
                    self._neighbors[side].write(_line([neighbors]))

    def commit(self, provenance: Mapping[str, Any]) -> None:
        """Give the folder its name; ``export.meta.json`` in it says where its content is from."""
        with self._writing():
            self._stack.close()
            (self._temporary / "export.meta.json").write_text(json.dumps(provenance, indent=2) + "\n", encoding="utf-8")
            if self._out.exists():
                self._out.rmdir()
            self._temporary.rename(self._out)

    def _open(self, folder: str, suffix: str) -> IO[bytes]:
        path = self._temporary / self._cache / folder / f"{self._stem}{suffix}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return self._stack.enter_context(path.open("wb"))

    @contextmanager
    def _writing(self) -> Any:
        try:
            yield
        except OSError as error:
            raise ResourceError(
                f"{self._out}: cannot be written: {error.strerror or error}; nothing was left under that name"
            ) from error


def neighbors_kind(source: SetToExport) -> str | None:
    """How the neighbours of a set were made; None if it has none, or if its history does not say."""
    kind = source.setting(KIND) if "neighbors" in source.header["columns"] else None
    return None if kind is None else str(kind)


def _asked(source: SetToExport, name: str) -> Any:
    given = getattr(source.options, name)
    # Other benchmarks have configs and splits too, with other names.
    known = name in _NUMBERS or str(source.setting("format")).startswith("mimir")
    return source.setting(name) if given is None and known else given


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8") + b"\n"
