"""``ngramscope sets randomize``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand, GreedyOption
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import TEXT, console_options, read_options
from ngramscope.cli.sets._options import key_options, out_option
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.sets.randomize import BLOCKS, RandomizeFiles, RandomizeOptions, randomize
from ngramscope.sets.randomized_files import positions_path
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sizes import counted

__all__ = ["command"]


def _copies(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, ...]:
    try:
        return tuple(int(each) for each in value.split(","))
    except ValueError as error:
        raise UsageError(f"--copies: {value!r} is not possible; whole numbers with commas between, as 0,1,2,4") from error


def _shares(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    return () if value is None else tuple(each.strip() for each in value.split(","))


def _insertions(path: Path) -> tuple[Path, ...]:
    positions = positions_path(path)
    return tuple(each for one in (path, positions) for each in (one, one.with_name(f"{one.name}.meta.json")))


@click.command("randomize", cls=GreedyCommand, short_help="For those who train: insert candidates at random, keep the key.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--insertions", cls=OutputOption, brings=_insertions, required=True, metavar="FILE",
    help="Write the copies here, in the order of their positions: .jsonl, .jsonl.gz or .jsonl.zst. The positions go beside it.",
)  # fmt: skip
@click.option("--heldout", cls=OutputOption, required=True, metavar="FILE", help="Write the texts that are held out here.")
@click.option(
    "--key", cls=OutputOption, required=True, metavar="FILE", help="Write who was drawn here, far from the training run."
)
@out_option
@click.option(
    "--copies", default="0,1,2,4,8,16", show_default=True, callback=_copies, metavar="N,N,...",
    help="How often the texts of each arm are inserted; 0 is held out.",
)  # fmt: skip
@click.option("--shares", callback=_shares, metavar="S,S,...", help="Shares of the arms.  [default: equal]")
@click.option(
    "--block", type=click.Choice(BLOCKS), multiple=True,
    help="Balance the arms within each domain, or among texts of like length; repeatable.",
)  # fmt: skip
@click.option(
    "--length-bins", type=int, default=RandomizeOptions.length_bins, show_default=True, metavar="N",
    help="With --block length: parts of equally many texts.",
)  # fmt: skip
@click.option(
    "--pairs", type=TEXT, metavar="KEY",
    help="Matched twins: of the two candidates with one value of KEY, one by chance is inserted, the other held out.",
)  # fmt: skip
@click.option("--documents", type=int, metavar="N", help="Documents of the training corpus: positions count in them.")
@click.option("--steps", type=int, metavar="N", help="Steps of the training run: positions count in them.")
@click.option(
    "--mix", cls=GreedyOption, metavar="CORPUS...",
    help="Count the documents of this corpus, and leave out candidates that are among them. Takes all words up to the next "
    "option.",
)  # fmt: skip
@click.option("--write-mixed", metavar="DIR", help="Write that corpus with the copies in it.")
@click.option("--seed", type=int, metavar="N", help="Same seed, same draw. Default: one that nobody can guess; the key has it.")
@read_options
@key_options
@console_options("Print the header of the set as one JSON object on standard output.")
def command(
    files: tuple[str, ...],
    insertions: str,
    heldout: str,
    key: str,
    out: str,
    mix: tuple[str, ...],
    write_mixed: str | None,
    read: ReadOptions,
    keys: Keys,
    console: Console,
    **values: Any,
) -> int:
    """Draw which candidates of FILES a training run sees, how often and where, and write what it takes.

    The training run gets the insertions and their positions, or the mixed corpus, and nothing else: neither tells who is
    held out. The set, the key and the texts held out tell, so they go to other folders. docs/sets/randomize.md explains the
    design, and how to judge a model by it later.

    \b
    Example:
      ngramscope sets randomize candidates.jsonl --steps 10000 --block domain --insertions train/insertions.jsonl.zst \\
        --heldout private/heldout.jsonl --key private/key.jsonl --out private/set.jsonl
    """
    options = RandomizeOptions(**values)
    where = RandomizeFiles(
        insertions=Path(insertions),
        heldout=Path(heldout),
        key=Path(key),
        out=Path(out),
        mixed=None if write_mixed is None else Path(write_mixed),
    )
    with console.open():
        header = randomize(
            RecordSource(files, read=read, keys=keys),
            where,
            options=options,
            mix=RecordSource(mix, read=read) if mix else None,
            progress=console.progress,
        )
        step = header["history"][-1]
        facts = step["facts"]
        if console.as_json:
            console.result(header)
        else:
            for arm in facts["arms"]:
                console.say(f"{counted(arm['units'], 'text')} to be inserted {counted(arm['copies'], 'time')}")
            for reason, count in step["counts"]["candidates"]["left_out"].items():
                console.say(f"{count:,} left out: {reason}")
            console.say(f"wrote {facts['insertions']:,} copies to {insertions}")
            for line in left_out(header["inputs"]):
                console.warn(line)
            console.warn(f"keep {key}, {out} and {heldout} away from the training run until the model is trained")
    return _exit.PARTIAL if facts["partial"] else 0
