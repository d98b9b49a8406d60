"""Gap-K%: how far the text's tokens are from what the model would have taken."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Scores, attack
from ngramscope.attacks.numbers import Floats, check_number, count_of
from ngramscope.checks import check_integer

__all__ = ["gap_k"]


@attack(
    "gap-k",
    summary="Lowest k % of the standardised gap to the most likely token, smoothed over a sliding window.",
    source="Kwak and Kim 2026 (Gap-K%), arXiv 2601.19936, and the authors' code",
)
def gap_k(inputs: Inputs, *, k: float = 0.2, window: int = 3, variance_floor: float = 1e-8) -> Scores:
    """(N,): mean of the share `k` of lowest g = (log p(token) - max log p) / sigma, after a moving average.

    Parameters
    ----------
    k
        Share of the averages, rounded down, at least one.
    window
        Tokens in a moving average (whole windows only); a text shorter than that is not smoothed.
    variance_floor
        The variance over the vocabulary is at least this, as in the authors' code.
    """
    check_number("gap-k.k", k, 0, 1)
    check_integer("gap-k.window", window, 1, 1 << 31)
    check_number("gap-k.variance_floor", variance_floor, 0)
    stats = inputs.stats()
    spread = np.sqrt(np.maximum(np.square(stats["sigma"], dtype=np.float64), variance_floor))
    gap = (stats["log_prob"].astype(np.float64) - stats["top1_log_prob"]) / spread

    def lowest(gaps: Floats) -> float:
        if len(gaps) >= window:
            gaps = np.lib.stride_tricks.sliding_window_view(gaps, window).mean(axis=-1)
        return float(np.sort(gaps)[: count_of(k, len(gaps))].mean())

    return stats.per_text(lowest, gap)
