"""One HTML page that opens offline: no script, no font, no picture from elsewhere; figures are drawn into it."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["CANDIDATES", "INK", "REFERENCE", "TAG", "drawing", "figure_svg", "inline", "on_white", "page", "table"]

CANDIDATES, REFERENCE = "#d9722e", "#3f83c8"
"""Colours of two sides; they differ in hue and in lightness, and stand out on white and on black."""

INK = "#010203"
"""Draw text and axes in this: it becomes the colour of the page's text, light or dark."""

TAG = "shown-as"
"""Name a group of a drawing ``TAG-NUMBER`` (`Artist.set_gid`): on a page it has the attribute ``data-attack="NUMBER"``."""

_NUMBER = re.compile(r"[-+]?[\d.,]+|-")

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --quiet: #666; }
@media (prefers-color-scheme: dark) { :root { --quiet: #aaa; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: .5rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
.verdict { border-left: .4rem solid var(--mark); background: var(--soft); padding: .75rem 1rem; margin: 1rem 0; }
.verdict strong { display: block; font-size: 1.2rem; }
.warning { border-left: .4rem solid #c62828; background: var(--soft); padding: .5rem 1rem; margin: .5rem 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); gap: 1rem; }
figure { margin: 0; } figure svg { width: 100%; height: auto; display: block; }
figcaption, .note { color: var(--quiet); font-size: .875rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
th:first-child, td:first-child { padding-left: 0; }
td.number { text-align: right; }
pre { overflow-x: auto; font-size: .8rem; background: var(--soft); padding: .5rem; }
"""


def page(title: str, body: Sequence[str], *, style: str = _STYLE, scripts: Sequence[str] = ()) -> str:
    """The whole page; `body` is HTML. Nothing that is not in the page is asked for: the page's own policy forbids it."""
    policy = "default-src 'none'; style-src 'unsafe-inline'" + ("; script-src 'unsafe-inline'" if scripts else "")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "".join(f"\n<script>{each}</script>" for each in scripts)
        + "\n</body>\n</html>\n"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, align: bool = True) -> str:
    """A table of texts, numbers to the right unless not to be aligned, which scrolls by itself where the page is narrow."""
    first = "".join(f'<th scope="col">{escape(each)}</th>' for each in head)
    rest = "".join("<tr>" + "".join(_cell(each, align) for each in row) + "</tr>\n" for row in rows)
    return f'<div class="wide"><table>\n<thead><tr>{first}</tr></thead>\n<tbody>\n{rest}</tbody></table></div>'


def _cell(text: str, align: bool) -> str:
    kind = ' class="number"' if align and _NUMBER.fullmatch(text) else ""
    return f"<td{kind}>{escape(text)}</td>"


def figure_svg(figure: Figure, *, alt: str, caption: str, name: str) -> str:
    """A figure as part of a page, with a caption; see `drawing` and `inline`."""
    shown = inline(drawing(figure, name=name), alt=alt, name=name)
    return f"<figure>\n{shown}<figcaption>{escape(caption)}</figcaption>\n</figure>"


def drawing(figure: Figure, *, name: str) -> str:
    """A figure as an SVG file; `name` tells its ids from those of other figures. The same figure gives the same file."""
    import matplotlib as mpl

    stream = io.StringIO()
    # Text stays text, in the reader's font; ids are the same in every run.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font lacks: readers have other fonts
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return stream.getvalue()


def on_white(drawn: str) -> str:
    """A drawing that can be read on a dark page too: that of a page has none behind it, and takes on its colours."""
    return re.sub(r"<svg[^>]*>", r'\g<0>\n <rect width="100%" height="100%" fill="#ffffff"/>', drawn, count=1)


def inline(drawn: str, *, alt: str, name: str) -> str:
    """A drawing as part of a page.

    Parameters
    ----------
    drawn
        An SVG file, drawn with `INK` and the colours of the sides.
    alt
        What it shows, for those who do not see it.
    name
        Tells its ids from those of the other figures on the page.
    """
    found = drawn[drawn.index("<svg") :]
    found = re.sub(r"<metadata>.*?</metadata>", "", found, flags=re.DOTALL)
    found = re.sub(r"<!--.*?-->", "", found, flags=re.DOTALL)
    found = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", found, count=1)
    found = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", found, count=1)
    found = re.sub(rf'\bid="{TAG}-(\d+)"', r'data-attack="\1"', found)
    # Names as patch_1, which every figure has; what is referred to has names of its own by the salt.
    found = re.sub(r'\bid="(?=[\w.]+_\d+")', f'id="{name}-', found)
    # A marker that stands in two panels is defined twice, with one id: the first is the one that is referred to.
    found = _each_once(found)
    found = found.replace(INK, "currentColor")
    return found.replace("<svg", f'<svg role="img" aria-label="{escape(alt)}"', 1)


def _each_once(drawn: str) -> str:
    seen: set[str] = set()

    def first(found: re.Match[str]) -> str:
        known = found[1] in seen
        seen.add(found[1])
        return "" if known else found[0]

    return re.sub(r' id="([^"]*)"', first, drawn)
