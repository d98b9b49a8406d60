"""The jump of a curve at 0 by local polynomials, with a triangular kernel and robust standard errors.

Hahn, Todd and van der Klaauw (2001); bandwidth of Imbens and Kalyanaraman (2012); intervals that allow for the curve's bend of
Calonico, Cattaneo and Titiunik (2014), whose bias correction with one bandwidth is a local polynomial of one degree more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ngramscope.evaluate.auc import Floats, Mask
from ngramscope.evaluate.groups import Ints

__all__ = ["LEAST", "Jump", "Smoother", "bandwidth", "jump", "smoother"]

LEAST = 20
"""Documents with a weight that each side needs."""

_DISTINCT = 4
_TRIANGULAR = 3.4375  # C_K of Imbens and Kalyanaraman for this kernel at a boundary
_PILOT = 3.5567  # their constant for the second derivatives
_NORMAL = NormalDist()


@dataclass(frozen=True, eq=False)
class Smoother:
    """The jump as a weighted sum of the values.

    Attributes
    ----------
    weights
        (N,): value just before 0 less value just after it is ``weights @ values``; 0 outside the bandwidth.
    design
        (N, p + 1) powers of the distance in bandwidths.
    kernel
        (N,).
    before
        (N,): whether the distance is negative.
    """

    weights: Floats
    design: Floats
    kernel: Floats
    before: Mask

    def estimate(self, values: Floats, unit: Ints | None = None) -> tuple[float, float]:
        """The jump of `values` (N,) and its standard error: HC3, or of units (N,) the sum of these within each."""
        moved = np.zeros(len(values))
        for side in (self.before, ~self.before):
            rows = np.flatnonzero(side & (self.kernel > 0))
            x, w = self.design[rows], self.kernel[rows]
            inverse = np.linalg.inv(x.T @ (w[:, None] * x))
            residual = values[rows] - x @ (inverse @ (x.T @ (w * values[rows])))
            leverage = w * np.einsum("ij,jk,ik->i", x, inverse, x)
            moved[rows] = self.weights[rows] * residual / np.maximum(1 - leverage, 1e-6)
        if unit is None:
            variance = float(moved @ moved)
        else:
            used = self.kernel > 0
            count = len(np.unique(unit[used]))
            sums = np.bincount(unit[used], moved[used])
            variance = float(sums @ sums) * count / max(1, count - 1)
        return float(self.weights @ values), math.sqrt(variance)


def smoother(distance: Floats, width: float, degree: int = 1) -> Smoother | None:
    """Of distances (N,), members' negative; None if a side has too few documents, or too few distances, within `width`."""
    kernel = np.maximum(0.0, 1 - np.abs(distance / width))
    # By what there is, so that it can be solved whatever the width.
    scale = min(width, max(np.abs(distance).max(initial=0), np.finfo(float).tiny))
    design = (distance / scale)[:, None] ** np.arange(degree + 1)
    before = distance < 0
    weights = np.zeros(len(distance))
    for side, sign in ((before, 1.0), (~before, -1.0)):
        rows = np.flatnonzero(side & (kernel > 0))
        if len(rows) < LEAST or len(np.unique(distance[rows])) < max(_DISTINCT, degree + 2):
            return None
        x, w = design[rows], kernel[rows]
        weights[rows] = sign * w * (x @ np.linalg.inv(x.T @ (w[:, None] * x))[0])
    return Smoother(weights, design, kernel, before)


@dataclass(frozen=True)
class Jump:
    """A jump at the cutoff: the value just before it less that just after it.

    Attributes
    ----------
    bandwidth
        In days; documents further away have no say.
    n_before, n_after
        Documents with a weight.
    jump, standard_error, interval
        Of the local line.
    robust_jump, robust_interval, p
        Of the local parabola with the same bandwidth: what remains right if the curve bends. `p` is two-sided, of no jump.
    reason
        Why there is none: ``too_few_documents``, ``constant``.
    """

    bandwidth: float | None
    n_before: int
    n_after: int
    jump: float | None = None
    standard_error: float | None = None
    interval: tuple[float, float] | None = None
    robust_jump: float | None = None
    robust_interval: tuple[float, float] | None = None
    p: float | None = None
    reason: str | None = None


def jump(distance: Floats, values: Floats, width: float | None, unit: Ints | None = None, level: float = 0.95) -> Jump:
    """Of finite values (N,) at distances (N,); `width` None as `bandwidth` gives it: too few documents."""
    within = np.zeros(len(distance), bool) if width is None else np.abs(distance) < width
    counts = int((within & (distance < 0)).sum()), int((within & (distance >= 0)).sum())
    line = None if width is None else smoother(distance, width)
    curve = None if width is None else smoother(distance, width, degree=2)
    if line is None or curve is None:
        return Jump(width, *counts, reason="too_few_documents")
    if np.ptp(values[within]) == 0:
        return Jump(width, *counts, jump=0.0, reason="constant")
    (value, error), (robust, robust_error) = line.estimate(values, unit), curve.estimate(values, unit)
    reach = _NORMAL.inv_cdf((1 + level) / 2)
    if not (error > 0 and robust_error > 0):
        return Jump(width, *counts, jump=value, reason="no_residuals")
    return Jump(
        width, *counts, value, error, (value - reach * error, value + reach * error),
        robust, (robust - reach * robust_error, robust + reach * robust_error),
        math.erfc(abs(robust) / robust_error / math.sqrt(2)),
    )  # fmt: skip


def bandwidth(distance: Floats, values: Floats) -> float | None:
    """The bandwidth of least mean squared error, by the rule of Imbens and Kalyanaraman (2012, section 4.2).

    Never wider than the data, nor so narrow that a side has fewer than `LEAST` documents. None if there are not that many.
    """
    n, before = len(distance), distance < 0
    ordered = [np.sort(np.abs(distance[side])) for side in (before, ~before)]
    if min(map(len, ordered)) < LEAST:
        return None
    widest = float(max(each[-1] for each in ordered)) * (1 + 1e-9)
    narrowest: float = float(max(each[LEAST - 1] for each in ordered)) * (1 + 1e-9) + 1e-9
    pilot = 1.84 * float(distance.std(ddof=1)) * n**-0.2
    near = [(np.abs(distance) <= pilot) & side for side in (before, ~before)]
    if min(int(each.sum()) for each in near) < 3:
        return float(max(narrowest, min(pilot, widest)))
    density = sum(int(each.sum()) for each in near) / (2 * n * pilot)
    variances = [float(values[each].var(ddof=1)) for each in near]
    # One cubic with a jump, for the third derivative; in pilot bandwidths, so that powers are of one size.
    design = np.column_stack([~before, (distance / pilot)[:, None] ** np.arange(4)])
    third = 6 * float(np.linalg.lstsq(design, values, rcond=None)[0][4]) / pilot**3
    bends, penalties = [], []
    for side, variance in zip((before, ~before), variances, strict=True):
        wide = _PILOT * (max(variance, 1e-300) / (density * max(third**2, 1e-300))) ** (1 / 7) * int(side.sum()) ** (-1 / 7)
        inside = side & (np.abs(distance) <= wide)
        if len(np.unique(distance[inside])) < _DISTINCT:
            inside = side
        reach = min(wide, float(np.abs(distance[side]).max()))
        curve = np.polyfit(distance[inside], values[inside], 2)
        bends.append(2 * float(curve[0]))
        penalties.append(2160 * variance / (int(inside.sum()) * reach**4))
    scale = density * ((bends[1] - bends[0]) ** 2 + sum(penalties))
    width = _TRIANGULAR * (sum(variances) / scale) ** 0.2 * n**-0.2 if scale > 0 else widest
    return float(max(narrowest, min(width, widest)))
