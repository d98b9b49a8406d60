"""One pass over texts: windows, prefixes, batches, heads that are not linear, gradients, threads."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Sequence
from typing import Any

import accelerate
import numpy as np
import pytest
import torch

from ngramscope import UsageError
from ngramscope.errors import InputError, ResourceError
from ngramscope.models.drift import batch_drift
from ngramscope.models.encode import Encoded, EncodeOptions, Encoder
from ngramscope.models.forward import Forward, TextStats, gradient_norms
from ngramscope.models.load import LoadedModel
from ngramscope.models.threads import pick_threads
from tests.tiny_models import CONTEXT, KINDS, tiny

WORDS = "the rain in an inn then a thin hen ran in the than".split()


def texts(lengths: Sequence[int], seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, length)) for length in lengths]


def encode(loaded: LoadedModel, documents: Sequence[str], **options: Any) -> list[Encoded]:
    encoder = Encoder(loaded, EncodeOptions(**options))
    return [encoder.encode(text) for text in documents]


def score(
    loaded: LoadedModel, encoded: Sequence[Encoded], prefix: Sequence[int] | None = None, **options: Any
) -> list[TextStats]:
    found = dict(Forward(loaded, **options).run(encoded, prefix))
    assert sorted(found) == list(range(len(encoded)))
    return [found[number] for number in range(len(encoded))]


def log_probs(loaded: LoadedModel, ids: Sequence[int]) -> np.ndarray:
    """(n - 1,): by transformers' own logits, at once."""
    with torch.no_grad():
        logits = loaded.model(input_ids=torch.tensor([list(ids)])).logits[0].double()
    return torch.log_softmax(logits, -1)[:-1].gather(1, torch.tensor(ids[1:])[:, None])[:, 0].numpy()


def same(one: Sequence[TextStats], other: Sequence[TextStats], tolerance: float = 1e-4) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.null_reason == b.null_reason
        assert set(a.columns) == set(b.columns)
        for name in a.columns:
            # Rounding may order two tokens of the vocabulary otherwise.
            assert a.columns[name] == pytest.approx(b.columns[name], abs=2 if name == "rank" else tolerance), name


@pytest.mark.parametrize("kind", [*KINDS, "gemma2"])
def test_log_probabilities_are_those_of_the_models_own_loss(kind: str) -> None:
    loaded = tiny(kind)
    forward = Forward(loaded)
    assert forward._statistics.linear  # Gemma's head caps its logits
    for start in ("none", "eos"):
        encoded = encode(loaded, texts([20, 3, 11]), start_token=start)
        for text, found in zip(encoded, score(loaded, encoded), strict=True):
            ids = [*text.head.tolist(), *text.ids.tolist()]
            assert found.columns["token_id"].tolist() == ids[1:]
            assert found.columns["log_prob"] == pytest.approx(log_probs(loaded, ids), abs=1e-4)
            with torch.no_grad():
                loss = loaded.model(input_ids=torch.tensor([ids]), labels=torch.tensor([ids])).loss
            assert -found.columns["log_prob"].mean() == pytest.approx(loss.item(), abs=1e-4)


def strided(loaded: LoadedModel, ids: Sequence[int], size: int) -> np.ndarray:
    """MIMIR's windows, one by one: stride size // 2, the first window only that long."""
    stride, found = size // 2, []
    for start in range(0, len(ids), stride):
        end = min(start + stride, len(ids))
        window = ids[max(start + stride - size, 0) : end]
        found.append(log_probs(loaded, window)[-(end - start) :] if start else log_probs(loaded, window))
    return np.concatenate(found)


@pytest.mark.parametrize("size", [8, 9, 64])
@pytest.mark.parametrize("length", [1, 2, 30])
def test_stride_windows(size: int, length: int) -> None:
    loaded = tiny("gpt_neox")
    (encoded,) = encode(loaded, texts([length]), max_tokens=size, long_text="stride")
    ids = [*encoded.head.tolist(), *encoded.ids.tolist()]
    assert not encoded.truncated
    (found,) = score(loaded, [encoded])
    assert found.columns["log_prob"] == pytest.approx(strided(loaded, ids, size), abs=1e-4)
    assert found.columns["token_id"].tolist() == ids[1:]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("padding_side", ["right", "left"])
def test_behind_a_prefix(kind: str, padding_side: Any) -> None:
    loaded = tiny(kind)
    for start in ("none", "eos"):
        encoder = Encoder(loaded, EncodeOptions(start_token=start))
        encoded = [encoder.encode(text) for text in texts([12, 11, 3, 9])]
        for shots in ("in", "the rain in an inn"):
            prefix = encoder.prefix(shots)
            for text, found in zip(encoded, score(loaded, encoded, prefix, padding_side=padding_side), strict=True):
                ids = [*prefix, *(text.head.tolist() if start == "none" else []), *text.ids.tolist()]
                assert found.columns["log_prob"] == pytest.approx(log_probs(loaded, ids)[-len(text.ids) :], abs=1e-4)
        same(score(loaded, encoded, []), score(loaded, encoded))
        with pytest.raises(UsageError, match="take a shorter prefix"):
            score(loaded, encoded, [5] * (CONTEXT - 5))


def test_a_model_without_a_shared_cache_sees_the_prefix_with_each_text(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = tiny("llama")
    encoded = encode(loaded, texts([12, 3]))
    prefix = Encoder(loaded).prefix("the hen")
    expected = score(loaded, encoded, prefix)
    monkeypatch.setattr(Forward, "_remember", lambda *_: None)
    same(score(loaded, encoded, prefix), expected)


def test_a_head_that_does_more_than_multiply() -> None:
    loaded = tiny("llama")
    encoded = encode(loaded, texts([20, 7, 12]))
    linear = score(loaded, encoded)
    plain = loaded.model.forward

    @functools.wraps(plain)
    def forward(*arguments: Any, **options: Any) -> Any:
        output = plain(*arguments, **options)
        output.logits = output.logits.sinh()
        return output

    loaded.model.forward = forward
    found = score(loaded, encoded)
    assert not Forward(loaded)._statistics.linear
    assert abs(found[0].columns["log_prob"] - linear[0].columns["log_prob"]).max() > 0.1
    ids = [*encoded[0].head.tolist(), *encoded[0].ids.tolist()]
    assert found[0].columns["log_prob"] == pytest.approx(log_probs(loaded, ids), abs=1e-4)
    # Few positions at a time: a whole text's logits are then never in memory.
    pieces = Forward(loaded)
    pieces._span = 5
    same([each for _, each in sorted(pieces.run(encoded))], found)


def test_weights_that_are_brought_in_for_each_call() -> None:
    """As accelerate does with models that are larger than the card."""
    loaded = tiny("gpt2")
    encoded = encode(loaded, texts([20, 7, 12]))
    expected = score(loaded, encoded)
    accelerate.cpu_offload(loaded.model, execution_device=torch.device("cpu"))
    assert loaded.model.get_input_embeddings().weight.device.type == "meta"
    assert loaded.device.type == "cpu"
    same(score(loaded, encoded), expected)


def test_padding_is_less_than_a_tenth() -> None:
    loaded = tiny("gpt_neox")
    forward = Forward(loaded, ("log_prob",), batch_tokens=800)
    assert len(list(forward.run(encode(loaded, texts(np.random.default_rng(3).integers(1, 40, 200).tolist()))))) == 200
    assert forward.real_positions < forward.padded_positions < forward.real_positions / 0.9


def test_statistics_and_ids_that_are_not_known() -> None:
    loaded = tiny("gpt2", vocabulary=200)
    with pytest.raises(UsageError, match="entropy: no statistic of tokens; there are token_id, log_prob"):
        Forward(loaded, ("entropy",))
    with pytest.raises(
        InputError, match=r"knows 200 token ids, but a text has id 25\d; the tokenizer belongs to another model"
    ):
        score(loaded, encode(loaded, ["the hen"]))


def test_memory_that_does_not_suffice_for_anything() -> None:
    loaded = tiny("llama")

    def refuse(*_: Any) -> None:
        raise torch.OutOfMemoryError

    forward = Forward(loaded)
    loaded.model.base_model.register_forward_pre_hook(refuse)
    with pytest.raises(ResourceError, match="not even 18 at a time"):
        list(forward.run(encode(loaded, ["a" * 80])))


def test_half_precision_drift_is_measured() -> None:
    loaded = tiny("llama")
    encoded = encode(loaded, texts([20, 20, 20, 19, 18, 0]))
    exact = batch_drift(loaded, encoded)
    assert (exact.texts, exact.tokens) == (5, sum(len(each.ids) for each in encoded))
    assert exact.text_max <= exact.token_max < 1e-4
    half = LoadedModel(loaded.model.to(torch.bfloat16), loaded.tokenizer, "half")
    drift = batch_drift(half, encoded)
    assert drift.text_max <= drift.token_max < 1
    assert score(half, encoded)[0].columns["log_prob"].dtype == np.float32


@pytest.mark.parametrize("order", ["1", "2", "inf"])
def test_gradient_norms(order: str) -> None:
    loaded = tiny("llama")
    (encoded,) = encode(loaded, texts([12]))
    model = loaded.model.requires_grad_(True)
    ids = torch.tensor([[*encoded.head.tolist(), *encoded.ids.tolist()]])
    gradients = torch.autograd.grad(model(input_ids=ids, labels=ids).loss, list(model.parameters()))
    model.requires_grad_(False)
    each = [float(gradient.norm(float(order))) for gradient in gradients]
    whole = torch.cat([gradient.reshape(-1) for gradient in gradients]).norm(float(order))
    found = gradient_norms(loaded, encoded)
    assert found[f"gradient_mean_{order}"] == pytest.approx(np.mean(each), rel=1e-4)
    assert found[f"gradient_global_{order}"] == pytest.approx(float(whole), rel=1e-4)
    assert all(not weight.requires_grad and weight.grad is None for weight in model.parameters())


def test_gradients_of_windows_add_up_and_of_nothing_are_undefined() -> None:
    loaded = tiny("llama")
    (whole,) = encode(loaded, texts([9]))
    assert all(map(math.isnan, gradient_norms(loaded, encode(loaded, ["x"])[0]).values()))
    (parts,) = encode(loaded, texts([9]), max_tokens=len(whole.ids), long_text="stride")
    # All but the last token are scored with the same context, and that with a shorter one.
    assert gradient_norms(loaded, parts) == pytest.approx(gradient_norms(loaded, whole), rel=0.3)


def test_threads_that_wait_for_each_other_are_not_taken() -> None:
    before = torch.get_num_threads()

    def work(seconds: dict[int, float]) -> Any:
        return lambda: time.sleep(seconds[torch.get_num_threads()])

    try:
        assert pick_threads(work({1: 0.002, 2: 0.02}), [1, 2]) == torch.get_num_threads() == 1
        assert pick_threads(work({1: 0.02, 2: 0.002, 4: 0.02}), [1, 2, 4]) == torch.get_num_threads() == 2
        assert pick_threads(candidates=[1]) == 1
        assert 1 <= pick_threads() == torch.get_num_threads()
    finally:
        torch.set_num_threads(before)
