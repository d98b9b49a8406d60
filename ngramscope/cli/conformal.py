"""``ngramscope conformal``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import console_options
from ngramscope.cli._scores import attack_options, check_report
from ngramscope.errors import UsageError
from ngramscope.sizes import counted

__all__ = ["command"]


@click.command("conformal", short_help="p-values of single documents against known non-members.")
@click.argument("scores")
@attack_options
@click.option(
    "--pool", metavar="FILE",
    help="Score table or store of the same attack and model; its records of label 0 are the pool. Default: those of SCORES.",
)  # fmt: skip
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, metavar="SHARE",
    help="Expected share of false flags among those that are flagged.",
)  # fmt: skip
@click.option(
    "--out", cls=OutputOption, default="conformal.parquet", show_default=True, metavar="FILE", help="Write the table here."
)
@console_options("Print the summary as one JSON object on standard output.")
def command(scores: str, named: dict[str, Any], pool: str | None, alpha: float, out: str, console: Console) -> int:
    """Give each document of SCORES a p-value: how many known non-members score at least as high.

    Documents are flagged by the procedure of Benjamini and Hochberg. No p-value is below 1 / (m + 1) with m non-members in the
    pool. docs/camia.md says when they hold.

    \b
    Example:
      ngramscope conformal scores.parquet --attack loss --alpha 0.1 --out flagged.parquet
    """
    from ngramscope.attacks.reading import read_scores
    from ngramscope.evaluate.conformal import conformal

    path = check_report(out)
    if path is None or path.suffix != ".parquet":
        raise UsageError(f"--out: {out}: not the name of a Parquet file; write FILE.parquet")
    with console.open():
        read = read_scores(Path(scores), **named)
        known = None if pool is None else read_scores(Path(pool), read.attack, read.model)
        found = conformal(read, known, alpha=alpha)
        found.save(path)
        counts = found.header["counts"]
        if console.as_json:
            console.result({**found.header, "out": out})
        else:
            click.echo(
                f"{counts['flagged']} of {counted(counts['tested'], 'document')} flagged at a false discovery rate of "
                f"{alpha:g}, {read.attack} on {read.model}; pool of {counted(counts['pool'], 'non-member')}, "
                f"no p-value below {found.header['resolution']:.3g}; wrote {out}"
            )
            missing = counts["tested_undefined"] + counts["pool_undefined"]
            if missing:
                console.warn(f"{counted(missing, 'record')} without a score, of which {counts['pool_undefined']} in the pool")
    return 0
