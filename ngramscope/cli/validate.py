"""``ngramscope validate``."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand, GreedyOption
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import console_options, group, read_options
from ngramscope.cli.sets._options import key_options, source_options
from ngramscope.errors import ResourceError, UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.index.output import write_whole
from ngramscope.report import validation as pages
from ngramscope.sets.overlaps import OverlapOptions
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.validate import ShiftRule, validate

__all__ = ["command"]

rule_options = group(
    "rule",
    ShiftRule,
    [
        click.option("--n", type=int, default=ShiftRule.n, show_default=True, metavar="N", help="Length of the n-grams."),
        click.option(
            "--min-shift", type=float, default=ShiftRule.min_shift, show_default=True, metavar="SHARE",
            help="Shifts of the mean overlap below this do not matter.",
        ),
        click.option(
            "--min-ratio", type=float, default=ShiftRule.min_ratio, show_default=True, metavar="SHARE",
            help="... nor those below this share of the reference's mean, if that is less.",
        ),
        click.option(
            "--alpha", type=float, default=ShiftRule.alpha, show_default=True, metavar="LEVEL",
            help="Level of the test; intervals have 1 - LEVEL.",
        ),
        click.option(
            "--leave-one-out", is_flag=True,
            help="A document is no evidence for itself, on both sides: the reference are members. Needs --scan or an index of "
            "two tiers.",
        ),
        click.option(
            "--permutations", type=int, default=ShiftRule.permutations, show_default=True, metavar="N",
            help="Of the sides, for the test.",
        ),
        click.option(
            "--resamples", type=int, default=ShiftRule.resamples, show_default=True, metavar="N",
            help="Of the texts, for intervals.",
        ),
        click.option(
            "--seed", type=int, default=ShiftRule.seed, show_default=True, metavar="N", help="Same seed, same report."
        ),
    ],
)  # fmt: skip


@click.command("validate", cls=GreedyCommand, short_help="Are candidates representative of a training corpus?")
@click.argument("candidates", nargs=-1, required=True)
@click.option(
    "--reference", cls=GreedyOption, metavar="HELDOUT...",
    help="A random sample that was left out of the corpus; with --leave-one-out members. Default: the members in CANDIDATES, "
    "and --leave-one-out. Takes all words up to the next option.",
)  # fmt: skip
@rule_options
@click.option(
    "--describe", type=int, multiple=True, metavar="N",
    help="Further lengths to describe; repeatable. Default: those of the index; with --scan 3, 5, 7 and 13.",
)  # fmt: skip
@source_options
@click.option(
    "--max-texts", type=int, default=1_000, show_default=True, metavar="N",
    help="Texts of each side for the comparison of words and the classifier; 0: none.",
)  # fmt: skip
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the report here, as JSON.")
@click.option(
    "--html", cls=OutputOption, metavar="FILE", help="Write the report here, as one page with figures that opens offline."
)
@key_options
@read_options
@console_options("Print the report as one JSON object on standard output.")
def command(
    candidates: tuple[str, ...],
    reference: tuple[str, ...],
    rule: ShiftRule,
    describe: tuple[int, ...],
    overlap: OverlapOptions,
    max_texts: int,
    out: str | None,
    html: str | None,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    """Are the non-members in CANDIDATES representative of a training corpus?

    Their overlap with the corpus is compared with that of HELDOUT, a random sample of the same kind that was left out of it.
    The verdict rests on one test that the options declare: representative, shifted towards lower or higher overlap, or
    cannot tell. All else that is printed describes. docs/sets/validate.md explains the rule.

    \b
    Example:
      ngramscope validate candidates.jsonl --reference heldout.jsonl --index my-index --html validation.html
      ngramscope validate labelled.jsonl --scan corpus/*.jsonl.zst --out validation.json
    """
    outputs = [(option, Path(name)) for option, name in (("--out", out), ("--html", html)) if name is not None]
    _check(outputs)
    with console.open():
        report = validate(
            RecordSource(candidates, read, keys),
            dataclasses.replace(overlap, n=describe),
            RecordSource(reference, read, keys) if reference else None,
            rule=rule,
            max_texts=max_texts,
            progress=console.progress,
        )
        for option, path in outputs:
            if option == "--html":
                pages.write_html(path, report)
            else:
                _write(path, report)
        if console.as_json:
            console.result(report)
        else:
            console.clear()
            click.echo(pages.to_text(report))
            for warning in report["warnings"]:
                console.warn(warning)
            for line in left_out(report["inputs"]):
                console.warn(line)
    return _exit.PARTIAL if report["partial"] else 0


def _check(outputs: list[tuple[str, Path]]) -> None:
    for option, path in outputs:
        if option == "--html":
            pages.check(path)
        elif path.is_dir() or not path.parent.is_dir():
            raise UsageError(f"--out: {path}: not the name of a file in a folder that there is")
    if len({path.resolve() for _, path in outputs}) < len(outputs):
        raise UsageError("--out and --html name the same file; give two names")


def _write(path: Path, report: dict[str, Any]) -> None:
    try:
        write_whole(path, json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    except OSError as error:
        raise ResourceError(f"{path}: cannot write the report: {error.strerror or error}") from error
