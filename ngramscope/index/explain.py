"""How a text becomes words and n-grams, and which of them an index has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ngramscope import _core
from ngramscope.index.options import WordRule
from ngramscope.index.texts import as_decimals

__all__ = ["explain_text"]


def explain_text(text: str, rule: WordRule, lengths: Iterable[int] | Mapping[int, str], *, tiers: int = 1) -> dict[str, Any]:
    """Words and n-grams of `text`.

    Parameters
    ----------
    text
        One document.
    rule
        What a word is.
    lengths
        The n to show; as a mapping, to the flags of `OverlapTable.flags`, which say what an index has.
    tiers
        Of the index.

    Returns
    -------
    dict
        ``words``: list of ``{"text", "start", "end"}``, offsets in code points of `text`.
        ``ngrams``: for each n a list of ``{"text", "start", "end", "hit"}``, hit None without an index; with two tiers also
        ``twice``, whether at least two documents have it.
    """
    if rule.words == "ids":
        as_decimals([text])
    bounds = _core.words(text, rule)
    flags = lengths if isinstance(lengths, Mapping) else dict.fromkeys(lengths, "")
    ngrams: dict[int, list[dict[str, Any]]] = {}
    for n, hits in flags.items():
        windows = zip(bounds, bounds[n - 1 :], strict=False)
        ngrams[n] = [
            {**_piece(text, first[0], last[1]), **_found(hits[number] if hits else None, tiers)}
            for number, (first, last) in enumerate(windows)
        ]
    return {
        "rule": {"words": rule.words, "normalize": rule.normalize, "lowercase": rule.lowercase},
        "words": [_piece(text, start, end) for start, end in bounds],
        "ngrams": ngrams,
    }


def _found(flag: str | None, tiers: int) -> dict[str, bool | None]:
    hit = None if flag is None else flag != "0"
    return {"hit": hit} if tiers == 1 else {"hit": hit, "twice": flag == "2"}


def _piece(text: str, start: int, end: int) -> dict[str, Any]:
    return {"text": text[start:end], "start": start, "end": end}
