"""From hidden states or logits to statistics per token, a chunk of positions at a time.

The logits of a whole batch are never in memory: positions times vocabulary is what a likelihood needs most of. Statistics are
taken in float32 whatever the model's type is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ngramscope import _core
from ngramscope.errors import UsageError
from ngramscope.models.load import place_of
from ngramscope.models.stats import STATISTICS

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["TokenStatistics", "logit_statistics", "torch_statistics"]

_CHUNK_BYTES = {"cpu": 32 << 20}
_CHUNK_BYTES_ELSEWHERE = 256 << 20
_MOMENTS = {"mu", "sigma"}
_FLAT = {"flat_mu", "flat_sigma"}
_NOTHING = -200.0


def logit_statistics(logits: Tensor, targets: Tensor, names: Sequence[str]) -> dict[str, Tensor]:
    """Statistics of tokens under the distributions that their logits describe.

    On a processor by the compiled core, which reads each row twice; torch's operations walk through it a dozen times, and take
    about six times as long.

    Parameters
    ----------
    logits
        (T, V), float32, natural logarithms up to a constant a row. They may be overwritten.
    targets
        (T,) int64: the tokens, on the same device.
    names
        Which of `STATISTICS`, without ``token_id``.

    Returns
    -------
    dict
        (T,) by name, on that device: float32, ranks int32. Not finite where the logits are not.
    """
    import torch

    if logits.device.type != "cpu":
        return torch_statistics(logits, targets, names)
    columns = _core.logit_statistics(logits.numpy(), targets.numpy(), torch.get_num_threads())
    found = {name: torch.from_numpy(values) for name, values in columns.items()}
    if not _FLAT.isdisjoint(names):
        found |= _flat(logits, found["logsumexp"])
    return {name: found[name] for name in names}


def torch_statistics(logits: Tensor, targets: Tensor, names: Sequence[str]) -> dict[str, Tensor]:
    """As `logit_statistics`, by operations of torch, which every device has; the logits are overwritten."""
    import torch

    wanted = set(names)
    target = logits.gather(1, targets.unsqueeze(1))
    found: dict[str, Tensor] = {}
    if "rank" in wanted:
        found["rank"] = (logits > target).sum(1, dtype=torch.int32)
    top = logits.amax(1, keepdim=True)
    shifted = logits.sub_(top)
    weights = shifted.exp()
    total = weights.sum(1)
    normalizer = total.log()
    found["log_prob"] = target.sub_(top).squeeze(1) - normalizer
    found["top1_log_prob"] = -normalizer
    found["logsumexp"] = top.squeeze(1) + normalizer
    if wanted & _MOMENTS:
        # A logit of minus infinity would make 0 x infinity; exp() of this is 0 in float32 all the same.
        weighted = weights.mul_(shifted.clamp_(min=_NOTHING))
        first = weighted.sum(1) / total
        # Of log-probabilities less their greatest: of these, cancellation takes little.
        second = torch.linalg.vecdot(weighted, shifted) / total
        found["mu"] = first - normalizer
        found["sigma"] = second.sub_(first.square()).clamp_(min=0).sqrt_()
    if wanted & _FLAT:
        found |= _flat(shifted, normalizer)
    return {name: found[name] for name in names}


def _flat(logits: Tensor, normalizer: Tensor) -> dict[str, Tensor]:
    return {"flat_mu": logits.mean(1) - normalizer, "flat_sigma": logits.std(1)}


class TokenStatistics:
    """Statistics of the tokens that a model's outputs are about.

    Attributes
    ----------
    body
        What to call for outputs: the model without its head where the head is a linear layer (scaled or capped by a setting
        that is known), which is found out by trying; else the model itself.
    linear
        Whether that is so.

    Parameters
    ----------
    model
        A causal language model of `transformers`.
    names
        Which of `STATISTICS`.

    Raises
    ------
    UsageError
        A name that is not known.
    """

    def __init__(self, model: Any, names: Sequence[str]) -> None:
        unknown = sorted(set(names) - set(STATISTICS))
        if unknown:
            raise UsageError(f"{unknown[0]}: no statistic of tokens; there are {', '.join(STATISTICS)}")
        self.names = tuple(name for name in names if name != "token_id")
        self._head = model.get_output_embeddings()
        self._size = int(model.config.get_text_config().vocab_size if self._head is None else self._head.weight.shape[0])
        self._finish = self._linear_head(model)
        self.linear = self._finish is not None
        self.body = model.base_model if self.linear else model
        self._memory: Tensor | None = None

    def of(self, output: Any, places: Tensor, targets: Tensor) -> dict[str, NDArray[Any]]:
        """Statistics of some positions of a batch.

        Parameters
        ----------
        output
            What `body` returned.
        places
            (T,) int64: positions, as row x width + column.
        targets
            (T,) int64: the token that follows each.

        Returns
        -------
        dict
            (T,) by name, of the types of `STATISTICS`.
        """
        import torch

        states = output.last_hidden_state if self.linear else output.logits
        flat = states.reshape(-1, states.shape[-1]).index_select(0, places.to(states.device))
        parts: list[dict[str, Tensor]] = []
        step = self.chunk(flat.device.type)
        for start in range(0, len(flat), step):
            logits = self._logits(flat[start : start + step])
            parts.append(logit_statistics(logits, targets[start : start + step].to(logits.device), self.names))
        return {
            name: np.asarray(torch.cat([part[name] for part in parts]).cpu().numpy(), dtype=STATISTICS[name])
            for name in self.names
        }

    def chunk(self, device: str) -> int:
        """Positions whose logits are in memory at once."""
        size = _CHUNK_BYTES.get(device, _CHUNK_BYTES_ELSEWHERE)
        return max(8, size // (4 * self.vocabulary))

    @property
    def vocabulary(self) -> int:
        """Logits a position has."""
        return self._size

    def _logits(self, states: Tensor) -> Tensor:
        import torch

        if self._finish is None:
            return states.to(torch.float32, copy=True)
        head = self._head
        plain = type(head) is torch.nn.Linear and head.weight.device.type == "cpu" and not hasattr(head, "_hf_hook")
        if plain and states.device.type == "cpu" and states.dtype == torch.float32:
            # It stays: memory of this size is else given back and asked for anew every time.
            if self._memory is None or len(self._memory) < len(states):
                self._memory = states.new_empty(len(states), self.vocabulary)
            logits = self._memory[: len(states)]
            torch.mm(states, head.weight.t(), out=logits)
            if head.bias is not None:
                logits.add_(head.bias)
        else:
            logits = self._apply(states)
        return self._finish(logits)

    def _linear_head(self, model: Any) -> Callable[[Tensor], Tensor] | None:
        """What the model does to its head's logits, if that is one of a few known things: tried on a few tokens."""
        import torch

        if self._head is None or model.base_model is model:
            return None
        config = model.config.get_text_config()
        cap = getattr(config, "final_logit_softcapping", None)
        times = getattr(config, "logit_scale", None)
        over = getattr(config, "logits_scaling", None)
        tries: list[Callable[[Tensor], Tensor]] = [lambda logits: logits]
        if cap:
            tries.append(lambda logits: logits.div_(cap).tanh_().mul_(cap))
        if times:
            tries.append(lambda logits: logits.mul_(times))
        if over:
            tries.append(lambda logits: logits.div_(over))
        with torch.inference_mode():
            embeddings = model.get_input_embeddings()
            ids = torch.arange(8, device=place_of(embeddings)).unsqueeze(0) % len(embeddings.weight)
            own = model(input_ids=ids, use_cache=False).logits.float()
            states = getattr(model.base_model(input_ids=ids, use_cache=False), "last_hidden_state", None)
            if states is None or states.shape[-1] != self._head.weight.shape[-1]:
                return None
            found = [finish(self._apply(states)).to(own.device) for finish in tries]
        if found[0].shape != own.shape:
            return None
        # The nearest: where logits are small, a cap changes hardly more than rounding does.
        errors = [float((logits - own).nan_to_num(0, 0, 0).abs().max()) for logits in found]
        best = min(range(len(tries)), key=lambda number: errors[number])
        near = math.sqrt(torch.finfo(model.dtype).eps)
        return tries[best] if torch.allclose(found[best], own, near, near, equal_nan=True) else None

    def _apply(self, states: Tensor) -> Tensor:
        logits: Tensor = self._head(states.to(place_of(self._head))).float()
        return logits
