"""Training of a small causal language model on whole documents, packed as Pythia's were: the same seed gives the same model.

Documents in random order with an end-of-text token after each make one stream a pass, which is cut into rows of ``context + 1``
tokens; a row's first token is not predicted. Attention does not stop between documents.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ngramscope.sets.seeds import draw

IGNORED = -100
_WARM_UP, _LAST_SHARE = 0.05, 0.1
_FASTER = 1.1


@dataclass(frozen=True)
class Packed:
    """All passes of a training run.

    Attributes
    ----------
    rows
        (R, context + 1) int64: tokens; what fills up the last row of a pass is `IGNORED`.
    steps_per_pass
        Steps of each pass; a pass begins with a step of its own.
    batch
        Rows of a step; the last step of a pass may have fewer.
    seen
        For each document, the steps (from 0) at which its last token was seen, ascending; from then on the model knows it.
    """

    rows: list[NDArray[np.int64]]
    steps_per_pass: int
    batch: int
    seen: list[list[int]]


@dataclass
class Losses:
    """Mean loss in nats of each step, and the seconds it all took."""

    steps: list[float] = field(default_factory=list)
    seconds: float = 0.0


def pack(
    documents: Sequence[Sequence[int]], copies: Sequence[int], *, end: int, context: int, batch: int, passes: int, seed: int
) -> Packed:
    """Lay tokens of documents out for training, each so many times a pass, in a new order each pass."""
    copied = [row for row, count in enumerate(copies) for _ in range(count)]
    seen: list[list[int]] = [[] for _ in documents]
    rows = []
    steps = 0
    for number in range(passes):
        order = np.random.default_rng(draw(seed, "order", number)).permutation(copied).tolist()
        stream: list[int] = []
        for row in order:
            stream += [*documents[row], end]
            # The end token of a document may be the first of the next row: what counts is the document's own last one.
            seen[row].append(number * steps + (len(stream) - 2) // (context + 1) // batch)
        filled = math.ceil(len(stream) / (context + 1))
        padded = np.full(filled * (context + 1), IGNORED, dtype=np.int64)
        padded[: len(stream)] = stream
        rows.append(padded.reshape(filled, context + 1))
        steps = math.ceil(filled / batch)
    return Packed(rows, steps, batch, [sorted(each) for each in seen])


def train(
    model: Any, packed: Packed, *, learning_rate: float, after_step: Callable[[int, float], None] = lambda *_: None
) -> Losses:
    """AdamW with Pythia's settings: warm-up, then a cosine down to a tenth; gradients clipped at 1.

    `after_step` is called with the number of steps done and the loss of the last one.
    """
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.01)
    total = packed.steps_per_pass * len(packed.rows)
    losses = Losses()
    started = time.perf_counter()
    model.train()
    for rows in packed.rows:
        for start in range(0, len(rows), packed.batch):
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * _rate(len(losses.steps), total)
            loss = _loss(model, torch.from_numpy(rows[start : start + packed.batch]))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.steps.append(float(loss.detach()))
            after_step(len(losses.steps), losses.steps[-1])
    model.eval()
    losses.seconds = time.perf_counter() - started
    return losses


def faster_threads(model: Any, packed: Packed) -> int:
    """1 or 2: two threads if a step takes clearly less time with them. Results of both differ by rounding."""
    import torch

    rows = torch.from_numpy(packed.rows[0][: packed.batch])
    before = torch.get_num_threads()
    times = {}
    for threads in (1, 2):
        torch.set_num_threads(threads)
        _loss(model, rows).backward()
        started = time.perf_counter()
        for _ in range(2):
            _loss(model, rows).backward()
        times[threads] = time.perf_counter() - started
    model.zero_grad(set_to_none=True)
    torch.set_num_threads(before)
    return 2 if times[1] > _FASTER * times[2] else 1


def _rate(step: int, total: int) -> float:
    """Share of the highest learning rate."""
    warm_up = max(1, round(_WARM_UP * total))
    if step < warm_up:
        return (step + 1) / warm_up
    done = (step - warm_up) / max(1, total - warm_up)
    return _LAST_SHARE + (1 - _LAST_SHARE) * (1 + math.cos(math.pi * done)) / 2


def _loss(model: Any, rows: Any) -> Any:
    from torch.nn.functional import cross_entropy

    inputs = rows[:, :-1].clamp(min=0)  # what fills up is at the end, where nothing that counts can see it
    logits = model(input_ids=inputs, use_cache=False).logits
    return cross_entropy(logits.reshape(-1, logits.shape[-1]), rows[:, 1:].reshape(-1), ignore_index=IGNORED)
