"""``ngramscope manifest show``."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import console_options
from ngramscope.cli.manifest._named import named
from ngramscope.corpus.manifest import CorpusManifest

__all__ = ["command"]

_SHOWN = 20


@click.command("show", short_help="What a manifest says.")
@click.argument("manifest")
@console_options("Print all of it as one JSON object.")
def command(manifest: str, console: Console) -> int:
    """Show what MANIFEST says: where the corpus lives, licence, fields, dates, splits and files.

    \b
    Example:
      ngramscope manifest show pile
    """
    with console.open():
        found, split = named(manifest)
        if split is not None:
            found.choose(split)
        facts = {key: value for key, value in dataclasses.asdict(found).items() if value not in (None, "", (), {})}
        facts["path"] = str(found.path)
        if not found.demo:
            del facts["demo"]
        if console.as_json:
            console.result(facts)
        else:
            click.echo("\n".join(_lines(found, facts)))
    return 0


def _lines(manifest: CorpusManifest, facts: dict[str, Any]) -> list[str]:
    lines = [f"{key}: {' '.join(str(value).split())}" for key, value in facts.items() if isinstance(value, str | bool)]
    lines += [f"{key}: {', '.join(facts[key])}" for key in ("paths", "include", "exclude") if key in facts]
    for name in manifest.split_names:
        files, sources = manifest.of_split(name)
        parts = [*sources, *([f"{len(files)} {'file' if len(files) == 1 else 'files'}"] if files else [])]
        split = manifest.splits.get(name)
        if split is not None:
            parts[:0] = [f"the URLs in {each}" for each in split.lists]
        if split is not None and split.documents is not None:
            parts.append(f"{split.documents:,} documents")
        lines.append(f"split {name}: {', '.join(parts)}")
    for file in manifest.files[:_SHOWN]:
        lines.append(f"file {file.path}: {manifest.url(file) or 'no URL'}")
    if len(manifest.files) > _SHOWN:
        lines.append(f"... and {len(manifest.files) - _SHOWN:,} more files; --json has them all")
    return lines
