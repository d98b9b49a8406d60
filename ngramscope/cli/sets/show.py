"""``ngramscope sets show``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import console_options
from ngramscope.errors import InputError
from ngramscope.sets.balance import to_text
from ngramscope.sets.base import header_path, open_header
from ngramscope.sizes import counted, format_size

__all__ = ["command", "history"]

_SHOWN = 20


@click.command("show", short_help="Say how a set was made and how its sides compare.")
@click.argument("path", metavar="SET")
@console_options("Print the whole header as one JSON object.")
def command(path: str, console: Console) -> int:
    """Say how SET was made: its rules, what was left out at every step, overlaps, how its sides compare.

    \b
    Example:
      ngramscope sets show natural.jsonl
    """
    with console.open():
        header = open_header(path)
        if header is None or not Path(path).is_file():
            raise InputError(f"{path}: no candidate set; a set is a file that has {header_path(path).name} beside it")
        if console.as_json:
            console.result(header)
        else:
            click.echo("\n".join(_describe(path, header)))
    return 0


def _describe(path: str, header: Mapping[str, Any]) -> Iterator[str]:
    counts = header["counts"]
    unlabelled = f", {counts['unlabelled']:,} unlabelled" if counts["unlabelled"] else ""
    yield f"{path}: {counted(counts['members'], 'member')}, {counted(counts['nonmembers'], 'non-member')}{unlabelled}"
    yield f"  version {header['format_version']}, made by ngramscope {header['ngramscope']}"
    yield ""
    yield "history"
    yield from history(header["history"])
    yield ""
    yield "inputs of the last step"
    yield from _inputs(header["inputs"])
    yield ""
    yield "overlap"
    yield from _overlap(header["overlap"])
    yield ""
    yield "balance"
    yield from ("  " + line for line in to_text(header["balance"]).splitlines())
    if "overlap_loo" in header["columns"]:
        yield "  (overlap counts the document that a member is of; column overlap_loo leaves it out)"
    for name, domains in header["balance"]["domains"].items():
        shown = [f"{domain or '(none)'} {count:,}" for domain, count in domains.items()]
        more = f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else ""
        yield f"  domains of {name}: {', '.join(shown[:_SHOWN])}{more}"
    for name, groups in header["balance"]["groups"].items():
        yield f"  groups of {name}: {groups:,}"
    yield ""
    yield (
        "That a text is no member is claimed of the files listed under overlap only; other training data may hold it."
        if header["overlap"]
        else "Overlap was not measured: that a text is no member rests on where its file came from."
    )


def history(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines on steps: rules, settings, counts by reason."""
    lines = []
    for number, step in enumerate(steps, start=1):
        seed = "" if step["seed"] is None else f", seed {step['seed']}"
        lines.append(f"  {number}. {step['rule']}{seed}")
        settings = {name: value for name, value in step["settings"].items() if not isinstance(value, dict)}
        given = [f"{name} {_value(value)}" for name, value in settings.items() if value is not None and value is not False]
        if given:
            lines.append(f"     {', '.join(given)}")
        for name, count in step["counts"].items():
            reasons = ", ".join(f"{each:,} {reason}" for reason, each in count["left_out"].items())
            left = f"; left out: {reasons}" if reasons else ""
            lines.append(f"     {name}: {count['used']:,} of {count['read']:,} used{left}")
    return lines


def _inputs(inputs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for each in inputs[:_SHOWN]:
        digest = f", blake3:{each['blake3']}" if each.get("blake3") else ", no digest"
        size = "" if each.get("bytes") is None else f": {format_size(each['bytes'])}"
        yield f"  {each['name']}{f' ({name})' if (name := each.get('side')) else ''}{size}{digest}"
    if len(inputs) > _SHOWN:
        yield f"  ... and {len(inputs) - _SHOWN:,} more; --json lists all"


def _overlap(overlap: Mapping[str, Any]) -> Iterator[str]:
    if not overlap:
        yield "  not measured"
    for n, measured in overlap.items():
        rate = "" if measured.get("filter_fpr") is None else f", false-positive rate {measured['filter_fpr']:.4g}"
        on = "" if "measured_on" not in measured else f", measured on {measured['measured_on']}"
        yield f"  n = {n}: by {measured['by']}{rate}{on}"
        sources = [*measured.get("scan", {}).get("corpus", ()), *(s for i in measured.get("indexes", ()) for s in i["inputs"])]
        yield from (f"  {line}" for line in _inputs(sources))


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
