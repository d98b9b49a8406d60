"""``ngramscope ranktest``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, console_options
from ngramscope.cli._scores import attack_options, check_report, write_report
from ngramscope.sizes import counted

__all__ = ["command"]


@click.command("ranktest", short_help="Does a document score higher than its counterfactual twins?")
@click.argument("scores")
@attack_options
@click.option(
    "--group", default="group", show_default=True, type=TEXT, metavar="COLUMN", help="Column that says whose twin a record is."
)
@click.option(
    "--combine", type=click.Choice(("ranks", "fisher")), default="ranks", show_default=True,
    help="How several documents become one p-value: by the sum of their ranks, or by Fisher's method.",
)  # fmt: skip
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the report here, as JSON.")
@console_options("Print the report as one JSON object on standard output.")
def command(scores: str, named: dict[str, Any], group: str, combine: str, out: str | None, console: Console) -> int:
    """Rank documents among twins that only chance kept from being published: exact p-values.

    SCORES is a score table or a score store. In each group one record has label 1, the document that may have been trained on;
    the others have label 0, its twins, which were not. docs/ranktest.md says when the p-value holds.

    \b
    Example:
      ngramscope ranktest scores.parquet --attack loss --out ranks.json
    """
    from ngramscope.attacks.reading import read_scores
    from ngramscope.evaluate.ranktest import ranktest

    path = check_report(out)
    with console.open():
        report = ranktest(read_scores(Path(scores), **named), group=group, combine=combine)
        write_report(path, report)
        if console.as_json:
            console.result(report)
            return 0
        counts, combined = report["counts"], report["combined"]
        click.echo(
            f"{counted(counts['documents'], 'document')} against {counted(counts['twins'], 'twin')}, "
            f"{report['settings']['attack']} on {report['settings']['model']}: p = {combined['p']:.3g} "
            f"(smallest possible {combined['smallest']:.3g})"
        )
        for reason, number in counts["left_out"].items():
            console.warn(f"{counted(number, 'record')} left out: {reason}")
    return 0
