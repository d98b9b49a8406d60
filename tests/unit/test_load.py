"""Models from folders: what is told of them, and refusals that say what to do."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import BertConfig, BertForMaskedLM, BertModel

from ngramscope import UsageError
from ngramscope.errors import InputError
from ngramscope.models import load, place
from ngramscope.models.encode import Encoder
from ngramscope.models.load import UNLIMITED, LoadedModel, ModelOptions, load_model
from tests.tiny_models import byte_tokenizer, starting_tokenizer, tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "small-neox"
    loaded = tiny("gpt_neox")
    loaded.model.save_pretrained(path)
    loaded.tokenizer.save_pretrained(path)
    return path


def options(name: str | Path, **more: Any) -> ModelOptions:
    return ModelOptions(str(name), **{"threads": 1, "device": "cpu", **more})


def test_a_folder(folder: Path) -> None:
    loaded = load_model(options(folder))
    made = tiny("gpt_neox")
    facts = loaded.facts()
    assert json.loads(json.dumps(facts)) == facts
    assert {key: facts[key] for key in ("label", "class", "dtype", "device", "quantization", "vocabulary", "context")} == {
        "label": "small-neox",  # not where it is on this machine
        "class": "GPTNeoXForCausalLM", "dtype": "float32", "device": "cpu", "quantization": None, "vocabulary": 300,
        "context": 128,
    }  # fmt: skip
    assert str(folder.parent) not in json.dumps(facts)
    assert facts["parameters"] == sum(each.numel() for each in made.model.parameters())
    assert not loaded.model.training
    assert not any(each.requires_grad for each in loaded.model.parameters())
    assert loaded.tokenizer.pad_token is None
    assert torch.get_num_threads() == 1
    for (name, weight), (_, expected) in zip(loaded.model.named_parameters(), made.model.named_parameters(), strict=True):
        assert torch.equal(weight, expected), name


def test_digests_are_of_contents(folder: Path, tmp_path: Path) -> None:
    loaded, again = load_model(options(folder)), load_model(options(folder, dtype="bfloat16"))
    assert loaded.facts()["digest"] == again.facts()["digest"]
    assert again.facts()["dtype"] == "bfloat16"
    other = tiny("gpt_neox", seed=1)
    other.model.save_pretrained(tmp_path)
    other.tokenizer.save_pretrained(tmp_path)
    changed = load_model(options(tmp_path)).facts()
    assert changed["digest"] != loaded.facts()["digest"]
    assert changed["tokenizer"] == loaded.facts()["tokenizer"]
    # Of a model in memory too, and of tokenizers whatever state a call left them in.
    assert tiny("gpt_neox").digest == tiny("gpt_neox").digest != other.digest
    used = byte_tokenizer()
    used("a b", truncation=True, max_length=1)
    assert load.tokenizer_digest(used) == load.tokenizer_digest(byte_tokenizer()) != load.tokenizer_digest(starting_tokenizer())


def test_another_tokenizer(folder: Path, tmp_path: Path) -> None:
    starting_tokenizer().save_pretrained(tmp_path)
    loaded = load_model(options(folder, tokenizer=str(tmp_path)))
    assert Encoder(loaded).start == [1]


def test_without_a_longest_text(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = tiny("gpt_neox")
    monkeypatch.setattr(load, "_CONTEXT", ())
    assert loaded.context == UNLIMITED
    assert loaded.facts()["context"] is None
    assert Encoder(loaded).encode("a" * 500).truncated is False


@pytest.mark.parametrize("name", ["no/such/folder/here", "./absent", "~/absent", "absent.gguf", "/absent", "a b", "..\\absent"])
def test_names_that_can_only_be_paths_are_not_looked_for_on_the_hub(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "hub_is_out_of_reach", lambda: pytest.fail("asked the hub"))
    with pytest.raises(InputError, match="no such file or folder, and no name on the hub"):
        load_model(options(name))


def test_a_hub_out_of_reach_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("unreachable")

    for key in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(socket, "create_connection", refuse)
    with pytest.raises(
        InputError, match="org/absent: cannot be loaded: it is not in the local cache, and the hub cannot be reached"
    ):
        load_model(options("org/absent"))


def test_folders_that_hold_no_causal_language_model(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no model in this folder"):
        load_model(options(tmp_path))
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 300}
    BertModel(BertConfig(**sizes, is_decoder=True)).save_pretrained(tmp_path)
    byte_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r"weights are not in the checkpoint, as cls\..*it is no causal language model"):
        load_model(options(tmp_path))
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(InputError, match="cannot be loaded"):
        load_model(options(tmp_path))
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(InputError, match="not a model; give a folder"):
        load_model(options(tmp_path / "notes.txt"))


def test_a_masked_model_is_not_taken_for_a_causal_one(folder: Path, tmp_path: Path) -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertForMaskedLM(BertConfig(vocab_size=300, **sizes)).save_pretrained(tmp_path)
    for path in folder.glob("tokenizer*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="sees the tokens that come after"):
        load_model(options(tmp_path))


@pytest.mark.parametrize(
    ("wrong", "option"),
    [
        ({"dtype": "float8"}, "--dtype"),
        ({"device": "gpu"}, "--device"),
        ({"quantize": "2bit"}, "--quantize"),
        ({"threads": 0}, "--threads"),
        ({"quantize": "4bit", "gguf_file": "x.gguf"}, "--quantize"),
    ],
)
def test_options_that_cannot_be(wrong: dict[str, Any], option: str) -> None:
    with pytest.raises(UsageError, match=option):
        options("x", **wrong)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card")
def test_cards_that_are_not_here(folder: Path) -> None:
    for wrong in ({"device": "cuda:3"}, {"quantize": "8bit"}):
        with pytest.raises(UsageError, match="--" + next(iter(wrong))):
            load_model(options(folder, **wrong))


def test_a_model_in_memory_is_wrapped() -> None:
    loaded = tiny("gpt2")
    assert LoadedModel(loaded.model, loaded.tokenizer, "mine").facts()["label"] == "mine"
