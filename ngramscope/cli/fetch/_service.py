"""What the commands on services share: options, the run, what is said of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, group
from ngramscope.corpus.services.client import ClientOptions
from ngramscope.corpus.services.partial import partial_folder
from ngramscope.errors import UsageError
from ngramscope.sizes import counted

__all__ = ["out_option", "run", "seed_option", "service_options"]

# Records that the service should have sent but did not; all other reasons are rules.
_FAULTS = ("malformed_page", "not_sent")


def _options(interval: float | None, contact: str | None, cache: str | None) -> ClientOptions:
    return ClientOptions(interval=interval, contact=contact, cache=None if cache is None else Path(cache))


service_options = group(
    "service",
    _options,
    [
        click.option(
            "--interval", type=float, metavar="SECONDS",
            help="Wait so long between an answer and the next request.  [default: 0.5 for Wikipedia, 3 for arXiv]",
        ),
        click.option(
            "--contact", type=TEXT, metavar="TEXT",
            help="Your e-mail address or page, for the User-Agent; Wikipedia asks for it.",
        ),
        click.option(
            "--cache", metavar="DIR", help="Keep the answers here for other runs as well; what is here is not asked again.",
        ),
    ],
)  # fmt: skip

out_option = click.option(
    "--out", cls=OutputOption, required=True, metavar="FILE", help="Write the documents here: .jsonl, .jsonl.gz or .jsonl.zst."
)

seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, metavar="N", help="What the choice of documents depends on."
)


def run(work: Callable[[], Mapping[str, Any]], out: str, console: Console) -> int:
    """Do `work`, which returns the header of `out`, and say what came of it; the exit code."""
    with console.open():
        try:
            header = work()
        except UsageError:  # says itself what to do
            raise
        except BaseException:
            folder = partial_folder(Path(out))
            if folder.exists():
                console.say(f"not finished; the same command goes on from {folder}")
            raise
        counts = header["counts"]
        faults = {why: counts["left_out"][why] for why in _FAULTS if why in counts["left_out"]}
        if console.as_json:
            console.result(
                {"out": out, **{name: header[name] for name in ("counts", "months", "service", "fetched", "settings")}}
            )
        else:
            console.say(f"{counted(counts['used'], 'document')} of {counts['found']:,} found; wrote {out}")
            for why, count in counts["left_out"].items():
                tell = console.warn if why in faults else console.say
                tell(f"left out {count:,}: {why.replace('_', ' ')}")
    return _exit.PARTIAL if faults else 0
