"""The page of a study's report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import groupby

from ngramscope.report import html, tables
from ngramscope.report.parts import Chart, Section, Table
from ngramscope.report.results import StudyResults
from ngramscope.report.verdict import verdict_html
from ngramscope.report.view import View
from ngramscope.report.words import counted

__all__ = ["Block", "study_page"]


@dataclass(frozen=True)
class Block:
    """A section as it stands on the page: heading, anchor, HTML."""

    title: str
    anchor: str
    html: str

    @classmethod
    def of(
        cls, title: str, anchor: str, section: Section, drawn: Mapping[str, str], folder: str, formats: Sequence[str]
    ) -> Block:
        """Put it together; `drawn` has the drawings of its figures by name, `folder` files in `formats`."""
        if section.missing is not None:
            return cls(title, anchor, f'<p class="missing">{escape(section.missing)}</p>')
        lead = [f"<p>{escape(each)}</p>" for each in section.lead]
        return cls(title, anchor, "\n".join([*lead, *_parts(section, drawn, folder, formats), section.html]))


def _parts(section: Section, drawn: Mapping[str, str], folder: str, formats: Sequence[str]) -> Iterator[str]:
    """Figures that follow each other side by side, tables by themselves."""
    for figures, group in groupby(section.parts, key=lambda each: isinstance(each, Chart)):
        shown = [
            _figure(each, drawn[each.name], folder, formats) if isinstance(each, Chart) else _table(each, folder)
            for each in group
        ]
        yield f'<div class="figures">{"".join(shown)}</div>' if figures else "\n".join(shown)


def _figure(chart: Chart, drawn: str, folder: str, formats: Sequence[str]) -> str:
    width = chart.figure.get_size_inches()[0]
    links = _links(folder, "figures", chart.name, formats)
    return f'<figure style="--inches: {width:g}">\n{drawn}<figcaption>{escape(chart.caption)} {links}</figcaption></figure>\n'


def _table(table: Table, folder: str) -> str:
    notes = "".join(f'<p class="note">{escape(each)}</p>' for each in table.notes)
    if len(table.rows) > tables.MOST:
        notes += f'<p class="note">The first {tables.MOST} rows; the files have all {len(table.rows):,}.</p>'
    links = _links(folder, "tables", table.name, ("csv", "tex"))
    body = f'<div class="wide" tabindex="0" role="region" aria-label="{escape(table.caption)}">{tables.to_html(table)}</div>'
    body = f'{body}\n{notes}<p class="note">{links}</p>'
    if not table.folded:
        return body
    return f"<details><summary>{escape(table.caption)} {counted(len(table.rows), 'row')}</summary>\n{body}</details>"


def _links(folder: str, kind: str, name: str, endings: Sequence[str]) -> str:
    links = (f'<a href="{escape(f"{folder}/{kind}/{name}.{each}")}">{each.upper()}</a>' for each in endings)
    return f'<span class="files">{" ".join(links)}</span>'


def study_page(results: StudyResults, views: Sequence[View], top: Sequence[Block], blocks: Sequence[Sequence[Block]]) -> str:
    """The whole page.

    Parameters
    ----------
    top
        Sections of the study as a whole.
    blocks
        For each set its sections.
    """
    several = len(views) > 1
    body = ['<a class="skip" href="#main">Skip to the results</a>', f"<header><h1>{escape(results.title)}</h1></header>"]
    body += [_navigation(views, top, blocks), '<main id="main">']
    body += [] if several else [verdict_html(views[0])]
    body += [_section(each) for each in top]
    if several:
        body.append(_tabs(views))
    for view, mine in zip(views, blocks, strict=True):
        inside = "\n".join(_section(each) for each in mine)
        name = escape(view.results.name)
        body.append(
            f'<div class="set" id="{view.prefix}set-panel" data-set="{name}"><h2 class="set-name">Set {name}</h2>'
            f"{verdict_html(view)}{inside}</div>"
            if several
            else inside
        )
    body += [_study(results), "</main>"]
    assets = files("ngramscope.report") / "assets"
    scripts = [(assets / name).read_text(encoding="utf-8") for name in ("report.js", "explorer.js")]
    return html.page(results.title, body, style=(assets / "report.css").read_text(encoding="utf-8"), scripts=scripts)


def _section(block: Block) -> str:
    anchor = escape(block.anchor)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-title"><h2 id="{anchor}-title">{escape(block.title)}</h2>\n'
        f"{block.html}\n</section>"
    )


def _navigation(views: Sequence[View], top: Sequence[Block], blocks: Sequence[Sequence[Block]]) -> str:
    lists = []
    if top:
        lists.append("".join(_item(each) for each in top))
    for view, mine in zip(views, blocks, strict=True):
        items = "".join(_item(each) for each in mine)
        name = escape(view.results.name)
        lists.append(f'<li class="set-items" data-set="{name}"><ul>{items}</ul></li>' if len(views) > 1 else items)
    numbers = views[0].numbers
    shown = sorted({attack for view in views for model in view.targets for attack in view.shown(model)})
    options = "".join(f'<option value="{numbers[each]}">{escape(each)}</option>' for each in shown)
    choice = (
        f'<label class="highlight">Highlight <select id="highlight"><option value="">all attacks</option>{options}</select>'
        "</label>"
        if len(shown) > 1
        else ""
    )
    return (
        f'<nav aria-label="Contents"><details id="contents" open><summary>Contents</summary><ul>{"".join(lists)}</ul></details>'
        f"{choice}</nav>"
    )


def _item(block: Block) -> str:
    return f'<li><a href="#{escape(block.anchor)}">{escape(block.title)}</a></li>'


def _tabs(views: Sequence[View]) -> str:
    buttons = "".join(
        f'<button type="button" role="tab" data-set="{escape(view.results.name)}" aria-controls="{view.prefix}set-panel" '
        f'aria-selected="false">{escape(view.results.name)}</button>'
        for view in views
    )
    return f'<div class="tabs" role="tablist" aria-label="Sets">{buttons}</div>'


def _study(results: StudyResults) -> str:
    if not results.header:
        return ""
    text = json.dumps(results.header, indent=1, ensure_ascii=False, default=str)
    return (
        '<section id="study"><h2>The study</h2><details><summary>Description, versions and inputs of the study</summary>'
        f"<pre>{escape(text)}</pre></details></section>"
    )
