"""What several attacks compute with: mean log-probabilities, the k % of a text's tokens, quotients, options' values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import UsageError
from ngramscope.models.stats import TokenStats

__all__ = ["K_ROUND", "check_number", "count_of", "mean_log_prob", "quotient"]

Floats = NDArray[np.float64]

_ROUNDING: dict[str, Callable[[float], int]] = {
    "floor-min1": lambda count: max(1, math.floor(count)),
    "floor": math.floor,
    "ceil": math.ceil,
}

K_ROUND = tuple(_ROUNDING)
"""How the number of tokens that a share stands for is rounded."""


def mean_log_prob(stats: TokenStats) -> Floats:
    """(M,): mean log-probability of each text's scored tokens, in nats; NaN for a text without any."""
    return stats.means(stats["log_prob"])


def count_of(share: float, tokens: int, k_round: str = "floor-min1") -> int:
    """How many of `tokens` a share stands for: rounded down, but at least one; ``floor`` may give none, ``ceil`` rounds up."""
    # 0.29 * 100 is 28.999999999999996: the last digits of a product are not the user's.
    return _ROUNDING[k_round](round(share * tokens, 9))


def quotient(numerator: Floats, denominator: Floats) -> Floats:
    """(N,): `numerator` / `denominator`; NaN where the denominator is 0."""
    out: Floats = np.divide(numerator, denominator, out=np.full(len(numerator), np.nan), where=denominator != 0)
    return out


def check_number(option: str, value: Any, low: float, high: float = math.inf) -> None:
    """A finite number above `low` and at most `high`.

    Raises
    ------
    UsageError
        It is none.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not low < value <= high:
        raise UsageError(
            f"{option}: {value!r} is not possible; a number above {low:g}{f' and at most {high:g}' * (high < math.inf)}"
        )
