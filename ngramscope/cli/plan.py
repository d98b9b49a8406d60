"""``ngramscope plan``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import console_options, geometry_options, group, read_options, rule_options
from ngramscope.errors import ResourceError, UsageError
from ngramscope.index.build import plan_index
from ngramscope.index.options import BuildOptions, ReadOptions, WordRule
from ngramscope.index.output import write_whole
from ngramscope.sizes import counted, format_count, format_size

__all__ = ["command"]

room_options = group(
    "room",
    dict,
    [
        click.option("--threads", type=int, metavar="N", help="Default: every core."),
        click.option("--memory", metavar="SIZE", help="Filter bytes in memory at a time. Default: 80% of what is free."),
    ],
)


@click.command("plan", short_help="Choose the size of an index, and tell what it takes.")
@click.argument("corpus", nargs=-1)
@click.option("--save", metavar="FILE", help="Write a plan file, for build-index --plan.")
@geometry_options
@room_options
@rule_options
@read_options
@console_options("Print the plan as one JSON object on standard output.")
def command(
    corpus: tuple[str, ...],
    save: str | None,
    geometry: dict[str, Any],
    room: dict[str, Any],
    rule: WordRule,
    read: ReadOptions,
    console: Console,
) -> int:
    """Choose the size that an index of CORPUS needs, tell what it takes in disk, memory and passes, and build nothing.

    CORPUS is read once to count its n-grams; with --expected-ngrams nothing is read.

    \b
    Example:
      ngramscope plan corpus/ --n 7 --n 13 --save plan.json
      ngramscope build-index corpus/ --n 7 --n 13 --plan plan.json --part 1/16 --out part-01
    """
    options = BuildOptions(read=read, rule=rule, **geometry, **room)
    if not corpus and options.expected_ngrams is None:
        raise UsageError("CORPUS: name the files to count, or give --expected-ngrams")
    with console.open():
        plan = plan_index(corpus if options.expected_ngrams is None else (), options, progress=console.progress)
        if save is not None:
            _save(Path(save), plan["layout"])
        if console.as_json:
            console.result(plan)
        else:
            click.echo(_describe(plan))
        sources = [] if plan["report"] is None else plan["report"]["sources"]
        for line in left_out(sources):
            console.warn(line)
    return _exit.PARTIAL if plan["report"] and (plan["report"]["bad_records"] or plan["report"]["bad_files"]) else 0


def _save(path: Path, layout: dict[str, Any]) -> None:
    try:
        write_whole(path, json.dumps(layout, indent=2) + "\n")
    except OSError as error:
        raise ResourceError(f"{path}: cannot write the plan: {error.strerror or error}") from error


def _describe(plan: dict[str, Any]) -> str:
    lines = []
    if plan["report"] is not None:
        lines.append(f"read {counted(plan['report']['documents'], 'document')} in {plan['seconds']:.1f} s")
    for keys in plan["layout"]["sets"]:
        sizing = keys["sizing"]
        error = f", standard error {format_count(sizing['standard_error'])}" if sizing["standard_error"] is not None else ""
        shape = f"{format_count(keys['blocks'])} blocks of 512 bits, {keys['k']} bits a key" if keys["k"] else "exact"
        tiers = "" if plan["layout"]["tiers"] == 1 else ", two tiers"
        lines.append(f"n = {keys['n']}: about {format_count(sizing['ngrams'])} distinct n-grams{error}; {shape}{tiers}")
    lines.append(
        f"the index takes {format_size(plan['index_bytes'])}; with {format_size(plan['memory'])} of memory it is built in "
        f"{plan['passes']} {'pass' if plan['passes'] == 1 else 'passes'}"
    )
    return "\n".join(lines)
