"""``ngramscope contamination``."""

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
            "--by", type=TEXT, metavar="COLUMN", help="Column that says which of several benchmarks an item is of."
        ),
        click.option(
            "--item", type=TEXT, metavar="COLUMN",
            help="Column that says which item a rephrased one is a version of: items are also compared with these.",
        ),
        *column_options(),
        *group_options("Column of what belongs together: intervals are of groups. With --item, that column.", "item"),
        click.option(
            "--blind", multiple=True, type=TEXT, metavar="COLUMN", help="Column of SCORES with a blind score; repeatable."
        ),
        click.option("--permutations", type=int, default=999, show_default=True, metavar="N", help="Of labels and versions."),
        level_option,
        click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of the permutations."),
    ],
)  # fmt: skip


@click.command("contamination", short_help="Is a model more at ease with a benchmark's items than with fresh ones?")
@click.argument("scores")
@_options
@click.option(
    "--fresh", type=str, metavar="SCORES",
    help="Scores of fresh or rephrased items; SCORES is then all of the benchmark. Default: label 1 and 0 of SCORES.",
)  # fmt: skip
@click.option("--blind-scores", type=str, metavar="FILE", help="Table of blind scores of the same items, matched by id.")
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the report here, as JSON.")
@console_options("Print the report as one JSON object on standard output.")
def command(
    scores: str, values: dict[str, Any], fresh: str | None, blind_scores: str | None, out: str | None, console: Console
) -> int:
    """Compare the items of a benchmark with fresh or rephrased items of the same kind.

    Fresh items were written like the benchmark's, after the model was trained; rephrased ones say the same in other words.
    Printed are AUCs with intervals, beside placebo models, and each item's difference from its own versions.
    docs/set-level.md explains the rules.

    \b
    Example:
      ngramscope contamination benchmark.parquet --fresh fresh.parquet --by domain --out contamination.json
      ngramscope contamination scores.parquet --item group --attack min-k
    """
    from ngramscope.evaluate.run import file_facts
    from ngramscope.evaluate.setlevel.contamination import ContaminationOptions, contamination, joined
    from ngramscope.evaluate.setlevel.contamination_text import to_text
    from ngramscope.evaluate.tables import read_scores

    options = ContaminationOptions(**values)
    path = check_report(out)
    with console.open():
        attributes = [*options.blind, *(each for each in (options.by, options.item) if each)]
        attributes += [options.group] if options.group not in (None, "group") else []
        table = read_scores(Path(scores), attributes)
        if fresh is not None:
            table = joined(table, read_scores(Path(fresh), attributes))
        files = (("scores", scores), ("fresh", fresh), ("blind-scores", blind_scores))
        report = contamination(
            table,
            options,
            blind=None if blind_scores is None else read_scores(Path(blind_scores)),
            inputs=[{"option": option, **file_facts(Path(each))} for option, each in files if each is not None],
        )
        write_report(path, report)
        show_report(console, report, to_text)
    return 0
