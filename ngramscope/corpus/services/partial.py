"""The file of fetched documents, and the folder ``OUT.partial`` that a run which was stopped leaves for the next one.

The folder holds the answers of the service, and the settings they belong to. Whoever goes on repeats the whole run, with the
answers from disk: so the file is the same as that of a run that was never stopped.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ngramscope import provenance
from ngramscope.corpus.services.client import Client, ClientOptions
from ngramscope.errors import ResourceError, UsageError
from ngramscope.index.output import TableFile, TableWriter, write_whole
from ngramscope.progress import Step

__all__ = ["DOCUMENTS_VERSION", "FetchedDocuments", "partial_folder"]

DOCUMENTS_VERSION = 1
"""Version of the records of fetched documents and of their header."""

Progress = Callable[[Step], None]


def partial_folder(out: Path) -> Path:
    """Where an unfinished run that writes `out` keeps what it has."""
    return out.with_name(f"{out.name}.partial")


class FetchedDocuments:
    """A file of fetched documents being made: ``with FetchedDocuments(...) as file: file.add(...); file.commit()``.

    Leaving the block without `commit` keeps ``OUT.partial``, if there are answers in it.

    Parameters
    ----------
    out
        Ends in ``.jsonl``, ``.jsonl.gz`` or ``.jsonl.zst``.
    service, url
        Its name, and that of its API.
    settings
        Every option that has a say in what comes.
    interval
        Seconds between requests, by default.

    Attributes
    ----------
    client
        Asks the service.
    used, left_out
        Documents in the file, and what else was found, by the reason why it is not in it.

    Raises
    ------
    UsageError
        The name cannot be that of such a file; or ``OUT.partial`` belongs to other settings, or to a run that is at work.
    ResourceError
        It cannot be written.
    """

    def __init__(
        self, out: Path, *, service: str, url: str, settings: Mapping[str, Any], interval: float, options: ClientOptions,
        progress: Progress | None = None,
    ) -> None:  # fmt: skip
        self._out = TableFile(out, {".jsonl": _Lines}, with_source=False)
        self.folder = partial_folder(out)
        self._answers = self.folder / "answers"
        self.client = Client(url, cache=options.cache or self._answers, interval=interval, options=options)
        self.used = 0
        self.left_out: Counter[str] = Counter()
        self._months: Counter[str] = Counter()
        self._service = service
        self._settings = dict(settings)
        self._progress = progress
        self._stack = ExitStack()

    def __enter__(self) -> FetchedDocuments:
        with self._stack:
            try:
                self.folder.mkdir(exist_ok=True)
                self._lock()
                self._check_state()
            except OSError as error:
                raise ResourceError(f"{error.filename or self.folder}: cannot be written: {error.strerror or error}") from error
            # Written in there, so that nothing stays elsewhere of a run that is killed.
            self._file = self._stack.enter_context(
                TableFile(self.folder / self._out.path.name, {".jsonl": _Lines}, with_source=False)
            )
            self._stack = self._stack.pop_all()
        return self

    def add(self, document: Mapping[str, Any]) -> None:
        """Append one; its ``date`` is an ISO time."""
        self._file.write([document])
        self.used += 1
        self._months[document["date"][:7]] += 1
        self.show()

    def leave_out(self, why: str, count: int = 1) -> None:
        """Count something that was found and is not in the file."""
        self.left_out[why] += count
        self.show()

    def show(self) -> None:
        """Tell how far it is."""
        if self._progress is not None:
            self._progress(Step("fetch", documents=self.used, bytes_done=self.client.bytes_received))

    def commit(self, *, inputs: Sequence[Mapping[str, Any]] = (), facts: Mapping[str, Any]) -> dict[str, Any]:
        """Give the file and its header their names, remove ``OUT.partial``, and return the header.

        Parameters
        ----------
        inputs
            Name, size and digest of each file that was read.
        facts
            What else the service's header says, by name.
        """
        header = provenance.stamp("fetched-documents", version=DOCUMENTS_VERSION, settings=self._settings, inputs=inputs)
        reasons = {why: count for why, count in sorted(self.left_out.items()) if count}
        header["service"] = {"name": self._service, "url": self.client.name}
        header["fetched"] = {"first": self.client.first_answer, "last": self.client.last_answer}
        header["counts"] = {"found": self.used + sum(reasons.values()), "used": self.used, "left_out": reasons}
        header["months"] = dict(sorted(self._months.items()))
        header.update(facts)
        self._file.commit(header)
        try:
            for made, name in zip(reversed(self._file.names), reversed(self._out.names), strict=True):
                made.replace(name)
        except OSError as error:
            raise ResourceError(f"{self._out.path}: cannot be written: {error.strerror or error}") from error
        shutil.rmtree(self.folder, ignore_errors=True)
        return header

    def discard(self) -> None:
        """Keep nothing of this run for another one."""
        shutil.rmtree(self._answers, ignore_errors=True)

    def __exit__(self, *exception: object) -> None:
        self._stack.close()
        if not self._answers.exists():
            shutil.rmtree(self.folder, ignore_errors=True)

    def _lock(self) -> None:
        lock = self._stack.enter_context((self.folder / "lock").open("w"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UsageError(f"--out: another run is at work in {self.folder}; wait for it, or choose another name") from error

    def _check_state(self) -> None:
        """Refuse what is left of a run with other settings; note ours."""
        path = self.folder / "state.json"
        about = {"format_version": DOCUMENTS_VERSION, "service": self._service, "url": self.client.name}
        ours = json.loads(json.dumps(about | self._settings))  # as they are read back
        try:
            theirs = json.loads(path.read_bytes())
        except (FileNotFoundError, ValueError):
            write_whole(path, json.dumps(ours, indent=2) + "\n")
            return
        differing = [name for name in {**ours, **theirs} if ours.get(name) != theirs.get(name)]
        if differing:
            raise UsageError(
                f"--out: {self.folder} was left by a run with other settings ({', '.join(differing)}); finish that one "
                "with them, remove the folder, or choose another name"
            )


class _Lines(TableWriter[list[Mapping[str, Any]]]):
    def write(self, table: list[Mapping[str, Any]]) -> None:
        for each in table:
            # Half a surrogate pair, which JSON can spell but UTF-8 cannot, becomes a question mark.
            self._stream.write((json.dumps(each, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "replace"))

    def close(self, provenance: Mapping[str, Any]) -> None:
        pass
