"""How much scores depend on the batch: nothing in float32, something in half precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ngramscope.models.encode import Encoded
from ngramscope.models.forward import Forward
from ngramscope.models.load import LoadedModel

__all__ = ["Drift", "batch_drift"]


@dataclass(frozen=True)
class Drift:
    """How far scores of one text at a time and of many are apart, in nats: rounding of half precision, or of the device.

    Attributes
    ----------
    texts, tokens
        What was compared.
    token_max
        Greatest difference of a token's log-probability.
    text_max
        Greatest difference of a text's mean log-probability.
    """

    texts: int
    tokens: int
    token_max: float
    text_max: float


def batch_drift(loaded: LoadedModel, encoded: Sequence[Encoded]) -> Drift:
    """Score texts one at a time and in batches, and compare; texts without scores do not count.

    Parameters
    ----------
    loaded
        The model.
    encoded
        Some texts of the set, a few dozen; their lengths should differ little, as only then do they share batches.
    """
    alone, together = (dict(Forward(loaded, ("log_prob",), size).run(encoded)) for size in (1, "auto"))
    pairs = [
        (alone[number].columns["log_prob"].astype(np.float64), together[number].columns["log_prob"])
        for number in range(len(encoded))
        if alone[number].null_reason is None and together[number].null_reason is None
    ]
    return Drift(
        texts=len(pairs),
        tokens=sum(len(one) for one, _ in pairs),
        token_max=max((float(np.abs(one - other).max()) for one, other in pairs), default=0.0),
        text_max=max((float(abs(one.mean() - other.mean())) for one, other in pairs), default=0.0),
    )
