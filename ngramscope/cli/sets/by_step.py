"""``ngramscope sets by-step``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand, GreedyOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import console_options, read_options
from ngramscope.cli.sets._options import key_options, out_option, seed_option
from ngramscope.corpus.tokens import load_tokenizer
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.sets.by_step import ByStepOptions, by_step
from ngramscope.sets.packed import DTYPES, PackedRows
from ngramscope.sets.records import Keys, RecordSource

__all__ = ["command"]


def _steps(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[int, int]:
    try:
        first, last = value.split(":")
        return int(first), int(last)
    except ValueError as error:
        raise UsageError(f"--steps: {value!r} is not possible; the first and the last step, as 98900:98999") from error


@click.command("by-step", cls=GreedyCommand, short_help="Members by the step they were seen at (Pythia's token files).")
@click.argument("files", nargs=-1, required=True)
@out_option
@click.option("--steps", required=True, callback=_steps, metavar="FIRST:LAST", help="Take these steps, both included.")
@click.option(
    "--tokenizer", required=True, metavar="NAME",
    help="What made the tokens: a tokenizer.json, a folder that holds one, or a name on the Hugging Face hub.",
)  # fmt: skip
@click.option("--nonmembers", cls=GreedyOption, metavar="SET...", help="Join these unchanged as non-members.")
@click.option("--samples", type=int, metavar="N", help="Choose N documents by chance.  [default: all]")
@click.option("--row-tokens", type=int, default=2049, show_default=True, metavar="N", help="Tokens of a row.")
@click.option(
    "--rows-per-step", type=int, default=ByStepOptions.rows_per_step, show_default=True, metavar="N", help="Rows of a step."
)
@click.option("--first-step", type=int, default=0, show_default=True, metavar="N", help="The step that the files begin with.")
@click.option(
    "--dtype", type=click.Choice(DTYPES), default=DTYPES[0], show_default=True, help="Type of the tokens in raw files."
)
@click.option(
    "--shard-bytes", type=int, metavar="N",
    help="Size of every part but the last, where only some of the parts are given.",
)  # fmt: skip
@click.option("--eod-id", type=int, default=0, show_default=True, metavar="ID", help="Token that ends a document.")
@click.option(
    "--keep-partial", is_flag=True, help="Also take documents that a row's beginning or end cuts, less the word at the cut."
)
@click.option(
    "--min-words", type=int, default=ByStepOptions.min_words, show_default=True, metavar="N",
    help="Leave out documents of fewer white-space words.",
)  # fmt: skip
@click.option(
    "--max-words", type=int, default=ByStepOptions.max_words, show_default=True, metavar="N", help="Cut longer ones after N."
)
@seed_option
@read_options
@key_options
@console_options("Print the header of the set as one JSON object on standard output.")
def command(
    files: tuple[str, ...],
    out: str,
    tokenizer: str,
    nonmembers: tuple[str, ...],
    row_tokens: int,
    dtype: str,
    shard_bytes: int | None,
    read: ReadOptions,
    keys: Keys,
    console: Console,
    **values: Any,
) -> int:
    """Make a set of documents that a model saw in a window of training steps.

    FILES hold rows of token ids in the order of training: one raw file, its parts (document-00000-of-00020.bin, in any order;
    nothing but the rows of the window is read), or .npy arrays of rows. Rows are split at the end-of-text token; documents
    that a row cuts are left out. docs/sets/by-step.md has the rules, and what is special about Pythia's files.

    \b
    Example:
      ngramscope sets by-step document-*.bin --tokenizer tokenizer.json --steps 98900:98999 --samples 1000 \\
        --nonmembers heldout.jsonl --out step99000.jsonl
    """
    options = ByStepOptions(**values)
    with console.open():
        rows = PackedRows([Path(each) for each in files], row_tokens=row_tokens, dtype=dtype, shard_bytes=shard_bytes)
        header = by_step(
            rows,
            load_tokenizer(tokenizer),
            Path(out),
            options=options,
            nonmembers=RecordSource(nonmembers, read=read, keys=keys) if nonmembers else None,
            progress=console.progress,
        )
        step = header["history"][-1]
        if console.as_json:
            console.result(header)
        else:
            for name, counts in step["counts"].items():
                reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts["left_out"].items())
                console.say(f"{counts['used']:,} {name}" + (f" (left out: {reasons})" if reasons else ""))
            console.say(f"wrote {out}")
            for line in left_out(each for each in header["inputs"] if "unusable" in each):
                console.warn(line)
    return _exit.PARTIAL if step["facts"]["partial"] else 0
