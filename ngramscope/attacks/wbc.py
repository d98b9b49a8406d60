"""WBC: in how many windows of the text the target does better than the reference."""

from __future__ import annotations

import numpy as np

from ngramscope.attacks.base import Inputs, Needs, Scores, attack
from ngramscope.attacks.numbers import Floats
from ngramscope.attacks.pairing import by_reference
from ngramscope.errors import UsageError

__all__ = ["wbc"]

_ROUNDING = 1e-6
"""Of a token's log-probability, which passes keep in float32."""


@attack(
    "wbc",
    summary="Share of sliding windows in which the target's loss is below the reference's, mean over window sizes.",
    source="Chen et al. 2026 (WBC), arXiv 2601.02751",
    needs=Needs(references=True),
    compat={"paper": {"windows": "2,3,4,5,8,11,15,21,29,40"}},
    undefined="different_tokens",
)
def wbc(inputs: Inputs, *, windows: str = "2,3,4,6,9,13,18,25,32,40") -> Scores:
    """By reference, (N,), 0 to 1: share of windows whose summed loss is lower under the target.

    By more than rounding, that is: passes keep float32. Several references also have their ``average``. Both models must have
    the same tokenizer.

    Parameters
    ----------
    windows
        Sizes in tokens, with commas; one larger than the text is the text. Default: those of the authors' code; the paper's
        formula, ten sizes from 2 to 40 in geometric steps, gives others.
    """
    try:
        sizes = [int(each) for each in str(windows).split(",")]
    except ValueError:
        sizes = [0]
    if min(sizes) < 1:
        raise UsageError(f"wbc.windows: {windows!r} is not possible; whole numbers from 1, with commas")

    def share(ours: Floats, theirs: Floats, _: slice) -> float:
        gain = ours - theirs
        windows_of = (np.lib.stride_tricks.sliding_window_view(gain, min(size, len(gain))) for size in sizes)
        return float(np.mean([np.mean(each.mean(axis=-1) > _ROUNDING) for each in windows_of]))

    return by_reference(inputs, "wbc", share)
