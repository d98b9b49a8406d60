"""What does `score`'s pass reach on a graphics card: tokens a second, share of the card's arithmetic, peak memory?

Against the bare batched forward pass and the one-text-at-a-time loop of public toolkits, as score.py. The card's arithmetic is
measured too: a large matrix product in the model's type. Run under an interpreter that has ngramscope with its extra `attacks`:

    python benchmarks/gpu_score.py --model EleutherAI/pythia-1.4b --revision step99000 --texts texts.jsonl
    python benchmarks/gpu_score.py                      # a random model of 1.4 B parameters, random texts: no download
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import forward_pass
import torch
from transformers import AutoModelForCausalLM, GPTNeoXConfig

from ngramscope.errors import NgramscopeError
from ngramscope.models.encode import Encoder
from ngramscope.models.forward import Forward
from ngramscope.models.load import LoadedModel, ModelOptions, load_model

WORDS = 200
SIZES = {
    "1.4b": {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 24, "num_attention_heads": 16},
    "tiny": {"hidden_size": 128, "intermediate_size": 512, "num_hidden_layers": 2, "num_attention_heads": 4},
}


def random_model(size: str, dtype: str, device: str) -> LoadedModel:
    """A GPT-NeoX of Pythia's sizes with random weights; its tokenizer knows words of one kind only."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {f"w{number}": number for number in range(50_304)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    torch.manual_seed(0)
    config = GPTNeoXConfig(vocab_size=50_304, max_position_embeddings=2048, **SIZES[size])
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, dtype)).eval().requires_grad_(False)
    return LoadedModel(model, PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="w0"), f"random-{size}")


def random_texts(count: int) -> list[str]:
    """Of 200 to 300 tokens: as many as 200 words of English have."""
    chance = random.Random(0)
    return [" ".join(f"w{chance.randrange(50_304)}" for _ in range(chance.randint(200, 300))) for _ in range(count)]


def read_texts(path: Path, count: int) -> list[str]:
    """The first 200 words of the texts of a JSON Lines file."""
    with path.open(encoding="utf-8") as file:
        found = [" ".join(json.loads(line)["text"].split()[:WORDS]) for line, _ in zip(file, range(count), strict=False)]
    return [text for text in found if text]


def arithmetic(device: torch.device, dtype: torch.dtype) -> float:
    """Operations a second of a matrix product, best of five."""
    size = 8192 if device.type == "cuda" else 1024
    a, b = (torch.ones(size, size, device=device, dtype=dtype) for _ in range(2))
    a @ b
    return 2 * size**3 / min(forward_pass.timed(device, lambda: a @ b)[0] for _ in range(5))


def operations(loaded: LoadedModel, lengths: list[int]) -> float:
    """Of a forward pass over texts of these lengths: two a weight and token, and attention's products."""
    model = loaded.model
    config = model.config.get_text_config()
    embedding = model.get_input_embeddings().weight
    weights = sum(each.numel() for each in model.parameters())
    # The table of embeddings is looked up, not multiplied by, unless it is the head as well.
    if model.get_output_embeddings().weight is not embedding:
        weights -= embedding.numel()
    attention = 2 * config.num_hidden_layers * config.hidden_size * sum(length**2 for length in lengths)
    return 2.0 * weights * sum(lengths) + attention


def peak(device: torch.device) -> int | None:
    """Greatest memory of the card since the last call, in MiB."""
    if device.type != "cuda":
        return None
    found = torch.cuda.max_memory_allocated(device) >> 20
    torch.cuda.reset_peak_memory_stats(device)
    return found


def measure(loaded: LoadedModel, texts: list[str], rounds: int) -> dict[str, Any]:
    device = loaded.device
    encoder, forward = Encoder(loaded), Forward(loaded)
    encoded = [encoder.encode(text) for text in texts]
    ids = [[*each.head.tolist(), *each.ids.tolist()] for each in encoded]
    tokens = sum(map(len, ids))
    some = ids[: len(ids) // 8]
    batch, masked = forward_pass.best_bare(loaded, ids)
    cases = {
        "bare": (tokens, lambda: forward_pass.bare(loaded, ids, batch, masked=masked)),
        "score": (tokens, lambda: forward_pass.ours(encoder, texts, forward)),
        "loop": (sum(map(len, some)), lambda: forward_pass.loop(loaded, some)),
    }
    speeds: dict[str, list[float]] = {name: [] for name in cases}
    memory: dict[str, int | None] = {}
    answers: dict[str, Any] = {}
    for _ in range(rounds):
        for name, (count, work) in cases.items():
            peak(device)
            seconds, answers[name] = forward_pass.timed(device, work)
            memory[name] = peak(device)
            speeds[name].append(count / seconds)
    each = operations(loaded, [len(text) for text in ids]) / tokens
    most = arithmetic(device, loaded.model.dtype)
    return {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else str(device),
        "model": loaded.label,
        "dtype": str(loaded.model.dtype),
        "parameters": loaded.facts()["parameters"],
        "texts": len(texts),
        "tokens": tokens,
        "bare": {"batch": batch, "mask": masked},
        "matrix product, operations/s": most,
        "cases": {
            name: {
                "tokens/s": statistics.median(found),
                "of bare": statistics.median(a / b for a, b in zip(found, speeds["bare"], strict=True)),
                "share of the matrix product's arithmetic": statistics.median(found) * each / most,
                "peak MiB": memory[name],
            }
            for name, found in speeds.items()
        },
        "differences from the loop": forward_pass.differences(answers["score"][: len(some)], answers["loop"]),
        "libraries": loaded.facts()["libraries"],
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", help="name on the hub, or a folder; default: random weights")
    parser.add_argument("--revision")
    parser.add_argument("--size", choices=list(SIZES), default="1.4b", help="of the random model")
    parser.add_argument("--dtype", choices=["bfloat16", "float16", "float32"], default="bfloat16")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N; cpu only to try the script")
    parser.add_argument("--texts", type=Path, help="JSON Lines with a text a line; default: random words")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if options.device.startswith("cuda") and not torch.cuda.is_available():
        sys.exit(
            "gpu_score.py: no CUDA card here: torch sees none. Run it on a machine with one; score.py measures processors."
        )
    if options.model and not options.texts:
        sys.exit("gpu_score.py: --model needs --texts: random words are for the random model")
    try:
        if options.model:
            asked = ModelOptions(options.model, options.revision, dtype=options.dtype, device=options.device)
            loaded = load_model(asked)
            texts = read_texts(options.texts, options.count)
        else:
            loaded = random_model(options.size, options.dtype, options.device)
            texts = random_texts(options.count)
    except NgramscopeError as error:
        sys.exit(f"gpu_score.py: {error}")
    print(json.dumps(measure(loaded, texts, options.rounds), indent=1))


if __name__ == "__main__":
    main()
