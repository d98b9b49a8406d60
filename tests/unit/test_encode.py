"""Start tokens, control tokens that a text spells out, and where long texts are cut."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

from ngramscope import UsageError
from ngramscope.models.encode import NO_TOKEN, ONE_TOKEN, EncodeOptions, Encoder
from ngramscope.models.load import LoadedModel
from tests.tiny_models import byte_tokenizer, starting_tokenizer, tiny

START, END = 1, 2  # of the LLaMA-like tokenizer


@pytest.fixture(scope="module")
def bytewise() -> LoadedModel:
    return tiny("gpt_neox")


@pytest.fixture(scope="module")
def starting(bytewise: LoadedModel) -> LoadedModel:
    return LoadedModel(bytewise.model, starting_tokenizer(), "starting")


def encoder(loaded: LoadedModel, **options: Any) -> Encoder:
    return Encoder(loaded, EncodeOptions(**options))


@pytest.mark.parametrize(
    ("rule", "heads"),
    [("tokenizer", ([START], None)), ("force", ([START], [261])), ("eos", ([END], [261])), ("none", (None, None))],
)
def test_the_start_token_is_that_of_the_rule_and_there_is_one(
    starting: LoadedModel, bytewise: LoadedModel, rule: str, heads: tuple[list[int] | None, list[int] | None]
) -> None:
    for loaded, head in zip((starting, bytewise), heads, strict=True):
        found = encoder(loaded, start_token=rule).encode("abc")
        own = loaded.tokenizer("abc", add_special_tokens=False)["input_ids"]
        assert [*found.head, *found.ids] == [*(head or []), *own]
        assert (found.head.tolist(), found.starts) == ((head, True) if head else (own[:1], False))
        assert found.tokens_total == len(own)
        assert encoder(loaded, start_token=rule).prefix("abc") == [*(head or []), *own]


def test_a_start_token_that_the_text_spells_out_is_not_doubled(starting: LoadedModel) -> None:
    found = encoder(starting, control_tokens="token").encode("<s>abc")
    assert found.head.tolist() == [START]
    assert START not in found.ids


def test_a_tokenizer_without_such_a_token_is_told(bytewise: LoadedModel) -> None:
    tokenizer = byte_tokenizer()
    tokenizer.bos_token = tokenizer.eos_token = None
    bare = LoadedModel(bytewise.model, tokenizer, "bare")
    for rule, word in (("force", "start"), ("eos", "end")):
        with pytest.raises(UsageError, match=f"--start-token {rule}: the tokenizer has no {word} token"):
            encoder(bare, start_token=rule)


@pytest.mark.parametrize(
    "wrong", [{"start_token": "bos"}, {"control_tokens": "x"}, {"long_text": "split"}, {"max_tokens": 3}, {"max_tokens": True}]
)
def test_options_that_cannot_be(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="--" + next(iter(wrong)).replace("_", "-")):
        EncodeOptions(**wrong)


def test_more_tokens_than_the_model_sees(bytewise: LoadedModel) -> None:
    with pytest.raises(UsageError, match="--max-tokens: 129, but tiny-gpt_neox sees 128 at most"):
        encoder(bytewise, max_tokens=129)


def test_texts_with_no_token_and_one(starting: LoadedModel, bytewise: LoadedModel) -> None:
    assert encoder(bytewise).encode("").null_reason == NO_TOKEN
    assert encoder(bytewise).encode("x").null_reason == ONE_TOKEN
    assert encoder(starting).encode("").null_reason == NO_TOKEN
    assert encoder(bytewise, start_token="eos").encode("x").null_reason is None


@pytest.mark.parametrize("room", range(4, 16))
def test_a_cut_never_falls_inside_a_character(bytewise: LoadedModel, starting: LoadedModel, room: int) -> None:
    text = "the 日本  語 \U0001f600 é\n\n in"
    for loaded in (bytewise, starting):
        found = encoder(loaded, max_tokens=room, start_token="none").encode(text)
        ids = [*found.head.tolist(), *found.ids.tolist()]
        whole = encoder(loaded, start_token="none").encode(text)
        assert found.truncated
        assert room - 3 <= len(ids) <= room
        assert ids == [*whole.head, *whole.ids][: len(ids)]
        assert found.tokens_total == len(whole.ids) + 1
        # The sizes are of exactly the text that these ids are of: nothing more, nothing less.
        seen = loaded.tokenizer.decode(ids)
        assert "�" not in seen
        assert text.startswith(seen)
        assert (found.text_bytes, found.zlib_bytes) == (len(seen.encode()), len(zlib.compress(seen.encode(), 6)))


def test_a_tokenizer_in_python_is_cut_by_search(bytewise: LoadedModel) -> None:
    from transformers import ByT5Tokenizer

    slow = LoadedModel(bytewise.model, ByT5Tokenizer(), "slow")
    assert not slow.tokenizer.is_fast
    found = encoder(slow, max_tokens=5).encode("aé日本")
    assert [*found.head, *found.ids] == [byte + 3 for byte in "aé".encode()]
    assert (found.text_bytes, found.tokens_total, found.truncated) == (3, 9, True)


def test_the_users_tokenizer_is_not_changed() -> None:
    tokenizer = byte_tokenizer()
    tokenizer("a b", truncation=True, max_length=1)  # leaves a setting behind
    loaded = tiny("gpt_neox")
    loaded = LoadedModel(loaded.model, tokenizer, "mine")
    before = tokenizer.backend_tokenizer.to_str(), tokenizer.pad_token, tokenizer.backend_tokenizer.encode_special_tokens
    for control in ("text", "token"):
        assert encoder(loaded, control_tokens=control).encode("a longer text <|endoftext|>").tokens_total > 5
    assert before == (
        tokenizer.backend_tokenizer.to_str(),
        tokenizer.pad_token,
        tokenizer.backend_tokenizer.encode_special_tokens,
    )
