"""What a section of a report is, and the registry that finds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ngramscope.errors import UsageError
from ngramscope.plugins import load_modules
from ngramscope.report.parts import Section
from ngramscope.report.view import View

__all__ = ["PLUGINS", "SectionKind", "section", "sections"]

PLUGINS = "NGRAMSCOPE_SECTIONS"
"""Environment variable: folders with further sections, separated as in PATH."""


@dataclass(frozen=True)
class SectionKind:
    """A section.

    Attributes
    ----------
    name
        Its anchor, and the beginning of the names of its files.
    title
        Its heading.
    place
        Sections stand in this order.
    make
        ``make(view)`` gives the content for one set; None leaves the section out without a word.
    """

    name: str
    title: str
    place: int
    make: Callable[[View], Section | None]


_registry: dict[str, SectionKind] = {}


def section(
    name: str, title: str, *, place: int
) -> Callable[[Callable[[View], Section | None]], Callable[[View], Section | None]]:
    """Register a function of `View` as a section."""

    def register(function: Callable[[View], Section | None]) -> Callable[[View], Section | None]:
        known = _registry.get(name)
        if known is not None and known.make.__module__ != function.__module__:
            raise UsageError(f"section {name!r} is there twice: {known.make.__module__} and {function.__module__}")
        _registry[name] = SectionKind(name, title, place, function)
        return function

    return register


def sections() -> list[SectionKind]:
    """All sections in order, those of `PLUGINS` included."""
    load_modules("ngramscope.report.sections", PLUGINS)
    return sorted(_registry.values(), key=lambda each: (each.place, each.name))
