"""Loss, in relation to how well the text can be compressed."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Scores, attack
from ngramscope.attacks.numbers import mean_log_prob, quotient
from ngramscope.checks import check_choice

__all__ = ["zlib"]


@attack(
    "zlib",
    summary="Mean log-probability, divided by the size of the compressed text.",
    source="Carlini et al. 2021, §5.2; Duan et al. 2024, A.4",
    compat={"sok": {"form": "rate"}},
)
def zlib(inputs: Inputs, *, form: str = "bytes") -> Scores:
    """(N,): minus the loss over the zlib size, of exactly the text that was scored.

    Parameters
    ----------
    form
        ``bytes``: over the compressed bytes. ``rate``: over compressed bytes per byte of text, another attack.
        (The implementation of that one divides by characters; for ASCII that is the same.)
    """
    check_choice("zlib.form", form, ("bytes", "rate"))
    stats = inputs.stats()
    size = stats.zlib_bytes.astype(np.float64)
    if form == "rate":
        size = quotient(size, stats.text_bytes.astype(np.float64))
    return quotient(mean_log_prob(stats), size)
