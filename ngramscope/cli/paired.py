"""``ngramscope paired``."""

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


@click.command("paired", short_help="Are a data set's public versions more likely than its private ones?")
@click.argument("scores")
@attack_options
@click.option(
    "--group", default="group", show_default=True, type=TEXT, metavar="COLUMN",
    help="Column that says of which document a record is a version.",
)  # fmt: skip
@click.option("--permutations", type=int, default=9_999, show_default=True, metavar="N", help="Of public and private versions.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Same seed, same report.")
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the report here, as JSON.")
@console_options("Print the report as one JSON object on standard output.")
def command(
    scores: str, named: dict[str, Any], group: str, permutations: int, seed: int, out: str | None, console: Console
) -> int:
    """Test whether a model has seen a data set whose documents each have a public version and private ones (STAMP).

    SCORES is a score table or a score store. In each group one record has label 1, the version that was published; the others
    have label 0. The paper compares perplexities: --attack perplexity. docs/ranktest.md says when the p-values hold.

    \b
    Example:
      ngramscope paired scores.parquet --attack perplexity --out paired.json
    """
    from ngramscope.attacks.reading import read_scores
    from ngramscope.evaluate.paired import paired

    path = check_report(out)
    with console.open():
        report = paired(read_scores(Path(scores), **named), group=group, permutations=permutations, seed=seed)
        write_report(path, report)
        if console.as_json:
            console.result(report)
            return 0
        student = report["t_test"]
        t_test = "t-test undefined" if student["p"] is None else f"t-test p = {student['p']:.3g}"
        click.echo(
            f"{counted(report['documents'], 'document')}, {report['settings']['attack']} on {report['settings']['model']}: "
            f"mean difference {report['mean_difference']:+.4g}, {report['positive']} positive; "
            f"permutation p = {report['permutation']['p']:.3g}, {t_test}, rank p = {report['rank']['p']:.3g}"
        )
        for reason, number in report["counts"]["left_out"].items():
            console.warn(f"{counted(number, 'record')} left out: {reason}")
    return 0
