"""The 75 signals of CAMIA in their 11 groups, and which way they point.

Tables 8 and 9 of arXiv 2409.13745: cut-off loss, perplexity, both calibrated by token diversity, count below constants, below
the mean, below the mean so far, Lempel-Ziv complexity, token diversity, slope, approximate entropy. Seven groups also as
repetition signals 1 and 2: how much the signal falls when the text stands before itself once, and twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ngramscope.attacks.base import Inputs
from ngramscope.attacks.camia import signals
from ngramscope.attacks.camia.copies import Copies, find_copies
from ngramscope.attacks.camia.entropy import approximate_entropies
from ngramscope.attacks.camia.lempel_ziv import lempel_ziv
from ngramscope.attacks.camia.signals import Convention
from ngramscope.checks import check_choice
from ngramscope.models.stats import TokenStats
from ngramscope.models.store import ScoreStore

__all__ = [
    "CONVENTIONS",
    "DIRECTIONS",
    "GROUPS",
    "REPEATED",
    "SIGNALS",
    "Signal",
    "directions",
    "features",
    "text_signals",
]

CONVENTIONS = ("paper", "code")

DIRECTIONS: Mapping[str, int] = MappingProxyType(
    {
        "loss": -1,
        "ppl": -1,
        "below": 1,
        "lz": -1,
        "diversity": 1,
        "below-mean": 1,
        "cal-loss": -1,
        "cal-ppl": -1,
        "slope": -1,
        "apen": -1,
        "below-previous": 1,
    }
)
"""By group, in order: 1 if members are expected to have higher values, -1 lower. Fixed; never learned from labels.

A model has a lower loss on what it has seen: so lower loss, perplexity and calibrated loss, more tokens below a threshold. A
member's loss falls more steeply, is more regular (approximate entropy) and simpler (Lempel-Ziv). Repeating a text helps less
if it is known: a repetition signal, the value before less the value after, points where its group does. Diversity is a
property of the text, not of the model: it gets the direction in which the calibration uses it, and compositions with these
directions leave it out.
"""

GROUPS = tuple(DIRECTIONS)

REPEATED = ("loss", "ppl", "below", "lz", "below-mean", "cal-loss", "cal-ppl")
"""Groups that have repetition signals."""

_OF_LOG_PROBS = ("loss", "cal-loss", "slope")
"""Groups whose values in the code are of log-probabilities: the other sign."""

_CUTS = {"all": None, "200": 200, "300": 300}
_LONG_CUTS = {"600": 600, "800": 800, "1000": 1000}
_THRESHOLDS = {"1": 1.0, "2": 2.0, "3": 3.0}
_BINS = {"3": 3, "4": 4, "5": 5}
_SHORT = 200
_M, _R = 8, 0.8

_CONFIGURATIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(GROUPS, tuple(_CUTS)),
    "below": tuple(_THRESHOLDS),
    "lz": tuple(_BINS),
    "slope": tuple(_LONG_CUTS),
    "apen": tuple(_LONG_CUTS),
}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Signal:
    """One of the 75.

    Attributes
    ----------
    group
        One of `GROUPS`.
    configuration
        Tokens that it looks at, a threshold in nats, or a number of bins.
    repetition
        0: the signal of the text; 1 and 2: how much it falls at the second and at the third copy.
    """

    group: str
    configuration: str
    repetition: int = 0

    @property
    def name(self) -> str:
        """As ``loss-200`` or ``loss-200-rep1``."""
        return f"{self.group}-{self.configuration}" + (f"-rep{self.repetition}" if self.repetition else "")


SIGNALS: tuple[Signal, ...] = tuple(
    Signal(group, configuration, repetition)
    for group in GROUPS
    for repetition in ((0, 1, 2) if group in REPEATED else (0,))
    for configuration in _CONFIGURATIONS[group]
)


def directions(convention: Convention) -> NDArray[np.int64]:
    """(75,): 1 or -1 for the values that `features` gives under that convention."""
    sign = {group: -1 if convention == "code" and group in _OF_LOG_PROBS else 1 for group in GROUPS}
    return np.array([DIRECTIONS[each.group] * sign[each.group] for each in SIGNALS])


_known: WeakKeyDictionary[ScoreStore, dict[tuple[str, str], Floats]] = WeakKeyDictionary()


def features(inputs: Inputs, convention: Convention) -> Floats:
    """(N, 75): the values of `SIGNALS` for each candidate, as the formula gives them; NaN where undefined.

    They are computed once for a store, model and convention.

    Raises
    ------
    MissingPassError
        The plain or the repeated pass is missing.
    UsageError
        The convention is not known.
    """
    check_choice("convention", convention, CONVENTIONS)
    known = _known.setdefault(inputs.store, {})
    if (found := known.get((inputs.model, convention))) is None:
        plain, repeated = inputs.stats("plain"), inputs.stats("repeated")
        head = own_heads(plain)
        once, again = (zip(each.each("log_prob"), each.each("token_id"), strict=True) for each in (plain, repeated))
        rows = [
            text_signals(
                x.astype(np.float64), ids, x_again.astype(np.float64), ids_again,
                head=plain.head[row] if head else None, convention=convention,
            )
            for row, ((x, ids), (x_again, ids_again)) in enumerate(zip(once, again, strict=True))
        ]  # fmt: skip
        found = known[inputs.model, convention] = np.array(rows).reshape(-1, len(SIGNALS))
    return found


def own_heads(stats: TokenStats) -> bool:
    """Whether the head of a text is its own first token, and not a start token: one rule for a pass."""
    whole = np.flatnonzero(~stats.truncated & (stats.lengths > 0))
    if len(whole):
        return bool(stats.lengths[whole[0]] < stats.tokens_total[whole[0]])
    # All were cut: a start token is the same everywhere.
    return len({tuple(each.tolist()) for each in stats.head}) > 1


def text_signals(
    x: Floats,
    ids: NDArray[np.int32],
    again: Floats,
    again_ids: NDArray[np.int32],
    *,
    head: NDArray[np.int32] | None,
    convention: Convention,
) -> Floats:
    """The values of `SIGNALS` for one text.

    Parameters
    ----------
    x, ids
        (n,): log-probabilities and ids of its scored tokens.
    again, again_ids
        (r,): the same of the text repeated.
    head
        Its own tokens before the first that is scored; None if it has none.
    convention
        ``paper`` or ``code``.

    Returns
    -------
    (75,)
        NaN where the text is too short, a copy was not found, or a value is not finite.
    """
    if not len(x) or not np.isfinite(x).all():
        return np.full(len(SIGNALS), np.nan)
    if not np.isfinite(again).all():
        again, again_ids = again[:0], again_ids[:0]
    own = ids if head is None else np.concatenate([head, ids])
    diversity = np.array([signals.diversity(own, length, convention) for length in _CUTS.values()])
    calibration = diversity if convention == "code" else np.full(3, signals.diversity(own, None, convention))
    blocks = {group: [values] for group, values in _repeatable(x, calibration, convention).items()}
    copies = find_copies(ids, again_ids, convention, own_head=0 if head is None else len(head))
    before, after = _copies_of(x, again, copies, convention)
    first = _repeatable(before, calibration, convention)
    for copy in after:
        for group, values in _repeatable(copy, calibration, convention).items():
            blocks[group].append(first[group] - values)
    blocks["diversity"] = [diversity]
    blocks["slope"], blocks["apen"] = _of_long_texts(x, again, convention)
    blocks["below-previous"] = [np.array([signals.below_previous(x, length, convention) for length in _CUTS.values()])]
    values = np.concatenate([block for group in GROUPS for block in blocks[group]])
    return np.where(np.isfinite(values), values, np.nan)


def _repeatable(x: Floats, calibration: Floats, convention: Convention) -> dict[str, Floats]:
    """The groups of `REPEATED` for one text or copy; `calibration` is its token diversity, (3,)."""
    loss = np.array([signals.loss(x, length, convention) for length in _CUTS.values()])
    perplexity = np.array([signals.perplexity(x, length, convention) for length in _CUTS.values()])
    return {
        "loss": loss,
        "ppl": perplexity,
        "below": np.array([signals.below(x[:_SHORT], threshold) for threshold in _THRESHOLDS.values()]),
        "lz": np.array([lempel_ziv(x[:_SHORT], bins, convention) for bins in _BINS.values()]),
        "below-mean": np.array([signals.below_mean(x, length, convention) for length in _CUTS.values()]),
        "cal-loss": loss / calibration,
        "cal-ppl": perplexity / calibration,
    }


def _copies_of(x: Floats, again: Floats, copies: Copies, convention: Convention) -> tuple[Floats, tuple[Floats, Floats]]:
    """What repetition is compared with, and the second and the third copy; empty where there is none.

    The paper compares with the text itself, the code with the first copy. The same tokens on both sides.
    """
    found = [again[start : start + copies.length] for start in copies.starts]
    found += [x[:0]] * (3 - len(found))
    return (found[0] if convention == "code" else x[copies.start : copies.start + copies.length]), (found[1], found[2])


def _of_long_texts(x: Floats, again: Floats, convention: Convention) -> tuple[list[Floats], list[Floats]]:
    """Slope and approximate entropy, for each of `_LONG_CUTS`: of the text, if it is that long, else of the text repeated.

    The code always takes the text repeated, multiplies r by the standard deviation, and calls the entropy of too few values 0.
    """
    sources = {length: x if convention == "paper" and len(x) >= length else again for length in _LONG_CUTS.values()}
    slopes = [signals.slope(source[:length], convention) for length, source in sources.items()]
    entropies = []
    if convention == "code":
        for length in sources:
            part = again[:length]
            value = approximate_entropies(part, [length], _M, _R * float(part.std()))[0] if len(part) else np.nan
            entropies.append(0.0 if 0 < len(part) <= _M + 1 else abs(value))
    else:
        for source in (x, again):
            lengths = [length for length, each in sources.items() if each is source]
            entropies += approximate_entropies(source, lengths, _M, _R)
    return [np.array(slopes)], [np.array(entropies)]
