"""Small models of Pythia's architecture (GPT-NeoX), and tokenizers for them, in the folders that transformers loads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformers import GPTNeoXForCausalLM, PreTrainedTokenizerFast

END = "<|endoftext|>"
_LEAST_VOCABULARY = 512
_MOST_VOCABULARY = 16_384


@dataclass(frozen=True)
class Shape:
    """Sizes of a model: what has about so many parameters."""

    vocabulary: int
    width: int
    layers: int
    context: int

    @property
    def parameters(self) -> int:
        """How many it has: two embeddings, the layers, the last norm."""
        return 2 * self.vocabulary * self.width + self.layers * _layer(self.width) + 2 * self.width


def shape(parameters: float, *, vocabulary: int | None = None, context: int = 1024) -> Shape:
    """The widest model of about so many parameters that leaves room for 1,000 tokens; a layer for each 32 of width.

    With a vocabulary given, the model whose size is nearest.
    """
    widths = range(32, 1025, 32)
    if vocabulary is not None:
        shapes = [Shape(vocabulary, width, width // 32, context) for width in widths]
        return min(shapes, key=lambda each: abs(each.parameters - parameters))
    best = None
    for width in widths:
        room = (parameters - width // 32 * _layer(width) - 2 * width) / (2 * width)
        if best is None or room >= 1000:
            tokens = round(min(max(room, _LEAST_VOCABULARY), _MOST_VOCABULARY) / 8) * 8
            best = Shape(tokens, width, width // 32, context)
    assert best is not None
    return best


def _layer(width: int) -> int:
    # Query, key, value and output; two matrices to and from four times the width; all with biases; two norms.
    return 12 * width**2 + 13 * width


def make_tokenizer(texts: Iterable[str], vocabulary: int, context: int) -> PreTrainedTokenizerFast:
    """A byte-level BPE like Pythia's, trained on `texts`: with END as the only special token, its number 0, never added."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.normalizer = normalizers.NFC()
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=[END], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    bpe.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token=END, eos_token=END, unk_token=END, model_max_length=context)


def make_model(shape: Shape, seed: int) -> GPTNeoXForCausalLM:
    """An untrained model, float32; the same seed gives the same one."""
    import torch
    from transformers import GPTNeoXConfig, GPTNeoXForCausalLM

    config = GPTNeoXConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.width,
        num_hidden_layers=shape.layers,
        num_attention_heads=max(1, shape.width // 32),
        intermediate_size=4 * shape.width,
        max_position_embeddings=shape.context,
        bos_token_id=0,
        eos_token_id=0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return GPTNeoXForCausalLM(config).float()


def save(folder: Path, model: Any, tokenizer: PreTrainedTokenizerFast) -> None:
    """As ``AutoModelForCausalLM.from_pretrained(folder)`` and ``AutoTokenizer.from_pretrained(folder)`` read them."""
    from transformers.utils import logging

    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if bars:
        logging.enable_progress_bar()


def untrained(
    folder: Path,
    texts: Iterable[str],
    parameters: float = 5e6,
    *,
    vocabulary: int | None = None,
    context: int = 1024,
    seed: int = 0,
) -> dict[str, Any]:
    """Make a model that has learned nothing, with a tokenizer of `texts`, for questions of speed; returns its sizes."""
    sizes = shape(parameters, vocabulary=vocabulary, context=context)
    save(folder, make_model(sizes, seed), make_tokenizer(texts, sizes.vocabulary, context))
    return {**asdict(sizes), "parameters": sizes.parameters}
