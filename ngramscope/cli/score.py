"""``ngramscope score``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._left_out import left_out
from ngramscope.cli._models import model_options
from ngramscope.cli._options import TEXT, Command, console_options, group, read_options
from ngramscope.cli.sets._options import key_options
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.models.encode import EncodeOptions
from ngramscope.models.load import ModelOptions
from ngramscope.models.passes import pass_kinds
from ngramscope.models.score import ENGINES, ScoreOptions, score_set
from ngramscope.models.stats import DEFAULT_STATISTICS, STATISTICS
from ngramscope.models.store import ROLES
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sizes import counted

__all__ = ["command"]

encode_options = group(
    "encode",
    EncodeOptions,
    [
        click.option(
            "--start-token", type=click.Choice(["tokenizer", "force", "none", "eos"]), default=EncodeOptions.start_token,
            show_default=True, help="What stands before a text; without, its first token is not scored.",
        ),
        click.option(
            "--control-tokens", type=click.Choice(["text", "token"]), default=EncodeOptions.control_tokens, show_default=True,
            help="Control tokens that a text spells out, as <|endoftext|>: read as text, or as the token.",
        ),
        click.option("--max-tokens", type=int, metavar="N", help="Tokens of a window. Default: as many as the model can see."),
        click.option(
            "--long-text", type=click.Choice(["truncate", "stride"]), default=EncodeOptions.long_text, show_default=True,
            help="Longer texts: cut and flagged, or scored in windows that move on by half.",
        ),
    ],
)  # fmt: skip


def pass_options(command: Command) -> Command:
    """An option for each of those that kinds of passes have, handed on as `pass_options`; None where it was not given."""
    helps: dict[str, str] = {}
    defaults: dict[str, Any] = {}
    for kind in pass_kinds().values():
        helps |= kind.help
        defaults |= kind.options
    options = []
    for name, default in defaults.items():
        how: dict[str, Any] = {"type": TEXT, "metavar": "FILE", "multiple": isinstance(default, tuple)}
        said = helps.get(name, "")
        if default not in (None, ()):
            how = {"type": type(default), "metavar": "N" if isinstance(default, int) else "SHARE"}
            said += f"  [default: {default}]"
        options.append(click.option(f"--{name.replace('_', '-')}", name, default=None, help=said, **how))

    def given(**values: Any) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value not in (None, ())}

    return group("of_passes", given, options)(command)


@click.command("score", short_help="Token statistics of a set under a language model.")
@click.argument("candidates", metavar="SET...", nargs=-1, required=True)
@model_options
@click.option("--name", "called", type=TEXT, metavar="NAME", help="What the store calls the model. Default: its own name.")
@click.option(
    "--as", "role", type=click.Choice(ROLES), default="target", show_default=True,
    help="What the model is to the study: under audit, for calibration, or known to have seen neither side.",
)  # fmt: skip
@click.option(
    "--pass", "passes", multiple=True, type=TEXT, metavar="KIND",
    help=f"What the model sees; repeatable: {', '.join(pass_kinds())}.  [default: plain]",
)  # fmt: skip
@pass_options
@click.option("--out", required=True, type=TEXT, metavar="DIR", help="The store: a new folder, or that of the same set.")
@encode_options
@click.option(
    "--statistic", "statistics", multiple=True, metavar="NAME",
    type=click.Choice([each for each in STATISTICS if each not in DEFAULT_STATISTICS]),
    help="Keep this of the plain pass too; repeatable.",
)  # fmt: skip
@click.option(
    "--batch-tokens", type=int, metavar="N", help="Tokens of a batch. Default: by the device; less if memory is short."
)
@click.option(
    "--padding-side", type=click.Choice(["right", "left"]), default="right", show_default=True, help="Scores are the same."
)
@click.option(
    "--device", "devices", multiple=True, type=TEXT, metavar="DEVICE",
    help="cpu, cuda, cuda:N or mps; repeatable: one process each.  [default: a card if there is one]",
)  # fmt: skip
@click.option("--workers", type=int, default=1, show_default=True, metavar="N", help="Processes, each with the model.")
@click.option(
    "--engine", type=click.Choice(ENGINES), default=ENGINES[0], show_default=True,
    help="ray: all workers but the first are tasks of a Ray cluster.",
)  # fmt: skip
@click.option("--ray-address", type=TEXT, metavar="ADDRESS", help="The cluster. Default: one on this machine.")
@key_options
@read_options
@console_options("Print the summary as one JSON object on standard output.")
def command(
    candidates: tuple[str, ...],
    model: ModelOptions,
    called: str | None,
    passes: tuple[str, ...],
    of_passes: dict[str, Any],
    out: str,
    encode: EncodeOptions,
    keys: Keys,
    read: ReadOptions,
    console: Console,
    **options: Any,
) -> int:
    """Run a language model over SET once, and keep what attacks are functions of.

    SET is a candidate set, or documents. The store has the set's documents, without texts, and for each model and pass
    log-probability, rank, entropy and so on of every token. Whatever ends the program, finished chunks are kept: the same
    command goes on with them. docs/score.md explains the store.

    \b
    Example:
      ngramscope score set.jsonl --model EleutherAI/pythia-160m-deduped --revision step99000 --out store
      ngramscope score set.jsonl --model gpt2 --as reference --out store
      ngramscope score set.jsonl --model gpt2 --pass prefix --shots 7 --out store
    """
    asked = ScoreOptions(
        model=model, label=called, encode=encode, passes=passes or ("plain",), pass_options=of_passes, **options
    )
    with console.open():
        try:
            done = score_set(RecordSource(candidates, read, keys), Path(out), asked, progress=console.progress)
        except UsageError:  # says itself what to do
            raise
        except BaseException:
            if any(Path(out).glob("*/chunk-*.arrow")):
                console.say(f"scoring is unfinished; the same command goes on with the finished chunks in {out}")
            raise
        if console.as_json:
            console.result(done)
        else:
            _show(done, console)
    return _exit.PARTIAL if done["partial"] else 0


def _show(done: Mapping[str, Any], console: Console) -> None:
    for each in done["passes"]:
        counts = each["counts"]
        line = (
            f"{each['model']['label']}, {each['kind']}: {counted(counts['scored'], 'text')} scored, "
            f"{counted(counts['tokens'], 'token')}"
        )
        details = [f"{count:,} without a score ({reason})" for reason, count in counts["null"].items()]
        details += [f"{count:,} not scored ({reason})" for reason, count in counts["left_out"].items()]
        if counts["truncated"]:
            details.append(f"{counts['truncated']:,} cut to {each['settings']['window']:,} tokens")
        if counts.get("shots_dropped"):
            details.append(f"{counts['texts_with_fewer_shots']:,} with fewer shots, so that they fit")
        if each["left_out_rows"]:
            details.append(f"{len(each['left_out_rows']):,} candidates are shots, and no longer to be evaluated")
        if each["drift"] and each["drift"]["texts"]:
            details.append(f"{each['model']['dtype']}: means move by up to {each['drift']['text_max']:.2g} nats with the batch")
        if each["chunks_kept"]:
            details.append(f"{each['chunks_kept']:,} of {each['chunks']:,} chunks were there")
        console.say("; ".join((line, *details)))
    console.say(f"the store is {done['store']}")
    for line in left_out(done["inputs"]):
        console.warn(line)
