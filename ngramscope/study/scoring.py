"""Steps that need a model, or what a model has left: passes over a set, and attacks on them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ngramscope.attacks.run import run_attacks
from ngramscope.index.output import write_whole
from ngramscope.models.score import score_set
from ngramscope.models.store import ScoreStore
from ngramscope.sets.records import RecordSource
from ngramscope.study.cache import facts_of
from ngramscope.study.description import AttackPart, ModelPart, Study

if TYPE_CHECKING:
    from ngramscope.models.load import LoadedModel

__all__ = ["SCORES_FILE", "TOKENS_FILE", "Models", "attack", "score"]

SCORES_FILE = "scores.parquet"

TOKENS_FILE = "tokens.json"
"""Texts of a model's tokens, by number."""

Progress = Callable[[Any], None]


class Models:
    """Holds one model at a time: the steps of a model follow each other, so that it is loaded once for all sets."""

    def __init__(self) -> None:
        self._part: ModelPart | None = None
        self._loaded: LoadedModel | None = None

    def get(self, part: ModelPart, study: Study) -> LoadedModel | None:
        """The model; None if several processes are to load it themselves."""
        scoring = study.scoring
        if scoring.workers > 1 or len(scoring.devices) > 1:
            return None
        if part is not self._part:
            from ngramscope.models.load import load_model

            self.drop()
            options = part.options
            if scoring.devices:
                options = dataclasses.replace(options, device=scoring.devices[0])
            self._loaded, self._part = load_model(options), part
        return self._loaded

    def drop(self) -> None:
        """Let go of its memory."""
        if self._loaded is not None:
            import torch

            self._part = self._loaded = None
            torch.cuda.empty_cache()


def score(
    source: Path, store: Path, study: Study, part: ModelPart, kind: str, models: Models, out: Path, progress: Progress | None
) -> Mapping[str, Any]:
    """Make a pass; chunks that an interrupted one has left are kept. Of a target's plain pass also write its tokens."""
    options = study.scoring.options(part, kind)
    loaded = models.get(part, study)
    done = score_set(RecordSource((source,)), store, options, loaded=loaded, progress=progress)
    (made,) = done["passes"]
    if loaded is not None and kind == "plain" and part.role == "target":
        _write_tokens(store / made["folder"], loaded, out / TOKENS_FILE)
    names = ("label", "revision", "parameters", "dtype", "digests", "tokenizer")
    model = {name: made["model"][name] for name in names if name in made["model"]}
    folder = Path(made["folder"]).name
    return {
        "folder": folder,
        "needs": [f"{store.parent.name}/{store.name}/{folder}/pass.json"],
        "kind": kind,
        "role": part.role,
        "model": model,
        "counts": made["counts"],
    }


def _write_tokens(folder: Path, loaded: LoadedModel, out: Path) -> None:
    """The texts of the tokens that occur, by their numbers, for those who read scores without the model."""
    stored = next(each for each in ScoreStore(folder.parent).passes if each.path.name == folder.name)
    ids = sorted({*np.concatenate([stored.stats.columns["token_id"], *stored.stats.head]).tolist()})
    texts = {str(each): loaded.tokenizer.decode([each], clean_up_tokenization_spaces=False) for each in ids}
    write_whole(out, json.dumps(texts, ensure_ascii=False) + "\n")


def attack(store: Path, steps: Sequence[Path], part: AttackPart, out: Path, progress: Progress | None) -> Mapping[str, Any]:
    """Compute the attacks on those passes of a store that `steps` have made."""
    folders = {facts_of(each)["folder"] for each in steps}
    opened = ScoreStore(store)
    # Others are of models or settings that the study had before.
    opened.passes = tuple(each for each in opened.passes if each.path.name in folders)
    table = run_attacks(
        opened,
        part.names,
        options=part.options,
        compat=part.compat,
        token_counts=None if part.token_counts is None else Path(part.token_counts),
        seed=part.seed,
        progress=progress,
    )
    table.save(out / SCORES_FILE)
    return {name: table.header[name] for name in ("skipped", "undefined", "warnings")}
