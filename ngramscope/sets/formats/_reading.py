"""One pass over the files of an import: records of every kind of file, and what became of each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ngramscope import _core
from ngramscope.errors import InputError
from ngramscope.index.options import ReadOptions
from ngramscope.json_texts import parse, sound
from ngramscope.progress import Step
from ngramscope.sets.formats._csv import rows as csv_rows
from ngramscope.sets.formats._files import Progress, SourceFile
from ngramscope.sets.formats._json_array import items as array_items
from ngramscope.sets.formats._peek import open_stream, readable

__all__ = ["Reading", "Row"]

_SAMPLES = 5
_EVERY = 1000  # records between two reports of progress
_STRICT = "--max-bad-records N leaves up to N such records out, and counts them"


@dataclass(slots=True)
class Row:
    """A record with a text.

    Attributes
    ----------
    text
        What its text key holds.
    values
        Further keys; None for those that it lacks.
    position, line
        Number of the record in its file, from 0, and line or row, from 1.
    """

    text: str
    values: dict[str, Any]
    position: int
    line: int


class Reading:
    """Reads files, and keeps account: what was left out and why, sizes and digests of what was read.

    Parameters
    ----------
    read
        Limits: `ReadOptions.max_bad_records`, `ReadOptions.max_record_size`.
    progress
        Called now and then.

    Attributes
    ----------
    left_out
        Texts that could not be used, by reason.
    bad
        Those of them that are faults, not just null.
    """

    def __init__(self, read: ReadOptions, progress: Progress | None) -> None:
        self._read = read
        self._progress = progress
        self._longest = int(read.max_record_size)  # ReadOptions has settled it
        self._reports: dict[str, dict[str, Any]] = {}
        self.left_out: Counter[str] = Counter()
        self.bad = 0

    def inputs(self) -> list[dict[str, Any]]:
        """Of each file that was read: name, size, digest; its texts, and those of them that could not be used, by reason."""
        return [{**each, "texts": each["documents"] + sum(each["unusable"].values())} for each in self._reports.values()]

    def rows(self, file: SourceFile, text: str, keys: Iterable[str] = ()) -> Iterator[Row]:
        """Records with keys: JSON Lines, Parquet, Arrow, CSV, compressed or not.

        Parameters
        ----------
        text
            Key of the text. A record without one is left out and counted.
        keys
            Of what else is wanted; in CSV an empty cell of these is None.

        Raises
        ------
        InputError
            A file or record that cannot be used; names file and line, and the keys that there are.
        """
        wanted = tuple(dict.fromkeys(keys))
        return self._cells(file, text, wanted) if file.peek.kind == "csv" else self._documents(file, text, wanted)

    def documents(self, file: SourceFile, *, lines: bool) -> Iterator[Row]:
        """A plain text: all of it, or each of its lines."""
        return self._documents(file, "text", (), text_lines=lines)

    def values(self, file: SourceFile) -> Iterator[tuple[int, Any]]:
        """The JSON value of each line, or the items of one JSON array, with the number of the line or item, from 1."""
        for count, each in enumerate(self._items(file) if file.peek.kind == "array" else self._lines(file), 1):
            if count % _EVERY == 0:
                self._tell(count)
            yield each
        self._done(file)

    def reject(self, file: SourceFile, line: int, reason: str, detail: str) -> None:
        """Leave out a text that cannot be used, or raise where none may be left out.

        Raises
        ------
        InputError
            One more than `ReadOptions.max_bad_records`; names file and line.
        """
        self.bad += 1
        if self.bad > self._read.max_bad_records:
            raise InputError(f"{file.shown}, line {line}: {detail} ({reason}); {_STRICT}")
        self.count(file, reason, {"line": line, "reason": reason, "detail": detail})

    def count(self, file: SourceFile, reason: str, sample: dict[str, Any] | None = None) -> None:
        """One text of `file` was left out."""
        self.left_out[reason] += 1
        report = self._report(file)
        report["unusable"][reason] = report["unusable"].get(reason, 0) + 1
        if sample is not None and len(report["samples"]) < _SAMPLES:
            report["samples"].append(sample)

    def used(self, file: SourceFile) -> None:
        """One text of `file` became a candidate."""
        self._report(file)["documents"] += 1

    def _report(self, file: SourceFile) -> dict[str, Any]:
        blank = {"name": file.name, "documents": 0, "unusable": {}, "samples": []}
        return self._reports.setdefault(file.name, blank)

    def _documents(self, file: SourceFile, text: str, keys: tuple[str, ...], *, text_lines: bool = False) -> Iterator[Row]:
        allowed = self._read.max_bad_records - self.bad
        read = replace(self._read, text_key=text, fields=keys, max_bad_records=allowed, text_lines=text_lines)
        try:
            core = _core.Documents([str(file.path)], read, self._progress)
            for batch in core:
                columns = [[None if value is None else parse(value) for value in column] for column in batch.fields]
                for number, (each, position, line) in enumerate(zip(batch.text, batch.position, batch.line, strict=True)):
                    values = {key: column[number] for key, column in zip(keys, columns, strict=True)}
                    yield Row(each, values, position, line)
            core_report = json.loads(core.report())
        except InputError as error:
            # Its advice is for commands that have the option; a copy has another path than the user knows.
            said = str(error).replace("; name the right one with --text-key", "").replace(str(file.path), file.shown)
            raise InputError(said) from error
        self.bad += core_report["bad_records"]
        if self.bad > self._read.max_bad_records:  # together with what was rejected here
            raise InputError(f"{file.shown}: with it {self.bad:,} records that cannot be used; {_STRICT}")
        for source in core_report["sources"]:
            # An archive is one file here and several sources there.
            report = self._report(file)
            report |= {name: source[name] for name in ("bytes", "blake3")}
            report["samples"] += source.get("samples", [])
            for reason, count in source["unusable"].items():
                report["unusable"][reason] = report["unusable"].get(reason, 0) + count
                self.left_out[reason] += count

    def _cells(self, file: SourceFile, text: str, keys: tuple[str, ...]) -> Iterator[Row]:
        for number, (line, cells) in enumerate(csv_rows(file.path, file.shown, max_cell=self._longest), 1):
            if text not in cells:
                raise InputError(f"{file.shown}: no column {text!r}; it has {', '.join(cells)}")
            if number % _EVERY == 0:
                self._tell(number)
            yield Row(cells[text], {key: cells.get(key) or None for key in keys}, number - 1, line)
        self._done(file)

    def _lines(self, file: SourceFile) -> Iterator[tuple[int, Any]]:
        with readable(file.shown), open_stream(file.path) as stream:
            number = 0
            while line := stream.readline(self._longest + 1):
                number += 1
                if len(line) > self._longest:
                    raise InputError(f"{file.shown}, line {number}: longer than --max-record-size ({self._longest:,} bytes)")
                if not line.strip():
                    continue
                try:
                    value = json.loads(line.removeprefix(b"\xef\xbb\xbf"))
                except ValueError as error:
                    self.reject(file, number, "invalid_json", f"the line is not JSON: {error}")
                else:
                    yield number, sound(value)

    def _items(self, file: SourceFile) -> Iterator[tuple[int, Any]]:
        with readable(file.shown), open_stream(file.path) as stream:
            for number, each in enumerate(array_items(stream, file.shown, longest=self._longest), 1):
                yield number, sound(each)

    def _done(self, file: SourceFile) -> None:
        report = self._report(file)
        report |= {"bytes": file.path.stat().st_size, "blake3": _core.digest(file.path)}

    def _tell(self, documents: int) -> None:
        if self._progress is not None:
            self._progress(Step("read", documents=documents))
