"""Min-K%++: Min-K% of log-probabilities that are standardised over the vocabulary."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ngramscope.attacks.base import Inputs, MissingPassError, Scores, attack
from ngramscope.attacks.numbers import K_ROUND, check_number, count_of
from ngramscope.checks import check_choice

__all__ = ["VARIANCE_FLOOR", "min_k_plus_plus", "standardized"]

VARIANCE_FLOOR = 1e-6
"""A variance below this is that of a flat law: what is left of it is cancellation."""

_COUNTED = {"k_round": "floor", "flat": "last"}


@attack(
    "min-k++",
    summary="Min-K% of log-probabilities standardised over the vocabulary.",
    source="Zhang et al. 2025 (Min-K%++)",
    sweep=tuple({"k": round(0.1 * tenths, 1)} for tenths in (1, 3, 4, 5, 6, 7, 8, 9, 10)),
    compat={
        "minkpp": _COUNTED,
        "mimir": _COUNTED,
        "mimir-head": _COUNTED,
        "recall": _COUNTED,
        "dcpdd": _COUNTED,
        "open-unlearning": {"flat": "clamp"},
        "sok": {**_COUNTED, "moments": "unweighted"},
    },
    undefined="flat",
)
def min_k_plus_plus(
    inputs: Inputs, *, k: float = 0.2, k_round: str = "floor-min1", flat: str = "omit", moments: str = "weighted"
) -> Scores:
    """(N,): mean of the share `k` of lowest z = (log p - mu) / sigma.

    Parameters
    ----------
    k, k_round
        As of min-k.
    flat
        What becomes of positions whose law has no spread (variance below 1e-6), where z is undefined. ``omit``: they are left
        out, and do not count in k·n. ``clamp``: the variance is set to 1e-6. ``last``: they count in k·n, but are chosen
        last, and the score is then undefined; so do public implementations, by the way that NaN sorts.
    moments
        mu and sigma are ``weighted`` by probability; or ``unweighted``, as one public implementation has them.

    Raises
    ------
    MissingPassError
        The pass has not kept the unweighted moments.
    """
    check_number("min-k++.k", k, 0, 1)
    check_choice("min-k++.k_round", k_round, K_ROUND)
    check_choice("min-k++.flat", flat, ("omit", "clamp", "last"))
    check_choice("min-k++.moments", moments, ("weighted", "unweighted"))
    stats = inputs.stats()
    mu, sigma = ("mu", "sigma") if moments == "weighted" else ("flat_mu", "flat_sigma")
    if moments == "unweighted" and not {mu, sigma} <= set(stats.columns):
        raise MissingPassError(
            f"attack min-k++: {inputs.stored().path} has not kept {mu} and {sigma}; remove it, and make it again with "
            f"ngramscope score SET --model MODEL --statistic {mu} --statistic {sigma} --out {inputs.store.path}"
        )

    def mean(z: NDArray[np.float64]) -> float:
        ordered = np.sort(z)  # NaN last
        tokens = len(z) if flat == "last" else int(np.count_nonzero(~np.isnan(z)))
        count = count_of(k, tokens, k_round) if tokens else 0
        return float(ordered[:count].mean()) if count else np.nan

    z = standardized(stats["log_prob"], stats[mu], stats[sigma], floor=VARIANCE_FLOOR if flat == "clamp" else None)
    return stats.per_text(mean, z)


def standardized(
    log_prob: NDArray[np.float32], mu: NDArray[np.float32], sigma: NDArray[np.float32], *, floor: float | None = None
) -> NDArray[np.float64]:
    """(T,): (log_prob - mu) / sigma; with a variance of at least `floor`, or NaN where it is below `VARIANCE_FLOOR`."""
    variance = np.square(sigma, dtype=np.float64)
    variance = np.where(variance < VARIANCE_FLOOR, np.nan, variance) if floor is None else np.maximum(variance, floor)
    out: NDArray[np.float64] = (log_prob.astype(np.float64) - mu) / np.sqrt(variance)
    return out
