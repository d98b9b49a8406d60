"""Token statistics of texts under a language model, as flat arrays: what every attack is a function of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DEFAULT_STATISTICS", "STATISTICS", "MissingStatisticError", "TokenStats"]

STATISTICS = {
    "token_id": np.int32,
    "log_prob": np.float32,
    "mu": np.float32,
    "sigma": np.float32,
    "rank": np.int32,
    "top1_log_prob": np.float32,
    "logsumexp": np.float32,
    "flat_mu": np.float32,
    "flat_sigma": np.float32,
}
"""Per scored token: its id; its log-probability; mean and standard deviation of the log-probability over the vocabulary,
weighted by probability; how many tokens are more likely (0: none); the highest log-probability; log-sum-exp of the logits.
Natural logarithms, from logits in float32. ``sigma`` is the root of the variance, 0 where cancellation made that negative.
The entropy is ``-mu``, and not kept twice. ``flat_mu`` and ``flat_sigma`` are mean and standard deviation with equal weights
(ddof 1): what one public toolkit divides by in its Min-K%++; kept only if asked for."""

DEFAULT_STATISTICS = tuple(name for name in STATISTICS if not name.startswith("flat_"))
"""What a pass keeps if nothing else is asked for."""


class MissingStatisticError(KeyError):
    """A pass has not kept a statistic; its argument is the name."""


@dataclass(frozen=True)
class TokenStats:
    """Statistics of M texts with T scored tokens in all, in order of candidate and variant.

    A pass has one text a candidate, or several variants of it (neighbours). A text without a scored token has an empty range
    and a reason.

    Attributes
    ----------
    rows
        (M,) int64: number of the candidate in its set, from 0.
    variants
        (M,) int32: number of the variant of that candidate, from 0.
    offsets
        (M + 1,) int64: the tokens of text i are ``offsets[i]:offsets[i + 1]``.
    columns
        By name of `STATISTICS`, (T,) each; passes over variants may leave some out, further ones may be added.
    head
        M arrays of int32: the tokens before the first that is scored: a start token or the text's own first.
    tokens_total
        (M,) int64: tokens of the whole text, scored or not, without a start token; more than were seen if it was cut.
    text_bytes, zlib_bytes
        (M,) int64: UTF-8 bytes of exactly the text that was seen, and of these compressed by zlib at level 6.
    truncated
        (M,) bool: whether the text was cut to fit the model.
    null_reasons
        M codes of why there is no scored token, or None.
    scalars
        By name, (M,) float64: what a pass measures of a whole text, as gradient norms.
    """

    rows: NDArray[np.int64]
    variants: NDArray[np.int32]
    offsets: NDArray[np.int64]
    columns: dict[str, NDArray[Any]]
    head: Sequence[NDArray[np.int32]]
    tokens_total: NDArray[np.int64]
    text_bytes: NDArray[np.int64]
    zlib_bytes: NDArray[np.int64]
    truncated: NDArray[np.bool_]
    null_reasons: Sequence[str | None]
    scalars: dict[str, NDArray[np.float64]]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """(M,): scored tokens of each text."""
        return np.diff(self.offsets)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The column `name`, (T,), or ``entropy``.

        Raises
        ------
        MissingStatisticError
            The pass has not kept it.
        """
        try:
            return -self.columns["mu"] if name == "entropy" else self.columns[name]
        except KeyError as error:
            raise MissingStatisticError(*error.args) from None

    def each(self, name: str) -> Iterator[NDArray[Any]]:
        """The column `name`, text by text; views."""
        column = self[name]
        for start, end in zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True):
            yield column[start:end]

    def means(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """(M,): mean over each text's tokens of `values` (T,), in float64; NaN for a text without tokens."""
        values = np.asarray(values, dtype=np.float64)
        lengths = self.lengths
        out = np.full(len(self), np.nan)
        filled = lengths > 0
        if filled.any():
            # Empty ranges are left out: reduceat would give them the next text's first value.
            out[filled] = np.add.reduceat(values, self.offsets[:-1][filled]) / lengths[filled]
        return out

    def per_text(self, function: Callable[[NDArray[Any]], float], values: NDArray[Any] | None = None) -> NDArray[np.float64]:
        """(M,): `function` of each text's `values` (T,; default: log-probabilities), in float64; NaN for one without tokens."""
        column = np.asarray(self["log_prob"] if values is None else values, dtype=np.float64)
        bounds = zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True)
        return np.array([function(column[start:end]) if end > start else np.nan for start, end in bounds], dtype=np.float64)

    def by_candidate(self, values: NDArray[np.float64], candidates: int) -> NDArray[np.float64]:
        """(candidates,): mean over each candidate's variants of `values` (M,); NaN variants do not count, NaN if all are."""
        valid = ~np.isnan(values)
        sums = np.bincount(self.rows[valid], values[valid], minlength=candidates)
        counts = np.bincount(self.rows[valid], minlength=candidates)
        out: NDArray[np.float64] = np.divide(sums, counts, out=np.full(candidates, np.nan), where=counts > 0)
        return out
