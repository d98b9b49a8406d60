"""Masked language models: what else could stand in the place of a token.

Used for the neighbours of a text (`ngramscope.models.neighbours`) and for modified members (``ngramscope sets perturb``). Any
model that transformers knows as one for masked language modelling, with a tokenizer of the library `tokenizers`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ngramscope.checks import check_integer
from ngramscope.corpus.hub import ask_hub
from ngramscope.corpus.tokens import LoadedTokenizer
from ngramscope.errors import InputError, MissingExtraError, UsageError
from ngramscope.sets.replacing import Cut, Replaced, Tokens, drawn_positions

if TYPE_CHECKING:
    import torch

__all__ = ["Alternative", "MaskedModel", "MaskedTokens"]

Alternative = tuple[int, float]
"""A token id, and its weight."""

_CERTAIN = 0.9
"""In place of a probability of 1, by which nothing could be divided."""

_DRAWN_FROM = 10


class MaskedModel:
    """A masked language model, in float32, and its tokenizer.

    Texts longer than the model can see are taken in windows that follow each other; each token is judged from its own.

    Parameters
    ----------
    name
        On the Hugging Face hub, or a folder.
    revision
        On the hub; None takes the newest.
    device
        As torch names it; None takes a CUDA card where there is one.
    batch_size
        Windows at a time; has no say in the results beyond rounding.

    Attributes
    ----------
    tokens
        How its tokenizer cuts texts, and puts other tokens in place.
    window
        How many tokens of a text it can see at a time, special ones not counted.

    Raises
    ------
    InputError
        There is no such model, it is of another kind, its tokenizer does not tell where a token stands in the text, or has no
        mask.
    MissingExtraError
        torch or transformers is not installed.
    """

    def __init__(self, name: str, *, revision: str | None = None, device: str | None = None, batch_size: int = 16) -> None:
        check_integer("--batch-size", batch_size, 1, 1 << 20)
        try:
            import torch
            import transformers
        except ImportError as error:
            raise MissingExtraError("transformers", "attacks", "a masked language model") from error
        advice = "check the name and the connection, or give a folder that save_pretrained has written"
        with _silent(), ask_hub(f"{name}: no masked language model that can be loaded from here, and it", advice):
            tokenizer: Any = transformers.AutoTokenizer.from_pretrained(name, revision=revision)
            model: Any = transformers.AutoModelForMaskedLM.from_pretrained(name, revision=revision)
        if not getattr(tokenizer, "is_fast", False) or tokenizer.mask_token_id is None:
            raise InputError(
                f"{name}: its tokenizer has no mask, or does not tell where in a text a token stands; take another"
            )
        try:
            self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
            self._model = model.float().eval().to(self._device)
        except RuntimeError as error:
            raise UsageError(f"--device: {device!r} cannot be used: {error}") from error
        self._embeddings = model.get_input_embeddings()
        self._mask = int(tokenizer.mask_token_id)
        self._batch_size = batch_size
        backend = tokenizer.backend_tokenizer
        backend.no_truncation()
        backend.no_padding()
        digest = hashlib.sha256(backend.to_str().encode()).hexdigest()
        label = Path(name).resolve().name if Path(name).exists() else name
        self.tokens = Tokens(LoadedTokenizer(backend, label, digest))
        self._before, self._after = _special_around(backend)
        self.window = _longest(tokenizer, model) - len(self._before) - len(self._after)
        if self.window < 1:
            raise InputError(f"{name}: sees no token of a text besides special ones")
        self.facts: dict[str, Any] = {
            "name": label,
            "revision": getattr(model.config, "_commit_hash", None) or revision,
            "sha256": _digest(model),
            "tokenizer_sha256": digest,
            "dtype": "float32",
            "window": self.window,
        }
        """For a header: which model this is."""
        size = int(model.config.vocab_size)
        self._words = {token: text for token, text in self.tokens.texts.items() if text.strip() and token < size}
        if len(self._words) < 2:
            raise InputError(f"{name}: knows fewer than two tokens that are texts; nothing can be replaced")
        known, begins = np.zeros((2, size), dtype=bool)
        known[list(self._words)] = True
        begins[[token for token, text in self._words.items() if text[0].isspace()]] = True
        self._known, self._begins = (torch.tensor(each, device=self._device) for each in (known, begins))

    def cut(self, texts: Sequence[str]) -> Iterator[Cut]:
        """Each text in tokens. Free are those that `Tokens.cut` says, without tokens of white space."""
        for cut in self.tokens.cut(texts):
            yield replace(cut, free=[position for position in cut.free if cut.pieces[position] in self._words])

    def alternatives(
        self, cut: Cut, random: np.random.Generator, *, top_k: int, dropout: float
    ) -> Iterator[tuple[int, list[Alternative]]]:
        """Each free position of a text, and what else could stand there, best first; none if nothing else is likely.

        The model sees the whole window, with a random part of the token's own embedding set to 0. The weight of a candidate is
        p(candidate) / (1 - p(original)). Mattern et al., Membership Inference Attacks against Language Models via
        Neighbourhood Comparison, ACL 2023 Findings, section 2.2.

        Parameters
        ----------
        cut
            Of one text, by `cut`.
        random
            Decides what is dropped.
        top_k
            The most likely tokens are candidates, as far as they begin a word if the original does and go on with one if it
            does so; the original itself is among the K, but no candidate.
        dropout
            Probability of dropping a component of the embedding; the others are scaled by 1 / (1 - dropout).
        """
        import torch

        for start, positions in self._batches(cut.free):
            ids = torch.tensor(self._framed(cut, start), device=self._device)
            kept = random.random((len(positions), self._embeddings.weight.shape[1])) >= dropout
            scale = torch.tensor(kept / (1 - dropout), dtype=torch.float32, device=self._device)
            at = torch.tensor([each - start + len(self._before) for each in positions], device=self._device)
            rows = torch.arange(len(positions), device=self._device)
            with torch.inference_mode():
                embeddings = self._embeddings(ids).expand(len(positions), -1, -1).clone()
                embeddings[rows, at] *= scale
                probabilities = self._logits(embeddings, at).softmax(1)
                own = probabilities[rows, ids[at]].clamp(max=1)
                weights = probabilities / (1 - torch.where(own == 1, _CERTAIN, own))[:, None]
                best = weights.masked_fill(~self._possible(ids[at]), -1).topk(min(top_k, weights.shape[1]), dim=1)
            found = zip(positions, best.indices.tolist(), best.values.tolist(), strict=True)
            for position, tokens, values in found:
                pairs = zip(tokens, values, strict=True)
                yield position, [(token, w) for token, w in pairs if w >= 0 and token != cut.pieces[position]]

    def fills(self, cut: Cut, positions: Sequence[int], top_k: int) -> Iterator[list[Alternative]]:
        """For each of the positions, which ascend, the most likely other tokens and their probabilities.

        All positions are masked at the same time. The probabilities of a position's tokens, at most `top_k`, add up to 1.
        """
        import torch

        hidden = frozenset(positions)
        for start, some in self._batches(positions):
            ids = torch.tensor(self._framed(cut, start, hidden), device=self._device)
            at = torch.tensor([each - start + len(self._before) for each in some], device=self._device)
            own = torch.tensor([cut.pieces[each] for each in some], device=self._device)
            with torch.inference_mode():
                embeddings = self._embeddings(ids)[None]
                logits = self._logits(embeddings, at[None])[0]
                rows = torch.arange(len(some), device=self._device)
                possible = self._possible(own)
                possible[rows, own] = False
                # The only token of its kind gives way to any other.
                possible = torch.where(possible.any(1, keepdim=True), possible, self._known)
                possible[rows, own] = False
                best = logits.masked_fill(~possible, -torch.inf).topk(min(top_k, logits.shape[1]), dim=1)
                chances = best.values.double().softmax(1)
            for tokens, values in zip(best.indices.tolist(), chances.tolist(), strict=True):
                yield [pair for pair in zip(tokens, values, strict=True) if pair[1] > 0]

    def _batches(self, positions: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
        """Positions of one window at a time, and where it starts."""
        batch: list[int] = []
        for position in positions:
            if batch and (len(batch) == self._batch_size or batch[0] // self.window != position // self.window):
                yield batch[0] // self.window * self.window, batch
                batch = []
            batch.append(position)
        if batch:
            yield batch[0] // self.window * self.window, batch

    def _framed(self, cut: Cut, start: int, hidden: Collection[int] = ()) -> list[int]:
        """The ids of a window, some of them masked, with the special tokens around it."""
        ids = enumerate(cut.pieces[start : start + self.window], start)
        return [*self._before, *(self._mask if at in hidden else token for at, token in ids), *self._after]

    def _logits(self, embeddings: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        """Logits at the positions `at` of embeddings (B, L, H): (B, V) for `at` (B,), (B, P, V) for `at` (B, P)."""
        import torch

        rows = torch.arange(len(embeddings), device=embeddings.device).reshape(-1, *[1] * (at.ndim - 1))
        head = self._model.get_output_embeddings()
        # Only what is asked for goes through the widest layer, which would else take most of the memory.
        hook = None if head is None else head.register_forward_pre_hook(lambda _, given: (given[0][rows, at],))
        try:
            logits: torch.Tensor = self._model(inputs_embeds=embeddings).logits
        finally:
            if hook is not None:
                hook.remove()
        return (logits[rows, at] if hook is None else logits).float()

    def _possible(self, tokens: torch.Tensor) -> torch.Tensor:
        """(B, V): which tokens could stand in the place of these (B,): beginnings of words, or what goes on with one."""
        return self._known & (self._begins[None] == self._begins[tokens][:, None])


class MaskedTokens(Tokens):
    """Tokens of a masked language model's tokenizer; a replacement is drawn from what the model expects in its place.

    All that is replaced is masked at the same time. Each new token is drawn from the 10 most likely others, in proportion to
    their probabilities.
    """

    modification = "replaced_by_model"

    def __init__(self, model: MaskedModel) -> None:
        super().__init__(model.tokens.loaded)
        self._model = model

    def cut(self, texts: Sequence[str]) -> Iterator[Cut]:
        """See `MaskedModel.cut`."""
        return self._model.cut(texts)

    def replace(self, text: str, cut: Cut, count: int, random: np.random.Generator) -> Replaced:
        """See `Unit.replace`."""
        positions = drawn_positions(cut, count, random)
        new = []
        for fills in self._model.fills(cut, positions, _DRAWN_FROM):
            tokens, chances = zip(*fills, strict=True)
            new.append(int(random.choice(tokens, p=np.array(chances) / sum(chances))))
        return self.put(text, cut, positions, new)

    def facts(self) -> dict[str, Any]:
        """For a header."""
        return {**super().facts(), "masked_model": self._model.facts, "drawn_from": _DRAWN_FROM}


def _special_around(backend: Any) -> tuple[list[int], list[int]]:
    """The special tokens that the tokenizer puts before a text, and after."""
    encoding = backend.encode("a", add_special_tokens=True)
    inside = [number for number, special in enumerate(encoding.special_tokens_mask) if not special]
    if not inside:
        return [], []
    return encoding.ids[: inside[0]], encoding.ids[inside[-1] + 1 :]


def _longest(tokenizer: Any, model: Any) -> int:
    """How many tokens the model can see."""
    # RoBERTa's first position is pad + 1, so two of its positions are never used.
    positions = int(getattr(model.config, "max_position_embeddings", 0) or 1 << 30) - 2 * (model.config.model_type in _SHIFTED)
    return min(int(tokenizer.model_max_length), positions)


_SHIFTED = ("camembert", "mpnet", "roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl")


def _digest(model: Any) -> str:
    """SHA-256 of its parameters and buffers, by name: the same for every file format and place."""
    import torch

    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


@contextmanager
def _silent() -> Iterator[None]:
    """Without the library's bars and remarks on heads that are not used."""
    import transformers

    logging: Any = transformers.utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
