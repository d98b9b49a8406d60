"""``ngramscope sets sample``."""

from __future__ import annotations

from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand, GreedyOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import console_options, group, read_options
from ngramscope.cli.sets._options import key_options, out_option, seed_option
from ngramscope.cli.sets.show import history
from ngramscope.index.options import ReadOptions
from ngramscope.sets.balance import to_text
from ngramscope.sets.records import Keys
from ngramscope.sets.sample import LEAST_SIMILARITY, SampleOptions, sample
from ngramscope.sizes import counted

__all__ = ["command"]


def _similarity(_context: click.Context, _parameter: click.Parameter, value: str) -> float | None:
    if value == "off":
        return None
    try:
        return float(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not possible; a similarity from {LEAST_SIMILARITY} to 1, or off") from None


sample_options = group(
    "options",
    SampleOptions,
    [
        click.option(
            "--min-words", type=int, default=SampleOptions.min_words, show_default=True, metavar="N",
            help="Leave out documents of fewer words; a word is what white space separates.",
        ),
        click.option("--max-words", type=int, metavar="N", help="Cut documents at the end of word N.  [default: 200]"),
        click.option(
            "--windows", type=int, metavar="K",
            help="Instead, take K windows of each document at random places, none overlapping: for books 100.",
        ),
        click.option("--window-words", type=int, metavar="W", help="Words of a window: for books 512."),
        click.option(
            "--per-domain", type=int, metavar="N", help="Members, and non-members, of each domain.  [default: 1000]",
        ),
        click.option(
            "--total", type=int, metavar="N",
            help="Members, and non-members, of all domains together, in proportion to what both sides have: for an "
            "aggregate 10000.",
        ),
        click.option(
            "--near-duplicates", default=str(SampleOptions.near_duplicates), show_default=True, metavar="SHARE",
            callback=_similarity,
            help="Estimated Jaccard similarity of word 5-grams from which on texts are near-duplicates; off keeps them.",
        ),
        click.option("--allow-fewer", is_flag=True, help="Take what there is where it is fewer than asked for."),
        seed_option,
        click.option("--threads", type=int, metavar="N", help="Default: every core."),
    ],
)  # fmt: skip


@click.command(
    "sample", cls=GreedyCommand, short_help="Draw members and non-members from files, cut alike, without duplicates."
)
@click.argument("candidates", nargs=-1)
@click.option("--members", cls=GreedyOption, metavar="FILES...", help="Documents that were in the training data.")
@click.option("--nonmembers", cls=GreedyOption, metavar="FILES...", help="Documents that were not.")
@out_option
@sample_options
@key_options
@read_options
@console_options("Print the header of the set as one JSON object.")
def command(
    candidates: tuple[str, ...],
    members: tuple[str, ...],
    nonmembers: tuple[str, ...],
    out: str,
    options: SampleOptions,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    """Draw a set from files of members and of non-members, or from CANDIDATES that say what they are.

    Files are what build-index reads, or candidate sets. Documents are cut to their first words; exact and near-duplicates
    are removed, within and across the sides (a text on both sides stays a member only); of each domain and side the same
    number is drawn, by a seeded digest of what a document is, so that neither the order of files nor threads matter.
    Fewer than asked for is an error. docs/sets/sample.md has the rules.

    \b
    Example:
      ngramscope sets sample --members train/ --nonmembers heldout/ --domain-key meta.pile_set_name --out natural.jsonl
      ngramscope sets sample --members in/ --nonmembers out/ --windows 100 --window-words 512 --per-domain 50 --out books.jsonl
    """
    with console.open():
        header = sample(
            out,
            members=members,
            nonmembers=nonmembers,
            candidates=candidates,
            options=options,
            read=read,
            keys=keys,
            progress=console.progress,
        )
        if console.as_json:
            console.result(header)
        else:
            _say(header, out, console)
    return _exit.PARTIAL if any(each["unusable"] or "incomplete" in each for each in header["inputs"]) else 0


def _say(header: dict[str, Any], out: str, console: Console) -> None:
    counts, step = header["counts"], header["history"][-1]
    console.say(
        f"{counted(counts['members'], 'member')} and {counted(counts['nonmembers'], 'non-member')} of "
        f"{counted(len(step['facts']['domains']), 'domain')}; wrote {out}"
    )
    console.say("\n".join(history([step])))
    console.say(to_text(header["balance"]))
    for each in step["facts"]["fewer_than_asked"]:
        of = f" of {each['domain']}" if each["domain"] else ""
        console.warn(f"fewer than asked for: {each['found']:,} of {each['asked']:,} {each['side']}{of}")
    if step["facts"]["not_compared_with_all"]:
        console.warn(
            f"{counted(step['facts']['not_compared_with_all'], 'text')} had too many alike to be compared with all of them; "
            "some near-duplicates may be left"
        )
    for line in left_out(header["inputs"]):
        console.warn(line)
