"""``ngramscope overlap``."""

from __future__ import annotations

import dataclasses
import itertools
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from ngramscope import provenance
from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import asked_rule_options, console_options, group, read_options
from ngramscope.cli._stdout import standard_output
from ngramscope.index.open import Index, OverlapStream
from ngramscope.index.options import QueryOptions, ReadOptions
from ngramscope.index.output import TABLE_VERSION, JsonLinesWriter, TableFile, TableWriter, check_fields
from ngramscope.index.summary import Summary, index_facts, to_text
from ngramscope.report import figures

__all__ = ["command"]

query_options = group(
    "query",
    QueryOptions,
    [
        click.option(
            "--n", type=int, multiple=True, metavar="N",
            help="Score only these lengths; repeatable. Default: all of the index.",
        ),
        click.option("--max-words", type=int, metavar="N", help="Score only the first N white-space words of a text."),
        click.option("--max-ngrams", type=int, metavar="N", help="Score only the first N n-grams of a text."),
        click.option("--flags", is_flag=True, help="Add a string of 0 and 1, one for each n-gram."),
        click.option("--spans", is_flag=True, help="Add the matched character ranges, in code points."),
        click.option(
            "--max-spans", type=int, default=QueryOptions.max_spans, show_default=True, metavar="N",
            help="How many ranges --spans lists for each row; spans_total tells how many there are.",
        ),
        click.option(
            "--matches", type=int, default=QueryOptions.matches, metavar="N",
            help="Add the texts of the first N distinct n-grams found, for each row.",
        ),
        click.option("--threads", type=int, metavar="N", help="Default: every core."),
    ],
)  # fmt: skip


@click.command("overlap", short_help="Score texts: which share of their n-grams does an index have?")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--index", "indexes", multiple=True, metavar="DIR",
    help="Folder of an index; repeatable: found in any of them counts.  [default: $NGRAMSCOPE_INDEX, else "
    "./ngramscope-index]",
)  # fmt: skip
@click.option(
    "--out", metavar="FILE",
    help="Write the table here instead of to standard output: .jsonl, .csv (also .gz, .zst) or .parquet.",
)  # fmt: skip
@click.option("--field", "fields", multiple=True, metavar="KEY", help="Carry this key of the records along; repeatable.")
@query_options
@click.option("--load", is_flag=True, help="Copy the filters into memory first.")
@asked_rule_options
@click.option("--plot", metavar="FILE", help="Save a histogram, inputs overlaid: .png, .svg or .pdf.")
@read_options
@console_options("Print the summary as one JSON object, on standard error.")
def command(
    files: tuple[str, ...],
    indexes: tuple[str, ...],
    out: str | None,
    fields: tuple[str, ...],
    query: QueryOptions,
    load: bool,
    rule: dict[str, Any],
    plot: str | None,
    read: ReadOptions,
    console: Console,
) -> int:
    """Score the texts in FILES: which share of their n-grams does the index have?

    One row for each record and n, in input order, none left out; the columns are explained in docs/overlap.md.
    FILES are files, folders, globs, or - for standard input. A summary goes to standard error.

    \b
    Example:
      ngramscope overlap candidates.jsonl
      ngramscope overlap a.jsonl b.parquet --index my-index --out overlap.parquet --plot overlap.png
    """
    check_fields(fields)
    figure = None if plot is None else Path(plot)
    if figure is not None:
        figures.check(figure)
    read = dataclasses.replace(read, fields=fields)
    with console.open(), ExitStack() as stack:
        index = Index.open(indexes or None, load=load)
        index.check_rule(**rule)
        for warning in index.warnings:
            console.warn(warning)
        stream = index.overlap_files(files, read=read, query=query, progress=console.progress)
        table_file = None if out is None else TableFile(Path(out), with_source=len(stream.sources) > 1)
        if table_file is not None:
            _keep_inputs("--out", table_file.names, stream)
            stack.enter_context(table_file)
        if figure is not None:
            _keep_inputs("--plot", (figure,), stream)
        writer = table_file or JsonLinesWriter(standard_output(), with_source=len(stream.sources) > 1)
        summary = _score(index, query, stream, writer)
        inputs = stream.report()
        facts = summary.to_dict(inputs=inputs)
        if table_file is not None:
            table_file.commit(_provenance(index, query, read, inputs))
        if figure is not None:
            _plot(figure, summary, index)
        if console.as_json:
            console.result(facts, err=True)
        else:
            console.say(to_text(facts))
            # Once more at the end: a long table on a terminal has pushed the first ones out of sight.
            for warning in facts["warnings"]:
                console.warn(warning)
            for line in left_out(inputs["sources"]):
                console.warn(line)
    return _exit.PARTIAL if inputs["bad_records"] or inputs["bad_files"] else 0


def _score(index: Index, query: QueryOptions, stream: OverlapStream, writer: TableWriter | TableFile) -> Summary:
    rates = index.filter_fpr
    summary = Summary(index.manifests, {n: rates[n] for n in query.n or index.n})
    for table in itertools.chain([stream.empty()], stream):  # the empty one brings header and schema, whatever comes
        writer.write(table)
        summary.add(table)
    return summary


def _keep_inputs(option: str, outputs: tuple[Path, ...], stream: OverlapStream) -> None:
    """Refuse to replace an input, by whatever path it was reached."""
    existing = {(each.stat().st_dev, each.stat().st_ino): each for each in outputs if each.exists()}
    for path in stream.paths if existing else ():
        status = Path(path).stat()
        if (status.st_dev, status.st_ino) in existing:
            raise click.UsageError(
                f"{option}: {existing[status.st_dev, status.st_ino]} is one of the inputs; choose another name"
            )


def _provenance(index: Index, query: QueryOptions, read: ReadOptions, inputs: dict[str, Any]) -> dict[str, Any]:
    settings = dataclasses.asdict(query)
    del settings["threads"]  # has no say in the content
    return provenance.stamp(
        "overlap-table",
        version=TABLE_VERSION,
        settings={
            **settings,
            "n": list(query.n or index.n),
            "read": dataclasses.asdict(read),
            "filter_fpr": {str(n): rate for n, rate in index.filter_fpr.items()},
            "index_is_demo": index.is_demo,
            "indexes": [index_facts(each) for each in index.manifests],
        },
        inputs=inputs["sources"],
    )


def _plot(path: Path, summary: Summary, index: Index) -> None:
    note = "index: " + ", ".join(each["name"] or each["content_id"][:16] for each in index.manifests)
    if index.is_demo:
        note += " (DEMONSTRATION corpus)"
    panels = [(n, [(name, summary.values(n, source)) for source, name in enumerate(summary.sources)]) for n in summary.lengths]
    figures.overlap_histogram(path, panels, note=note)
