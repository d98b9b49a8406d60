"""``ngramscope rdd``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, console_options, group
from ngramscope.cli._scores import (
    check_report,
    column_options,
    group_options,
    grouped_values,
    level_option,
    show_report,
    write_report,
)

__all__ = ["command"]


_options = group(
    "values",
    grouped_values,
    [
        click.option(
            "--cutoff", type=TEXT, metavar="DATE",
            help="First day after the training data; distances are then those of the column date. Default: distance_days.",
        ),
        *column_options(),
        click.option(
            "--covariate", "covariates", multiple=True, type=TEXT, metavar="COLUMN",
            help="Also look for a jump of this column; repeatable. Columns overlap_N always are.",
        ),
        click.option(
            "--bandwidth", "bandwidths", multiple=True, type=float, metavar="DAYS",
            help="Documents nearer than this have a say; repeatable. Default: by Imbens and Kalyanaraman, and a sweep.",
        ),
        *group_options("Column of what belongs together (a source, an author): standard errors are of groups."),
        level_option,
    ],
)  # fmt: skip


@click.command("rdd", short_help="Do scores jump at the date up to which a model was trained?")
@click.argument("scores")
@_options
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the report here, as JSON.")
@console_options("Print the report as one JSON object on standard output.")
def command(scores: str, values: dict[str, Any], out: str | None, console: Console) -> int:
    """Regression discontinuity at the cutoff, of scores, of overlap, and of the number of documents.

    SCORES is what ngramscope attack writes for a set of ngramscope sets rdd, or a CSV file. A jump of the score where overlap,
    placebo models and the number of documents do not jump is associated with membership. docs/discontinuity.md explains
    the rules.

    \b
    Example:
      ngramscope rdd scores.parquet --attack min-k --out rdd.json
      ngramscope rdd scores.csv --cutoff 2023-03-01 --placebo pythia-2.8b
    """
    from ngramscope.evaluate.discontinuity.run import DISTANCE, RddOptions, rdd
    from ngramscope.evaluate.discontinuity.text import to_text
    from ngramscope.evaluate.run import file_facts
    from ngramscope.evaluate.tables import read_scores

    options = RddOptions(**values)
    path = check_report(out)
    with console.open():
        attributes = [*options.covariates, *([] if options.cutoff else [DISTANCE])]
        attributes += [options.group] if options.group not in (None, "group") else []
        file = Path(scores)
        report = rdd(read_scores(file, attributes), options, inputs=[file_facts(file)], progress=console.progress)
        write_report(path, report)
        show_report(console, report, to_text)
    return 0
