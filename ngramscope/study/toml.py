"""TOML whose errors name the line, and TOML written."""

from __future__ import annotations

import json
import math
import re
import sys
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from ngramscope.errors import InputError, NgramscopeError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["NONE", "Table", "read_toml", "to_toml"]

NONE = "none"
"""What stands for nothing where there is a default that is something."""

Made = TypeVar("Made")
Where = tuple[str | int, ...]

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""")
_OPTION = re.compile(r"--([a-z0-9-]+)((?: [^:]*)?): (.*)", re.DOTALL)
# Options whose key is called otherwise.
_KEYS = {
    "attack": ("names", "attacks"), "pass": ("passes", "names"), "as": ("role",), "fpr": ("fprs",),
    "overlap-at": ("thresholds",), "statistic": ("statistics",), "field": ("fields",), "label-key": ("label",),
    "domain-key": ("domain",), "group-key": ("group",), "date-key": ("date",),
}  # fmt: skip
_LONG = re.compile(r"\"\"\"|'''")


class Table:
    """A table of a TOML file that knows where it stands.

    Parameters
    ----------
    path
        The file.
    data
        Its keys and values.
    where
        Its keys, and numbers in arrays of tables, from the top.
    lines
        By such a place, the line.
    """

    def __init__(self, path: Path, data: Mapping[str, Any], where: Where, lines: Mapping[Where, int]) -> None:
        self.path, self.data, self._where, self._lines = path, data, where, lines

    def refuse(self, message: str, key: str | None = None) -> NoReturn:
        """Raise an `InputError` that names the file and the line of `key`, or of the table."""
        where = (*self._where, *(() if key is None else (key,)))
        while where and where not in self._lines:
            where = where[:-1]
        line = f", line {self._lines[where]}" if where else ""
        raise InputError(f"{self.path}{line}: {message}")

    def refuse_option(self, error: Exception, keys: Iterable[str] | None = None, about: str = "") -> NoReturn:
        """Refuse by an error that names an option of the command line: its key is named instead, and the key's line.

        Parameters
        ----------
        keys
            Those that there can be, if an option that is none of them is to be left as it is.
        about
            Stands before what is wrong.
        """
        option = _OPTION.match(str(error))
        own = () if option is None else (*_KEYS.get(option[1], ()), option[1].replace("-", "_"))
        possible = own if keys is None else [each for each in own if each in keys]
        key = next((each for each in own if each in self.data), possible[0] if possible else None)
        if option is None or key is None:
            self.refuse(f"{about}{error}")
        self.refuse(f"{self.name} {key}{option[2]}: {about}{option[3]}", key)

    @property
    def name(self) -> str:
        """As messages spell it: ``[overlap]``, ``[[sets]]``, or ``the top``."""
        names = [each for each in self._where if isinstance(each, str)]
        brackets = ("[[{}]]" if isinstance((*self._where, "")[len(names)], int) else "[{}]") if names else "{}"
        return brackets.format(".".join(names) or "the top")

    def check(self, known: Iterable[str]) -> None:
        """Refuse keys that are not among `known`."""
        known = list(known)
        for key in self.data:
            if key not in known:
                self.refuse(f"{self.name} has no key {key!r}; known: {', '.join(known)}", key)

    def table(self, key: str) -> Table:
        """The table under `key`, empty if there is none."""
        value = self.data.get(key, {})
        if not isinstance(value, dict):
            self.refuse(f"{key} has to be a table, [{key}]", key)
        return Table(self.path, value, (*self._where, key), self._lines)

    def tables(self, key: str) -> list[Table]:
        """The tables of the array under `key`."""
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            self.refuse(f"{key} has to be tables, each [[{key}]]", key)
        return [Table(self.path, each, (*self._where, key, number), self._lines) for number, each in enumerate(value)]

    def get(self, key: str, hint: Any, default: Any = None) -> Any:
        """The value of `key` if it is of the type `hint`; arrays become tuples."""
        if key not in self.data:
            return default
        value = _frozen(self.data[key])
        if value == NONE and type(None) in get_args(hint):
            return None
        if not _finite(value):
            self.refuse(f"{self.name} {key} has a number that is none (inf or nan)", key)
        if not _fits(value, hint):
            given = json.dumps(self.data[key], default=str)
            self.refuse(f"{self.name} {key} is {given}; it has to be {_spelled(hint)}", key)
        return value

    def make(self, made: type[Made], /, keys: Mapping[str, str] | None = None, **more: Any) -> Made:
        """An object of a dataclass of those keys that are its fields.

        Parameters
        ----------
        keys
            By key its field, if that is not the key; None: the fields of `made` that `more` does not have.
        more
            Values of further fields.
        """
        hints = get_type_hints(made)
        keys = {name: name for name in hints if name not in more} if keys is None else keys
        values = {field: self.get(key, hints[field]) for key, field in keys.items() if key in self.data}
        try:
            return made(**values, **more)
        except NgramscopeError as error:
            self.refuse_option(error, keys)


def read_toml(path: Path) -> Table:
    """The top of the file.

    Raises
    ------
    InputError
        It cannot be read, or is no TOML.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8: {error.reason}; save the file as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from error
    except RecursionError as error:
        raise InputError(f"{path}: not TOML: values are nested too deeply") from error
    return Table(path, data, (), _lines(text))


def to_toml(data: Mapping[str, Any], where: tuple[str, ...] = ()) -> str:
    """Nested mappings as TOML, in their order; None is left out, as TOML has no word for it."""
    plain = {key: value for key, value in data.items() if value is not None}
    tables = {key: value for key, value in plain.items() if isinstance(value, Mapping)}
    arrays = {key: value for key, value in plain.items() if _is_tables(value)}
    lines = [f"{_key(key)} = {_value(value)}\n" for key, value in plain.items() if key not in tables and key not in arrays]
    for key, value in tables.items():
        place = (*where, _key(key))
        lines += [f"\n[{'.'.join(place)}]\n", to_toml(value, place)]
    for key, each in ((key, each) for key, values in arrays.items() for each in values):
        place = (*where, _key(key))
        lines += [f"\n[[{'.'.join(place)}]]\n", to_toml(each, place)]
    return "".join(lines)


def _is_tables(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    # JSON's escapes are among TOML's, but for DEL, which JSON leaves as it is.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _finite(value: Any) -> bool:
    return all(map(_finite, value)) if isinstance(value, tuple) else not isinstance(value, float) or math.isfinite(value)


def _fits(value: Any, hint: Any) -> bool:
    origin = get_origin(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, each) for each in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(each, get_args(hint)[0]) for each in value)
    if isinstance(value, bool):
        return hint is bool
    # A whole number is a number; what is no plain type cannot be written in TOML.
    return isinstance(value, (int, float) if hint is float else hint) if isinstance(hint, type) else False


def _spelled(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_spelled(each) for each in arguments if each is not type(None)))
    if origin is Literal:
        return "one of " + ", ".join(map(json.dumps, arguments))
    if origin is tuple:
        return f"a list, each {_spelled(arguments[0])}"
    return {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}.get(hint, "something else")


def _lines(text: str) -> dict[Where, int]:
    """The line of every table and key; of what stands in a text of several lines, or in a list, none that anyone asks for."""
    lines: dict[Where, int] = {}
    counts: dict[Where, int] = {}
    table: Where = ()
    quoted = False
    for number, line in enumerate(text.splitlines(), 1):
        inside, quoted = quoted, quoted ^ (len(_LONG.findall(line)) % 2 == 1)
        if inside:
            continue
        if (header := _HEADER.match(line)) is not None:
            table = _resolved(_parts(header[2]), counts)
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                lines.setdefault(table, number)
                table = (*table, counts[table])
            lines.setdefault(table, number)
        elif (found := _KEY.match(line)) is not None:
            parts = _parts(found[1])
            for end in range(1, len(parts) + 1):
                lines.setdefault((*table, *parts[:end]), number)
    return lines


def _resolved(parts: list[str], counts: Mapping[Where, int]) -> Where:
    """A place whose arrays of tables, but for itself, are their last tables."""
    place: Where = ()
    for at, part in enumerate(parts):
        place = (*place, part)
        if at < len(parts) - 1 and place in counts:
            place = (*place, counts[place])
    return place


def _parts(key: str) -> list[str]:
    return [each.strip("\"'") for each in _PART.findall(key)]
