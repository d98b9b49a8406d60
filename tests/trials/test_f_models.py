"""Trials F01, F02, F03, F06, F07, F08 and I04: honest likelihoods, on small models made on the spot."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ngramscope.models.encode import NO_TOKEN, ONE_TOKEN, Encoded, EncodeOptions, Encoder
from ngramscope.models.forward import MODEL_RETURNED_NAN, Forward, TextStats
from ngramscope.models.load import LoadedModel
from ngramscope.models.stats import DEFAULT_STATISTICS
from tests.tiny_models import CONTEXT, KINDS, bigram, byte_tokenizer, starting_tokenizer, tiny


def encode(loaded: LoadedModel, texts: Sequence[str], **options: Any) -> list[Encoded]:
    encoder = Encoder(loaded, EncodeOptions(**options))
    return [encoder.encode(text) for text in texts]


def score(loaded: LoadedModel, encoded: Sequence[Encoded], **options: Any) -> list[TextStats]:
    found = dict(Forward(loaded, **options).run(encoded))
    assert sorted(found) == list(range(len(encoded)))
    return [found[number] for number in range(len(encoded))]


def of_ids(ids: Sequence[int], window: int = 64) -> Encoded:
    """A text of these ids, without a start token."""
    whole = np.array(ids, dtype=np.int32)
    reason = None if len(ids) > 1 else ONE_TOKEN if ids else NO_TOKEN
    return Encoded(whole[:1], whole[1:], starts=False, window=window, tokens_total=len(ids), text_bytes=0, zlib_bytes=8,
                   truncated=False, null_reason=reason)  # fmt: skip


def same(one: Sequence[TextStats], other: Sequence[TextStats]) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.null_reason == b.null_reason
        for name in DEFAULT_STATISTICS:
            # Rounding may order two tokens of the vocabulary otherwise.
            assert a.columns[name] == pytest.approx(b.columns[name], abs=2 if name == "rank" else 1e-4), name


@pytest.mark.parametrize("kind", KINDS)
def test_f01_padding_batches_and_text_that_holds_the_pad_token(kind: str) -> None:
    loaded = tiny(kind)
    tokenizer = loaded.tokenizer
    before = tokenizer.backend_tokenizer.to_str()
    end = tokenizer.eos_token_id
    texts = ["a" * length for length in (1, 2, 3, 5, 8, 13, 21, 34, 47, 59, 60)] + ["one <|endoftext|> two"]
    # Once without a pad token, once with the end of text as such.
    for pad in (None, tokenizer.eos_token):
        tokenizer.pad_token = pad
        encoded = encode(loaded, texts, control_tokens="token")
        assert end in encoded[-1].ids
        alone = score(loaded, encoded, batch_tokens=1)
        assert alone[0].null_reason == ONE_TOKEN
        assert [len(each.columns["log_prob"]) for each in alone] == [len(each.ids) for each in encoded]
        assert end in alone[-1].columns["token_id"]
        for batch in (4, 12):
            for side in ("right", "left"):
                same(score(loaded, encoded, batch_tokens=batch * 60, padding_side=side), alone)
        assert tokenizer.pad_token == pad
    tokenizer.pad_token = None
    assert tokenizer.backend_tokenizer.to_str() == before


def test_f02_f03_a_model_whose_law_is_known(trials: Path) -> None:
    known = json.loads((trials / "F" / "bigram_lm.json").read_bytes())
    law = np.array(known["next_token_probs_by_current_token"])
    loaded = bigram(law)
    sequences = known["sequences"]
    found = score(loaded, [of_ids(each["ids"]) for each in sequences.values()])
    for (name, expected), text in zip(sequences.items(), found, strict=True):
        columns = text.columns
        assert columns["log_prob"] == pytest.approx(expected["token_logprobs"], abs=1e-5)
        assert columns["mu"] == pytest.approx(np.array(known["entropy_mean_logprob"])[expected["ids"][:-1]], abs=1e-5)
        assert columns["sigma"] == pytest.approx(np.array(known["std_logprob"])[expected["ids"][:-1]], abs=1e-5)
        # A flat law has no spread at all, not one of 1e-8 that would be divided by.
        flat = np.isin(expected["ids"][:-1], [0, 5])
        assert (columns["sigma"][flat] == 0).all()
        ranks = [(law[now] > law[now][then]).sum() for now, then in zip(expected["ids"], expected["ids"][1:], strict=False)]
        assert columns["rank"].tolist() == ranks
        assert all(np.isfinite(values).all() for values in columns.values())
        assert text.null_reason == {"none": NO_TOKEN, "one": ONE_TOKEN}.get(name)
    assert -found[list(sequences).index("long")].columns["log_prob"].mean() == pytest.approx(1.648454, abs=1e-5)


def test_f06_a_model_that_returns_nan() -> None:
    for kind in KINDS:
        loaded = tiny(kind)
        bad = loaded.tokenizer("z")["input_ids"][0]
        texts = [f"the hen {number} ran in" + (" z then" if number % 4 == 1 else "") for number in range(20)]
        expected = score(loaded, encode(loaded, texts))
        with torch.no_grad():
            # Not every class ties it to the head, where it would spoil every text.
            weights = loaded.model.get_input_embeddings().weight
            if weights is loaded.model.get_output_embeddings().weight:
                loaded.model.get_output_embeddings().weight = torch.nn.Parameter(weights.clone(), requires_grad=False)
            weights[bad] = float("inf")
        for side in ("right", "left"):
            found = score(loaded, encode(loaded, texts), padding_side=side)
            reasons = [each.null_reason for each in found]
            assert reasons == [MODEL_RETURNED_NAN if number % 4 == 1 else None for number in range(20)]
            assert all(len(each.columns["log_prob"]) == 0 for each in found if each.null_reason)
            healthy = [number for number in range(20) if number % 4 != 1]
            same([found[number] for number in healthy], [expected[number] for number in healthy])


def test_f07_text_that_spells_a_control_token() -> None:
    plain = "the file ends with {} and then a new one starts"
    model = tiny("llama").model
    for tokenizer in (byte_tokenizer(), starting_tokenizer()):
        loaded = LoadedModel(model, tokenizer, "family")
        known = set(tokenizer.all_special_ids)
        for control in ("<|endoftext|>", "<s>", "</s>", "<|im_start|>"):
            text = plain.format(control)
            read, taken = (encode(loaded, [text], control_tokens=rule)[0] for rule in ("text", "token"))
            # By default every character is read as one; the token counts tell the rules apart.
            assert not known & set(read.ids.tolist())
            start = len(read.head) if read.starts else 0
            whole = [*read.head.tolist()[start:], *read.ids.tolist()]
            assert tokenizer.decode(whole) == text
            number = tokenizer.convert_tokens_to_ids(control)
            if control in tokenizer.all_special_tokens:
                assert taken.ids.tolist().count(number) == 1
                assert taken.tokens_total < read.tokens_total
            else:
                assert taken.tokens_total == read.tokens_total
            assert all(each.null_reason is None for each in score(loaded, [read, taken]))


def test_f08_longer_than_the_model_can_see() -> None:
    loaded = tiny("gpt2")
    letters = {tokens: "xy" * (tokens // 2) + "x" * (tokens % 2) for tokens in (20, 128, 129, 2000)}
    texts = [*letters.values(), "日本語のテキスト" * 20, ""]
    encoded = encode(loaded, texts)
    assert [each.tokens_total for each in encoded[:4]] == [20, 128, 129, 2000]
    assert [each.truncated for each in encoded] == [False, False, True, True, True, False]
    found = score(loaded, encoded)
    assert [len(each.columns["log_prob"]) for each in found[:4]] == [19, 127, 127, 127]
    for text, each in zip(texts[:4], encoded[:4], strict=True):
        seen = text[:CONTEXT].encode()
        assert (each.text_bytes, each.zlib_bytes) == (len(seen), len(zlib.compress(seen, 6)))
    # Three bytes a character: 126 of the 128 that would fit.
    assert (len(encoded[4].ids), encoded[4].text_bytes) == (125, 126)
    assert encoded[4].zlib_bytes == len(zlib.compress(texts[4].encode()[:126], 6))
    assert (found[5].null_reason, encoded[5].text_bytes) == (NO_TOKEN, 0)

    strided = encode(loaded, texts, long_text="stride")
    assert not any(each.truncated for each in strided)
    whole = score(loaded, strided)
    assert [len(each.columns["log_prob"]) for each in whole[:4]] == [19, 127, 128, 1999]
    assert strided[3].text_bytes == 2000
    # What fits one window has one score, whatever the rule.
    same(whole[:2], found[:2])


class _Largest(TorchDispatchMode):
    """The largest tensor that any operation makes."""

    elements = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.elements = max(self.elements, result.numel())
        return result


def test_i04_not_enough_memory() -> None:
    # A vocabulary of 150,000; eight texts of 50 tokens and one of 200; memory for 125 positions.
    loaded = tiny("llama", vocabulary=150_000, context=200)
    random = np.random.default_rng(0)
    encoded = [of_ids(random.integers(0, 150_000, length).tolist(), 200) for length in (*[50] * 8, 200)]
    with _Largest() as largest:
        expected = score(loaded, encoded)
    # The weights, or the logits of a few positions: not of 400 or 200.
    assert largest.elements <= 150_000 * 60
    seen: list[int] = []

    def limited(module: Any, arguments: Any, options: Any) -> None:
        seen.append(options["input_ids"].numel())
        if seen[-1] > 125:
            raise torch.OutOfMemoryError("CUDA out of memory.")

    forward = Forward(loaded, batch_tokens=1600)
    loaded.model.base_model.register_forward_pre_hook(limited, with_kwargs=True)
    found = [each for _, each in sorted(forward.run(encoded), key=lambda pair: pair[0])]
    same(found, expected)
    # The long text alone is too much, so it is shown in pieces; of the others eight are, then four; two fit, and so it stays.
    assert seen == [199, 99, 99, 1, 392, 196, 98, 98, 196, 98, 98]
    assert forward.batch_tokens == 98
    # What fits once need not be found again.
    seen.clear()
    same([each for _, each in sorted(forward.run(encoded[:8]), key=lambda pair: pair[0])], expected[:8])
    assert seen == [98] * 4
