"""``ngramscope explain``."""

from __future__ import annotations

import sys
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._options import console_options, rule_options
from ngramscope.index.explain import explain_text
from ngramscope.index.open import Index
from ngramscope.index.options import QueryOptions, WordRule, default_index

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
@rule_options
@console_options("Print words and n-grams as one JSON object.")
def command(text: str, indexes: tuple[str, ...], no_index: bool, n: tuple[int, ...], rule: WordRule, console: Console) -> int:
    """Show the words of TEXT, its n-grams, and which of them the index has (- reads standard input).

    \b
    Example:
      ngramscope explain "to be or not to be, that is the question"
    """
    if text == "-":
        text = sys.stdin.read()
    with console.open():
        if not no_index and (indexes or default_index().exists()):
            facts = Index.open(indexes or None).explain(text, n=n)
        else:
            facts = explain_text(text, rule, QueryOptions(n=n or (7,)).n)
        if console.as_json:
            console.result(facts)
        else:
            click.echo(_describe(facts))
    return 0


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
        lines.append(f"n = {n}: {len(ngrams)} n-grams, {found}")
        marks = {True: "hit ", False: "miss", None: "    "}
        lines.extend(f"  {number:>4}  {marks[each['hit']]}  {each['text']!r}" for number, each in enumerate(ngrams, 1))
    return "\n".join(lines)
