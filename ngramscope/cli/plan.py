"""``ngramscope plan``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import console_options, geometry_options, group, read_options, rule_options
from ngramscope.errors import ResourceError, UsageError
from ngramscope.index.options import BuildOptions, ReadOptions, WordRule
from ngramscope.index.output import write_whole
from ngramscope.index.plan import ENDS, SAMPLE, plan_index
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


sample_options = group(
    "drawing",
    dict,
    [
        click.option(
            "--sample", default=SAMPLE, show_default=True, metavar="SIZE|SHARE",
            help="Read so much of the files, as they are on disk, and predict the rest; a share is 5% or 0.05. A corpus that "
            "is no larger, and standard input, is counted whole.",
        ),
        click.option("--count", is_flag=True, help="Read all of CORPUS instead of a sample."),
        click.option("--seed", type=int, default=1, show_default=True, metavar="N", help="Chooses the sample."),
        click.option(
            "--size-for", type=click.Choice(ENDS), default=ENDS[0], show_default=True,
            help="Size the index for the high end of the prediction, or for its likely value.",
        ),
        click.option(
            "--machines", type=int, default=1, show_default=True, metavar="K",
            help="Also tell the hours when K machines like this one build a part each.",
        ),
    ],
)  # fmt: skip


@click.command("plan", short_help="Choose the size of an index, and tell what it takes.")
@click.argument("corpus", nargs=-1)
@click.option("--save", cls=OutputOption, metavar="FILE", help="Write a plan file, for build-index --plan.")
@sample_options
@geometry_options
@room_options
@rule_options
@read_options
@console_options("Print the plan as one JSON object on standard output.")
def command(
    corpus: tuple[str, ...],
    save: str | None,
    drawing: dict[str, Any],
    geometry: dict[str, Any],
    room: dict[str, Any],
    rule: WordRule,
    read: ReadOptions,
    console: Console,
) -> int:
    """Choose the size that an index of CORPUS needs, tell what it takes in disk, memory, passes and hours, and build nothing.

    A sample of CORPUS is read, drawn from all over its files, and from it the size of the whole is predicted; with --count all
    of it is read, with --expected-ngrams nothing. The index is sized for the high end of the prediction, since a filter that
    gets more n-grams than it was made for has a higher rate.

    \b
    Example:
      ngramscope plan corpus/ --n 7 --n 13 --save plan.json
      ngramscope build-index corpus/ --n 7 --n 13 --plan plan.json --part 1/16 --out part-01
    """
    options = BuildOptions(read=read, rule=rule, **geometry, **room)
    if not corpus and options.expected_ngrams is None:
        raise UsageError("CORPUS: name the files to count, or give --expected-ngrams")
    if drawing.pop("count"):
        drawing["sample"] = None
    with console.open():
        sources = corpus if options.expected_ngrams is None else ()
        plan = plan_index(sources, options, **drawing, progress=console.progress)
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
    if plan["predicted"] is not None:
        lines += _prediction(plan)
    elif plan["report"] is not None:
        read = counted(plan["report"]["documents"], "document")
        lines.append(f"read {read}, {counted(plan['words'], 'word')} in {plan['seconds']:.1f} s")
    for keys in plan["layout"]["sets"]:
        sizing = keys["sizing"]
        error = f", standard error {format_count(sizing['standard_error'])}" if sizing["standard_error"] is not None else ""
        shape = f"{format_count(keys['blocks'])} blocks of 512 bits, {keys['k']} bits a key" if keys["k"] else "exact"
        ngrams = sizing["sized_for"] if sizing["method"] == "predicted" else sizing["ngrams"]
        most = "sized for" if sizing["method"] == "predicted" else "about"
        tiers = "" if plan["layout"]["tiers"] == 1 else ", two tiers"
        lines.append(f"n = {keys['n']}: {most} {format_count(ngrams)} distinct n-grams{error}; {shape}{tiers}")
    lines.append(
        f"the index takes {format_size(plan['index_bytes'])}; with {format_size(plan['memory'])} of memory it is built in "
        f"{plan['passes']} {'pass' if plan['passes'] == 1 else 'passes'}"
    )
    if plan["time"] is not None:
        lines.append(_time(plan["time"]))
    return "\n".join(lines)


def _prediction(plan: dict[str, Any]) -> list[str]:
    sample, predicted = plan["sample"], plan["predicted"]
    size, whole = format_size(sample["bytes_read"]), format_size(sample["bytes_total"])
    files = f"{format_count(sample['files_read'])} of {counted(sample['files'], 'file')}"
    had = f"{counted(sample['documents'], 'document')}, {counted(sample['words'], 'word')}"
    lines = [
        f"sampled {size} of {whole}, {counted(sample['parts'], 'part')} of {files} (seed {sample['seed']}), "
        f"in {sample['seconds']:.1f} s: {had}"
    ]
    if sample["files_from_beginning"]:
        lines.append(
            f"{counted(sample['files_from_beginning'], 'file')} of the sample can be read only from the beginning: if what is "
            "further in differs, the prediction is off"
        )
    rows: list[tuple[str, ...]] = [("predicted", "low", "likely", "high")]
    for name, numbers, shown in (
        ("documents", predicted["documents"], format_count),
        ("words", predicted["words"], format_count),
        *((f"distinct n-grams, n = {each['n']}", each, format_count) for each in predicted["distinct"]),
        ("bytes of the index", predicted["index_bytes"], format_size),
    ):
        rows.append((name, *(shown(numbers[end]) for end in ("low", "value", "high"))))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *cells in rows:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        lines.append("  ".join([name.ljust(widths[0]), *padded]))
    return lines


def _time(time: dict[str, Any]) -> str:
    read, inserted = format_count(time["words_per_second"]), format_count(time["insertions_per_second"])
    text = (
        f"building takes about {_duration(time['hours'])} on this machine ({read} words read and {inserted} n-grams inserted "
        "in a second, measured just now), and writing the index"
    )
    if time["machines"] > 1:
        text += f"; on {time['machines']} machines {_duration(time['hours_with_machines'])}, and merging the parts"
    return text


def _duration(hours: float) -> str:
    seconds = hours * 3600
    if seconds < 120:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{hours:.3g} h"
