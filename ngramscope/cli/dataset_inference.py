"""``ngramscope dataset-inference``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, console_options, group
from ngramscope.cli._scores import check_report, column_options, group_options, grouped_values, show_report, write_report

__all__ = ["command"]


_options = group(
    "values",
    grouped_values,
    [
        click.option(
            "--by", type=TEXT, metavar="COLUMN", help="Column that says which of several suspect sets a document is of."
        ),
        click.option(
            "--held-out", type=click.Choice(("same", "all")), default="same", show_default=True,
            help="With --by: compare with held-out documents of the same value, or with all.",
        ),
        *column_options("Attack that is a feature"),
        click.option(
            "--learner", type=click.Choice(("logistic", "linear", "none")), default="logistic", show_default=True,
            help="How attacks become one score. none: their mean, on all documents; of one attack, its score.",
        ),
        *group_options(
            "Column of what belongs together (a book, an author): groups are what is divided, averaged and compared."
        ),
        click.option(
            "--blind", multiple=True, type=TEXT, metavar="COLUMN", help="Column of SCORES with a blind score; repeatable."
        ),
        click.option("--permutations", type=int, default=999, show_default=True, metavar="N", help="Of the labels."),
        click.option("--repeats", type=int, default=100, show_default=True, metavar="N", help="A/A splits of each side."),
        click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of all that is random."),
    ],
)  # fmt: skip


@click.command("dataset-inference", short_help="Is a suspect data set more like training data than held-out data of its kind?")
@click.argument("scores")
@_options
@click.option(
    "--texts", multiple=True, type=str, metavar="FILE",
    help="The candidate set (or its files), matched by id: tests whether words alone tell the two sides apart; repeatable.",
)  # fmt: skip
@click.option("--blind-scores", type=str, metavar="FILE", help="Table of blind scores of the same documents, matched by id.")
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the report here, as JSON.")
@console_options("Print the report as one JSON object on standard output.")
def command(
    scores: str, values: dict[str, Any], texts: tuple[str, ...], blind_scores: str | None, out: str | None, console: Console
) -> int:
    """Dataset inference: compare suspect documents (label 1) with held-out ones (label 0) by many attacks at once.

    What combines the attacks is learned on one half of the documents and tested on the other. Beside each p-value stand the
    same test on placebo models, A/A splits of each side, and tests of whether the two sides differ in overlap, blind scores or
    words: if they do, the p-value does not speak of membership. docs/set-level.md explains the rules.

    \b
    Example:
      ngramscope dataset-inference scores.parquet --by domain --texts set.jsonl --out inference.json
    """
    from ngramscope.evaluate.run import file_facts
    from ngramscope.evaluate.setlevel.dataset_inference import InferenceOptions, dataset_inference
    from ngramscope.evaluate.setlevel.dataset_inference_text import to_text
    from ngramscope.evaluate.tables import read_scores
    from ngramscope.sets.records import RecordSource

    options = InferenceOptions(**values)
    path = check_report(out)
    with console.open():
        attributes = [*options.blind, *([options.by] if options.by else [])]
        attributes += [options.group] if options.group not in (None, "group") else []
        files = [("scores", scores), *(("texts", each) for each in texts)]
        files += [] if blind_scores is None else [("blind-scores", blind_scores)]
        read = None
        if texts:
            candidates = RecordSource(texts).open().candidates()
            read = {json.dumps(each.id, ensure_ascii=False): each.text for each in candidates}
        report = dataset_inference(
            read_scores(Path(scores), attributes),
            options,
            texts=read,
            blind=None if blind_scores is None else read_scores(Path(blind_scores)),
            inputs=[{"option": option, **file_facts(Path(each))} for option, each in files],
            progress=console.progress,
        )
        write_report(path, report)
        show_report(console, report, to_text)
    return 0
