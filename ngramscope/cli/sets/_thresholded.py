"""What ``sets thresholded`` and ``sets decontaminated`` share: all but the rule that holds where none is asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import click

from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import console_options, group, read_options
from ngramscope.cli.sets._options import key_options, out_option, overlap_options, seed_option
from ngramscope.errors import UsageError
from ngramscope.index.options import ReadOptions
from ngramscope.sets.balance import to_text
from ngramscope.sets.overlaps import OverlapOptions
from ngramscope.sets.records import Keys, RecordSource
from ngramscope.sets.thresholded import PRESETS, RULES, ThresholdRule, threshold

__all__ = ["filter_command"]

rule_options = group(
    "given",
    lambda **values: values,
    [
        click.option(
            "--preset", type=click.Choice(tuple(PRESETS)),
            help="The rule of one of MIMIR's splits: n, and the limit for the first 200 n-grams, which itself is out.",
        ),
        click.option("--max-overlap", type=float, metavar="SHARE", help="Leave non-members with this share out, or more."),
        click.option("--max-inclusive", is_flag=True, default=None, help="A share of exactly --max-overlap stays."),
        click.option("--first", type=int, metavar="N", help="The limit is for the first N n-grams.  [default: 200]"),
        click.option("--whole-document", is_flag=True, default=None, help="The limit is for all n-grams of a document."),
        click.option(
            "--all-sides", is_flag=True,
            help="Filter members too, by leave-one-out overlap where it is known. Without, all members stay.",
        ),
        click.option(
            "--permutations", type=int, default=200, show_default=True, metavar="N",
            help="For the p-value of the test whether words tell what was kept from what was removed.",
        ),
    ],
)  # fmt: skip


def filter_command(name: str, short_help: str) -> Callable[[Callable[[], None]], click.Command]:
    """A command with the rule ``RULES[name]``; its help is the docstring of what is decorated."""

    def decorate(documented: Callable[[], None]) -> click.Command:
        @click.command(name, cls=GreedyCommand, short_help=short_help)
        @click.argument("files", nargs=-1, required=True)
        @rule_options
        @overlap_options
        @out_option
        @seed_option
        @key_options
        @read_options
        @console_options("Print the summary as one JSON object on standard output.")
        @functools.wraps(documented)
        def command(**values: Any) -> int:
            return _filter(name, **values)

        return command

    return decorate


def _filter(
    name: str,
    *,
    files: tuple[str, ...],
    given: dict[str, Any],
    overlap: OverlapOptions,
    out: str,
    seed: int,
    keys: Keys,
    read: ReadOptions,
    console: Console,
) -> int:
    permutations = given.pop("permutations")
    rule = _rule(name, given, overlap.n)
    with console.open():
        header = threshold(
            RecordSource(files, read=read, keys=keys), overlap, out,
            rule=rule, name=name, seed=seed, permutations=permutations, progress=console.progress,
        )  # fmt: skip
        step = header["history"][-1]
        if console.as_json:
            shown = {key: header[key] for key in ("rule", "settings", "inputs", "overlap", "balance")}
            console.result({"out": out, **shown, "counts": step["counts"], **step["facts"]})
        else:
            console.say(_text(step, header, out))
            scanned = header["overlap"][str(rule.n[0])].get("scan", {}).get("corpus", [])
            for line in (*step["facts"]["warnings"], *left_out([*header["inputs"], *scanned])):
                console.warn(line)
    return _exit.PARTIAL if step["facts"]["partial"] else 0


def _rule(name: str, given: dict[str, Any], n: tuple[int, ...]) -> ThresholdRule:
    preset, all_sides = given.pop("preset"), given.pop("all_sides")
    asked = {option: value for option, value in (*given.items(), ("n", n or None)) if value is not None}
    if preset is not None:
        if asked:
            also = ", ".join(f"--{option.replace('_', '-')}" for option in asked)
            raise UsageError(f"--preset {preset}: names a whole rule; leave out {also}, or the preset")
        return ThresholdRule.of(preset, all_sides=all_sides)
    if "first" in asked and "whole_document" in asked:
        raise UsageError("--first, --whole-document: the limit is for one of them; leave the other out")
    return replace(RULES[name], **asked, all_sides=all_sides)


def _text(step: Mapping[str, Any], header: Mapping[str, Any], out: str) -> str:
    lines = []
    for side, spelled in (("members", "members"), ("nonmembers", "non-members")):
        counts, facts = step["counts"][side], step["facts"][side]
        if not counts["read"]:
            continue
        reasons = "".join(f", {count:,} {reason}" for reason, count in counts["left_out"].items())
        lines.append(f"{spelled}: {counts['used']:,} of {counts['read']:,} kept{reasons}")
        if facts["removed"]:
            test = facts["kept_against_removed"]
            lines.append(f"  kept against removed, by words: {_test(test)}")
    lines.append(to_text(header["balance"]))
    lines.append(f"wrote {out}. {step['facts']['claim']}")
    return "\n".join(lines)


def _test(test: Mapping[str, Any]) -> str:
    if test["auc"] is None:
        return f"no AUC ({test['null_reason']})"
    p = "" if test["p"] is None else f", p {test['p']:.3g}"
    return f"AUC {test['auc']:.3f}{p}"
