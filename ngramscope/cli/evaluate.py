"""``ngramscope evaluate``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._folds import fold_options
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, console_options, group
from ngramscope.errors import UsageError
from ngramscope.evaluate import missing, tpr
from ngramscope.evaluate.options import THRESHOLDS, EvaluationOptions
from ngramscope.sets.covariates import MEMBER_OVERLAPS
from ngramscope.sizes import counted

if TYPE_CHECKING:
    from ngramscope.evaluate.report import Report

__all__ = ["command"]


def _options(
    fpr: tuple[float, ...], group: str, ignore_groups: bool, overlap_at: tuple[float, ...], **values: Any
) -> EvaluationOptions:
    return EvaluationOptions(
        fprs=fpr or tpr.FPRS, group=None if ignore_groups else group, thresholds=overlap_at or THRESHOLDS, **values
    )


evaluation_options = group(
    "options",
    _options,
    [
        click.option(
            "--attack", "attacks", multiple=True, type=TEXT, metavar="NAME",
            help="Only this attack, as the table names it (min-k, camia.loss-200, loss @ MODEL), and the same on placebo "
            "models; repeatable. Default: all.",
        ),
        click.option(
            "--by", multiple=True, type=TEXT, metavar="COLUMN",
            help="Also by strata of this column: quantiles of numbers, or categories; repeatable.",
        ),
        click.option(
            "--bins", type=int, default=EvaluationOptions.bins, show_default=True, metavar="N", help="Strata of numbers."
        ),
        click.option(
            "--group", type=TEXT, default=EvaluationOptions.group, show_default=True, metavar="COLUMN",
            help="Column of what belongs together (a book, an author): intervals are of groups.",
        ),
        click.option("--ignore-groups", is_flag=True, help="Take every document to stand alone."),
        click.option(
            "--fpr", type=float, multiple=True, metavar="RATE",
            help="TPR at this false positive rate; repeatable. Default: 0.001, 0.01, 0.05, 0.1.",
        ),
        click.option(
            "--tpr-rule", type=click.Choice(tpr.RULES), default=EvaluationOptions.tpr_rule, show_default=True,
            help="Which point of the ROC curve that is: the last with FPR at most, or less than, the rate; on a line between "
            "two points; the nearest.",
        ),
        click.option(
            "--bootstrap", type=int, default=EvaluationOptions.bootstrap, show_default=True, metavar="N", help="Resamples."
        ),
        click.option(
            "--seed", type=int, default=EvaluationOptions.seed, show_default=True, metavar="N", help="Of the resamples."
        ),
        click.option(
            "--level", type=float, default=EvaluationOptions.level, show_default=True, metavar="SHARE", help="Of the intervals."
        ),
        click.option(
            "--missing", type=click.Choice(missing.RULES), default=EvaluationOptions.missing, show_default=True,
            help="complete: all attacks on the documents that each has a score for. per-attack: each on its own.",
        ),
        click.option(
            "--baseline", type=TEXT, default=EvaluationOptions.baseline, show_default=True, metavar="ATTACK",
            help="Attack that the others are compared with.",
        ),
        click.option(
            "--overlap", multiple=True, type=int, metavar="N",
            help="AUC against overlap of N-grams (columns overlap_N, overlap_loo_N); repeatable. Default: 7, or all there are.",
        ),
        click.option(
            "--overlap-at", multiple=True, type=float, metavar="SHARE",
            help="At this largest overlap; repeatable. Default: 0.05, 0.1, ... 1.",
        ),
        click.option(
            "--member-overlap", type=click.Choice(MEMBER_OVERLAPS), default=EvaluationOptions.member_overlap, show_default=True,
            help="loo: members are compared by leave-one-out overlap only. plain: by the plain one, for a corpus without them.",
        ),
        click.option(
            "--caliper", type=float, default=EvaluationOptions.caliper, show_default=True, metavar="SD",
            help="Largest difference in overlap of a member and the non-member matched with it, in standard deviations.",
        ),
        click.option(
            "--decision-fpr", type=float, default=EvaluationOptions.decision_fpr, show_default=True, metavar="RATE",
            help="Pairs and stability: documents are flagged at this false positive rate.",
        ),
        *fold_options,
        click.option("--pairs", is_flag=True, help="Compare every pair of attacks: AUC, and members that only one finds."),
    ],
)  # fmt: skip


@click.command("evaluate", short_help="What do the scores of attacks show?")
@click.argument("scores", metavar="SCORES")
@evaluation_options
@click.option(
    "--against", type=str, metavar="SCORES",
    help="Scores of another set: thresholds of the first are applied to it, AUCs compared.",
)  # fmt: skip
@click.option(
    "--set", "sets", multiple=True, type=str, metavar="SET",
    help="The candidate set that was scored, for the blind baselines; repeatable. Default: the file of that name and digest, "
    "here or beside SCORES.",
)  # fmt: skip
@click.option("--modified", type=str, metavar="SCORES", help="Scores of edited members: how many are still flagged.")
@click.option(
    "--key", type=str, metavar="FILE",
    help="Key of a set that sets randomize wrote: attacks are judged by the chance that drew its members.",
)  # fmt: skip
@click.option(
    "--out", cls=OutputOption, metavar="FILE",
    help="Write the report here: .json all of it, .csv or .parquet a row a number, .tex the table of attacks.",
)  # fmt: skip
@click.option(
    "--figure", cls=OutputOption, metavar="FILE", help="Draw AUC against overlap here: .svg, .pdf or .png."
)  # fmt: skip
@console_options("Print the report as one JSON object on standard output.")
def command(
    scores: str,
    options: EvaluationOptions,
    sets: tuple[str, ...],
    against: str | None,
    modified: str | None,
    key: str | None,
    out: str | None,
    figure: str | None,
    console: Console,
) -> int:
    """How well do attacks tell members from non-members, and how sure is that?

    SCORES is what ngramscope attack writes, or a CSV file with a column label (1 member, 0 non-member) and a column of scores
    an attack, higher = member. Printed are AUCs with intervals, true positive rates at low false positive rates, each
    attack less the loss attack, and less itself on placebo models; and beside them what text alone tells, without any model
    (blind baselines). If the set's overlap with the training corpus is known, AUCs are also printed as a function of it. Above
    all stands a verdict: membership, a shift between the sides, or neither. The rules are in docs/evaluate.md, docs/blind.md,
    docs/overlap-auc.md and docs/verdict.md.

    \b
    Example:
      ngramscope evaluate scores.parquet --out evaluation.json
      ngramscope evaluate scores.parquet --by duplicates --against thresholded-scores.parquet
      ngramscope evaluate scores.parquet --attack loss --attack min-k --pairs
      ngramscope evaluate scores.parquet --overlap 7 --figure auc-by-overlap.svg
    """
    from ngramscope.blind.texts import NoTextsError, texts_of
    from ngramscope.evaluate.overlaps import lengths
    from ngramscope.evaluate.run import evaluate, file_facts
    from ngramscope.evaluate.tables import read_scores
    from ngramscope.evaluate.text import to_text
    from ngramscope.evaluate.writers import check, write
    from ngramscope.report import figures
    from ngramscope.report.auc_curves import auc_curves
    from ngramscope.sets.randomized_files import open_key

    path = None if out is None else Path(out)
    if path is not None:
        check(path)
    if figure is not None:
        figures.check(Path(figure), "--figure")
    columns = [*options.by, *([options.group] if options.group not in (None, "group") else [])]
    with console.open():
        names = {"scores": scores, "against": against, "modified": modified}
        given = {option: Path(name) for option, name in names.items() if name is not None}
        tables = {option: read_scores(each, columns if option == "scores" else options.by) for option, each in given.items()}
        if figure is not None and not lengths(tables["scores"], options.overlap):
            raise UsageError(f"--figure: {scores} has no overlap (columns overlap_N); measure it before the set is scored")
        facts = [{"option": option, **file_facts(each)} for option, each in given.items()]
        if key is not None:
            facts.append({"option": "key", **file_facts(Path(key))})
        texts, no_texts = None, ""
        try:
            texts, read = texts_of(tables["scores"], given["scores"], [Path(each) for each in sets], console.progress)
            facts += [{"option": "set", **each} for each in read]
        except NoTextsError as error:
            no_texts = str(error)
        report = evaluate(
            tables["scores"],
            options,
            texts=texts,
            no_texts=no_texts,
            against=tables.get("against"),
            modified=tables.get("modified"),
            key=None if key is None else open_key(Path(key)),
            inputs=facts,
            progress=console.progress,
        )
        if path is not None:
            write(path, report)
        if figure is not None:
            auc_curves(Path(figure), report.overlap)
        if console.as_json:
            console.result(report.to_json())
        else:
            console.clear()
            click.echo(to_text(report))
            for warning in [*report.warnings, *_costly(report)]:
                console.warn(warning)
    return 0


def _costly(report: Report) -> Iterator[str]:
    """Of attacks that take most documents from all others: the one with the fewest scores, and what to do about it."""
    counts = report.counts
    if report.header["settings"]["missing"] != "complete" or counts["left_out"] <= counts["used"]:
        return
    known = [row for row in report.rows if row.reason is None and row.undefined]
    if known:
        worst = max(known, key=lambda row: sum(row.undefined.values()))
        yield (
            f"most documents are left out: {worst.attack} @ {worst.model} has no score for "
            f"{counted(sum(worst.undefined.values()), 'document')}; --missing per-attack evaluates every attack on the "
            "documents that it has scores for, --attack takes only the attacks that it names"
        )
