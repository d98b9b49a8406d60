"""``ngramscope token-counts``."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import console_options, read_options
from ngramscope.corpus.tokens import count_tokens, load_tokenizer
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.sizes import counted

__all__ = ["command"]


@click.command("token-counts", short_help="Count the tokens of a corpus.")
@click.argument("corpus", nargs=-1, required=True)
@click.option(
    "--tokenizer", required=True, metavar="NAME",
    help="A tokenizer.json, a folder that holds one, or a name on the Hugging Face hub.",
)  # fmt: skip
@click.option(
    "--out", cls=OutputOption, default="token-counts.parquet", show_default=True, metavar="FILE", help="Write the counts here."
)
@click.option("--max-tokens", type=int, metavar="N", help="Count only the first N tokens of each document.")
@read_options
@console_options("Print the summary as one JSON object on standard output.")
def command(
    corpus: tuple[str, ...], tokenizer: str, out: str, max_tokens: int | None, read: ReadOptions, console: Console
) -> int:
    """Count how often each token occurs in CORPUS, for calibrating attacks (DC-PDD).

    CORPUS is what build-index reads. The counts are a Parquet file with a row for each token id, zeros included. No special
    token is added; one that a text spells out counts as the tokenizer takes it.

    \b
    Example:
      ngramscope token-counts corpus/ --tokenizer tokenizer.json --max-tokens 1024 --out counts.parquet
    """
    path = Path(out)
    if path.suffix != ".parquet" or path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"--out: {out}: not the name of a Parquet file in a folder that there is; write FILE.parquet")
    with console.open():
        counts = count_tokens(corpus, load_tokenizer(tokenizer), read=read, max_tokens=max_tokens, progress=console.progress)
        counts.save(path)
        facts = {**counts.header["counts"], "ids": len(counts.counts), "ids_seen": int(np.count_nonzero(counts.counts))}
        if console.as_json:
            console.result({**facts, "out": out, "partial": counts.header["partial"], "settings": counts.header["settings"]})
        else:
            console.say(
                f"counted {counted(facts['tokens'], 'token')} in {counted(facts['documents'], 'document')}; "
                f"{facts['ids_seen']:,} of {facts['ids']:,} token ids occur; wrote {out}"
            )
            for line in left_out(counts.header["inputs"]):
                console.warn(line)
    return _exit.PARTIAL if counts.header["partial"] else 0
