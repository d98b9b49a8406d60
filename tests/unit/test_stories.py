"""A real language model of 260 thousand parameters: what it is known to say, and its loss."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from ngramscope.models.encode import Encoder
from ngramscope.models.forward import Forward
from ngramscope.models.load import LoadedModel
from tests.conftest import ROOT

STORY = (
    "Once upon a time, there was a little girl named Lily. She loved to play outside in the park. One day, she saw a big, red "
    "ball. She wanted to play with it, but it was too high."
)


@pytest.fixture(scope="module")
def stories(shared: Path) -> LoadedModel:
    torch.set_num_threads(1)
    spec = importlib.util.spec_from_file_location("language_models", ROOT / "benchmarks" / "language_models.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    loaded: LoadedModel = module.stories260k(shared / "data")
    return loaded


def test_it_tells_its_story(stories: LoadedModel) -> None:
    ids = stories.model.generate(torch.tensor([Encoder(stories).prefix("")]), max_new_tokens=90, do_sample=False)
    assert stories.tokenizer.decode(ids[0], skip_special_tokens=True).startswith(STORY)


def test_its_loss_is_that_of_transformers(stories: LoadedModel) -> None:
    encoder = Encoder(stories)
    encoded = [encoder.encode(text) for text in (STORY, STORY[:60], STORY[::-1])]
    assert encoded[0].head.tolist() == [1]
    found = dict(Forward(stories).run(encoded))
    for number, text in enumerate(encoded):
        ids = torch.tensor([[*text.head.tolist(), *text.ids.tolist()]])
        loss = stories.model(input_ids=ids, labels=ids).loss.item()
        assert -found[number].columns["log_prob"].mean() == pytest.approx(loss, abs=1e-4)
    # It finds its own story likely, and the same letters backwards not.
    means = [float(np.mean(found[number].columns["log_prob"])) for number in (0, 2)]
    assert means[0] > -0.7
    assert means[1] < -3
