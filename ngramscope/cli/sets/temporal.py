"""``ngramscope sets temporal``."""

from __future__ import annotations

import click

from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand, GreedyOption
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, console_options, read_options
from ngramscope.cli.sets._dates import check_outputs, cutoff_options, left_out_option, tell, tell_series
from ngramscope.cli.sets._options import key_options
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.series import series
from ngramscope.sets.temporal import CutoffOptions, temporal
from ngramscope.sets.versions import versions

__all__ = ["command"]


@click.command("temporal", cls=GreedyCommand, short_help="Members from before a cutoff, non-members from after it.")
@click.argument("files", nargs=-1, required=True)
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the set here: .jsonl, .jsonl.gz or .jsonl.zst.")
@click.option(
    "--members", cls=GreedyOption, metavar="FILE...",
    help="Take these as members, whatever their dates are, and only non-members from FILES.",
)  # fmt: skip
@click.option(
    "--series", "windows", multiple=True, metavar="WINDOWS",
    help="One set for each window of time: monthly, yearly, START/END (repeatable), or a file of such pairs; the members "
    "are the same in all.",
)  # fmt: skip
@click.option("--out-dir", metavar="DIR", help="Write the series into this new folder.")
@click.option(
    "--version-of", type=TEXT, metavar="KEY",
    help="Pairs: of the documents with the same KEY the last from before the cutoff and the first from after it.",
)  # fmt: skip
@cutoff_options
@left_out_option
@key_options
@read_options
@console_options("Print the summary as one JSON object on standard output.")
def command(
    files: tuple[str, ...],
    out: str | None,
    members: tuple[str, ...],
    windows: tuple[str, ...],
    out_dir: str | None,
    version_of: str | None,
    options: CutoffOptions,
    left_out: str | None,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    """Make a set of FILES by date: members from before a cutoff, non-members from after it.

    FILES are documents, or sets. A date counts as before or after only if all of it is: 2023 is the whole year. Documents
    whose date is missing, impossible, ambiguous (03/04/2023) or on neither side are left out, each under its reason.
    docs/sets/dates.md says how dates are read, docs/sets/temporal.md has the rules.

    \b
    Example:
      ngramscope sets temporal news.jsonl --cutoff 2023-03-01 --margin-before 30d --out temporal.jsonl
      ngramscope sets temporal arxiv/ --cutoff 2020-08-01 --series monthly --out-dir by-month
      ngramscope sets temporal wiki.jsonl --cutoff 2023-03-01 --version-of title --out versions.jsonl
    """
    if bool(windows) != (out_dir is not None) or (out is None) == (out_dir is None):
        raise UsageError("--out: give a file for one set, or --series and --out-dir for several")
    if version_of is not None and (windows or members):
        raise UsageError("--version-of: pairs are one set, and both of a pair are from FILES; leave out --series and --members")
    check_outputs(out=out, left_out=left_out)
    source = RecordSource(files, read, keys)
    with console.open():
        if version_of is not None and out is not None:
            header = versions(source, out, options, version_of, left_out=left_out, progress=console.progress)
            return tell(console, header, out)
        known = RecordSource(members, read, keys) if members else None
        if out is not None:
            header = temporal(source, out, options, members=known, left_out=left_out, progress=console.progress)
            return tell(console, header, out)
        header = series(source, str(out_dir), options, windows, members=known, left_out=left_out, progress=console.progress)
        return tell_series(console, header, str(out_dir))
