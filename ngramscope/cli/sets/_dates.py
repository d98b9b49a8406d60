"""Options and messages that the commands about dates share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._left_out import left_out as left_out_lines
from ngramscope.cli._options import group
from ngramscope.errors import UsageError
from ngramscope.sets.balance import to_text
from ngramscope.sets.dates import DateRule
from ngramscope.sets.temporal import CutoffOptions
from ngramscope.sizes import counted

__all__ = ["check_outputs", "cutoff_options", "date_options", "left_out_option", "tell", "tell_series"]

_SHOWN = 3


def _dates(timezone: str, formats: tuple[str, ...], latest: str | None) -> DateRule:
    return DateRule(timezone=timezone, formats=formats, latest=latest)


_date_options = [
    click.option(
        "--timezone", default=DateRule.timezone, show_default=True, metavar="ZONE",
        help="Of dates and times that name none, and of months and years: Europe/Paris, +09:00.",
    ),
    click.option(
        "--date-format", "formats", multiple=True, metavar="FORMAT",
        help="Try this format before the general rule, as %d/%m/%Y; or seconds, milliseconds for numbers. Repeatable.",
    ),
    click.option(
        "--latest", metavar="DATE",
        help="Dates after this one are in the future and count as unknown. Give it to get the same set on another day.  "
        "[default: today]",
    ),
]  # fmt: skip

date_options = group("dates", _dates, _date_options)
"""How dates are read, as a `DateRule`."""


def _cutoff(timezone: str, formats: tuple[str, ...], latest: str | None, **values: Any) -> CutoffOptions:
    return CutoffOptions(dates=_dates(timezone, formats, latest), **values)


cutoff_options = group(
    "options",
    _cutoff,
    [
        click.option(
            "--cutoff", required=True, metavar="DATE",
            help="Members are from before the beginning of DATE, non-members from then on: 2023-03-01, 2023-03-01T12:00:00Z.",
        ),
        click.option(
            "--margin-before", default=CutoffOptions.margin_before, show_default=True, metavar="TIME",
            help="No members from so shortly before: 30d, 2w, 12h.",
        ),
        click.option(
            "--margin-after", default=CutoffOptions.margin_after, show_default=True, metavar="TIME",
            help="No non-members from so shortly after.",
        ),
        click.option("--members-from", metavar="DATE", help="No members from before DATE."),
        click.option("--nonmembers-until", metavar="DATE", help="No non-members from the beginning of DATE on."),
        *_date_options,
    ],
)  # fmt: skip
"""What counts as before and after, as a `CutoffOptions`."""


def left_out_option(command: Any) -> Any:
    """Where a list of what was left out goes."""
    return click.option(
        "--left-out",
        cls=OutputOption,
        metavar="FILE",
        help="List the documents that are left out here, with the reason for each: .jsonl.",
    )(command)


def check_outputs(*, out: str | None, left_out: str | None) -> None:
    """Refuse results that would replace one another."""
    if out is not None and left_out is not None and Path(out).absolute() == Path(left_out).absolute():
        raise UsageError(f"--left-out: {left_out} is the name of the set already; choose another")


def tell(console: Console, header: Mapping[str, Any], out: str) -> int:
    """Say what is in a set; the exit code."""
    step = header["history"][-1]
    if console.as_json:
        named = {name: step[name] for name in ("rule", "settings", "seed", "counts")}
        console.result({"out": out, **named, **step["facts"], "balance": header["balance"]})
    else:
        sides = header["counts"]
        console.say(f"wrote {out}: {_sides(sides)}")
        console.say(to_text(header["balance"]))
    return _left_out(console, header["inputs"], step["counts"], step["facts"])


def tell_series(console: Console, header: Mapping[str, Any], out: str) -> int:
    """Say what is in a folder of sets; the exit code."""
    if console.as_json:
        named = {name: header[name] for name in ("rule", "settings", "seed", "counts", "sets")}
        console.result({"out": out, **named, **header["facts"]})
    else:
        files = [each for each in header["sets"] if each["file"]]
        console.say(f"wrote {counted(len(files), 'set')} and series.json into {out}")
        for each in files:
            console.say(f"  {each['file']}: {_sides(each)}")
        if len(files) < len(header["sets"]):
            empty = counted(len(header["sets"]) - len(files), "set")
            console.warn(f"{empty} of the series would lack a side, and was not written; series.json names them")
    return _left_out(console, header["inputs"], header["counts"], header["facts"])


def _sides(counts: Mapping[str, Any]) -> str:
    return f"{counted(counts['members'], 'member')}, {counted(counts['nonmembers'], 'non-member')}"


def _left_out(console: Console, inputs: Any, counts: Mapping[str, Any], facts: Mapping[str, Any]) -> int:
    for name, what in counts.items():
        for reason, count in what["left_out"].items():
            samples = facts["left_out_samples"].get(reason, ()) if name == "documents" else ()
            examples = ", ".join(f"{each['id']} ({each['date']!r})" for each in samples[:_SHOWN])
            hint = "; --date-format tells how to read them" if reason in ("ambiguous_date", "unknown_date_format") else ""
            console.say(f"left out of {name}: {count:,} {reason}{f', as {examples}' if examples else ''}{hint}")
    for line in left_out_lines(inputs):
        console.warn(line)
    return _exit.PARTIAL if facts["partial"] else 0
