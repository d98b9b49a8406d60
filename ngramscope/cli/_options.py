"""Options that several commands share, each group a decorator that hands the command one object."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import click

from ngramscope._core import FILTER_KINDS, NORMALIZATIONS, WORD_MODES
from ngramscope.cli._console import Console
from ngramscope.index.options import ENGINES, BuildOptions, ReadOptions, WordRule
from ngramscope.sizes import format_size

__all__ = [
    "TEXT",
    "Command",
    "asked_rule",
    "asked_rule_options",
    "build_options",
    "console_options",
    "geometry_options",
    "group",
    "read_options",
    "rule_options",
]


class _Text(click.types.StringParamType):
    """A string of characters; what is not UTF-8 in the command line can name files, but nothing else."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(super().convert(value, param, ctx))
        try:
            text.encode()
        except UnicodeEncodeError:
            self.fail(f"{text!r} is not UTF-8.", param, ctx)
        return text


TEXT = _Text()

Command = Callable[..., int]
Decorator = Callable[[Command], Command]


def group(name: str, make: Callable[..., Any], options: Sequence[Callable[[Any], Any]]) -> Decorator:
    """A decorator that adds `options` to a command and passes ``make(**their values)`` as argument `name`."""
    probe = click.Command(None)
    for option in options:
        probe = option(probe)
    names = [parameter.name for parameter in probe.params]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapper(*arguments: Any, **values: Any) -> int:
            mine = {each: values.pop(each) for each in names if each is not None}
            return command(*arguments, **{name: make(**mine)}, **values)

        for option in reversed(options):
            wrapper = option(wrapper)
        return wrapper

    return decorate


read_options = group(
    "read",
    ReadOptions,
    [
        click.option(
            "--text-key", "--text", "text_key", default=ReadOptions.text_key, show_default=True, type=TEXT, metavar="KEY",
            help="Key or column of the text; dots step into nested objects (meta.text).",
        ),
        click.option(
            "--id-key", "--id", "id_key", default=ReadOptions.id_key, show_default=True, type=TEXT, metavar="KEY",
            help="Key or column of the id; records without one are fine.",
        ),
        click.option(
            "--include", multiple=True, type=TEXT, metavar="GLOB", help="Take only such files from folders; repeatable.",
        ),
        click.option("--exclude", multiple=True, type=TEXT, metavar="GLOB", help="Leave such files out; repeatable."),
        click.option("--text-lines", is_flag=True, help="Plain-text files hold one document a line, not one a file."),
        click.option(
            "--max-record-size", type=str, default=ReadOptions.max_record_size, metavar="SIZE",
            show_default=format_size(int(ReadOptions.max_record_size)),
            help="Longer records count as unusable; they are never cut.",
        ),
        click.option(
            "--max-window-log", type=int, default=ReadOptions.max_window_log, show_default=True, metavar="LOG",
            help="Largest zstd window accepted, as a power of two (31 is 2 GiB).",
        ),
        click.option(
            "--max-column-chunk", type=str, default=ReadOptions.max_column_chunk, metavar="SIZE",
            show_default=format_size(int(ReadOptions.max_column_chunk)),
            help="Largest Parquet column chunk accepted, uncompressed.",
        ),
        click.option(
            "--max-bad-records", type=int, default=0, show_default=True, metavar="N",
            help="Leave out up to N unusable records, count them by reason, and exit with 3.",
        ),
        click.option(
            "--max-bad-files", type=int, default=0, show_default=True, metavar="N",
            help="Leave out up to N damaged files, list them, and exit with 3.",
        ),
    ],
)  # fmt: skip

rule_options = group(
    "rule",
    WordRule,
    [
        click.option(
            "--words", type=click.Choice(WORD_MODES), default=WordRule.words, show_default=True,
            help="What a word is.",
        ),
        click.option(
            "--normalize", type=click.Choice(NORMALIZATIONS), default=WordRule.normalize, show_default=True,
            help="Unicode normalisation before words are cut.",
        ),
        click.option("--lowercase", is_flag=True, help="Lower-case the text first."),
    ],
)  # fmt: skip


def _values(**values: Any) -> dict[str, Any]:
    return values


asked_rule = (
    click.option("--words", type=click.Choice(WORD_MODES), help="What a word is; an index with another rule is refused."),
    click.option("--normalize", type=click.Choice(NORMALIZATIONS), help="Unicode normalisation; likewise."),
    click.option("--lowercase/--no-lowercase", default=None, help="Lower-case the text; likewise."),
)
"""Options of a word rule that an index may contradict; None where nothing was asked."""

asked_rule_options = group("rule", _values, asked_rule)


geometry_options = group(
    "geometry",
    _values,
    [
        click.option(
            "--n", type=int, multiple=True, default=[7], show_default=True, metavar="N",
            help="Length of the n-grams in words; repeatable, one pass for all.",
        ),
        click.option(
            "--filter", type=click.Choice(FILTER_KINDS), default=BuildOptions.filter, show_default=True,
            help="blocked: a Bloom filter with a stated rate of false hits. exact: 64-bit keys.",
        ),
        click.option(
            "--filter-fpr", type=float, default=BuildOptions.filter_fpr, show_default=True, metavar="RATE",
            help="How often an absent n-gram may count as found.",
        ),
        click.option(
            "--expected-ngrams", type=int, metavar="N",
            help="Distinct n-grams to size for; without it a first pass counts them.",
        ),
        click.option("--shards", type=int, metavar="N", help="Files for each n; default: by size."),
        click.option(
            "--tiers", type=int, default=BuildOptions.tiers, show_default=True, metavar="N",
            help="2: also keep which n-grams at least two documents have, for leave-one-out overlap; twice the size.",
        ),
    ],
)  # fmt: skip

build_options = group(
    "build",
    _values,
    [
        click.option("--threads", type=int, metavar="N", help="Default: every core."),
        click.option(
            "--memory", metavar="SIZE",
            help="Filter bytes in memory at a time, as 4GiB; more passes instead of more memory. Default: 80% of what "
            "is free; at least 64MiB.",
        ),
        click.option("--force", is_flag=True, help="Replace an index that is there already."),
        click.option("--accept-overfull", is_flag=True, help="Keep a filter above 1.05 times its target rate."),
        click.option("--name", type=TEXT, metavar="NAME", help="Name of the corpus, kept in the index."),
        click.option("--spool", is_flag=True, help="Keep a compressed temporary copy of what can be read only once."),
        click.option(
            "--part", metavar="I/K",
            help="Index every K-th file only, in the order of names, beginning with number I; see ngramscope merge.",
        ),
        click.option("--plan", metavar="FILE", help="Take the geometry from a plan file, so that parts can be merged."),
        click.option(
            "--like", metavar="DIR",
            help="Take the geometry from this index, also --n if it is not given, so that both can be merged.",
        ),
        click.option(
            "--resume", is_flag=True,
            help="Keep what has been done in OUT.partial until the index is complete; the same command continues the build.",
        ),
        click.option(
            "--verify-inputs", is_flag=True,
            help="With --resume: compare what had been read of the inputs by digest, not only by size and time.",
        ),
        click.option(
            "--engine", type=click.Choice(ENGINES), default=BuildOptions.engine, show_default=True,
            help="ray: build parts as tasks of a Ray cluster; --threads and --memory are then those of one task.",
        ),
        click.option("--ray-address", metavar="ADDRESS", help="The cluster. Default: one on this machine, for this build."),
        click.option("--ray-parts", type=int, metavar="K", help="Parts, one task each. Default: as many as run at once."),
        click.option(
            "--scratch", metavar="DIR",
            help="Folder for the parts that all machines of the cluster see. Default: the one that holds the index.",
        ),
    ],
)  # fmt: skip


def console_options(json_help: str) -> Decorator:
    """`--quiet`, `--verbose` and `--json`, as a `Console`."""
    return group(
        "console",
        lambda quiet, verbose, as_json: Console(quiet=quiet, verbose=verbose, as_json=as_json),
        [
            click.option("--json", "as_json", is_flag=True, help=json_help),
            click.option("-q", "--quiet", is_flag=True, help="Only errors and results."),
            click.option("-v", "--verbose", is_flag=True, help="Say more about what is being done."),
        ],
    )
