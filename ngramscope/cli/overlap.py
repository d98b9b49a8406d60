"""``ngramscope overlap``."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from ngramscope import provenance
from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand, GreedyOption
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import TEXT, asked_rule_options, console_options, group, read_options
from ngramscope.cli._stdout import standard_output
from ngramscope.index.open import Index, OverlapStream
from ngramscope.index.options import QueryOptions, ReadOptions, ScanOptions, WordRule
from ngramscope.index.output import OVERLAP_WRITERS, TABLE_VERSION, JsonLinesWriter, TableFile, TableWriter, check_fields
from ngramscope.index.scan import Scan
from ngramscope.index.summary import Summary, index_facts, to_text
from ngramscope.index.table import OverlapTable
from ngramscope.report import figures

__all__ = ["command"]

Manifests = Sequence[Mapping[str, Any]]

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
        click.option(
            "--own-share", type=float, default=QueryOptions.own_share, show_default=True, metavar="SHARE",
            help="Leave-one-out: with this share of a candidate's distinct n-grams a document of a scan is its own, and "
            "the candidate one of the documents of an index with two tiers.",
        ),
        click.option("--threads", type=int, metavar="N", help="Default: every core."),
    ],
)  # fmt: skip


scan_options = group(
    "scan",
    ScanOptions,
    [
        click.option(
            "--own-cap", type=int, default=ScanOptions.own_cap, show_default=True, metavar="N",
            help="Scan: n-grams of more than N candidates do not count in the test for own documents.",
        ),
        click.option(
            "--top-sources", type=int, default=ScanOptions.top_sources, show_default=True, metavar="N",
            help="Scan: list the N documents that share most with each candidate.",
        ),
        click.option("--counts", is_flag=True, help="Scan: add how often, and in how many documents, each n-gram occurs."),
    ],
)  # fmt: skip


@click.command("overlap", cls=GreedyCommand, short_help="Score texts: which share of their n-grams does an index have?")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--index", "indexes", multiple=True, metavar="DIR",
    help="Folder of an index; repeatable: found in any of them counts.  [default: $NGRAMSCOPE_INDEX, else "
    "./ngramscope-index]",
)  # fmt: skip
@click.option(
    "--scan",
    "scanned",
    cls=GreedyOption,
    metavar="CORPUS...",
    help="Without an index: hold the candidates' n-grams and read this corpus once, for exact overlap, leave-one-out "
    "overlap and sources. Takes all words up to the next option.",
)
@click.option(
    "--verify-hits",
    "verified",
    cls=GreedyOption,
    metavar="CORPUS...",
    help="With an index: read its corpus once to remove every false hit; as --scan otherwise.",
)
@click.option(
    "--out", cls=OutputOption, metavar="FILE",
    help="Write the table here instead of to standard output: .jsonl, .csv (also .gz, .zst) or .parquet.",
)  # fmt: skip
@click.option(
    "--field", "fields", multiple=True, type=TEXT, metavar="KEY", help="Carry this key of the records along; repeatable."
)
@click.option(
    "--domain-key", type=TEXT, metavar="KEY",
    help="Carry this key along as column domain and sum up by it; for the Pile meta.pile_set_name.",
)  # fmt: skip
@query_options
@scan_options
@click.option("--load", is_flag=True, help="Copy the filters into memory first.")
@asked_rule_options
@click.option("--plot", cls=OutputOption, metavar="FILE", help="Save a histogram, inputs overlaid: .png, .svg or .pdf.")
@read_options
@console_options("Print the summary as one JSON object, on standard error.")
def command(
    files: tuple[str, ...],
    indexes: tuple[str, ...],
    scanned: tuple[str, ...],
    verified: tuple[str, ...],
    out: str | None,
    fields: tuple[str, ...],
    domain_key: str | None,
    query: QueryOptions,
    scan: ScanOptions,
    load: bool,
    rule: dict[str, Any],
    plot: str | None,
    read: ReadOptions,
    console: Console,
) -> int:
    """Score the texts in FILES: which share of their n-grams does the index have?

    One row for each record and n, in input order, none left out; the columns are explained in docs/overlap.md.
    FILES are what build-index reads: files, folders, globs, https://..., hf://..., one manifest, - for standard input. A
    summary goes to standard error. With --scan the corpus itself is read instead of an index, and the numbers are exact.

    \b
    Example:
      ngramscope overlap candidates.jsonl
      ngramscope overlap a.jsonl b.parquet --index my-index --out overlap.parquet --plot overlap.png
      ngramscope overlap candidates.jsonl --scan corpus/*.jsonl.zst --n 7
    """
    check_fields(fields)
    figure = None if plot is None else Path(plot)
    if figure is not None:
        figures.check(figure)
    read = dataclasses.replace(read, fields=fields, domain_key=domain_key)
    if scanned and (indexes or verified or load):
        raise click.UsageError("--scan: reads the corpus instead of an index; leave out --index, --load and --verify-hits")
    with console.open(), ExitStack() as stack:
        stream: OverlapStream | Scan
        index = None if scanned else Index.open(indexes or None, load=load)
        if index is not None:
            index.check_rule(**rule)
            for warning in index.warnings:
                console.warn(warning)
        if index is None or verified:
            corpus, words = scanned or verified, WordRule.of(**rule) if index is None else None
            stream = Scan(files, corpus, rule=words, query=query, scan=scan, read=read, index=index, progress=console.progress)
        else:
            stream = index.overlap_files(files, read=read, query=query, progress=console.progress)
        manifests = () if index is None else index.manifests
        table_file = None if out is None else TableFile(Path(out), OVERLAP_WRITERS, with_source=len(stream.sources) > 1)
        if table_file is not None:
            stack.enter_context(table_file)
        writer = table_file or JsonLinesWriter(standard_output(), with_source=len(stream.sources) > 1)
        summary = _score(stream, manifests, writer)
        inputs = stream.report()
        read_of = [inputs, stream.corpus_report()] if isinstance(stream, Scan) else [inputs]
        facts = summary.to_dict(inputs=inputs)
        if isinstance(stream, Scan):
            facts["warnings"] += stream.warnings
            if stream.index_files is not None:
                facts["index_files"] = dataclasses.asdict(stream.index_files)
        if table_file is not None:
            table_file.commit(_provenance(stream, manifests, query, read, inputs))
        if figure is not None:
            _plot(figure, summary, manifests)
        if console.as_json:
            console.result(facts, err=True)
        else:
            console.say(to_text(facts))
            # Once more at the end: a long table on a terminal has pushed the first ones out of sight.
            for warning in facts["warnings"]:
                console.warn(warning)
            for report in read_of:
                for line in left_out(report["sources"]):
                    console.warn(line)
            for name in filter(None, (out, plot)):
                console.say(f"wrote {name}")
    return _exit.PARTIAL if any(report["bad_records"] or report["bad_files"] for report in read_of) else 0


def _score(
    stream: OverlapStream | Scan, manifests: Manifests, writer: TableWriter[OverlapTable] | TableFile[OverlapTable]
) -> Summary:
    summary = Summary(manifests, stream.filter_fpr, domains=stream.has_domains)
    for table in itertools.chain([stream.empty()], stream):  # the empty one brings header and schema, whatever comes
        writer.write(table)
        summary.add(table)
    return summary


def _provenance(
    stream: OverlapStream | Scan, manifests: Manifests, query: QueryOptions, read: ReadOptions, inputs: dict[str, Any]
) -> dict[str, Any]:
    settings = dataclasses.asdict(query)
    del settings["threads"]  # has no say in the content
    if isinstance(stream, Scan):
        settings["scan"] = {**stream.settings(), "corpus": stream.corpus_report()["sources"]}
    return provenance.stamp(
        "overlap-table",
        version=TABLE_VERSION,
        settings={
            **settings,
            "n": list(stream.filter_fpr),
            "read": dataclasses.asdict(read),
            "filter_fpr": {str(n): rate for n, rate in stream.filter_fpr.items()},
            "index_is_demo": any(each["demo"] for each in manifests),
            "indexes": [index_facts(each) for each in manifests],
        },
        inputs=inputs["sources"],
    )


def _plot(path: Path, summary: Summary, manifests: Manifests) -> None:
    names = ", ".join(each["name"] or each["content_id"][:16] for each in manifests)
    note = f"index: {names}" if names else "exact scan"
    if any(each["demo"] for each in manifests):
        note += " (DEMONSTRATION corpus)"
    panels = [(n, [(name, summary.values(n, source)) for source, name in enumerate(summary.sources)]) for n in summary.lengths]
    figures.overlap_histogram(path, panels, note=note)
