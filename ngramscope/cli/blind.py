"""``ngramscope blind``."""

from __future__ import annotations

from typing import Any

import click

from ngramscope.blind.folds import FoldRule
from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._folds import fold_options
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import console_options, group, read_options
from ngramscope.cli._scores import check_report, check_table, write_report, write_table
from ngramscope.cli.sets._options import key_options
from ngramscope.index.options import ReadOptions
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sizes import counted

__all__ = ["command"]

rule_options = group(
    "rule",
    FoldRule,
    [
        *fold_options,
        click.option(
            "--seed", type=int, default=FoldRule.seed, show_default=True, metavar="N", help="Same seed, same report."
        ),
    ],
)  # fmt: skip


@click.command("blind", short_help="What tells members from non-members without any model?")
@click.argument("candidates", metavar="SET...", nargs=-1, required=True)
@rule_options
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the report here, as JSON.")
@click.option(
    "--scores", cls=OutputOption, metavar="FILE",
    help="Write each document's out-of-fold scores here: .parquet, a table as ngramscope attack writes it.",
)  # fmt: skip
@key_options
@read_options
@console_options("Print the report as one JSON object on standard output.")
def command(
    candidates: tuple[str, ...],
    rule: FoldRule,
    out: str | None,
    scores: str | None,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    """Can members and non-members of SET be told apart by text alone?

    SET is a candidate set, or documents with labels. Classifiers that see no model (words, characters, dates, length,
    compression, overlap) are scored out of fold; the ceiling is one stack of all of them. An attack on this set shows something
    of a model only beyond the ceiling. docs/blind.md explains the rules; ngramscope evaluate prints the same beside attacks.

    \b
    Example:
      ngramscope blind set.jsonl --out blind.json
      ngramscope blind members.jsonl nonmembers.jsonl --group-key book --folds 10
      ngramscope blind set.jsonl --group-key month --scores blind.parquet
    """
    from ngramscope.blind.run import score_blind

    path, table_path = check_report(out), None if scores is None else check_table(scores, "--scores")
    with console.open():
        report, table = score_blind(RecordSource(candidates, read, keys), rule, progress=console.progress)
        write_report(path, report)
        if table_path is not None:
            write_table(table_path, table)
        if console.as_json:
            console.result(report)
        else:
            console.clear()
            click.echo(_text(report))
            for line in left_out(report["inputs"]):
                console.warn(line)
    return _exit.PARTIAL if report["partial"] else 0


def _text(report: dict[str, Any]) -> str:
    from ngramscope.blind.study import BlindResult
    from ngramscope.evaluate.text import blind_lines

    counts = report["counts"]
    head = f"{counted(counts['members'], 'member')}, {counted(counts['nonmembers'], 'non-member')}"
    head += f"; {counted(counts['groups'], 'group')}" if counts["groups"] else ""
    head += f"; {counts['unlabelled']:,} without a label not used" if counts["unlabelled"] else ""
    results = [BlindResult(**each) for each in (*report["baselines"], report["ceiling"])]
    ceiling = results[-1]
    if ceiling.auc is None:
        verdict = f"no number: {ceiling.reason}"
    elif ceiling.p is None:
        verdict = "no permutations, so no p-value"
    elif ceiling.p <= 0.05:
        verdict = "text alone distinguishes these two sets; an attack has to exceed that before it shows anything of a model"
    else:
        verdict = "text alone was not found to distinguish these two sets"
    return "\n".join([head, *blind_lines(results), verdict])
