"""``ngramscope neighbours``."""

from __future__ import annotations

from pathlib import Path

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import TEXT, console_options, group, read_options
from ngramscope.cli.sets._options import key_options
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.models.neighbours import STRATEGIES, NeighbourOptions, write_neighbours
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sizes import counted

__all__ = ["command"]

_neighbour_options = group(
    "options",
    NeighbourOptions,
    [
        click.option(
            "--count", type=int, default=NeighbourOptions.count, show_default=True, metavar="N",
            help="Neighbours of each text.",
        ),
        click.option(
            "--strategy", type=click.Choice(STRATEGIES), default=NeighbourOptions.strategy, show_default=True,
            help="random: swap a share of the tokens at a time. single: swap one token.",
        ),
        click.option(
            "--share", type=float, default=NeighbourOptions.share, show_default=True, metavar="SHARE",
            help="random: how many of the tokens.",
        ),
        click.option(
            "--trials", type=int, default=NeighbourOptions.trials, show_default=True, metavar="K",
            help="random: so many are drawn, of which the best are kept.",
        ),
        click.option(
            "--top-k", type=int, default=NeighbourOptions.top_k, show_default=True, metavar="K",
            help="Candidates for a token are among the K most likely ones.",
        ),
        click.option(
            "--dropout", type=float, default=NeighbourOptions.dropout, show_default=True, metavar="P",
            help="How much of a token's embedding the model does not see.",
        ),
        click.option(
            "--seed", type=int, default=NeighbourOptions.seed, show_default=True, metavar="N",
            help="Same seed, same neighbours.",
        ),
    ],
)  # fmt: skip


@click.command("neighbours", cls=GreedyCommand, short_help="Find neighbours of texts with a masked language model.")
@click.argument("files", nargs=-1, required=True, metavar="SET")
@click.option(
    "--model", required=True, type=TEXT, metavar="MLM",
    help="A masked language model: a name on the Hugging Face hub, or a folder.",
)  # fmt: skip
@click.option("--revision", type=TEXT, metavar="REVISION", help="Of the model.  [default: its newest]")
@click.option(
    "--out", cls=OutputOption, required=True, metavar="FILE",
    brings=lambda path: (path, *(path.with_name(path.name + end) for end in (".meta.json", ".partial"))),
    help="Write the neighbours here: .jsonl.",
)  # fmt: skip
@_neighbour_options
@click.option("--device", type=TEXT, metavar="DEVICE", help="As torch names it.  [default: cuda where there is one, else cpu]")
@click.option("--batch-size", type=int, default=16, show_default=True, metavar="N", help="Windows of text at a time.")
@key_options
@read_options
@console_options("Print the header as one JSON object on standard output.")
def command(
    files: tuple[str, ...],
    model: str,
    revision: str | None,
    out: str,
    options: NeighbourOptions,
    device: str | None,
    batch_size: int,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    """Find neighbours of the texts in SET: the same but for a few tokens that a masked language model has chosen.

    SET is a candidate set, or documents. A text that was written by the same model and options is not looked at again: the same
    command goes on after a stop, or with a longer set. See docs/neighbours.md.

    \b
    Example:
      ngramscope neighbours natural.jsonl --model bert-base-uncased --out neighbours.jsonl
      ngramscope neighbours natural.jsonl --model bert-base-cased --strategy single --count 50 --out neighbours.jsonl
    """
    path = Path(out)
    if path.suffix != ".jsonl":  # before a model is loaded
        raise UsageError(f"--out: {out}: not a name for neighbours; write FILE.jsonl")
    with console.open():
        from ngramscope.models.masked import MaskedModel

        masked = MaskedModel(model, revision=revision, device=device, batch_size=batch_size)
        header = write_neighbours(RecordSource(files, read, keys), path, masked, options, progress=console.progress)
        counts = header["counts"]
        if console.as_json:
            console.result({**header, "out": out})
        else:
            with_some = counts["texts"] - sum(counts["null"].values())
            console.say(f"neighbours of {counted(with_some, 'text')}, {counts['reused']:,} found before; wrote {out}")
            if counts["fewer_than_asked"]:
                console.warn(f"{counted(counts['fewer_than_asked'], 'text')} with fewer than {options.count} neighbours")
            for reason, count in counts["null"].items():
                console.warn(f"{counted(count, 'text')} without neighbours: {reason}")
            for line in left_out(header["inputs"]):
                console.warn(line)
    return _exit.PARTIAL if header["partial"] else 0
