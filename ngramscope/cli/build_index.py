"""``ngramscope build-index``."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from ngramscope import _core
from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption, index_files
from ngramscope.cli._options import build_options, console_options, geometry_options, read_options, rule_options
from ngramscope.cli._show_build import show_build
from ngramscope.corpus.manifest import manifest_and_split
from ngramscope.errors import IndexFormatError, UsageError
from ngramscope.index.build import build_index
from ngramscope.index.open import Index
from ngramscope.index.options import BuildOptions, ReadOptions, WordRule, index_folder

__all__ = ["command"]


@click.command("build-index", short_help="Index the n-grams of a corpus.")
@click.argument("corpus", nargs=-1)
@click.option(
    "--out", cls=OutputOption, brings=index_files, metavar="DIR",
    help="Folder of the index.  [default: $NGRAMSCOPE_INDEX, else ./ngramscope-index]",
)  # fmt: skip
@click.option("--manifest", metavar="FILE", help="A corpus manifest (TOML), instead of CORPUS.")
@geometry_options
@build_options
@rule_options
@read_options
@console_options("Print the summary as one JSON object on standard output.")
def command(
    corpus: tuple[str, ...],
    out: str | None,
    manifest: str | None,
    geometry: dict[str, Any],
    build: dict[str, Any],
    rule: WordRule,
    read: ReadOptions,
    console: Console,
) -> int:
    """Index the n-grams of CORPUS: files, folders, globs, - for standard input, or one manifest (NAME.toml[:SPLIT]).

    Also what is elsewhere: https://..., s3://..., gs://... and datasets, hf://NAME[:CONFIG][:SPLIT].

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
        if manifest_and_split(manifest) is None:
            raise click.UsageError(f"--manifest: {manifest}: a manifest's name ends in .toml")
        corpus = (manifest,)
    given = click.get_current_context().get_parameter_source("n") is not ParameterSource.DEFAULT
    if build["like"] is not None and build["plan"] is None and not given:
        geometry["n"] = Index.open(build["like"]).n
    options = BuildOptions(read=read, rule=rule, **geometry, **build)
    folder = index_folder(out)
    with console.open():
        try:
            report = build_index(corpus, folder, options, progress=console.progress)
        except (UsageError, IndexFormatError):  # say themselves what to do
            raise
        except BaseException:
            unfinished = _core.unfinished(folder) if options.resume else None
            if unfinished is not None:
                console.say(f"the build is unfinished; the same command continues it from {unfinished}")
            raise
        return show_build(report, console)
