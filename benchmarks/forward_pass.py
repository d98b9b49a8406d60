"""Three ways to have a model read texts, timed side by side; run under the interpreter that has ngramscope.

    python forward_pass.py DATA smollm2|neox TEXTS SLICES

The bare batched forward pass (hidden states and logits, nothing else, the best of some batch sizes); the pass of `score`, with
tokenising and every statistic; and the loop of public toolkits: one text at a time, softmax and log-softmax over all logits.
Each slice of the texts goes through all three before the next. Prints what it found as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import language_models
import torch

from ngramscope.models.encode import Encoder
from ngramscope.models.forward import Forward, TextStats
from ngramscope.models.load import LoadedModel
from ngramscope.models.threads import pick_threads

BATCHES = (4, 8, 16, 32, 64, 128)
Ids = list[int]


def finish(device: torch.device) -> None:
    """Wait for a card, which works on its own."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def timed(device: torch.device, work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result; `cpu_timed` tells processor seconds too."""
    seconds, _, found = cpu_timed(device, work)
    return seconds, found


def cpu_timed(device: torch.device, work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall seconds, processor seconds (which others on the machine disturb less), result."""
    finish(device)
    started, cpu = time.perf_counter(), time.process_time()
    found = work()
    finish(device)
    return time.perf_counter() - started, time.process_time() - cpu, found


@torch.inference_mode()
def bare(loaded: LoadedModel, texts: Sequence[Ids], batch: int, *, masked: bool) -> None:
    """Padded batches of texts of like lengths, through the model; logits are made and dropped."""
    ordered = sorted(texts, key=len, reverse=True)
    for start in range(0, len(ordered), batch):
        part = ordered[start : start + batch]
        width = len(part[0])
        ids = torch.tensor([ids + [0] * (width - len(ids)) for ids in part], device=loaded.device)
        mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids in part], device=loaded.device)
        loaded.model(input_ids=ids, attention_mask=mask if masked else None, use_cache=False)


def best_bare(loaded: LoadedModel, texts: Sequence[Ids]) -> tuple[int, bool]:
    """Batch size, and whether with a mask: the fastest; a size that memory does not suffice for is none."""
    times: dict[tuple[int, bool], float] = {}
    # Larger ones only make a processor slower.
    sizes = BATCHES if loaded.device.type == "cuda" else BATCHES[:4]
    for case in [(batch, masked) for batch in sizes for masked in (True, False)]:
        try:
            bare(loaded, texts[: case[0]], case[0], masked=case[1])
            times[case] = timed(loaded.device, lambda case=case: bare(loaded, texts, case[0], masked=case[1]))[0]
        except torch.OutOfMemoryError:
            continue
    return min(times, key=lambda case: times[case])


@torch.inference_mode()
def one_by_one(loaded: LoadedModel, texts: Sequence[Ids]) -> None:
    """The bare pass, a text at a time."""
    for ids in texts:
        loaded.model(input_ids=torch.tensor([ids], device=loaded.device), use_cache=False)


@torch.inference_mode()
def loop(loaded: LoadedModel, texts: Sequence[Ids]) -> list[tuple[float, Any, Any]]:
    """As public toolkits do for Min-K%++: the model's loss, log-probabilities, and their mean over the vocabulary."""
    found = []
    for text in texts:
        ids = torch.tensor([text], device=loaded.device)
        output = loaded.model(input_ids=ids, labels=ids)
        logits = output.logits[0, :-1]
        probabilities = torch.softmax(logits, dim=-1)
        log_probabilities = torch.log_softmax(logits, dim=-1)
        own = log_probabilities.gather(-1, ids[0, 1:].unsqueeze(-1)).squeeze(-1)
        mu = (probabilities * log_probabilities).sum(-1)
        sigma = (probabilities * log_probabilities.square()).sum(-1) - mu.square()
        found.append((output.loss.item(), own.cpu().numpy(), (mu.cpu().numpy(), sigma.cpu().numpy())))
    return found


def ours(encoder: Encoder, texts: Sequence[str], forward: Forward) -> list[TextStats]:
    """`score`'s pass: texts in, statistics out."""
    found = dict(forward.run([encoder.encode(text) for text in texts]))
    return [found[number] for number in range(len(texts))]


def differences(mine: Sequence[TextStats], theirs: Sequence[tuple[float, Any, Any]]) -> dict[str, float]:
    """The greatest, over all texts or tokens: of the loss, log-probabilities and means over the vocabulary."""
    worst = {"loss": 0.0, "log_prob": 0.0, "mu": 0.0}
    for one, (loss, own, (mu, _)) in zip(mine, theirs, strict=True):
        columns = one.columns
        worst["loss"] = max(worst["loss"], abs(float(-columns["log_prob"].mean()) - loss))
        worst["log_prob"] = max(worst["log_prob"], float(abs(columns["log_prob"] - own).max()))
        worst["mu"] = max(worst["mu"], float(abs(columns["mu"] - mu).max()))
    return worst


def compare(loaded: LoadedModel, texts: Sequence[str], slices: int) -> dict[str, Any]:
    """Tokens a second, wall and processor, of each slice in each case, and how far the answers are apart."""
    encoder = Encoder(loaded)
    forward = Forward(loaded)
    tokenized: list[Ids] = [[*each.head.tolist(), *each.ids.tolist()] for each in map(encoder.encode, texts)]
    batch, masked = best_bare(loaded, tokenized[: len(texts) // slices])
    rounds: list[dict[str, float]] = []
    cpu_rounds: list[dict[str, float]] = []
    worst = {"loss": 0.0, "log_prob": 0.0, "mu": 0.0}
    for number in range(slices):
        part = slice(number * len(texts) // slices, (number + 1) * len(texts) // slices)
        ids, documents = tokenized[part], texts[part]
        cases: list[tuple[str, Callable[[], Any]]] = [
            ("bare", lambda ids=ids: bare(loaded, ids, batch, masked=masked)),
            ("score", lambda documents=documents: ours(encoder, documents, forward)),
            ("loop", lambda ids=ids: loop(loaded, ids)),
            ("one by one", lambda ids=ids: one_by_one(loaded, ids)),
        ]
        # Each of the first two goes first as often as the other.
        cases = cases if number % 2 else [cases[1], cases[0], *cases[2:]]
        taken = {name: cpu_timed(loaded.device, work) for name, work in cases}
        found = differences(taken["score"][2], taken["loop"][2])
        worst = {name: max(worst[name], found[name]) for name in worst}
        rounds.append({name: sum(map(len, ids)) / seconds for name, (seconds, _, _) in taken.items()})
        cpu_rounds.append({name: sum(map(len, ids)) / seconds for name, (_, seconds, _) in taken.items()})
        print(number, {name: round(value) for name, value in rounds[-1].items()}, file=sys.stderr)
    return {
        "tokens": sum(map(len, tokenized)),
        "parameters": loaded.facts()["parameters"],
        "vocabulary": loaded.vocabulary,
        "bare": {"batch": batch, "mask": masked},
        "rounds": rounds,
        "cpu_rounds": cpu_rounds,
        "differences": worst,
        "waste": 1 - forward.real_positions / forward.padded_positions,
        "threads": torch.get_num_threads(),
        "libraries": loaded.facts()["libraries"],
    }


def main() -> None:
    data, kind, count, slices = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    pick_threads()
    documents = language_models.texts(data, count)
    loaded = language_models.smollm2() if kind == "smollm2" else language_models.neox(documents)
    found = compare(loaded, documents, slices)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
