"""DC-PDD: probabilities under the model, against how frequent the tokens are in a corpus."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ngramscope.attacks.base import Inputs, MissingPassError, Needs, Scores, attack
from ngramscope.attacks.numbers import check_number
from ngramscope.checks import check_choice
from ngramscope.errors import UsageError
from ngramscope.models.stats import TokenStats

__all__ = ["dc_pdd"]


@attack(
    "dc-pdd",
    summary="Mean over first occurrences of p(token) log(1/frequency), each at most a.",
    source="Zhang et al. 2024 (DC-PDD)",
    needs=Needs(token_counts=True),
    compat={
        "mimir": {"first": "required"},
        "mimir-head": {"first": "required"},
        "fastmia": "it takes counts for frequencies, so that its logarithms have the wrong sign",
    },
    undefined="no_token",
)
def dc_pdd(inputs: Inputs, *, a: float = 0.01, first: str = "as-scored") -> Scores:
    """(N,): mean of min(a, p log(1/q)) over the tokens that come for the first time in the text.

    p is the model's probability, q = (count + 1) / (total + V) the token's smoothed frequency in a corpus
    (``ngramscope token-counts``). Occurrences count among the tokens that are used.

    Parameters
    ----------
    a
        Upper limit of a token's value, above 0.
    first
        The text's first token. ``as-scored``: used if the pass scored it (after a start token). ``drop``: never used.
        ``required``: an error if the pass did not score it.

    Raises
    ------
    UsageError
        A token of the texts has no count.
    """
    check_number("dc-pdd.a", a, 0)
    check_choice("dc-pdd.first", first, ("as-scored", "drop", "required"))
    if inputs.token_counts is None:
        raise MissingPassError(
            "attack dc-pdd: needs the token counts of a corpus: --token-counts FILE; ngramscope token-counts makes it"
        )
    stats = inputs.stats()
    text, token, log_prob = _used(stats, inputs, first)
    counts = inputs.token_counts
    if len(token) and token.max() >= len(counts):
        raise UsageError(
            f"attack dc-pdd: token {token.max()} of the texts has no count, there are {len(counts)}: the counts are of another "
            "tokenizer; make them with the model's own"
        )
    # Of equal pairs, `unique` gives the first.
    _, new = np.unique(text * len(counts) + token, return_index=True)
    surprise = np.log(counts.sum() + len(counts)) - np.log(counts[token[new]] + 1.0)
    values = np.minimum(np.exp(log_prob[new]) * surprise, a)
    sums, used = (np.bincount(text[new], weights, minlength=len(stats)) for weights in (values, None))
    out: NDArray[np.float64] = np.divide(sums, used, out=np.full(len(stats), np.nan), where=used > 0)
    return out


def _used(stats: TokenStats, inputs: Inputs, first: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """(T',) each: text, id and log-probability of the tokens that are used."""
    lengths = stats.lengths
    whole = (lengths > 0) & ~stats.truncated
    scored = bool(whole.any()) and bool((lengths == stats.tokens_total)[whole].all())
    if first == "required" and not scored:
        raise MissingPassError(
            f"attack dc-pdd: first=required, but {inputs.stored().path.name} has not scored it; score with a start token"
        )
    keep = np.ones(len(stats["token_id"]), dtype=bool)
    if first == "drop" and scored:
        keep[stats.offsets[:-1][lengths > 0]] = False
    text = np.repeat(np.arange(len(stats)), lengths)
    return text[keep], stats["token_id"][keep].astype(np.int64), stats["log_prob"][keep].astype(np.float64)
