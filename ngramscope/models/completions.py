"""What does a model write when it is given the beginning of a text?"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from ngramscope.checks import check_integer
from ngramscope.errors import UsageError
from ngramscope.models.encode import Encoder
from ngramscope.models.load import UNLIMITED, LoadedModel

__all__ = ["CompletionOptions", "complete", "prompt_of"]

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class CompletionOptions:
    """What is asked of the model.

    Parameters
    ----------
    prompt_words
        Words, divided by white space, of the beginning of each text.
    samples
        Completions of each prompt.
    max_new_tokens
        Of a completion.
    temperature, top_p
        Of sampling; the model's own law at 1 and 1.
    seed
        Same seed, same completions of a text on the same machine, whatever else is in the set.
    """

    prompt_words: int = 200
    samples: int = 20
    max_new_tokens: int = 256
    temperature: float = 1.0
    top_p: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("--prompt-words", self.prompt_words, 1, 1_000_000)
        check_integer("--samples", self.samples, 1, 10_000)
        check_integer("--max-new-tokens", self.max_new_tokens, 1, 1_000_000)
        check_integer("--seed", self.seed, 0, 2**63 - 1)
        if not 0 < self.temperature < 100:
            raise UsageError(f"--temperature: {self.temperature!r} is not possible; a number above 0")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"--top-p: {self.top_p!r} is not possible; a share above 0 and at most 1")


def prompt_of(text: str, words: int) -> tuple[str, str] | None:
    """The first `words` words of a text, and the rest of it; None if nothing is left after them."""
    spans = [match.span() for match in _WORD.finditer(text)]
    return (text[: spans[words - 1][1]], text[spans[words - 1][1] :]) if len(spans) > words else None


def complete(loaded: LoadedModel, prompt: str, options: CompletionOptions, encoder: Encoder) -> list[str] | None:
    """Sample completions of a prompt; None if the prompt leaves the model no room for them.

    Parameters
    ----------
    encoder
        Of the model.
    """
    import torch

    encoded = encoder.encode(prompt)
    ids = [*encoded.head.tolist(), *encoded.ids.tolist()]
    if encoded.truncated or (loaded.context != UNLIMITED and len(ids) + options.max_new_tokens > loaded.context):
        return None
    torch.manual_seed(_seed(prompt, options.seed))
    shown = torch.tensor([ids], device=loaded.device)
    padding = loaded.tokenizer.pad_token_id
    with torch.inference_mode():
        found = loaded.model.generate(
            shown,
            attention_mask=torch.ones_like(shown),
            do_sample=True,
            temperature=options.temperature,
            top_p=options.top_p,
            top_k=0,
            num_return_sequences=options.samples,
            max_new_tokens=options.max_new_tokens,
            pad_token_id=loaded.tokenizer.eos_token_id if padding is None else padding,
        )
    texts: list[str] = loaded.tokenizer.batch_decode(found[:, len(ids) :], skip_special_tokens=True)
    return texts


def _seed(prompt: str, seed: int) -> int:
    """Of one text: what else is in the set, and in which order, has no say."""
    digest = hashlib.blake2b(prompt.encode("utf-8", "replace"), digest_size=8, salt=seed.to_bytes(8, "big"))
    return int.from_bytes(digest.digest(), "big") >> 1
