"""Every attack, end to end, on three models without a hub: SmolLM2-135M, stories260K, and a GPT-NeoX trained on the spot.

Every kind of pass, a reference, token counts, labels: nothing may be skipped, and no attack undefined for all texts. The
reference is the model itself with noise on its weights, so that AUCs mean nothing here; what is asked is whether it runs.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from study import QUICK, Study
from tables import REFERENCE, TARGET, Findings, Skip, write_set

from ngramscope.attacks.base import attacks
from ngramscope.attacks.run import run_attacks
from ngramscope.attacks.table import ScoreTable
from ngramscope.corpus.tokens import count_tokens, load_tokenizer
from ngramscope.models.encode import Encoder
from ngramscope.models.load import LoadedModel, ModelOptions, load_model
from ngramscope.models.passes import pass_kinds
from ngramscope.models.score import ScoreOptions, score_set
from ngramscope.models.store import ScoreStore
from ngramscope.sets import MEMBER, NONMEMBER, Candidate, RecordSource, SetFile
from ngramscope.sets.perturb import PerturbOptions, perturb

SHOTS = 2
NEIGHBOURS = 2
NOISE = 0.1
TEXTS, WORDS = 24, 40


@dataclass(frozen=True)
class Ran:
    """What all attacks gave.

    Attributes
    ----------
    table
        Scores.
    nowhere
        Columns without a single score.
    missing
        Attacks that have no column with one.
    difference
        Largest difference of a text's mean loss from the model's own, in nats.
    """

    table: ScoreTable
    nowhere: list[str]
    missing: list[str]
    difference: float


def run(loaded: LoadedModel, texts: Sequence[str], folder: Path) -> Ran:
    """All passes and attacks on `texts`, every second of which is called a member; `folder` is new or empty."""
    folder.mkdir(parents=True, exist_ok=True)
    source = write_set(folder / "set.jsonl", labelled(texts))
    options: dict[str, Any] = {"shots": SHOTS, "neighbours": (str(neighbours(source, folder)),)}
    noised = replace(loaded, model=with_noise(loaded.model), files=())
    for model, role in ((loaded, TARGET), (noised, REFERENCE)):
        kinds = tuple(pass_kinds())
        score_set(
            RecordSource((source,)), folder / "store",
            ScoreOptions(model=ModelOptions(loaded.label), label=role, role=role, passes=kinds, pass_options=options),
            loaded=model,
        )  # fmt: skip
    store = ScoreStore(folder / "store")
    table = run_attacks(store, token_counts=token_counts(loaded, source, folder))
    scored = {each.name: bool(np.isfinite(each.scores).any()) for each in table.columns}
    fine = {each.attack for each in table.columns if scored[each.name]}
    without = [name for name in attacks() if not any(_is_of(column, name) for column in fine)]
    return Ran(table, [name for name, any_ in scored.items() if not any_], without, difference(loaded, texts, store))


def _is_of(column: str, attack: str) -> bool:
    """Whether a column is of this attack: its name alone, or with options, a signal or a seed after it."""
    return column == attack or column.startswith(tuple(f"{attack}{sign}" for sign in "(.@"))


def labelled(texts: Sequence[str]) -> list[Candidate]:
    """Candidates."""
    return [Candidate(row, text, MEMBER if row % 2 else NONMEMBER) for row, text in enumerate(texts)]


def neighbours(source: Path, folder: Path) -> Path:
    """For each text some with a twentieth of the words replaced, as ``--neighbours`` reads them."""
    made = folder / "perturbed.jsonl"
    with SetFile(made) as file:
        perturb(RecordSource((source,)), file, PerturbOptions(replace_share=(0.05,), trials=NEIGHBOURS, side="all"))
    found: dict[int, list[str]] = {}
    for each in RecordSource((made,)).open().candidates():
        found.setdefault(each.extra["original"], []).append(each.text)
    out = folder / "neighbours.jsonl"
    rows = [json.dumps({"id": name, "neighbours": texts}) for name, texts in found.items()]
    out.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return out


def with_noise(model: Any) -> Any:
    """A copy that knows less."""
    import torch

    other = copy.deepcopy(model)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weights in other.parameters():
            if weights.ndim > 1:
                weights += NOISE * weights.std() * torch.randn(weights.shape, generator=generator)
    return other


def token_counts(loaded: LoadedModel, source: Path, folder: Path) -> Path:
    """Of the texts themselves, by the model's tokenizer."""
    loaded.tokenizer.save_pretrained(folder / "tokenizer")
    out = folder / "counts.parquet"
    count_tokens((str(source),), load_tokenizer(str(folder / "tokenizer"))).save(out)
    return out


def difference(loaded: LoadedModel, texts: Sequence[str], store: ScoreStore) -> float:
    """From the loss that the model computes itself, text by text."""
    import torch

    (found,) = store.find("plain", role=TARGET)
    ours = -found.stats.means(found.stats["log_prob"])
    encoder, worst = Encoder(loaded), 0.0
    for row, text in enumerate(texts):
        encoded = encoder.encode(text)
        ids = torch.tensor([[*encoded.head.tolist(), *encoded.ids.tolist()]])
        with torch.no_grad():
            own = float(loaded.model(input_ids=ids, labels=ids).loss)
        worst = max(worst, abs(own - float(ours[row])))
    return worst


def trained(study: Study) -> LoadedModel:
    """The small model of ``--quick``, trained until it is sure of some tokens, as `surp` asks."""
    early, _ = study.corpora(QUICK.words)
    run_folder = study.train(replace(QUICK, corpus=(str(early),), context=1024, epochs=60, learning_rate=1e-2))
    return load_model(ModelOptions(str(run_folder / "model"), threads=1, device="cpu"))


def measure(study: Study) -> Findings:
    import language_models
    from lab import shared_data

    data = shared_data()
    if data is None:
        raise Skip("no shared folder of real texts; NGRAMSCOPE_SHARED says where it is")
    found = Findings()
    texts = language_models.texts(data, 12 if study.quick else TEXTS, WORDS)
    models = {"GPT-NeoX, trained here": lambda: trained(study), "stories260K": lambda: language_models.stories260k(data)}
    if not study.quick:
        models["SmolLM2-135M"] = lambda: language_models.smollm2(threads=1)
    for name, load in models.items():
        study.say(name)
        ran = run(load(), texts, study.folder(f"all-attacks/{name}"))
        undefined = {each.name: int(np.isnan(each.scores).sum()) for each in ran.table.columns}
        found.rows.append(
            {
                "model": name, "texts": len(texts), "columns": len(ran.table.columns),
                "scores": len(texts) * len(undefined) - sum(undefined.values()), "undefined": sum(undefined.values()),
                "columns without a score": len(ran.nowhere),
            }
        )  # fmt: skip
        skipped = [each["attack"] for each in ran.table.header["skipped"]]
        found.check(f"{name}: nothing skipped", found=skipped, holds=not skipped)
        found.check(f"{name}: attacks undefined for all texts", found=ran.missing, holds=not ran.missing)
        found.check(f"{name}: mean loss from the model's own, nats", found=ran.difference, holds=ran.difference < 1e-4)
        if ran.nowhere:
            found.notes.append(f"{name}: without a score: {', '.join(ran.nowhere)}")
    return found
