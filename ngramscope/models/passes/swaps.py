"""Texts with some of their words swapped."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ngramscope.checks import check_integer, check_share
from ngramscope.models.passes.base import PassTexts, Variant, pass_kind
from ngramscope.sets.base import Candidate
from ngramscope.sets.seeds import draw

__all__ = ["swap_words", "swaps"]

_WORD = re.compile(r"\S+")


@pass_kind(
    "swaps",
    summary="Augmentations of the text with words swapped.",
    source="Ye et al. 2024 (PAC); Wei and Zou 2019 (EDA), random swap",
    options={
        "augmentations": "Pass swaps: augmentations of each text.",
        "swap_share": "Pass swaps: share of the words, each of which is a swap of two.",
    },
)
def swaps(candidates: Sequence[Candidate], *, augmentations: int = 5, swap_share: float = 0.3, seed: int = 0) -> PassTexts:
    """`augmentations` variants of each candidate; one of fewer than two words has none."""
    check_integer("--augmentations", augmentations, 1, 10_000)
    check_share("--swap-share", swap_share)
    texts = []
    short = 0
    for row, each in enumerate(candidates):
        if len(_WORD.findall(each.text)) < 2:
            short += 1
            continue
        for number in range(augmentations):
            random = np.random.default_rng(draw(seed, "swaps", each.text, swap_share, number))
            texts.append(Variant(row, number, swap_words(each.text, swap_share, random)))
    return PassTexts(texts, counts={"fewer_than_two_words": short} if short else {})


def swap_words(text: str, share: float, random: np.random.Generator) -> str:
    """`text` after max(1, floor(share x words)) swaps of two different words; white space stays where it is."""
    words = _WORD.findall(text)
    for _ in range(max(1, int(share * len(words)))):
        a, b = random.choice(len(words), size=2, replace=False)
        words[a], words[b] = words[b], words[a]
    rest = iter(words)
    return _WORD.sub(lambda _: next(rest), text)
