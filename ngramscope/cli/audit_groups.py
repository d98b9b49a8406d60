"""``ngramscope audit-groups``."""

from __future__ import annotations

from pathlib import Path

import click

from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, console_options
from ngramscope.cli._scores import check_report, level_option, placebo_option, show_report, write_report

__all__ = ["command"]


@click.command("audit-groups", short_help="Which share of each book or source is flagged, and what prevalence is that?")
@click.argument("scores")
@click.option(
    "--known", required=True, type=str, metavar="SCORES",
    help="Scores of known members and non-members of the same kind: they set the threshold and its error rates.",
)  # fmt: skip
@click.option(
    "--group-by", required=True, type=TEXT, metavar="COLUMN",
    help="Column that says which book or source a document is of; of dates also a period: date:month.",
)  # fmt: skip
@click.option("--attack", required=True, type=TEXT, metavar="NAME", help="The attack, as in both tables.")
@click.option("--model", type=TEXT, metavar="NAME", help="The target model. Default: the only one.")
@placebo_option
@click.option(
    "--fpr", type=float, default=0.1, show_default=True, metavar="RATE",
    help="False positive rate of the threshold on the known non-members, at most.",
)  # fmt: skip
@click.option(
    "--group", type=TEXT, default="group", show_default=True, metavar="COLUMN",
    help="Column of what belongs together among the known documents; used where it is there.",
)  # fmt: skip
@level_option
@click.option("--top", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="Groups to print.")
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the report here, as JSON.")
@console_options("Print the report as one JSON object on standard output.")
def command(
    scores: str,
    known: str,
    group_by: str,
    attack: str,
    model: str | None,
    placebos: tuple[str, ...],
    fpr: float,
    group: str,
    level: float,
    top: int,
    out: str | None,
    console: Console,
) -> int:
    """Count flagged documents of each book or source, and correct their share for the attack's errors.

    The threshold, its TPR and its FPR come from known documents; (flagged - FPR) / (TPR - FPR) estimates which share was
    trained on. Intervals are of books, not of documents. docs/set-level.md explains the rules.

    \b
    Example:
      ngramscope audit-groups books.parquet --known known-books.parquet --group-by group --attack min-k --out audit.json
    """
    from ngramscope.evaluate.run import file_facts
    from ngramscope.evaluate.setlevel.audit import AuditOptions, audit
    from ngramscope.evaluate.setlevel.audit_text import to_text
    from ngramscope.evaluate.setlevel.grouping import column_of
    from ngramscope.evaluate.tables import read_scores

    options = AuditOptions(
        group_by=group_by, attack=attack, model=model, placebos=placebos, fpr=fpr, group=group, level=level,
    )  # fmt: skip
    path = check_report(out)
    with console.open():
        report = audit(
            read_scores(Path(scores), [column_of(group_by)]),
            read_scores(Path(known), [] if group == "group" else [group]),
            options,
            inputs=[{"option": option, **file_facts(Path(each))} for option, each in (("scores", scores), ("known", known))],
        )
        write_report(path, report)
        show_report(console, report, lambda found: to_text(found, top))
    return 0
