"""How far the decision on one document can be relied on (Hayes et al. 2025: decisions on single samples are unstable)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask

__all__ = ["Stability", "disagreement", "flagged_by_cuts", "summary"]

UNSTABLE = 0.25
"""A decision is called unstable if this share of others, or more, contradicts it."""


@dataclass(frozen=True)
class Stability:
    """Of decisions on members, or on non-members.

    Attributes
    ----------
    documents
        That were decided on at least twice.
    mean
        Mean rate of disagreement.
    unstable
        Share of documents whose rate is `UNSTABLE` or more.
    flagged_unstable
        The same, of documents that are flagged in at least half of the decisions; None if there are none.
    """

    documents: int
    mean: float
    unstable: float
    flagged_unstable: float | None


def flagged_by_cuts(scores: Floats, cuts: Floats) -> Floats:
    """(N,): share of resamples, cuts of shape (B,), in which a document scores above the cut; NaN without a score."""
    flagged = np.searchsorted(np.sort(cuts), scores, "left") / len(cuts)
    return np.where(np.isnan(scores), np.nan, flagged)


def disagreement(decisions: Floats) -> Floats:
    """(N,): chance that two decisions on a document, made in different runs, contradict each other.

    Parameters
    ----------
    decisions
        (S, N): 1 flagged, 0 not, NaN where a run, a seed or a model did not decide. NaN if fewer than two did.
    """
    made = (~np.isnan(decisions)).sum(axis=0)
    ones = np.nansum(decisions, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(made > 1, 2 * ones * (made - ones) / (made * (made - 1)), np.nan)


def summary(rates: Floats, flagged: Floats, side: Mask) -> Stability | None:
    """Of one side; `rates` of disagreement and shares `flagged`, shapes (N,); None if no document of it has a rate."""
    used = side & ~np.isnan(rates)
    if not used.any():
        return None
    often = used & (flagged >= 0.5)
    return Stability(
        int(used.sum()),
        float(rates[used].mean()),
        float((rates[used] >= UNSTABLE).mean()),
        float((rates[often] >= UNSTABLE).mean()) if often.any() else None,
    )
