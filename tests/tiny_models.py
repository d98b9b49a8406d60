"""Small random language models and tokenizers of the classes that real ones have, made on the spot."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    GPT2Config,
    GPTNeoXConfig,
    LlamaConfig,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.modeling_outputs import CausalLMOutput

from ngramscope.models.load import LoadedModel

VOCABULARY = 300
CONTEXT = 128
KINDS = ("gpt2", "gpt_neox", "llama")
"""Learned positions; rotary; rotary with shared keys and values."""


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """As GPT-2 and Pythia: bytes, some pairs of them; the end of text is the only control token, and none is added."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    pairs = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("i", "n"), ("a", "n")]
    vocabulary = {token: number for number, token in enumerate([*letters, *(a + b for a, b in pairs)])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    end = "<|endoftext|>"
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=end, eos_token=end)


def starting_tokenizer() -> PreTrainedTokenizerFast:
    """As LLaMA: pieces with bytes to fall back on, and a start token that it adds itself."""
    control = ["<unk>", "<s>", "</s>"]
    tokens = [*control, *(f"<0x{byte:02X}>" for byte in range(256)), "▁", *"abcdefghijklmno"]
    vocabulary = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>", byte_fallback=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def tiny(kind: str, vocabulary: int = VOCABULARY, context: int = CONTEXT, seed: int = 0, **more: Any) -> LoadedModel:
    """A random model of two layers, with the byte tokenizer."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    from transformers import AutoModelForCausalLM

    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": context}
    if kind == "gpt2":
        config: Any = GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=context, vocab_size=vocabulary, **more)
    elif kind == "gpt_neox":
        config = GPTNeoXConfig(**sizes, intermediate_size=64, vocab_size=vocabulary, **more)
    elif kind == "llama":
        config = LlamaConfig(**sizes, intermediate_size=64, num_key_value_heads=2, vocab_size=vocabulary, **more)
    else:
        from transformers import Gemma2Config

        config = Gemma2Config(**sizes, intermediate_size=64, num_key_value_heads=2, head_dim=8, vocab_size=vocabulary, **more)
    # Wider than usual, so that a token's probability depends on what is before it.
    config.initializer_range = 0.2
    model = AutoModelForCausalLM.from_config(config).eval().requires_grad_(False)
    return LoadedModel(model, byte_tokenizer(), f"tiny-{kind}")


class BigramConfig(PreTrainedConfig):  # type: ignore[misc]
    model_type = "bigram"

    def __init__(self, vocab_size: int = 6, max_position_embeddings: int = 64, **more: Any) -> None:
        self.vocab_size = vocab_size
        self.max_position_embeddings = max_position_embeddings
        super().__init__(**more)


class Bigram(PreTrainedModel):  # type: ignore[misc]
    """The law of the next token depends on the current one alone; no head that could be applied apart."""

    config_class = BigramConfig

    def __init__(self, config: BigramConfig) -> None:
        super().__init__(config)
        self.table = torch.nn.Embedding(config.vocab_size, config.vocab_size)
        self.post_init()

    def get_input_embeddings(self) -> torch.nn.Module:
        return self.table

    def forward(self, input_ids: torch.Tensor, **_: Any) -> CausalLMOutput:
        return CausalLMOutput(logits=self.table(input_ids))


def bigram(probabilities: NDArray[np.float64]) -> LoadedModel:
    """The bigram model of a table of probabilities (current token, next token)."""
    torch.set_num_threads(1)
    model = Bigram(BigramConfig(len(probabilities)))
    with torch.no_grad():
        model.table.weight.copy_(torch.from_numpy(np.log(probabilities)))
    return LoadedModel(model.eval().requires_grad_(False), byte_tokenizer(), "bigram")
