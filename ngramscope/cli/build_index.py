"""``ngramscope build-index``."""

from __future__ import annotations

from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import build_options, console_options, read_options, rule_options
from ngramscope.index.build import BuildReport, build_index
from ngramscope.index.options import BuildOptions, ReadOptions, WordRule, index_folder
from ngramscope.sizes import counted, format_count, format_distinct, format_size

__all__ = ["command"]


@click.command("build-index", short_help="Index the n-grams of a corpus.")
@click.argument("corpus", nargs=-1)
@click.option("--out", metavar="DIR", help="Folder of the index.  [default: $NGRAMSCOPE_INDEX, else ./ngramscope-index]")
@click.option("--manifest", metavar="FILE", help="A corpus manifest (TOML), instead of CORPUS.")
@build_options
@rule_options
@read_options
@console_options("Print the summary as one JSON object on standard output.")
def command(
    corpus: tuple[str, ...],
    out: str | None,
    manifest: str | None,
    build: dict[str, Any],
    rule: WordRule,
    read: ReadOptions,
    console: Console,
) -> int:
    """Index the n-grams of CORPUS: files, folders, globs, - for standard input, or one manifest (*.toml).

    JSON Lines, Parquet, Arrow IPC and plain text are read, also compressed (gz, zst, bz2, xz) and in archives (tar, zip).
    Without CORPUS the standard library of the running Python is indexed, for trying out; such an index is marked as a
    demonstration.

    \b
    Example:
      ngramscope build-index --n 7
      ngramscope build-index corpus/ --n 7 --n 13 --out my-index
    """
    if manifest is not None:
        if corpus:
            raise click.UsageError("--manifest and CORPUS: give one of them")
        if not manifest.endswith(".toml"):
            raise click.UsageError(f"--manifest: {manifest}: a manifest's name ends in .toml")
        corpus = (manifest,)
    options = BuildOptions(read=read, rule=rule, **build)
    folder = index_folder(out)
    with console.open():
        report = build_index(corpus, folder, options, progress=console.progress)
        if console.as_json:
            console.result({"path": str(folder), "manifest": report.manifest, **report.details, "warnings": report.warnings})
        else:
            console.say(_summary(report))
    return _exit.PARTIAL if report.partial else 0


def _summary(report: BuildReport) -> str:
    manifest = report.manifest
    counts = manifest["counts"]
    seconds = report.details["seconds"]
    lines = [
        f"read {counted(counts['documents'], 'document')} with {counted(counts['words'], 'word')} "
        f"from {counted(len(manifest['sources']), 'file')}"
    ]
    lines.extend(f"  left out: {line}" for line in left_out(report.details["report"]["sources"]))
    for keys in manifest["sets"]:
        distinct = format_distinct(keys["distinct"], keys["kind"])
        rate = f", filled to {keys['fill']:.1%}" if keys["fill"] is not None else ""
        lines.append(
            f"n = {keys['n']}: {format_count(keys['occurrences'])} n-grams, {distinct} distinct{rate}; "
            f"false-positive rate {keys['rate']:.3g}"
        )
    size = format_size(report.details["index_bytes"])
    demo = ", a DEMONSTRATION index" if manifest["demo"] else ""
    lines.append(f"wrote {report.path} ({size}{demo}) in {seconds['total']:.1f} s")
    return "\n".join(lines)
