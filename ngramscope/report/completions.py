"""Completions as a page for people to read: the likest first, the longest run in common marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ngramscope.report.html import page

__all__ = ["completions_page"]


def completions_page(header: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], *, each: int = 3) -> str:
    """One HTML page.

    Parameters
    ----------
    header, rows
        As `ngramscope.evaluate.setlevel.completions.write_completions` gives them.
    each
        Completions of a text that are shown, those with the longest runs.
    """
    texts: dict[Any, list[Mapping[str, Any]]] = {}
    for row in rows:
        texts.setdefault((str(row["id"]), row["prompt"]), []).append(row)
    ordered = sorted(texts.values(), key=lambda own: -max(row["longest_run"] for row in own))
    counts, settings = header["counts"], header["settings"]
    body = [
        f"<h1>Completions by {escape(str(header['model']['label']))}</h1>",
        f'<p class="note">{counts["completed"]:,} texts, {settings["samples"]} completions each, of the first '
        f"{settings['prompt_words']} words. Shown are the {each} with the longest run of words in common with the text's own "
        "continuation; the run is marked. A long run is associated with having seen the text, or one that quotes it; "
        "common phrases make short ones.</p>",
    ]
    for own in ordered:
        best = sorted(own, key=lambda row: (-row["longest_run"], -(row["rouge_l"] or 0.0), row["sample"]))[:each]
        body.append(f"<h2>{escape(str(own[0]['id']))}</h2>")
        body.append(f"<details><summary>prompt</summary><p>{escape(own[0]['prompt'])}</p></details>")
        body.append(f"<p><strong>the text goes on:</strong> {escape(_longest(best))}</p>")
        for row in best:
            rouge = "-" if row["rouge_l"] is None else f"{row['rouge_l']:.3f}"
            facts = f"sample {row['sample']}: longest run {row['longest_run']} words, ROUGE-L {rouge}"
            body.append(f'<p><span class="note">{facts}</span><br>{_marked(row["completion"], row["run"])}</p>')
    return page(f"Completions by {header['model']['label']}", body)


def _longest(rows: Sequence[Mapping[str, Any]]) -> str:
    return str(max((row["reference"] for row in rows), key=len)).strip()


def _marked(text: str, run: str) -> str:
    before, found, after = text.partition(run) if run else (text, "", "")
    return f"{escape(before)}<mark>{escape(found)}</mark>{escape(after)}" if found else escape(text)
