"""``ngramscope setmi``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, console_options, group
from ngramscope.cli._scores import check_report, column_options, level_option, show_report, write_report

__all__ = ["command"]


def _values(**values: Any) -> dict[str, Any]:
    return values


_options = group(
    "values",
    _values,
    [
        click.option(
            "--group-by", type=TEXT, metavar="COLUMN",
            help="Column that says which set a document is of; of dates also a period: date:month, date:year, date:day.",
        ),
        *column_options(),
        click.option(
            "--aggregation", "aggregations", multiple=True, type=TEXT, metavar="NAME",
            help="How documents' scores become a set's; repeatable. Default: all; --list shows them.",
        ),
        click.option(
            "--purity", type=float, default=1.0, show_default=True, metavar="SHARE",
            help="Share of a set's documents that have its label; other sets are left out.",
        ),
        click.option(
            "--blind", multiple=True, type=TEXT, metavar="COLUMN",
            help="Column of SCORES that holds a blind score of each document, higher = member; repeatable.",
        ),
        click.option("--length", type=TEXT, metavar="COLUMN", help="Column of the documents' length, for the curve over it."),
        click.option("--curves", is_flag=True, help="Also AUCs by set size, document length and share of labels mixed."),
        click.option(
            "--permutations", type=int, default=999, show_default=True, metavar="N", help="Of set labels, for the p-value."
        ),
        click.option("--bootstrap", type=int, default=1000, show_default=True, metavar="N", help="Resamples of sets."),
        click.option(
            "--draws", type=int, default=50, show_default=True, metavar="N", help="Regroupings; draws a point of a curve."
        ),
        level_option,
        click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of all that is random."),
    ],
)  # fmt: skip


@click.command("setmi", short_help="Were whole sets of documents (months, sources, authors) in the training data?")
@click.argument("scores", required=False)
@_options
@click.option(
    "--blind-scores", type=str, metavar="FILE",
    help="Table of blind scores of the same documents, matched by id; made with folds that keep sets together.",
)  # fmt: skip
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the report here, as JSON.")
@click.option("--list", "list_all", is_flag=True, help="Show the aggregations.")
@console_options("Print the report (with --list: the list) as one JSON object on standard output.")
def command(
    scores: str | None, values: dict[str, Any], blind_scores: str | None, out: str | None, list_all: bool, console: Console
) -> int:
    """Set-level membership inference: documents that share an attribute are all in or all out.

    SCORES is what ngramscope attack writes, or a CSV file. Scores of a set's documents are aggregated to one; printed is how
    well these distinguish sets of members from sets of non-members, with intervals and p-values that count sets, beside
    single documents, blind scores, placebo models and random regrouping. docs/set-level.md explains the rules.

    \b
    Example:
      ngramscope setmi scores.parquet --group-by date:month --attack min-k --blind-scores blind.parquet
      ngramscope setmi scores.parquet --group-by source --aggregation mean --curves --out setmi.json
    """
    from ngramscope.errors import UsageError
    from ngramscope.evaluate.run import file_facts
    from ngramscope.evaluate.setlevel.aggregations.base import aggregations
    from ngramscope.evaluate.setlevel.grouping import column_of
    from ngramscope.evaluate.setlevel.setmi import SetMiOptions, setmi
    from ngramscope.evaluate.setlevel.setmi_text import to_text
    from ngramscope.evaluate.tables import read_scores

    if list_all:
        known = [
            {"name": each.name, "summary": each.summary, "source": each.source, "learns": each.learns}
            for each in aggregations().values()
        ]
        if console.as_json:
            console.result({"aggregations": known})
        else:
            click.echo("\n".join(f"{each['name']}: {each['summary']} ({each['source']})" for each in known))
        return 0
    if scores is None or values["group_by"] is None:
        raise UsageError("SCORES and --group-by are needed: ngramscope setmi scores.parquet --group-by date:month")
    options = SetMiOptions(**values)
    path = check_report(out)
    with console.open():
        attributes = [column_of(options.group_by), *options.blind, *([options.length] if options.length else [])]
        report = setmi(
            read_scores(Path(scores), attributes),
            options,
            blind=None if blind_scores is None else read_scores(Path(blind_scores)),
            inputs=[
                {"option": option, **file_facts(Path(each))}
                for option, each in (("scores", scores), ("blind-scores", blind_scores))
                if each is not None
            ],
            progress=console.progress,
        )
        write_report(path, report)
        show_report(console, report, to_text)
    return 0
