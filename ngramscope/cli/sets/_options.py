"""Options that the commands on candidate sets share."""

from __future__ import annotations

from typing import Any

import click

from ngramscope.cli._greedy import GreedyOption
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, asked_rule, group
from ngramscope.errors import UsageError
from ngramscope.index.options import QueryOptions, ScanOptions, WordRule
from ngramscope.sets.overlaps import OverlapOptions
from ngramscope.sets.records import Keys

__all__ = [
    "key_options",
    "optional_source_options",
    "out_option",
    "overlap_options",
    "seed_option",
    "source_options",
]


def _keys(fields: tuple[str, ...], **names: str) -> Keys:
    return Keys(fields=fields, **names)


key_options = group(
    "keys",
    _keys,
    [
        click.option(
            "--label-key", "--label", "label", default=Keys.label, show_default=True, type=TEXT, metavar="KEY",
            help="Key of the label: 1 or member, 0 or nonmember. Keys of sets are known.",
        ),
        click.option(
            "--domain-key", "--domain", "domain", default=Keys.domain, show_default=True, type=TEXT, metavar="KEY",
            help="Key of the part of a corpus that a record is from; for the Pile meta.pile_set_name.",
        ),
        click.option(
            "--group-key", "--group", "group", default=Keys.group, show_default=True, type=TEXT, metavar="KEY",
            help="Key of what belongs together: a book, an author.",
        ),
        click.option(
            "--date-key", "--date", "date", default=Keys.date, show_default=True, type=TEXT, metavar="KEY",
            help="Key of the date.",
        ),
        click.option("--field", "fields", multiple=True, type=TEXT, metavar="KEY", help="Carry this key along; repeatable."),
    ],
)  # fmt: skip


def _overlap(words: str | None, normalize: str | None, lowercase: bool | None, **values: Any) -> OverlapOptions:
    asked = {"words": words, "normalize": normalize, "lowercase": lowercase}
    rule = None if set(asked.values()) == {None} else WordRule.of(**asked)
    return OverlapOptions(rule=rule, **values)


_where = [
    click.option(
        "--index", "indexes", multiple=True, metavar="DIR",
        help="An index of the training corpus; several: found in any of them.",
    ),
    click.option(
        "--scan", cls=GreedyOption, metavar="CORPUS...",
        help="Read the training corpus once instead: exact, and with leave-one-out overlap.",
    ),
    click.option(
        "--flags", multiple=True, type=TEXT, metavar="KEY",
        help="Take overlaps from the records: for each n-gram true or false in a list, or 1 or 0 in a string; "
        "several keys are OR-ed.",
    ),
    click.option(
        "--own-share", type=float, default=QueryOptions.own_share, show_default=True, metavar="SHARE",
        help="Leave-one-out: a document with this share of a candidate's n-grams is its own.",
    ),
    click.option(
        "--own-cap", type=int, default=ScanOptions.own_cap, show_default=True, metavar="N",
        help="Leave-one-out: n-grams of more candidates than this do not count in that test.",
    ),
    click.option("--accept-demo", is_flag=True, help="Take an index of the demonstration corpus."),
    click.option("--threads", type=int, metavar="N", help="Default: every core."),
    *asked_rule,
]  # fmt: skip

overlap_options = group(
    "overlap",
    _overlap,
    [*_where, click.option("--n", type=int, multiple=True, metavar="N", help="Length of the n-grams; repeatable.")],
)
"""Where overlaps come from, as an `OverlapOptions`."""

source_options = group("overlap", _overlap, _where)
"""The same for a command with an ``--n`` of its own."""


def _overlap_if_asked(indexes: tuple[str, ...], scan: tuple[str, ...], flags: tuple[str, ...], **values: Any) -> Any:
    if indexes or scan or flags:
        return _overlap(indexes=indexes, scan=scan, flags=flags, **values)
    idle = [name for name in ("words", "normalize", "lowercase", "accept_demo") if values[name]]
    if idle:
        raise UsageError(
            f"--{idle[0].replace('_', '-')}: says how overlap is measured; give --index, --scan or --flags with it"
        )
    return None


optional_source_options = group("overlap", _overlap_if_asked, _where)
"""Likewise, where the records may have overlaps already: None if no source was named."""


def out_option(command: Any) -> Any:
    """Where the set goes."""
    return click.option(
        "--out", cls=OutputOption, required=True, metavar="FILE", help="Write the set here: .jsonl, .jsonl.gz or .jsonl.zst."
    )(command)


def seed_option(command: Any) -> Any:
    """What chance begins with."""
    return click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Same seed, same set.")(command)
