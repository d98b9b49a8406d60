"""``ngramscope sets hubble``."""

from __future__ import annotations

from pathlib import Path

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import TEXT, console_options, read_options
from ngramscope.cli.sets._options import key_options, out_option
from ngramscope.index.options import ReadOptions
from ngramscope.sets.hubble import DUPLICATES_KEY, hubble
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sizes import counted

__all__ = ["command"]


@click.command("hubble", short_help="Hubble's randomised insertions as a set.")
@click.argument("files", nargs=-1, required=True)
@out_option
@click.option(
    "--duplicates", "duplicates_key", default=DUPLICATES_KEY, show_default=True, type=TEXT, metavar="KEY",
    help="Key of how often a text was inserted; above 0 it is a member.",
)  # fmt: skip
@read_options
@key_options
@console_options("Print the header of the set as one JSON object on standard output.")
def command(files: tuple[str, ...], out: str, duplicates_key: str, read: ReadOptions, keys: Keys, console: Console) -> int:
    """Make a set of texts with a count of how often each was inserted in a training corpus.

    FILES are data sets of Hubble (arXiv:2510.19811), from the hub or as local copies, or any records with such a count. Labels
    hold for models that were trained with these insertions, which are Hubble's perturbed ones.

    \b
    Example:
      ngramscope sets hubble hubble.toml:passages_wikipedia --out passages.jsonl
    """
    with console.open():
        header = hubble(
            RecordSource(files, read=read, keys=keys), Path(out), duplicates_key=duplicates_key, progress=console.progress
        )
        facts = header["history"][-1]["facts"]
        if console.as_json:
            console.result(header)
        else:
            for copies, texts in facts["texts_by_copies"].items():
                console.say(f"{counted(texts, 'text')} inserted {counted(int(copies), 'time')}")
            console.say(f"wrote {out}")
            for line in left_out(header["inputs"]):
                console.warn(line)
    return _exit.PARTIAL if facts["partial"] else 0
