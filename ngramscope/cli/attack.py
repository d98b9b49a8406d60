"""``ngramscope attack``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ngramscope.cli._console import Console
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._options import TEXT, console_options
from ngramscope.cli._scores import check_table, write_table
from ngramscope.errors import UsageError
from ngramscope.sizes import counted

__all__ = ["command"]


@click.command("attack", short_help="Compute membership inference attacks from a score store.")
@click.argument("store", required=False)
@click.option(
    "--attack", "names", multiple=True, type=TEXT, metavar="NAME",
    help="Compute this attack; repeatable. Default: all that the store has the passes for.",
)  # fmt: skip
@click.option(
    "--set", "settings", multiple=True, type=TEXT, metavar="NAME.OPTION=VALUE",
    help="Option of an attack, as min-k.k=0.3; repeatable. --list shows them.",
)  # fmt: skip
@click.option(
    "--compat", type=TEXT, metavar="PRESET",
    help="Compute every attack as a paper or a public implementation does. --list shows which.",
)  # fmt: skip
@click.option("--token-counts", metavar="FILE", help="Token counts of a corpus, for dc-pdd; see ngramscope token-counts.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Of splits that learning attacks learn on.")
@click.option("--out", cls=OutputOption, metavar="FILE", help="Write the scores here: a Parquet file.")
@click.option("--list", "list_all", is_flag=True, help="Show all attacks, what they need, their options and presets.")
@console_options("Print the summary (with --list: the list) as one JSON object on standard output.")
def command(
    store: str | None,
    names: tuple[str, ...],
    settings: tuple[str, ...],
    compat: str | None,
    token_counts: str | None,
    seed: int,
    out: str | None,
    list_all: bool,
    console: Console,
) -> int:
    """Compute membership inference attacks on the models of STORE, a folder that ngramscope score made.

    The scores are a Parquet file: a row a candidate, a column for each attack and model. Higher means more likely a member. A
    score that is undefined is null, and the file says why. No model is loaded. docs/attacks.md explains each attack.

    \b
    Example:
      ngramscope attack store/ --out scores.parquet
      ngramscope attack store/ --attack min-k --set min-k.k=0.3 --compat mimir --out scores.parquet
      ngramscope attack --list
    """
    from ngramscope.attacks.run import run_attacks
    from ngramscope.models.store import ScoreStore

    if list_all:
        _list(console)
        return 0
    if store is None or out is None:
        raise UsageError(f"{'STORE' if store is None else '--out'}: not given; ngramscope attack STORE --out scores.parquet")
    path = check_table(out, "--out")
    with console.open():
        table = run_attacks(
            ScoreStore(store),
            names,
            options=_options(settings),
            compat=compat,
            token_counts=None if token_counts is None else Path(token_counts),
            seed=seed,
            progress=console.progress,
        )
        write_table(path, table)
        header = table.header
        if console.as_json:
            kept = ("settings", "skipped", "undefined", "loss_tail", "warnings")
            columns = [
                {"column": each.name, "attack": each.attack, "model": each.model, "role": each.role} for each in table.columns
            ]
            console.result(
                {"out": out, "candidates": len(table.labels), "columns": columns, **{name: header[name] for name in kept}}
            )
        else:
            _say(console, header, out, len(table.columns), len(table.labels))
    return 0


def _options(settings: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """By attack, the values of its options."""
    options: dict[str, dict[str, Any]] = {}
    for each in settings:
        name, equals, text = each.partition("=")
        attack, dot, option = name.rpartition(".")
        if not (attack and dot and option and equals):
            raise UsageError(f"--set: {each!r} is not NAME.OPTION=VALUE, as min-k.k=0.3")
        options.setdefault(attack, {})[option] = _value(attack, option, text)
    return options


def _value(attack: str, option: str, text: str) -> Any:
    """Numbers and truth values as JSON spells them; texts as they are where the option's default is a text."""
    from ngramscope.attacks.base import find_attack

    if isinstance(find_attack(attack).options.get(option), str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _say(console: Console, header: Mapping[str, Any], out: str, columns: int, candidates: int) -> None:
    compat = header["settings"]["compat"]
    if compat is not None:
        console.say(f"--compat {compat['preset']}: {compat['stands_for']}")
        for name, values in compat["switches"].items():
            console.say(f"  {name}: {', '.join(f'{option}={value}' for option, value in values.items())}")
    # One attack may lack the same thing for every model, and many attacks one thing.
    skipped: dict[str, dict[str, None]] = {}
    for each in header["skipped"]:
        skipped.setdefault(each["reason"], {})[each["attack"]] = None
    for reason, names in skipped.items():
        console.say(f"skipped {', '.join(names)}: {reason}")
    alike: dict[str, list[str]] = {}
    for name, reasons in header["undefined"].items():
        alike.setdefault(", ".join(f"{count} {reason}" for reason, count in reasons.items()), []).append(name)
    for why, columns_of in alike.items():
        console.say(f"undefined: {why}, in {_columns(columns_of)}")
    for model, rows in header["loss_tail"].items():
        # With few members several rates have one threshold.
        for said in dict.fromkeys(
            f"loss tail of {model}: {row['tnr']:.1%} of {counted(row['nonmembers'], 'non-member')} have a loss beyond that of "
            f"{1 - row['attained_fnr']:.1%} of {counted(row['members'], 'member')}"
            for row in rows
        ):
            console.say(said)
    for warning in header["warnings"]:
        console.warn(warning)
    console.say(f"{counted(columns, 'column')} of {counted(candidates, 'candidate')}; wrote {out}")


def _columns(names: Sequence[str]) -> str:
    """Columns by their attacks: one by its name, of many the attacks and how many columns each has."""
    if len(names) == 1:
        return names[0]
    from ngramscope.attacks.base import attack_of

    attacks = Counter(map(attack_of, names))
    return ", ".join(f"{attack} ({counted(count, 'column')})" for attack, count in attacks.items())


def _list(console: Console) -> None:
    from ngramscope.attacks.base import attacks
    from ngramscope.attacks.compat import presets

    known = attacks().values()
    if console.as_json:
        listed = [
            {
                "name": each.name, "summary": each.summary, "source": each.source, "needs": vars(each.needs),
                "options": dict(each.options), "sweep": [dict(swept) for swept in each.sweep], "compat": dict(each.compat),
            }
            for each in known
        ]  # fmt: skip
        console.result({"attacks": listed, "presets": presets()})
        return
    for each in known:
        click.echo(f"{each.name}: {each.summary}")
        click.echo(f"    source: {each.source}")
        click.echo(f"    needs: {', '.join(_needs(vars(each.needs)))}")
        if each.options:
            click.echo(f"    options: {', '.join(f'{name}={value}' for name, value in each.options.items())}")
        for preset, values in each.compat.items():
            shown = values if isinstance(values, str) else ", ".join(f"{name}={value}" for name, value in values.items())
            click.echo(f"    --compat {preset}: {'not possible: ' if isinstance(values, str) else ''}{shown}")
    click.echo("\nPresets (--compat):")
    for name, summary in presets().items():
        click.echo(f"    {name}: {summary}")


def _needs(needs: Mapping[str, Any]) -> list[str]:
    words = {
        "references": "the same of a reference model",
        "labels": "members and non-members to learn from",
        "nonmembers": "known non-members",
        "token_counts": "token counts of a corpus",
    }
    return [f"pass {', '.join(needs['passes'])}", *(text for name, text in words.items() if needs[name])]
