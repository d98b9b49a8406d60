"""``ngramscope unlearning``."""

from __future__ import annotations

from pathlib import Path

import click

from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, console_options
from ngramscope.cli._scores import check_report, level_option, write_report

__all__ = ["command"]


@click.command("unlearning", short_help="Which chunks does an unlearned model still find as likely as before?")
@click.argument("scores")
@click.option("--before", required=True, type=TEXT, metavar="MODEL", help="The original model, as in the table.")
@click.option("--after", required=True, type=TEXT, metavar="MODEL", help="The unlearned model, as in the table.")
@click.option(
    "--after-scores", type=str, metavar="SCORES", help="Table of the unlearned model's scores, matched by id. Default: SCORES."
)
@click.option(
    "--attack", type=TEXT, default="min-k", show_default=True, metavar="NAME",
    help="A mean log-probability, whose ratio is compared: min-k, loss.",
)  # fmt: skip
@click.option(
    "--bound",
    type=float,
    default=1.15,
    show_default=True,
    metavar="R",
    help="Chunks with a ratio outside (1/R, R) are changed.",
)
@click.option("--group-by", type=TEXT, metavar="COLUMN", help="Also count by this column (chapter, book).")
@level_option
@click.option("--top", type=click.IntRange(0), default=20, show_default=True, metavar="N", help="Chunks to print.")
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the report here, as JSON.")
@console_options("Print the report as one JSON object on standard output.")
def command(
    scores: str,
    before: str,
    after: str,
    after_scores: str | None,
    attack: str,
    bound: float,
    group_by: str | None,
    level: float,
    top: int,
    out: str | None,
    console: Console,
) -> int:
    """Compare an unlearned model with the one that it was made from, chunk by chunk.

    A chunk whose score has changed by less than the bound is one that both find about as likely: look at its completions
    (ngramscope completions). Give label 1 to what was to be unlearned, 0 to control texts. docs/set-level.md explains
    the rules.

    \b
    Example:
      ngramscope unlearning scores.parquet --before llama-2-7b --after llama-2-7b-unlearned --out unlearning.json
    """
    from ngramscope.evaluate.run import file_facts
    from ngramscope.evaluate.setlevel.grouping import column_of
    from ngramscope.evaluate.setlevel.unlearning import UnlearningOptions, unlearning
    from ngramscope.evaluate.setlevel.unlearning_text import to_text
    from ngramscope.evaluate.tables import read_scores

    options = UnlearningOptions(before=before, after=after, attack=attack, bound=bound, group_by=group_by, level=level)
    path = check_report(out)
    with console.open():
        report = unlearning(
            read_scores(Path(scores), [] if group_by is None else [column_of(group_by)]),
            options,
            after=None if after_scores is None else read_scores(Path(after_scores)),
            inputs=[
                {"option": option, **file_facts(Path(each))}
                for option, each in (("scores", scores), ("after-scores", after_scores))
                if each is not None
            ],
        )
        write_report(path, report)
        if console.as_json:
            console.result(report)
        else:
            click.echo(to_text(report, top))
            for warning in report["warnings"]:
                console.warn(warning)
    return 0
