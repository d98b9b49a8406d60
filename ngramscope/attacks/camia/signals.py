"""Signals of CAMIA that are one line of arithmetic over a text's log-probabilities.

Paper: sections 3-5 and appendices of arXiv 2409.13745. Everywhere `x` is (n,) float64, the natural log-probabilities of the
scored tokens; a text that is too short for a signal gives NaN. Paper and public code differ; `convention` says whose rule
holds. The code's "whole text" leaves out the last token, and where the paper takes losses the code takes log-probabilities.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Convention", "below", "below_mean", "below_previous", "cut", "diversity", "loss", "perplexity", "slope"]

Convention = Literal["paper", "code"]
Floats = NDArray[np.float64]


def cut(values: NDArray[Any], length: int | None, convention: Convention) -> NDArray[Any]:
    """The first `length` values; None: all, in the code all but the last."""
    if length is None:
        return values[:-1] if convention == "code" else values
    return values[:length]


def loss(x: Floats, length: int | None, convention: Convention) -> float:
    """Cut-off loss f_Cut: the mean loss of the first tokens in nats; in the code the mean log-probability."""
    part = cut(x, length, convention)
    if not len(part):
        return np.nan
    mean = float(part.mean())
    return mean if convention == "code" else -mean


def perplexity(x: Floats, length: int | None, convention: Convention) -> float:
    """Cut-off perplexity f_PPL: the exponential of the mean loss of the first tokens."""
    part = cut(x, length, convention)
    return float(np.exp(-part.mean())) if len(part) else np.nan


def below(x: Floats, threshold: float) -> float:
    """Count below a constant f_CB: share of tokens whose loss is at most `threshold` nats."""
    return float(np.mean(x >= -threshold)) if len(x) else np.nan


def below_mean(x: Floats, length: int | None, convention: Convention) -> float:
    """Count below the mean f_CBM: share of the first tokens whose loss is at most the mean loss of the whole text.

    In the code: number of the first tokens whose loss is less than their own mean.
    """
    part = cut(x, length, convention)
    if not len(part):
        return np.nan
    return float(np.sum(part > part.mean())) if convention == "code" else float(np.mean(part >= x.mean()))


def below_previous(x: Floats, length: int | None, convention: Convention) -> float:
    """Count below the mean so far f_CBPM: share of the first tokens whose loss is at most the mean of those before them.

    The paper's mean runs to the token itself, which is the same rule, but counts the first token, always. The code leaves the
    first token out and counts only what is strictly below; it keeps the last token of the whole text.
    """
    part = x[:length]
    before = np.cumsum(part)[:-1] / np.arange(1, len(part))
    if convention == "code":
        return float(np.mean(part[1:] > before)) if len(before) else np.nan
    return float((1 + np.sum(part[1:] >= before)) / len(part)) if len(part) else np.nan


def slope(x: Floats, convention: Convention) -> float:
    """Slope f_Slope of a straight line through the losses, in nats a token; in the code through the log-probabilities."""
    n = len(x)
    if n < 2:
        return np.nan
    steps = np.arange(n) - (n - 1) / 2
    rise = float(steps @ x / (n * (n * n - 1) / 12))
    return rise if convention == "code" else -rise


def diversity(ids: NDArray[np.int32], length: int | None, convention: Convention) -> float:
    """Token diversity: distinct ids over ids, of all tokens of the text, scored or not; `ids` (n,)."""
    part = cut(ids, length, convention)
    return len(np.unique(part)) / len(part) if len(part) else np.nan
