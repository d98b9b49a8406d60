"""Are there more documents just before the cutoff than just after it? (McCrary 2008)"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ngramscope.evaluate.auc import Floats

__all__ = ["Density", "density_test"]

LEAST = 40
"""Documents on each side, at least."""

_AUTOMATIC = 3.348  # his kappa for the triangular kernel
_VARIANCE = 24 / 5


@dataclass(frozen=True)
class Density:
    """The jump of the density of documents.

    Attributes
    ----------
    log_ratio
        Logarithm of the density just before the cutoff over that just after it.
    standard_error, p
        Of it; two-sided, of none.
    bin, bandwidth
        In days.
    reason
        Why there is none.
    """

    log_ratio: float | None
    standard_error: float | None
    p: float | None
    bin: float | None
    bandwidth: float | None
    reason: str | None = None


def density_test(distance: Floats) -> Density:
    """Of distances (N,); bins are whole multiples of the smallest step between them where these are few, as days."""
    n, before = len(distance), distance < 0
    if min(int(before.sum()), int((~before).sum())) < LEAST:
        return Density(None, None, None, None, None, "too_few_documents")
    size = _bin(distance)
    # The cutoff is the border of two bins; the outermost, which may be filled in part only, are left out.
    number = np.floor(distance / size).astype(np.int64)
    counts = np.bincount(number - number.min())[1:-1]
    centres = (np.arange(number.min() + 1, number.max()) + 0.5) * size
    heights = counts / (n * size)
    sides = [centres < 0, centres > 0]
    if min(int(side.sum()) for side in sides) < 6:
        return Density(None, None, None, size, None, "too_few_bins")
    width = sum(_width(centres[side], heights[side]) for side in sides) / 2
    width = max(width, 5 * size)
    at_cutoff = [_at_zero(centres[side], heights[side], width) for side in sides]
    if min(at_cutoff) <= 0:
        return Density(None, None, None, size, width, "no_density_at_the_cutoff")
    error = math.sqrt(_VARIANCE * sum(1 / each for each in at_cutoff) / (n * width))
    ratio = math.log(at_cutoff[0] / at_cutoff[1])
    return Density(ratio, error, math.erfc(abs(ratio) / error / math.sqrt(2)), size, width)


def _bin(distance: Floats) -> float:
    size = 2 * float(distance.std(ddof=1)) / math.sqrt(len(distance))
    different = np.unique(distance)
    step = float(np.diff(different).min()) if len(different) < len(distance) else 0.0
    return max(1, round(size / step)) * step if step > 0 else size


def _width(x: Floats, y: Floats) -> float:
    """His rule of thumb, from a polynomial of degree 4 on one side."""
    scale = float(np.abs(x).max())
    curve = np.polynomial.Polynomial.fit(x, y, 4)
    residual = y - curve(x)
    variance = float(residual @ residual) / max(1, len(x) - 5)
    bend = float(np.sum(curve.deriv(2)(x) ** 2))
    return scale if bend <= 0 else min(scale, _AUTOMATIC * (variance * scale / bend) ** 0.2)


def _at_zero(x: Floats, y: Floats, width: float) -> float:
    """A local line at 0."""
    kernel = np.maximum(0.0, 1 - np.abs(x) / width)
    design = np.column_stack([np.ones(len(x)), x])
    found = np.linalg.lstsq(np.sqrt(kernel)[:, None] * design, np.sqrt(kernel) * y, rcond=None)[0]
    return float(found[0])
