"""``ngramscope completions``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._models import model_options
from ngramscope.cli._options import TEXT, console_options, group, read_options
from ngramscope.cli.sets._options import key_options
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.index.output import write_whole
from ngramscope.models.completions import CompletionOptions
from ngramscope.models.load import ModelOptions
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sizes import counted

__all__ = ["command"]

_completion_options = group(
    "options",
    CompletionOptions,
    [
        click.option(
            "--prompt-words", type=int, default=CompletionOptions.prompt_words, show_default=True, metavar="N",
            help="Words of the beginning of a text that the model is given.",
        ),
        click.option(
            "--samples", type=int, default=CompletionOptions.samples, show_default=True, metavar="N",
            help="Completions of each text.",
        ),
        click.option(
            "--max-new-tokens", type=int, default=CompletionOptions.max_new_tokens, show_default=True, metavar="N",
            help="Of a completion.",
        ),
        click.option(
            "--temperature", type=float, default=CompletionOptions.temperature, show_default=True, metavar="T",
            help="Of sampling.",
        ),
        click.option(
            "--top-p", type=float, default=CompletionOptions.top_p, show_default=True, metavar="P",
            help="Only the most likely tokens that make up this probability are drawn from.",
        ),
        click.option(
            "--seed", type=int, default=CompletionOptions.seed, show_default=True, metavar="N",
            help="Same seed, same completions on the same machine.",
        ),
    ],
)  # fmt: skip


@click.command("completions", cls=GreedyCommand, short_help="Let a model complete texts, and compare with how they go on.")
@click.argument("files", nargs=-1, required=True, metavar="SET")
@model_options
@click.option(
    "--device", type=TEXT, default=ModelOptions.device, show_default=True, metavar="DEVICE",
    help="cpu, cuda, cuda:N or mps; auto: a card if there is one.",
)  # fmt: skip
@_completion_options
@click.option(
    "--out", cls=OutputOption, required=True, metavar="FILE", help="Write the completions here: .jsonl, one row each."
)
@click.option("--html", cls=OutputOption, metavar="FILE", brings=lambda path: (path,), help="Also write a page for reading.")
@key_options
@read_options
@console_options("Print the header as one JSON object on standard output.")
def command(
    files: tuple[str, ...],
    model: ModelOptions,
    device: str,
    options: CompletionOptions,
    out: str,
    html: str | None,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    """Give a model the beginning of each text in SET, sample completions, and compare them with the text's continuation.

    Each completion has its ROUGE-L and the longest run of words that it shares with as much of the continuation; the page
    marks that run, for people to judge. docs/set-level.md explains the rules.

    \b
    Example:
      ngramscope completions chunks.jsonl --model EleutherAI/pythia-1.4b --out completions.jsonl --html completions.html
    """
    page = None if html is None else Path(html)
    if page is not None and (page.is_dir() or not page.parent.is_dir()):
        raise UsageError(f"--html: {page}: not the name of a file in a folder that there is")
    from ngramscope.evaluate.setlevel.completions import write_completions
    from ngramscope.models.load import load_model
    from ngramscope.report.completions import completions_page

    with console.open():
        loaded = load_model(replace(model, device=device))
        source = RecordSource(files, read, keys)
        header, rows = write_completions(source, Path(out), loaded, options, progress=console.progress)
        if page is not None:
            write_whole(page, completions_page(header, rows))
        if console.as_json:
            console.result(header)
            return 0
        counts = header["counts"]
        runs = sorted((row["longest_run"] for row in rows), reverse=True)
        console.say(
            f"{counted(counts['completions'], 'completion')} of {counted(counts['completed'], 'text')}; longest run in common "
            f"{counted(runs[0], 'word')}, median {runs[len(runs) // 2]}; wrote {out}"
        )
        for reason, count in counts["left_out"].items():
            console.warn(f"{counted(count, 'text')} left out: {reason}")
    return 0
