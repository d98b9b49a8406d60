"""``ngramscope sets perturb``."""

from __future__ import annotations

from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand, GreedyOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import TEXT, console_options, group, read_options
from ngramscope.cli.sets._options import key_options, out_option, seed_option
from ngramscope.corpus.tokens import load_tokenizer
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.sets.perturb import SIDES, PerturbOptions, perturb
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.replacing import Unit
from ngramscope.sets.writer import SetFile

__all__ = ["command"]

_perturb_options = group(
    "options",
    PerturbOptions,
    [
        click.option(
            "--replace", type=int, multiple=True, metavar="N",
            help="Replace N tokens or words, drawn at random; repeatable.  [the paper: 1, 10, 25]",
        ),
        click.option(
            "--replace-share", type=float, multiple=True, metavar="SHARE",
            help="Replace this share of the tokens or words, as 0.05; repeatable.",
        ),
        click.option(
            "--trials", type=int, default=PerturbOptions.trials, show_default=True, metavar="K",
            help="Texts for each number of replacements.",
        ),
        click.option(
            "--side", type=click.Choice(SIDES), default=PerturbOptions.side, show_default=True,
            help="Whose texts are modified.",
        ),
        click.option(
            "--paraphrase-key", type=TEXT, metavar="KEY",
            help="Key of the records' own paraphrases: a text, or a list of them.",
        ),
        click.option("--keep-originals", is_flag=True, help="Write the originals too, before what was made of them."),
        seed_option,
    ],
)  # fmt: skip


@click.command("perturb", cls=GreedyCommand, short_help="Modified members: tokens replaced, or paraphrased.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--tokenizer", metavar="NAME",
    help="Replace its tokens: a tokenizer.json, a folder that holds one, or a name on the Hugging Face hub.",
)  # fmt: skip
@click.option(
    "--unit", type=click.Choice(("tokens", "words")),
    help="words: replace white-space words by others of the same texts.  "
    "[default: tokens with --tokenizer or --masked-model, else words]",
)  # fmt: skip
@click.option(
    "--masked-model", type=TEXT, metavar="NAME",
    help="Replace its tokens by what it expects in their place: a masked language model, a folder or a name on the hub.",
)  # fmt: skip
@click.option("--masked-revision", type=TEXT, metavar="REVISION", help="Of the masked language model.  [default: its newest]")
@click.option(
    "--paraphrases", cls=GreedyOption, metavar="FILES...",
    help="Paraphrases, each with the id of its original; several may share one.",
)  # fmt: skip
@_perturb_options
@out_option
@key_options
@read_options
@console_options("Print the set's header as one JSON object on standard output.")
def command(
    files: tuple[str, ...],
    tokenizer: str | None,
    unit: str | None,
    masked_model: str | None,
    masked_revision: str | None,
    paraphrases: tuple[str, ...],
    options: PerturbOptions,
    out: str,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    """Make modified versions of the members in FILES: does an attack still take them for members?

    FILES are a set, or documents with labels. Each modified text has its original's label, date, domain and group, and names
    it (columns original, original_source, original_position). See docs/sets/perturb.md.

    \b
    Example:
      ngramscope sets perturb natural.jsonl --tokenizer EleutherAI/pythia-160m --replace 1 --replace 10 --replace 25 \\
        --trials 5 --out modified.jsonl
      ngramscope sets perturb natural.jsonl --masked-model bert-base-cased --replace-share 0.05 --out masked.jsonl
      ngramscope sets perturb natural.jsonl --paraphrases paraphrases.jsonl --keep-originals --out paraphrased.jsonl
    """
    if (unit == "tokens" and tokenizer is None and masked_model is None) or (unit == "words" and tokenizer is not None):
        raise UsageError(f"--unit {unit}: tokens need a --tokenizer, and words have none")
    if masked_model is not None and (tokenizer is not None or unit == "words"):
        raise UsageError("--masked-model: replaces tokens of its own; leave --tokenizer and --unit words out")
    if masked_revision is not None and masked_model is None:
        raise UsageError("--masked-revision: says which --masked-model; name one")
    if not options.amounts:
        for name, given in (("--tokenizer", tokenizer), ("--masked-model", masked_model)):
            if given is not None:
                raise UsageError(f"{name}: says what is replaced; say how much with --replace N or --replace-share SHARE")
    source = RecordSource(files, read, keys)
    other = RecordSource(paraphrases, read, Keys()) if paraphrases else None
    with console.open(), SetFile(out) as file:
        made = perturb(
            source,
            file,
            options,
            tokenizer=None if tokenizer is None else load_tokenizer(tokenizer),
            unit=None if masked_model is None else _masked(masked_model, masked_revision),
            paraphrases=other,
            progress=console.progress,
        )
        step: dict[str, Any] = made.header["history"][-1]
        if console.as_json:
            console.result({**made.header, "out": out})
        else:
            for name, count in step["counts"].items():
                reasons = "".join(f", {number:,} {reason}" for reason, number in count["left_out"].items())
                console.say(f"{name}: {count['used']:,} of {count['read']:,}{reasons}")
            again = step["facts"].get("retokenized")
            if again:
                console.say(f"tokenized as meant: {again['yes']:,} of {sum(again.values()):,} texts with tokens replaced")
            console.say(f"wrote {sum(made.header['counts'].values()):,} texts to {out}")
            for report in made.reports:
                for line in left_out(report["sources"]):
                    console.warn(line)
    return _exit.PARTIAL if any(each["bad_records"] or each["bad_files"] for each in made.reports) else 0


def _masked(name: str, revision: str | None) -> Unit:
    from ngramscope.models.masked import MaskedModel, MaskedTokens

    return MaskedTokens(MaskedModel(name, revision=revision))
