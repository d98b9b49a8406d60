"""``ngramscope explain``."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import asked_rule_options, console_options
from ngramscope.errors import InputError, UsageError
from ngramscope.index.explain import explain_text
from ngramscope.index.open import Index
from ngramscope.index.options import INDEX_VARIABLE, QueryOptions, WordRule, default_index

__all__ = ["command"]


@click.command("explain", short_help="Show the words of a text, its n-grams, and which are found.")
@click.argument("text")
@click.option(
    "--index", "indexes", multiple=True, metavar="DIR",
    help="Look the n-grams up here, by this index's rule.  [default: $NGRAMSCOPE_INDEX, else ./ngramscope-index, if "
    "there is one]",
)  # fmt: skip
@click.option("--no-index", is_flag=True, help="Only cut: by --words, --normalize and --lowercase.")
@click.option("--n", type=int, multiple=True, metavar="N", help="Lengths to show.  [default: the index's, else 7]")
@asked_rule_options
@console_options("Print words and n-grams as one JSON object.")
def command(
    text: str, indexes: tuple[str, ...], no_index: bool, n: tuple[int, ...], rule: dict[str, Any], console: Console
) -> int:
    """Show the words of TEXT, its n-grams, and which of them the index has (- reads standard input).

    \b
    Example:
      ngramscope explain "to be or not to be, that is the question"
    """
    if no_index and indexes:
        raise click.UsageError("--no-index: leave out --index")
    with console.open():
        text = _utf8(_standard_input(), "standard input") if text == "-" else _utf8(os.fsencode(text), "TEXT")
        if not no_index and (indexes or INDEX_VARIABLE in os.environ or default_index().exists()):
            index = Index.open(indexes or None)
            index.check_rule(**rule)
            for warning in index.warnings:
                console.warn(warning)
            facts = index.explain(text, n=n)
        else:
            facts = explain_text(text, WordRule.of(**rule), QueryOptions(n=n or (7,)).n)
        if console.as_json:
            console.result(facts)
        else:
            click.echo(_describe(facts))
    return 0


def _standard_input() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except OSError as error:
        if error.errno == errno.EBADF:
            raise UsageError("standard input is closed; give it a file or a pipe to read, or the text instead of -") from error
        raise


def _utf8(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 at byte {error.start + 1}; convert it first") from error


def _describe(facts: dict[str, Any]) -> str:
    rule = facts["rule"]
    lines = [
        f"{len(facts['words'])} words ({rule['words']}, normalize {rule['normalize']}"
        f"{', lower-cased' if rule['lowercase'] else ''})"
    ]
    lines.extend(
        f"  {number:>4}  {word['start']}-{word['end']}  {word['text']!r}" for number, word in enumerate(facts["words"], 1)
    )
    for n, ngrams in facts["ngrams"].items():
        known = [each for each in ngrams if each["hit"]]
        if not ngrams:
            lines.append(f"n = {n}: no n-gram, the text has fewer words")
            continue
        found = "no index was asked" if ngrams[0]["hit"] is None else f"{len(known)} found"
        if "twice" in ngrams[0]:
            found += f", {sum(each['twice'] for each in ngrams)} in at least two documents (hit+)"
        lines.append(f"n = {n}: {len(ngrams)} n-grams, {found}")
        lines.extend(f"  {number:>4}  {_mark(each):<4}  {each['text']!r}" for number, each in enumerate(ngrams, 1))
    return "\n".join(lines)


def _mark(ngram: dict[str, Any]) -> str:
    if not ngram["hit"]:
        return "" if ngram["hit"] is None else "miss"
    return "hit+" if ngram.get("twice") else "hit"
