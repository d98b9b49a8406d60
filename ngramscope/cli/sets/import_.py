"""``ngramscope sets import``."""

from __future__ import annotations

from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import TEXT, console_options, group
from ngramscope.cli.sets._options import out_option
from ngramscope.index.options import ReadOptions
from ngramscope.sets.base import MEMBER, NONMEMBER
from ngramscope.sets.formats import ImportOptions, import_set
from ngramscope.sizes import counted, format_size

__all__ = ["command"]

_SIDES = {"member": MEMBER, "nonmember": NONMEMBER, None: None}


def _options(side: str | None, member_label: str, **values: Any) -> ImportOptions:
    return ImportOptions(label=_SIDES[side], member_label=int(member_label), **values)


def _key(name: str, what: str) -> Any:
    return click.option(
        f"--{name}-key",
        f"--{name}",
        f"{name}_key",
        type=TEXT,
        metavar="KEY",
        help=f"Key or column of the {what}.  [default: {name}]",
    )


import_options = group(
    "options",
    _options,
    [
        click.option(
            "--config", type=TEXT, metavar="NAME",
            help="Part of a benchmark, as MIMIR's wikipedia_(en); all takes every part.",
        ),
        click.option(
            "--split", type=TEXT, metavar="NAME",
            help="Split, as ngram_13_0.8 or WikiMIA_length64; all takes every split.",
        ),
        click.option(
            "--as", "side", type=click.Choice(("member", "nonmember")), help="What texts are that have no label of their own.",
        ),
        _key("text", "text, in plain records (so are the following keys)"),
        _key("id", "id"),
        _key("label", "label"),
        _key("domain", "part of a corpus that a record is from"),
        _key("group", "what belongs together: a book, an author"),
        _key("date", "date"),
        click.option("--field", "fields", multiple=True, type=TEXT, metavar="KEY", help="Carry this key along; repeatable."),
        click.option(
            "--member-label", type=click.Choice(("0", "1")), default="1", show_default=True,
            help="Which label of plain records means member.",
        ),
        click.option(
            "--neighbors/--no-neighbors", default=True, show_default=True,
            help="Take perturbed copies that are beside the texts, as the column neighbors.",
        ),
        click.option(
            "--max-bad-records", type=int, default=0, show_default=True, metavar="N",
            help="Leave out up to N unusable records, count them by reason, and exit with 3.",
        ),
        click.option(
            "--max-record-size", type=str, default=ReadOptions.max_record_size, metavar="SIZE",
            show_default=format_size(int(ReadOptions.max_record_size)), help="Longer records are unusable; they are never cut.",
        ),
    ],
)  # fmt: skip


@click.command("import", short_help="Make a set of a benchmark or a table.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "--format", "name", default="auto", show_default=True, type=TEXT, metavar="NAME",
    help="Layout of the input; `ngramscope sets formats` lists them.",
)  # fmt: skip
@out_option
@import_options
@console_options("Print the set's header as one JSON object on standard output.")
def command(inputs: tuple[str, ...], name: str, out: str, options: ImportOptions, console: Console) -> int:
    """Make a candidate set of INPUT: files, folders, or a dataset of the Hugging Face hub (owner/name, hf://datasets/...).

    MIMIR, WikiMIA, BookMIA and other benchmarks are known by their layout; JSON Lines, CSV and Parquet are read with the keys
    that are named. A label of 1 is a member, whatever the format's own convention. docs/sets/formats.md has the layouts.

    \b
    Example:
      ngramscope sets import iamgroot42/mimir --config "wikipedia_(en)" --split ngram_13_0.8 --out wiki.jsonl
      ngramscope sets import table.csv --text body --label seen --date published --out set.jsonl
    """
    with console.open():
        done = import_set(inputs, out, format=name, options=options, progress=console.progress)
        header = done.header
        if console.as_json:
            console.result(header)
        else:
            sides = header["counts"]
            console.say(f"read as {done.format}: {done.evidence}")
            console.say(
                f"{counted(sum(sides.values()), 'candidate')}: {counted(sides['members'], 'member')}, "
                f"{counted(sides['nonmembers'], 'non-member')}, {sides['unlabelled']:,} unlabelled; wrote {out}"
            )
            for line in left_out(header["inputs"]):
                console.warn(line)
    return _exit.PARTIAL if done.partial else 0
