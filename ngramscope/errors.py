"""Every exception that ngramscope raises on purpose.

::

    NgramscopeError
    ├── UsageError            a value or a combination of options that cannot be (also a ValueError)
    ├── InputError            a file or record that cannot be read or used; names file and line
    ├── IndexFormatError      an index that is damaged, of an unknown version, or missing
    │   └── MismatchError     a request that contradicts the rules stored in the index; names both values
    ├── ResourceError         not enough disk or memory (also an OSError)
    └── MissingExtraError     an optional package is not installed; names the command that installs it

The compiled core raises these too. ``KeyboardInterrupt`` is never wrapped.
"""

from __future__ import annotations

__all__ = [
    "IndexFormatError",
    "InputError",
    "MismatchError",
    "MissingExtraError",
    "NgramscopeError",
    "ResourceError",
    "UsageError",
]


class NgramscopeError(Exception):
    """Base of all errors of this package; its text says what happened, where, and what to do."""


class UsageError(NgramscopeError, ValueError):
    """An option's value, or a combination of options, that cannot be; names the option."""


class InputError(NgramscopeError):
    """A file or a record that cannot be read or used; names the file and, where there is one, the line."""


class IndexFormatError(NgramscopeError):
    """An index that is missing, damaged, or of a version that this release does not know."""


class MismatchError(IndexFormatError):
    """A request that contradicts what the index was built with; names both values."""


class ResourceError(NgramscopeError, OSError):
    """The disk or the memory does not suffice; names what is needed and what there is."""


class MissingExtraError(NgramscopeError, ImportError):
    """An optional package is not installed; names the command that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {package}, which is not installed: pip install 'ngramscope[{extra}]'")
        self.package = package
        self.extra = extra
        self.purpose = purpose

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), (self.package, self.extra, self.purpose)
