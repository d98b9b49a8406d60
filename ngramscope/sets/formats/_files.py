"""What an import is given: files here or elsewhere; those elsewhere are copied to a temporary folder when they are needed."""

from __future__ import annotations

import glob
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from ngramscope import _core
from ngramscope.corpus import remote
from ngramscope.corpus.remote import RemoteSource, is_remote
from ngramscope.errors import InputError, MissingExtraError, ResourceError, UsageError
from ngramscope.progress import Step
from ngramscope.sets.formats._peek import Peek, peek

__all__ = ["ENDINGS", "Files", "Progress", "SourceFile", "keep_inputs"]

PathLike = str | os.PathLike[str]
Progress = Callable[[_core.Progress | Step], object]

ENDINGS = re.compile(r"\.(jsonl|ndjson|jsonlines|jl|json|csv|tsv|txt|parquet|arrow)(\.(gz|zst|bz2|xz))?$", re.IGNORECASE)
"""How files of data end; in folders and repositories all others (READMEs, scripts) are left out."""

_SHARD = re.compile(r"-\d{5}-of-\d{5}(-[0-9a-f]+)?$")
_NAMELESS = re.compile(r"data|\d+|")  # of a split's only file, whose folder has the name
# What `datasets` writes beside its data, and headers of our own files.
_DESCRIPTIONS = re.compile(r"(dataset_infos?|dataset_dict|state)\.json|cache-.*\.arrow|.*\.meta\.json")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+(@[\w./%-]+)?")
_HUB = "hf://"
_WAIT = 0.1


class SourceFile:
    """One file of an import.

    Attributes
    ----------
    name
        In reports: nothing of where it is on this machine.
    shown
        In messages: as the user finds it.
    parts
        Its whole path, for layouts that folders and names are part of.
    """

    def __init__(
        self, found: Path | RemoteSource, *, name: str, scratch: Callable[[], Path], progress: Progress | None
    ) -> None:
        self._found = found
        self._scratch = scratch
        self._progress = progress
        self.name = name
        self.shown = str(found) if isinstance(found, Path) else found.name
        self.parts = found.absolute().parts if isinstance(found, Path) else tuple(re.split("[/:]", found.name))

    @cached_property
    def path(self) -> Path:
        """Where it is here; downloads it first if it is elsewhere.

        Raises
        ------
        InputError
            It cannot be had.
        """
        return self._found if isinstance(self._found, Path) else self._download(self._found)

    @cached_property
    def peek(self) -> Peek:
        """Its first record."""
        return peek(self.path, self.shown)

    @property
    def stem(self) -> str:
        """Name without endings and number of the shard; of a file that has none of its own, the name of its folder."""
        return self._named[0]

    @property
    def above(self) -> str:
        """The folder above what `stem` names; empty if there is none."""
        return self._named[1]

    @cached_property
    def _named(self) -> tuple[str, str]:
        before, above, name = ["", "", *self.parts][-3:]
        stem = _SHARD.sub("", ENDINGS.sub("", name))
        return (above, before) if _NAMELESS.fullmatch(stem) and above else (stem, above)

    def _download(self, source: RemoteSource) -> Path:
        target = self._scratch() / source.name.rpartition("/")[2].replace(":", "_")
        transfer = source.stream()
        came = 0
        try:
            with target.open("xb") as file:
                while (chunk := transfer.next(_WAIT)) != b"":
                    if chunk is not None:
                        file.write(chunk)
                        came += len(chunk)
                    if self._progress is not None:
                        self._progress(Step("fetch", bytes_done=came, bytes_total=source.size or 0))
        except InputError as error:
            raise InputError(f"{source.name}: cannot be read: {error}") from error
        except OSError as error:
            raise ResourceError(f"{target}: cannot write the copy of {source.name}: {error.strerror or error}") from error
        finally:
            transfer.close()
        return target


class Files(Sequence[SourceFile]):
    """All files of an import, sorted by name; leaving its block removes what was downloaded.

    Parameters
    ----------
    inputs
        Files, folders, globs; names with a scheme; ``owner/name`` of a dataset on the Hugging Face hub, whose plain files are
        taken (loading scripts are never run).
    progress
        Called while something is downloaded.

    Raises
    ------
    UsageError
        No input.
    InputError
        There is no such file, or nothing that could be data.
    """

    def __init__(self, inputs: Sequence[PathLike], progress: Progress | None = None) -> None:
        if not inputs:
            raise UsageError("no input was given; name files, a folder, or a dataset of the hub")
        self._progress = progress
        self._temporary: Path | None = None
        self._copies = 0
        found = [each for one in inputs for each in _find(os.fspath(one))]
        local = {each.absolute(): each for each in found if isinstance(each, Path)}
        elsewhere = {each.name: each for each in found if not isinstance(each, Path)}
        self._files = [self._file(each, each.name) for _, each in sorted(elsewhere.items())]
        common = os.path.commonpath([each.parent for each in local]) if local else ""
        for absolute, each in sorted(local.items()):
            self._files.append(self._file(each, absolute.relative_to(common).as_posix()))

    def __enter__(self) -> Files:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def __getitem__(self, index: Any) -> Any:
        return self._files[index]

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[SourceFile]:
        return iter(self._files)

    @property
    def first(self) -> SourceFile:
        """The file whose records stand for all when a format is looked for."""
        return self._files[0]

    def paths(self) -> list[Path]:
        """Of the files that were here already."""
        return [each._found for each in self._files if isinstance(each._found, Path)]

    def _file(self, found: Path | RemoteSource, name: str) -> SourceFile:
        return SourceFile(found, name=name, scratch=self._scratch, progress=self._progress)

    def _scratch(self) -> Path:
        """A new folder for one copy: names may occur twice."""
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="ngramscope-import-"))
        self._copies += 1
        folder = self._temporary / str(self._copies)
        folder.mkdir()
        return folder


def keep_inputs(outputs: Sequence[Path], inputs: Sequence[Path]) -> None:
    """Refuse to replace an input, by whatever path it was reached."""
    same = next((each for each in outputs if each.exists() for one in inputs if each.samefile(one)), None)
    if same is not None:
        raise UsageError(f"--out: {same} is one of the inputs; choose another name")


def _find(name: str) -> Sequence[Path | RemoteSource]:
    path = Path(name)
    if not is_remote(name) and path.exists():
        return _local(path)
    if not is_remote(name) and glob.has_magic(name):
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - it may be absolute
        found = [each for match in matches for each in _local(Path(match))]
        if found:
            return found
    if is_remote(name):
        # A dataset's name without config and split stands for the files of its repository.
        plain = name.startswith(_HUB) and ":" not in name.removeprefix(_HUB) and not name.startswith(f"{_HUB}datasets/")
        return _data(name, remote.find(f"{_HUB}datasets/{name.removeprefix(_HUB)}" if plain else name))
    if _REPOSITORY.fullmatch(name) and not ENDINGS.search(name):
        try:
            return _data(name, remote.find(f"{_HUB}datasets/{name}"))
        except (InputError, MissingExtraError) as error:
            raise InputError(f"{name}: no such file here, and as a dataset of the hub it cannot be had: {error}") from error
    raise InputError(f"{name}: no such file or folder")


def _local(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    below = [each for each in sorted(path.rglob("*")) if each.is_file() and not _hidden(each.relative_to(path).parts)]
    found = [each for each in below if _is_data(each.name)]
    if not found:
        raise InputError(f"{path}: no file of data in this folder (endings such as .jsonl, .csv, .parquet, .txt, also .gz)")
    return found


def _data(name: str, found: Sequence[RemoteSource]) -> list[RemoteSource]:
    if len(found) == 1:
        return list(found)
    data = [each for each in found if _is_data(each.name.rpartition("/")[2])]
    if not data:
        raise InputError(f"{name}: no file of data there (endings such as .jsonl, .csv, .parquet, .txt, also .gz)")
    return data


def _is_data(name: str) -> bool:
    return ENDINGS.search(name) is not None and _DESCRIPTIONS.fullmatch(name) is None


def _hidden(parts: Sequence[str]) -> bool:
    return any(each.startswith(".") for each in parts)
