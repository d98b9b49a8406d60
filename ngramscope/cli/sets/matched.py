"""``ngramscope sets matched``."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand, GreedyOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import console_options, group, read_options
from ngramscope.cli.sets._options import key_options, optional_source_options, out_option, seed_option
from ngramscope.index.options import ReadOptions
from ngramscope.sets.covariates import COVARIATES, MEMBER_OVERLAPS
from ngramscope.sets.matched import METHODS, REFERENCE_SIDES, MatchOptions, match
from ngramscope.sets.overlaps import OverlapOptions
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.remaining import to_text
from ngramscope.sets.writer import SetFile

__all__ = ["command"]


def _asked(on: str, **values: Any) -> MatchOptions:
    return MatchOptions(on=tuple(each.strip() for each in on.split(",")), **values)


_match_options = group(
    "options",
    _asked,
    [
        click.option(
            "--on", default="overlap", show_default=True, metavar="NAMES",
            help=f"What has to be alike, joined by commas: {', '.join(COVARIATES)}. Domains are equal, the rest is close.",
        ),
        click.option(
            "--n", type=int, multiple=True, metavar="N",
            help="Length of the n-grams whose overlap counts; repeatable.  [default: 7, or the only one]",
        ),
        click.option(
            "--method", type=click.Choice(METHODS), default=MatchOptions.method, show_default=True,
            help="nearest: each text takes the nearest that is left. optimal: the smallest sum of distances. weights: "
            "non-members are weighted by the odds of their propensity scores.",
        ),
        click.option(
            "--caliper", type=float, default=MatchOptions.caliper, show_default=True, metavar="SD",
            help="Partners differ at most by so many standard deviations, in everything matched on; inf: no bound.",
        ),
        click.option(
            "--ratio", type=int, default=MatchOptions.ratio, show_default=True, metavar="K",
            help="Non-members for each text of the reference.",
        ),
        click.option(
            "--trim", type=float, default=MatchOptions.trim, show_default=True, metavar="SHARE",
            help="Weights above this quantile of them are cut down to it; 1: none.",
        ),
        click.option("--max-weight", type=float, metavar="X", help="Weights above X times their mean are cut down to that."),
        click.option(
            "--member-overlap", type=click.Choice(MEMBER_OVERLAPS), default=MatchOptions.member_overlap, show_default=True,
            help="loo: leave-one-out overlap, which members must have. plain: with their own n-grams in the corpus.",
        ),
        click.option(
            "--reference-side", type=click.Choice(REFERENCE_SIDES), default=MatchOptions.reference_side, show_default=True,
            help="Which texts of --reference count.",
        ),
        click.option(
            "--permutations", type=int, default=MatchOptions.permutations, show_default=True, metavar="N",
            help="Of the tests whether a classifier still tells the sides apart; 0: no p-values.",
        ),
        seed_option,
    ],
)  # fmt: skip


@click.command("matched", cls=GreedyCommand, short_help="Non-members that look like the members, or like a reference.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--reference", cls=GreedyOption, metavar="FILES...",
    help="A set or documents that non-members have to look like, as a held-out sample of the corpus.  [default: the members]",
)  # fmt: skip
@_match_options
@out_option
@optional_source_options
@key_options
@read_options
@console_options("Print the set's header as one JSON object on standard output.")
def command(
    files: tuple[str, ...],
    reference: tuple[str, ...],
    options: MatchOptions,
    out: str,
    overlap: OverlapOptions | None,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    """Choose or weight the non-members of FILES so that they look like a reference.

    FILES are a set, or documents with labels. Their overlap, and on request length, date and domain, is made to have the
    distribution that it has in the members, or in --reference. The header says how well that went, before and after: means,
    standardised differences, KS distances, and whether a classifier still tells the sides apart. See docs/sets/matched.md.

    \b
    Example:
      ngramscope sets matched natural.jsonl --scan corpus/ --n 7 --out matched.jsonl
      ngramscope sets matched late.jsonl --reference heldout.jsonl --index my-index --on overlap,words --out matched.jsonl
      ngramscope sets matched natural.jsonl --on overlap,words,domain --method weights --out weighted.jsonl
    """
    if overlap is not None and options.n:
        overlap = dataclasses.replace(overlap, n=options.n)
    source = RecordSource(files, read, keys)
    model = RecordSource(reference, read, keys) if reference else None
    with console.open(), SetFile(out) as file:
        made = match(source, file, options, reference=model, overlap=overlap, progress=console.progress)
        step = made.header["history"][-1]
        if console.as_json:
            console.result({**made.header, "out": out, "warnings": made.warnings})
        else:
            for name, count in step["counts"].items():
                reasons = "".join(f", {number:,} {reason}" for reason, number in count["left_out"].items())
                console.say(f"{name}: {count['used']:,} of {count['read']:,}{reasons}")
            if "effective_sample_size" in step["facts"]:
                console.say(
                    f"weights: worth {step['facts']['effective_sample_size']:,.1f} equally weighted non-members; "
                    f"{step['facts']['trimmed_share']:.1%} were cut down"
                )
            console.say(f"{to_text(step['facts'])}\nwrote {out}")
            for line in (*made.warnings, *left_out(made.inputs)):
                console.warn(line)
    return _exit.PARTIAL if made.partial else 0
