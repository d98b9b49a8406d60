"""The running text of a rendered wiki page: what people read as sentences, without tables, boxes, notes and menus."""

from __future__ import annotations

import re
from html.parser import HTMLParser

__all__ = ["page_text", "tidy"]

_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
_BLOCKS = {"p", "li", "dd", "dt", "blockquote", "pre", "div", "section"}
# What MediaWiki's TextExtracts leaves out too, and the source of formulas.
_DROPPED = {"table", "figure", "script", "style", "annotation"}
_DROPPED_CLASSES = {
    "error", "gallery", "mw-editsection", "noexcerpt", "nomobile", "noprint", "reference", "references", "sortkey",
}  # fmt: skip
_KEPT_BOXES = {"mw-parser-output", "mw-heading"}  # other boxes are notices, menus and pictures


def page_text(html: str) -> str:
    """The text of a page's HTML, a line for each paragraph, heading and item, an empty one before each heading."""
    parser = _Text()
    parser.feed(html)
    parser.close()
    return tidy("".join(parser.parts))


def tidy(text: str) -> str:
    """`text` without spaces at the ends of lines, and with one empty line where there were several."""
    lines = "\n".join(line.strip(" \t\r") for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", lines).strip()


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._newlines = 2  # at the end of what there is
        self._open: list[tuple[str, bool]] = []  # and whether what is inside is left out

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            if tag == "br":
                self._break()
            return
        classes = set((dict(attrs).get("class") or "").split())
        box = tag == "div" and not classes & _KEPT_BOXES
        self._open.append((tag, self._left_out() or box or tag in _DROPPED or bool(classes & _DROPPED_CLASSES)))
        if tag in _BLOCKS or tag in _HEADINGS:
            self._break(2 if tag in _HEADINGS else 1)

    def handle_endtag(self, tag: str) -> None:
        if any(name == tag for name, _ in self._open):
            if tag in _BLOCKS or tag in _HEADINGS:
                self._break()
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._left_out() or (self._newlines and not data.strip()):
            return
        self.parts.append(data if any(name == "pre" for name, _ in self._open) else re.sub(r"\s+", " ", data))
        self._newlines = 0

    def _left_out(self) -> bool:
        return bool(self._open) and self._open[-1][1]

    def _break(self, newlines: int = 1) -> None:
        if not self._left_out() and newlines > self._newlines:
            self.parts.append("\n" * (newlines - self._newlines))
            self._newlines = newlines
