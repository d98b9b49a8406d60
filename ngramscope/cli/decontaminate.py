"""``ngramscope decontaminate``."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from ngramscope import provenance
from ngramscope._core import CUTS, REMOVALS, UNITS
from ngramscope.cli import _exit
from ngramscope.cli._console import Console
from ngramscope.cli._greedy import GreedyCommand, GreedyOption
from ngramscope.cli._inputs import OutputOption
from ngramscope.cli._left_out import left_out
from ngramscope.cli._options import TEXT, asked_rule_options, console_options, group, read_options
from ngramscope.cli._stdout import standard_output
from ngramscope.decontaminate import PRESETS, Decontamination, DecontaminationRules
from ngramscope.decontaminate.clean import CleanFolder
from ngramscope.decontaminate.rows import ROW_VERSION, ROW_WRITERS, LineWriter
from ngramscope.index.open import Index
from ngramscope.index.options import ReadOptions, WordRule
from ngramscope.index.output import TableFile, check_fields
from ngramscope.index.summary import index_facts
from ngramscope.sizes import counted

__all__ = ["command"]

_SHOWN = 5

rule_of_contamination = group(
    "given",
    lambda **values: values,
    [
        click.option("--n", type=int, metavar="N", help="Length of the n-grams.  [default: 13]"),
        click.option("--unit", type=click.Choice(UNITS), help="Judge whole documents, or each line.  [default: document]"),
        click.option(
            "--min-n", type=int, metavar="N",
            help="A unit shorter than --n but of at least N words is one n-gram by itself.",
        ),
        click.option(
            "--max-overlap", type=float, metavar="SHARE",
            help="A unit is contaminated with this share of its n-grams in the reference, or more.",
        ),
        click.option("--max-inclusive", is_flag=True, default=None, help="A share of exactly --max-overlap is clean."),
        click.option("--max-hits", type=int, metavar="N", help="... with more than N n-grams in the reference."),
        click.option("--max-run", type=int, metavar="N", help="... with more than N consecutive ones."),
        click.option(
            "--max-documents", type=int, metavar="N",
            help="n-grams in more than N of the texts do not count; a first reading counts them.",
        ),
        click.option(
            "--near", type=int, metavar="N",
            help="n-gram length of the near-match score, which finds edited copies; 0: none.  [default: 5]",
        ),
        click.option(
            "--max-near", type=float, metavar="SHARE", help="A text with a near-match score above this is contaminated.",
        ),
        click.option("--cut", type=click.Choice(CUTS), help="What --remove spans cuts out.  [default: matches]"),
        click.option("--around", type=int, metavar="N", help="... with N characters on either side.  [default: 0]"),
        click.option("--min-piece", type=int, metavar="N", help="... and pieces below N characters go too.  [default: 0]"),
        click.option("--max-pieces", type=int, metavar="N", help="A text that falls into more than N pieces goes as a whole."),
    ],
)  # fmt: skip


@click.command("decontaminate", cls=GreedyCommand, short_help="Find, cut or drop texts that share n-grams with a reference.")
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--reference", cls=GreedyOption, metavar="FILES...",
    help="What must not be in the texts, as benchmark items: their n-grams are held exactly. Takes all words up to the "
    "next option.",
)  # fmt: skip
@click.option("--index", "indexes", multiple=True, metavar="DIR", help="Or an index; repeatable: in any of them counts.")
@click.option(
    "--reference-text-key", type=TEXT, metavar="KEY", help="Key of the text in --reference.  [default: as --text-key]"
)
@click.option("--reference-id-key", type=TEXT, metavar="KEY", help="Key of the id in --reference.  [default: as --id-key]")
@click.option(
    "--preset", type=click.Choice(tuple(PRESETS)),
    help="Rules by name; single options change them.  [default: gpt3 with --reference, mimir with --index; none if a rule "
    "is given]",
)  # fmt: skip
@rule_of_contamination
@click.option(
    "--remove", type=click.Choice(REMOVALS), default="nothing", show_default=True,
    help="nothing: only say what is contaminated. spans: cut it out. documents: leave such texts out.",
)  # fmt: skip
@click.option("--clean", metavar="DIR", help="Write the texts without what is removed here, each file under its name.")
@click.option(
    "--out", cls=OutputOption, metavar="FILE",
    help="Write the rows here instead of to standard output: .jsonl, .csv (also .gz, .zst) or .parquet.",
)  # fmt: skip
@click.option(
    "--only-contaminated", is_flag=True, help="Rows of contaminated texts only, not one for every record."
)  # fmt: skip
@click.option(
    "--evidence", type=click.IntRange(0), default=10, show_default=True, metavar="N", help="Matches to list for each text."
)
@click.option(
    "--field", "fields", multiple=True, type=TEXT, metavar="KEY", help="Carry this key of the records along; repeatable."
)
@click.option("--threads", type=click.IntRange(1, 4096), metavar="N", help="Default: every core.")
@asked_rule_options
@read_options
@console_options("Print the summary as one JSON object, on standard error.")
def command(
    files: tuple[str, ...],
    reference: tuple[str, ...],
    indexes: tuple[str, ...],
    reference_text_key: str | None,
    reference_id_key: str | None,
    preset: str | None,
    given: dict[str, Any],
    remove: str,
    clean: str | None,
    out: str | None,
    only_contaminated: bool,
    evidence: int,
    fields: tuple[str, ...],
    threads: int | None,
    rule: dict[str, Any],
    read: ReadOptions,
    console: Console,
) -> int:
    """Find, cut or drop texts in FILES that share n-grams with a reference.

    Both directions: training texts against evaluation items (--reference), and candidates against an index of training
    data (--index). One row for each record says what was found, with its evidence; with --remove and --clean the texts
    are written again, in their own format and compression, without what is contaminated. Rules, presets and columns are
    explained in docs/decontaminate.md.

    \b
    Example:
      ngramscope decontaminate corpus/*.jsonl.zst --reference mmlu.jsonl --out found.jsonl
      ngramscope decontaminate corpus/*.jsonl.zst --reference mmlu.jsonl --remove spans --clean corpus-clean
      ngramscope decontaminate candidates.jsonl --index pile-13 --preset mimir --remove documents --clean kept
    """
    check_fields(fields)
    if (remove == "nothing") != (clean is None):
        raise click.UsageError("--remove and --clean go together: what to remove, and where the cleaned copies go")
    read = dataclasses.replace(read, fields=fields)
    rules, preset, words = _rules(preset, given, rule, with_index=bool(indexes))
    with console.open(), ExitStack() as stack:
        index = Index.open(indexes) if indexes else None
        if index is not None:
            index.check_rule(**words)
        texts = Decontamination(
            files,
            reference=reference,
            index=index,
            rules=rules,
            rule=WordRule(**words) if index is None else None,
            remove=remove,
            read=read,
            reference_read=dataclasses.replace(
                read, fields=(), text_key=reference_text_key or read.text_key, id_key=reference_id_key or read.id_key
            ),
            evidence=evidence,
            all_rows=not only_contaminated,
            clean=clean is not None,
            flat=out is not None and not out.removesuffix(".gz").removesuffix(".zst").endswith(".jsonl"),
            threads=threads,
            progress=console.progress,
        )
        for warning in texts.warnings:
            console.warn(warning)
        with_source = len(texts.sources) > 1
        table = None if out is None else TableFile(Path(out), ROW_WRITERS, with_source=with_source)
        if table is not None:
            stack.enter_context(table)
        folder = None
        if clean is not None:
            folder = stack.enter_context(CleanFolder(Path(clean), texts.sources, texts.paths, text_key=read.text_key))
        unprotected = texts.unprotected
        reference_report = texts.reference_report()
        if reference_report is not None and not reference_report["ngrams"]:
            console.warn(f"the reference is EMPTY: it has no n-gram of {rules.n} words, so every text will be clean")
        elif unprotected:
            console.warn(_unprotected(unprotected, rules.n))
        writer = table or LineWriter(standard_output(), with_source=with_source)
        for parts in texts:
            for part in parts:
                writer.write(part.rows)
                if folder is not None:
                    folder.write(part)
        inputs = texts.report()
        facts = {
            "preset": preset,
            **texts.settings(),
            **texts.summary.to_dict(),
            "reference": reference_report,
            "unprotected": unprotected,
            "indexes": [index_facts(each) for each in (() if index is None else index.manifests)],
            "inputs": inputs,
        }
        stamp = _stamp(facts)
        if table is not None:
            table.commit(stamp)
        if folder is not None:
            folder.commit(stamp, inputs["sources"])
        if console.as_json:
            console.result(facts, err=True)
        else:
            console.say(_text(facts))
            for line in left_out(inputs["sources"]):
                console.warn(line)
            for name in filter(None, (out, clean)):
                console.say(f"wrote {name}")
    return _exit.PARTIAL if inputs["bad_records"] or inputs["bad_files"] else 0


def _rules(
    preset: str | None, given: dict[str, Any], rule: dict[str, Any], *, with_index: bool
) -> tuple[DecontaminationRules, str, dict[str, Any]]:
    """The rules, the name of the preset, and the word rule as far as it is asked for."""
    decides = ("max_overlap", "max_hits", "max_run", "max_near")
    if preset is None:
        own = any(given[each] is not None for each in decides)
        preset = "none" if own else "mimir" if with_index else "gpt3"
    words = {"words": PRESETS[preset].get("words"), **{name: value for name, value in rule.items() if value is not None}}
    rules = DecontaminationRules.of(preset, **given)
    if with_index and rules.max_documents is not None and given["max_documents"] is None:
        raise click.UsageError(
            f"--preset {preset}: counts n-grams by document, which an index cannot; give --reference FILES instead, or another "
            "preset"
        )
    if with_index and preset == "bff" and given["min_n"] is None:
        rules = dataclasses.replace(rules, min_n=None)  # an index has no n-grams of shorter units
    return rules, preset, {name: value for name, value in words.items() if value is not None}


def _stamp(facts: dict[str, Any]) -> dict[str, Any]:
    reference = facts["reference"]
    sources = [*facts["inputs"]["sources"], *(reference["read"]["sources"] if reference else ())]
    kept = {name: value for name, value in facts.items() if name != "inputs"}
    return provenance.stamp("decontamination", version=ROW_VERSION, settings=kept, inputs=sources)


def _unprotected(items: list[dict[str, Any]], n: int) -> str:
    shown = ", ".join(f"{each['source']} line {each['line']} ({each['words']} words)" for each in items[:_SHOWN])
    more = f" and {len(items) - _SHOWN:,} more (--json and the table's provenance have all)" if len(items) > _SHOWN else ""
    noun = "item of the reference is" if len(items) == 1 else "items of the reference are"
    return f"{len(items):,} {noun} UNPROTECTED, without an n-gram of {n} words that could be found: {shown}{more}"


def _as_options(facts: dict[str, Any]) -> str:
    """The rules as they would be given one by one; those of cutting only where texts are cut."""
    unsaid = {
        "normalize": "none", "lowercase": False, "unit": "document", "max_inclusive": False, "cut": "matches", "around": 0,
        "min_piece": 0,
    }  # fmt: skip
    cutting = ("cut", "around", "min_piece", "max_pieces") if facts["remove"] != "spans" else ()
    given = [
        f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}")
        for name, value in (facts["words"] | facts["rules"]).items()
        if value is not None and value != unsaid.get(name) and name not in cutting
    ]
    return " ".join(given)


def _text(facts: dict[str, Any]) -> str:
    lines = [
        f"rules (preset {facts['preset']}): {_as_options(facts)}",
        f"{counted(facts['records'], 'record')}: {facts['clean']:,} clean, {facts['contaminated']:,} contaminated"
        + "".join(f", {count:,} {reason}" for reason, count in facts["unjudged"].items()),
    ]
    if facts["by_rule"]:
        lines.append("by rule: " + ", ".join(f"{name} {count:,}" for name, count in facts["by_rule"].items()))
    if facts["by_removal"]:
        names = {"cut": "cut", "document": "left out", "nothing_left": "left out, no piece was long enough",
                 "too_many_pieces": "left out, too many pieces"}  # fmt: skip
        lines.append(
            "removed: "
            + ", ".join(f"{count:,} {names[name]}" for name, count in facts["by_removal"].items())
            + f"; {facts['removed_characters']:,} characters"
        )
    reference = facts["reference"]
    if reference is not None:
        common = reference["common_ngrams"]
        lines.append(
            f"reference: {counted(reference['items'], 'item')}, {counted(reference['ngrams'], 'distinct n-gram')}"
            + (f", {common:,} of them in too many texts to count" if common else "")
        )
    return "\n".join(lines)
