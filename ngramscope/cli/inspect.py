"""``ngramscope inspect``."""

from __future__ import annotations

from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import console_options
from ngramscope.cli._show_build import second_tier
from ngramscope.index.open import Index
from ngramscope.sizes import counted, format_distinct, format_size

__all__ = ["command"]

_SOURCES_SHOWN = 20


@click.command("inspect", short_help="Say what an index is.")
@click.argument("indexes", nargs=-1, metavar="[INDEX]...")
@console_options("Print everything, every source included, as one JSON object.")
def command(indexes: tuple[str, ...], console: Console) -> int:
    """Say what INDEX is: rules, sizes, fill, rates, sources with digests.

    Several indexes are described one by one, and then together, as `overlap` would use them.

    \b
    Example:
      ngramscope inspect my-index
    """
    with console.open():
        index = Index.open(indexes or None)
        facts = index.inspect()
        if console.as_json:
            console.result(facts)
            return 0
        click.echo("\n\n".join(_describe(each) for each in facts["indexes"]))
        if len(facts["indexes"]) > 1:
            click.echo("\ntogether")
            for n, rate in facts["filter_fpr"].items():
                distinct = format_distinct(facts["distinct_ngrams"][n], "blocked")
                click.echo(f"  n = {n}: {distinct} distinct n-grams, false-positive rate {rate:.4g}")
        for warning in index.warnings:
            console.warn(warning)
    return 0


def _describe(index: dict[str, Any]) -> str:
    words, counts = index["words"], index["counts"]
    rule = f"{words['mode']} (Unicode {words['unicode']}), normalize {words['normalization']}"
    part = f", part {index['part']['part']} of {index['part']['of']}" if "part" in index else ""
    lines = [
        f"{index['path']}: {index['name'] or 'unnamed'}{part}{' (DEMONSTRATION)' if index['demo'] else ''}",
        f"  content id  {index['content_id']}, format {index['format_version']}, built by ngramscope {index['tool_version']}",
        f"  words       {rule}{', lower-cased' if words['lowercase'] else ''}",
        f"  hash        {index['hash']}",
        f"  tiers       {index['tiers']}" + ("" if index["tiers"] == 1 else ", n-grams of at least two documents are known"),
        f"  documents   {counts['documents']:,} of {counted(counts['records'], 'record')}, {counted(counts['words'], 'word')}",
    ]
    lines.extend(f"  left out    {counted(count, 'record')}: {reason}" for reason, count in sorted(counts["unusable"].items()))
    lines.append(f"  size        {format_size(index['bytes'])}")
    for keys in index["sets"]:
        lines.extend(_describe_set(keys))
    lines.append(f"  sources     {len(index['sources']):,}")
    for source in index["sources"][:_SOURCES_SHOWN]:
        digest = f"blake3:{source['blake3']}" if source["blake3"] else "no digest"
        incomplete = f", INCOMPLETE: {source['incomplete']}" if "incomplete" in source else ""
        documents = counted(source["documents"], "document")
        lines.append(f"    {source['name']}: {format_size(source['bytes'])}, {documents}, {digest}{incomplete}")
    if len(index["sources"]) > _SOURCES_SHOWN:
        lines.append(f"    ... and {len(index['sources']) - _SOURCES_SHOWN:,} more; --json lists all")
    return "\n".join(lines)


def _describe_set(keys: dict[str, Any]) -> list[str]:
    lines = [
        f"  n = {keys['n']}",
        f"    n-grams   {keys['occurrences']:,} occurrences, {format_distinct(keys['distinct'], keys['kind'])} distinct",
        f"    set       {keys['kind']}, {keys['blocks']:,} {'blocks of 512 bits' if keys['k'] else 'key ranges'}, "
        f"{counted(len(keys['shards']), 'file')}" + (f", {keys['k']} bits a key" if keys["k"] else ""),
    ]
    if keys["sizing"] is not None:
        sizing = keys["sizing"]
        lines.append(f"    sized     for {sizing['sized_for']:,} ({sizing['method']})")
    if keys["fill"] is not None:
        lines.append(f"    fill      {keys['fill']:.4f}")
    if "second_tier" in keys:
        lines.append(f"    twice     {second_tier(keys)}")
    target = "" if keys["target_rate"] is None else f"target {keys['target_rate']:.4g}, "
    lines.append(f"    rate      {target}expected {keys['rate']:.4g}, measured {keys['measured_rate']:.4g}")
    return lines
