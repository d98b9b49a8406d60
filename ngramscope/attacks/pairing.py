"""One text under two models or in two contexts: which of its tokens can be compared, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ngramscope.attacks.base import Inputs, MissingPassError
from ngramscope.attacks.numbers import Floats, mean_log_prob
from ngramscope.errors import UsageError
from ngramscope.models.stats import TokenStats
from ngramscope.models.store import StoredPass

__all__ = ["by_reference", "common_means", "likelihoods", "same_tokenizer", "token_pairs", "with_average"]


def same_tokenizer(a: StoredPass, b: StoredPass) -> bool:
    """Whether both models are known to have one tokenizer, by its digest."""
    return a.tokenizer is not None and a.tokenizer == b.tokenizer


def token_pairs(a: TokenStats, b: TokenStats) -> Iterator[tuple[slice, slice]]:
    """Where, text by text, both have the same tokens: slices into the flat arrays.

    One of them may have scored more tokens at the front (after a prefix or a start token): these are left out. The slices are
    empty where the tokens differ.
    """
    bounds = zip(a.offsets[:-1].tolist(), a.offsets[1:].tolist(), b.offsets[:-1].tolist(), b.offsets[1:].tolist(), strict=True)
    for a_start, a_end, b_start, b_end in bounds:
        common = min(a_end - a_start, b_end - b_start)
        pair = slice(a_end - common, a_end), slice(b_end - common, b_end)
        same = np.array_equal(a["token_id"][pair[0]], b["token_id"][pair[1]])
        yield pair if same else (slice(0, 0), slice(0, 0))


def likelihoods(target: StoredPass, reference: StoredPass, tokenizers: str) -> tuple[Floats, Floats]:
    """(N,) twice: the log-likelihood of each text under both models, per unit of the same text.

    With one tokenizer: per token that both have scored. Otherwise: all scored tokens together, per byte of the text; NaN where
    the models did not see the same bytes (one of them had to cut the text).

    Parameters
    ----------
    tokenizers
        ``per-byte``; or ``refuse``: raise where the tokenizers differ.

    Raises
    ------
    UsageError
        They differ, and that is to be refused.
    """
    a, b = target.stats, reference.stats
    if same_tokenizer(target, reference):
        return common_means(a, b)
    if tokenizers == "refuse":
        raise UsageError(
            f"{reference.model} has another tokenizer than {target.model}, or it is not known; take a reference of the same "
            "family, or compare likelihoods per byte (tokenizers=per-byte)"
        )
    same = a.text_bytes == b.text_bytes
    return _per_byte(a, same), _per_byte(b, same)


def common_means(a: TokenStats, b: TokenStats) -> tuple[Floats, Floats]:
    """(M,) twice: mean log-probability over the tokens of each text that both have; NaN where there is none."""
    means = np.full((2, len(a)), np.nan)
    for row, (ours, theirs) in enumerate(token_pairs(a, b)):
        if ours.stop > ours.start:
            means[:, row] = a["log_prob"][ours].mean(dtype=np.float64), b["log_prob"][theirs].mean(dtype=np.float64)
    return means[0], means[1]


def by_reference(inputs: Inputs, attack: str, score: Callable[[Floats, Floats, slice], float]) -> dict[str, Floats]:
    """By reference, (N,): ``score(ours, theirs, where)`` of each text.

    `ours` and `theirs` are the log-probabilities of the same tokens under the target and under that reference, `where` these
    tokens in the target's columns. Several references also have their ``average``. NaN for a text that both models do not cut
    into the same tokens. References with another tokenizer are left out.

    Raises
    ------
    MissingPassError
        There is no reference with the tokenizer of the target.
    """
    target = inputs.stored()
    columns = {}
    fitting = [each for each in inputs.references() if same_tokenizer(target, each)]
    if not fitting:
        raise MissingPassError(
            f"attack {attack}: compares tokens one by one, and no reference is known to have the tokenizer of {target.model}; "
            "score a reference of the same family"
        )
    for reference in fitting:
        ours, theirs = (each.stats["log_prob"].astype(np.float64) for each in (target, reference))
        pairs = token_pairs(target.stats, reference.stats)
        columns[reference.model] = np.array([score(ours[a], theirs[b], a) if a.stop > a.start else np.nan for a, b in pairs])
    return with_average(columns)


def with_average(columns: dict[str, Floats]) -> dict[str, Floats]:
    """The columns and, of several, their mean: NaN where one of them is, so that it is the same average everywhere."""
    return {**columns, "average": np.mean(list(columns.values()), axis=0)} if len(columns) > 1 else columns


def _per_byte(stats: TokenStats, where: NDArray[np.bool_]) -> Floats:
    sums = mean_log_prob(stats) * stats.lengths
    out: Floats = np.divide(sums, stats.text_bytes, out=np.full(len(stats), np.nan), where=where & (stats.text_bytes > 0))
    return out
