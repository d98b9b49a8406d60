"""Norms of the gradient of a text's loss: how far the model would have to move to learn the text."""

from __future__ import annotations

import math

import numpy as np

from ngramscope.errors import UsageError
from ngramscope.models.encode import Encoded
from ngramscope.models.load import LoadedModel
from ngramscope.models.windows import windows

__all__ = ["GRADIENT_NORMS", "gradient_norms"]

_ORDERS = {"1": 1.0, "2": 2.0, "inf": math.inf}

GRADIENT_NORMS = tuple(f"gradient_{aggregate}_{order}" for aggregate in ("mean", "global") for order in _ORDERS)
"""``mean``: mean over the weight tensors of the norm of each (MIMIR); ``global``: one norm of them all."""


def gradient_norms(loaded: LoadedModel, encoded: Encoded) -> dict[str, float]:
    """Norms of the gradient of one text's mean loss by all of the model's weights.

    Parameters
    ----------
    loaded
        The model; its weights are not changed.
    encoded
        The text.

    Returns
    -------
    dict
        By name of `GRADIENT_NORMS`; NaN for a text without a scored token, or if the gradient is not finite.

    Raises
    ------
    UsageError
        A model whose weights have no gradient (8 or 4 bits).
    """
    import torch

    if loaded.quantization in ("8bit", "4bit"):
        raise UsageError(f"{loaded.label}: weights of {loaded.quantization} have no gradient; load it without --quantize")
    if encoded.null_reason is not None:
        return dict.fromkeys(GRADIENT_NORMS, math.nan)
    weights = list(loaded.model.parameters())
    asked = [weight.requires_grad for weight in weights]
    try:
        for weight in weights:
            weight.requires_grad_(True)
        for window in windows(0, encoded, encoded.ids[:0]):
            ids = torch.from_numpy(window.tokens.astype(np.int64)).to(loaded.device).unsqueeze(0)
            logits = loaded.model(input_ids=ids[:, :-1], use_cache=False).logits[0, -window.scored :].float()
            targets = ids[0, -window.scored :].to(logits.device)
            # Sums, so that several windows add up to the mean over the whole text.
            loss = torch.nn.functional.cross_entropy(logits, targets, reduction="sum") / len(encoded.ids)
            loss.backward()  # type: ignore[no-untyped-call]
        gradients = [weight.grad.float() for weight in weights if weight.grad is not None]
        norms = {name: np.array([each.norm(order).item() for each in gradients]) for name, order in _ORDERS.items()}
    finally:
        for weight, before in zip(weights, asked, strict=True):
            weight.grad = None
            weight.requires_grad_(before)
    found = [float(each.mean()) for each in norms.values()]
    found += [float(np.linalg.norm(norms[name], order)) for name, order in _ORDERS.items()]
    return {name: value if math.isfinite(value) else math.nan for name, value in zip(GRADIENT_NORMS, found, strict=True)}
