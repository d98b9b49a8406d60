"""What plain records have in common: their keys are the user's."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from ngramscope.errors import InputError
from ngramscope.sets.base import Candidate
from ngramscope.sets.formats._files import Files, SourceFile
from ngramscope.sets.formats._peek import Peek
from ngramscope.sets.formats._reading import Reading
from ngramscope.sets.formats.base import Format, ImportOptions, SetToExport
from ngramscope.sets.records import parse_label

__all__ = ["PlainFormat"]

_KEYS = ("id", "label", "domain", "group", "date")
_FLOAT = re.compile(r"([01])\.0*")  # a column of labels with gaps, as pandas writes it


class PlainFormat(Format):
    """Records of which `ImportOptions` say what their keys are.

    Attributes
    ----------
    kind
        Of files, see `Peek`.
    """

    labels = "--label: 1, member, true ... or 0, nonmember, false ...; empty is unlabelled; --member-label 0 turns it round"
    keeps = frozenset({"id", "text", "label", "domain", "group", "date", "overlap", "*"})
    plain = True
    kind: ClassVar[str]

    def detect(self, files: Files, options: ImportOptions) -> str | None:
        """See `Format`."""
        peek = files.first.peek
        text = options.text_key or "text"
        return f"{self.kind} with the key {text}" if peek.kind == self.kind and _has(peek, text) else None

    def read(self, files: Files, options: ImportOptions, reading: Reading) -> Iterator[tuple[SourceFile, Candidate]]:
        """All files, in the order of their names."""
        asked = {name: key for name in _KEYS if (key := getattr(options, f"{name}_key")) is not None}
        asked |= {f"field {key}": key for key in options.fields}
        keys = {name: asked.get(name, name) for name in _KEYS}
        unseen = set(asked.values())
        for file in files:
            if file.peek.kind in ("csv", "table"):
                _check_columns(file, asked)
            for row in reading.rows(file, options.text_key or "text", (*keys.values(), *options.fields)):
                values = row.values
                unseen -= {key for key in unseen if values[key] is not None}
                label = values[keys["label"]]
                number = None if label is None else _label(label, file.shown, row.line)
                yield (
                    file,
                    Candidate(
                        _id(values[keys["id"]]),
                        row.text,
                        number if number is None or options.member_label else 1 - number,
                        domain=_string(values[keys["domain"]]),
                        group=_string(values[keys["group"]]),
                        date=_date(values[keys["date"]]),
                        position=row.position,
                        extra={key: values[key] for key in options.fields},
                    ),
                )
        if unseen:
            raise InputError(
                f"{files.first.shown}: no record has the key {sorted(unseen)[0]!r}; found: {files.first.peek.describe()}"
            )

    def columns(self, source: SetToExport) -> list[str]:
        """Columns of a plain table: shares of overlap are ``overlap_N``, then what rules have added."""
        return list(self.row(Candidate(None, ""), source))

    def row(self, candidate: Candidate, source: SetToExport) -> dict[str, Any]:
        """A value for each of `columns`."""
        row = {name: getattr(candidate, name) for name in ("id", "text", "label", "domain", "group", "date")}
        row |= {f"overlap_{n}": candidate.overlap.get(n) for n in source.header["overlap"]}
        return row | {name: candidate.extra.get(name) for name in source.header["columns"] if name not in row}


def _has(peek: Peek, key: str) -> bool:
    """Whether the first record has that key; dots step into objects."""
    value: Any = peek.row
    if key in value:
        return True
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True


def _check_columns(file: SourceFile, asked: Mapping[str, str]) -> None:
    lacking = next(((name, key) for name, key in asked.items() if not _has(file.peek, key)), None)
    if lacking is not None:
        option = "--field" if lacking[0].startswith("field ") else f"--{lacking[0]}"
        raise InputError(f"{file.shown}: {option}: no column {lacking[1]!r}; it has {', '.join(file.peek.row)}")


def _label(value: Any, shown: str, line: int) -> int:
    match = _FLOAT.fullmatch(value.strip()) if isinstance(value, str) else None
    return parse_label(match[1] if match else value, shown, line)


def _string(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _id(value: Any) -> str | int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else _string(value)


def _date(value: Any) -> str | int | float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else _string(value)
