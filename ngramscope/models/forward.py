"""One forward pass over many texts: batches by length, statistics per token, the same at any batch size."""

from __future__ import annotations

import copy
import inspect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ngramscope.errors import InputError, ResourceError, UsageError
from ngramscope.models.encode import Encoded
from ngramscope.models.gradients import gradient_norms
from ngramscope.models.load import LoadedModel
from ngramscope.models.stats import DEFAULT_STATISTICS, STATISTICS
from ngramscope.models.token_statistics import TokenStatistics
from ngramscope.models.windows import Window, windows

__all__ = ["MODEL_RETURNED_NAN", "Forward", "TextStats", "gradient_norms"]

MODEL_RETURNED_NAN = "model_returned_nan"
"""Null reason: the model's output for the text has a NaN or an infinity."""

# On a processor, activations that fit its cache count for more than fewer calls.
_BATCH_TOKENS = {"cpu": 1536}
_BATCH_TOKENS_ELSEWHERE = 32768
_WASTE = 0.1
_SMALLEST_SPAN = 16
# Logits of the models whose own are needed, whatever their head does: floats in memory at once.
_OWN_LOGITS = {"cpu": 64 << 20}
_OWN_LOGITS_ELSEWHERE = 512 << 20


@dataclass(frozen=True, eq=False)
class TextStats:
    """Statistics of one text.

    Attributes
    ----------
    columns
        By name of `STATISTICS`, (T,) each, of its scored tokens; of no token if there is a reason.
    null_reason
        Why nothing could be scored, or None.
    """

    columns: dict[str, NDArray[Any]]
    null_reason: str | None


class Forward:
    """Runs a model over texts.

    Parameters
    ----------
    loaded
        The model.
    statistics
        Which of `STATISTICS` to keep.
    batch_tokens
        Positions of one batch, padding included; ``auto``: a number that suits the device. Halved when memory does not suffice;
        if even one text does not fit, it is shown to the model piece by piece.
    padding_side
        Right needs no mask: nothing before a token depends on what comes after it. Scores are the same.

    Raises
    ------
    UsageError
        A statistic or a number that cannot be.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        statistics: Sequence[str] = DEFAULT_STATISTICS,
        batch_tokens: int | Literal["auto"] = "auto",
        padding_side: Literal["right", "left"] = "right",
    ) -> None:
        if padding_side not in ("right", "left"):
            raise UsageError(f"--padding-side: {padding_side!r} is not one of right, left")
        kind = loaded.device.type
        if batch_tokens == "auto":
            batch_tokens = _BATCH_TOKENS.get(kind, _BATCH_TOKENS_ELSEWHERE)
        elif isinstance(batch_tokens, bool) or batch_tokens < 1:
            raise UsageError(f"--batch-tokens: {batch_tokens!r} is not possible; a whole number of at least 1, or auto")
        self.statistics = tuple(statistics)
        self.batch_tokens = batch_tokens
        """Positions of a batch now: what was asked for, or less since memory ran out."""
        self.padded_positions = self.real_positions = 0
        """Positions computed so far, with and without padding."""
        self._loaded = loaded
        self._left = padding_side == "left"
        self._statistics = TokenStatistics(loaded.model, self.statistics)
        taken = inspect.signature(self._statistics.body.forward).parameters
        self._takes_positions = "position_ids" in taken
        # The name of argument and result; transformers has had both.
        self._cache_name = next((name for name in ("cache", "past_key_values") if name in taken), "")
        # A prefix's own logits are not wanted.
        self._one_logit = {"logits_to_keep": 1} if "logits_to_keep" in taken else {}
        self._span: int | None = None
        if not self._statistics.linear:
            self._span = max(1, _OWN_LOGITS.get(kind, _OWN_LOGITS_ELSEWHERE) // self._statistics.vocabulary)
            self.batch_tokens = min(self.batch_tokens, self._span)

    def run(self, encoded: Sequence[Encoded], prefix: Sequence[int] | None = None) -> Iterator[tuple[int, TextStats]]:
        """Score texts, yielding each one's number in `encoded` and its statistics as its batch is through, longest first.

        Parameters
        ----------
        encoded
            The texts.
        prefix
            Ids that the model sees before every text, start token included (`Encoder.prefix`); the tokens that are scored stay
            the same. It is computed once.

        Raises
        ------
        UsageError
            Prefix and text together are more than the model can see.
        InputError
            A token id that the model does not know.
        ResourceError
            Memory does not suffice for a single text in small pieces.
        """
        front = np.asarray([] if prefix is None else prefix, dtype=np.int32)
        self._check(encoded, front)
        past = self._remember(front[:-1])
        shown = front[-1:] if past is not None else front
        queue: list[Window] = []
        windows_of = [0] * len(encoded)
        for number, text in enumerate(encoded):
            if text.null_reason is not None:
                yield number, self._null(text.null_reason)
                continue
            found = windows(number, text, shown)
            windows_of[number] = len(found)
            queue.extend(found)
        queue.sort(key=lambda window: (-window.length, window.text))
        parts: dict[int, list[tuple[Window, dict[str, NDArray[Any]]]]] = {}
        start = 0
        while start < len(queue):
            batch = self._next_batch(queue, start)
            start += len(batch)
            for window, columns in zip(batch, self._fitting(batch, past), strict=True):
                gathered = parts.setdefault(window.text, [])
                gathered.append((window, columns))
                if len(gathered) == windows_of[window.text]:
                    yield window.text, self._text(encoded[window.text], parts.pop(window.text))

    def _check(self, encoded: Sequence[Encoded], front: NDArray[np.int32]) -> None:
        for number, text in enumerate(encoded):
            shown = len(front) + len(text.ids) + (0 if len(front) and text.starts else len(text.head))
            if len(front) and shown > text.window:
                raise UsageError(
                    f"text {number}: {shown - len(front)} tokens behind a prefix of {len(front)} are more than the "
                    f"{text.window} that {self._loaded.label} is shown at once; take a shorter prefix"
                )
        largest = max([int(ids.max()) for text in encoded for ids in (text.head, text.ids, front) if len(ids)], default=0)
        if largest >= self._loaded.vocabulary:
            raise InputError(
                f"{self._loaded.label}: knows {self._loaded.vocabulary} token ids, but a text has id {largest}; "
                "the tokenizer belongs to another model"
            )

    def _next_batch(self, queue: Sequence[Window], start: int) -> Sequence[Window]:
        """The next windows, longest first, that fit the budget and of which less than a tenth would be padding."""
        width = queue[start].length
        real, end = 0, start
        while end < len(queue):
            real += queue[end].length
            padded = width * (end - start + 1)
            if end > start and (padded > self.batch_tokens or padded - real > _WASTE * padded):
                break
            end += 1
        return queue[start:end]

    def _fitting(self, batch: Sequence[Window], past: Any, span: int | None = None) -> list[dict[str, NDArray[Any]]]:
        """Run a batch, or parts of it where memory does not suffice for the whole."""
        span = span or self._span
        try:
            return self._batch(batch, past, span)
        except (MemoryError, RuntimeError) as error:
            if not _out_of_memory(error):
                raise
        # Behind the handler: until it ends, the frames of the failure hold their tensors.
        _give_back()
        if len(batch) > 1:
            half = len(batch) // 2
            self.batch_tokens = max(1, min(self.batch_tokens, half * batch[0].length))
            return [*self._fitting(batch[:half], past), *self._fitting(batch[half:], past)]
        span = (span or batch[0].length) // 2
        if span < _SMALLEST_SPAN:
            raise ResourceError(
                f"memory does not suffice for a text of {batch[0].length} tokens, not even {2 * span} at a time; "
                "take a smaller --dtype, --max-tokens, or --device-map auto"
            )
        return self._fitting(batch, past, span)

    def _batch(self, batch: Sequence[Window], past: Any, span: int | None) -> list[dict[str, NDArray[Any]]]:
        import torch

        rows, width = len(batch), batch[0].length
        lengths = np.array([window.length for window in batch])
        scored = np.array([window.scored for window in batch])
        begins = width - lengths if self._left else np.zeros(rows, dtype=np.int64)
        columns = np.arange(width)
        ids = np.empty((rows, width), dtype=np.int64)
        targets = np.zeros((rows, width), dtype=np.int64)
        for row, (window, begin) in enumerate(zip(batch, begins, strict=True)):
            # Padding repeats a token of the text: no token comes in that another text would not see.
            ids[row] = window.tokens[-2]
            ids[row, begin : begin + window.length] = window.tokens[:-1]
            targets[row, begin : begin + window.length] = window.tokens[1:]
        ends = begins + lengths
        wanted = (columns >= (ends - scored)[:, None]) & (columns < ends[:, None])
        self.padded_positions += ids.size
        self.real_positions += int(lengths.sum())
        step = min(span or width, width)
        device = self._loaded.device
        before = past.get_seq_length() if past is not None else 0
        kept: list[list[dict[str, NDArray[Any]]]] = [[] for _ in batch]
        extra: dict[str, Any] = {}
        masked = self._left and bool(begins.any())
        with torch.inference_mode():
            cache = _expanded(past, rows)
            for start in range(0, width, step):
                stop = min(start + step, width)
                if masked:
                    mask = np.concatenate([np.ones((rows, before), bool), columns[None, :stop] >= begins[:, None]], axis=1)
                    extra["attention_mask"] = torch.from_numpy(mask.astype(np.int64)).to(device)
                    if self._takes_positions:
                        places = np.maximum(columns[start:stop] - begins[:, None], 0) + before
                        extra["position_ids"] = torch.from_numpy(places).to(device)
                if cache is not None:
                    extra[self._cache_name] = cache
                output = self._statistics.body(
                    input_ids=torch.from_numpy(np.ascontiguousarray(ids[:, start:stop])).to(device),
                    use_cache=cache is not None or stop < width,
                    **extra,
                )
                if stop < width:
                    cache = getattr(output, self._cache_name, None) if self._cache_name else None
                    if cache is None:
                        raise ResourceError(
                            f"memory does not suffice for {rows} x {width} positions at once, and {self._loaded.label} "
                            "has no cache to go piece by piece; take a smaller --max-tokens"
                        )
                here = wanted[:, start:stop]
                if not here.any():
                    continue
                found = self._statistics.of(
                    output, torch.from_numpy(np.flatnonzero(here)), torch.from_numpy(targets[:, start:stop][here])
                )
                bounds = np.concatenate([[0], np.cumsum(here.sum(1))]).tolist()
                for row, (first, last) in enumerate(itertools.pairwise(bounds)):
                    kept[row].append({name: values[first:last] for name, values in found.items()})
        return [_joined(parts) for parts in kept]

    def _remember(self, front: NDArray[np.int32]) -> Any:
        """The model's cache of a prefix; None if there is none to make, or the model has none that can be shared."""
        import torch
        from transformers import Cache

        if not len(front) or not self._cache_name:
            return None
        ids = torch.from_numpy(front.astype(np.int64)).to(self._loaded.device).unsqueeze(0)
        try:
            with torch.inference_mode():
                output = self._statistics.body(input_ids=ids, use_cache=True, **self._one_logit)
        except (MemoryError, RuntimeError) as error:
            if not _out_of_memory(error):
                raise
            return None
        past = getattr(output, self._cache_name, None)
        return past if isinstance(past, Cache) and past.get_seq_length() == len(front) else None

    def _text(self, text: Encoded, parts: list[tuple[Window, dict[str, NDArray[Any]]]]) -> TextStats:
        parts.sort(key=lambda part: part[0].start)
        columns = _joined([columns for _, columns in parts])
        if not all(np.isfinite(values).all() for name, values in columns.items() if not name.startswith("flat_")):
            return self._null(MODEL_RETURNED_NAN)
        if "token_id" in self.statistics:
            columns = {"token_id": text.ids, **columns}
        return TextStats(columns, None)

    def _null(self, reason: str) -> TextStats:
        return TextStats({name: np.empty(0, dtype=STATISTICS[name]) for name in self.statistics}, reason)


def _expanded(past: Any, rows: int) -> Any:
    """A copy of a prefix's cache for each row of a batch."""
    if past is None:
        return None
    cache = copy.deepcopy(past)
    if rows > 1:
        cache.batch_repeat_interleave(rows)
    return cache


def _joined(parts: Sequence[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    return parts[0] if len(parts) == 1 else {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _out_of_memory(error: BaseException) -> bool:
    import torch

    texts = ("can't allocate memory", "not enough memory", "out of memory")
    known = isinstance(error, (MemoryError, torch.OutOfMemoryError))
    return known or any(text in str(error).lower() for text in texts)


def _give_back() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
