"""README: what a visitor sees first is there, links lead somewhere, and the commands exist as they are written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click

from ngramscope.cli._run import cli as program
from tests.conftest import ROOT, commands

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_lines_have_a_command_with_its_output_and_a_figure() -> None:
    top = "\n".join(TEXT.splitlines()[:30])
    assert re.search(r"^\$ ngramscope audit (?:.*\\\n)*.*\n(?!\$|```)\S", top, re.MULTILINE)
    (figure,) = re.findall(r"!\[[^\]]{40,}\]\((docs/images/[\w-]+\.svg)\)", top)
    drawing = (ROOT / figure).read_text(encoding="utf-8")
    # Black on a page in dark mode could not be read.
    assert re.search(r'<rect width="100%" height="100%" fill="#ffffff"/>', drawing)
    assert len(drawing.encode()) < 60_000


def test_every_link_to_a_file_of_the_repository_leads_to_one() -> None:
    links = [each for each in re.findall(r"\]\(([^)#\s]+)", TEXT) if "://" not in each]
    assert len(links) > 30
    assert not [each for each in links if not (ROOT / each).exists()]


def test_every_link_of_the_docs_leads_to_a_page_of_the_site() -> None:
    pages = sorted((ROOT / "docs").rglob("*.md"))
    assert len(pages) > 30
    nowhere = []
    for page in pages:
        text = re.sub(r"```.*?```|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", text):
            there = (page.parent / target).resolve() if target else page
            if "://" in target:
                continue
            if not (there.is_file() and there.is_relative_to(ROOT / "docs")) or (anchor and anchor not in anchors(there)):
                nowhere.append(f"{page.relative_to(ROOT)}: {target}#{anchor}")
    assert not nowhere


def anchors(page: Path) -> set[str]:
    """As the site makes them of headings."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", each.lower()).strip()) for each in heads}


def test_every_command_and_option_exists() -> None:
    tried = 0
    for line in re.findall(r"^\$ ngramscope (.*)$", TEXT.replace("\\\n", " "), re.MULTILINE):
        words = shlex.split(line.split(" && ")[0], comments=True)
        command: click.Command = program
        while isinstance(command, click.Group):
            inside = commands(command)
            assert words[0] in inside, line
            command = inside[words.pop(0)]
        known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
        assert not [word for word in words if word.startswith("--") and word.split("=")[0] not in known], line
        tried += 1
    assert tried > 20
