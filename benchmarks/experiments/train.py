"""Train a small GPT-NeoX model on real documents whose membership is then known, in minutes on a processor.

    python benchmarks/experiments/train.py --corpus dated-web --parameters 0.25M --members 1000 --out DIR

See README.md here: what lies in DIR, and how to choose sizes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import neox
import numpy as np
import splits
import training

from ngramscope import provenance
from ngramscope.errors import NgramscopeError, UsageError
from ngramscope.index.output import check_new_folder
from ngramscope.sets import SetFile, Step
from ngramscope.sets.base import MEMBER, NONMEMBER, Candidate
from ngramscope.sets.records import Keys
from ngramscope.sets.seeds import draw

VERSION = 1
UNTRAINED = "untrained"
THIRD = "third"
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Options:
    """What is trained on what; see ``--help``."""

    corpus: tuple[str, ...]
    text_key: str = "text"
    domain_key: str = "domain"
    group_key: str = "group"
    words: int | None = None
    min_words: int = 50
    members: int | None = None
    nonmembers: int | None = None
    third: int | None = None
    background: int = 0
    background_corpus: tuple[str, ...] = ()
    parameters: float = 0.25e6
    vocabulary: int | None = None
    context: int = 1024
    copies: str = "1"
    epochs: int = 1
    learning_rate: float = 1e-3
    batch: int = 4
    checkpoints: str = "none"
    reference: bool = False
    placebo: tuple[str, ...] = ()
    seed: int = 0
    threads: str = "1"


QUICK = {
    "words": 40, "min_words": 5, "members": 40, "nonmembers": 40, "third": 40, "parameters": 0.08e6, "context": 64, "batch": 4,
    "epochs": 30, "learning_rate": 1e-2,
}  # fmt: skip
"""Settings of ``--quick``: a few seconds, and a model that knows its members by heart."""


def run(options: Options, out: Path, say: Say = lambda _: None) -> dict[str, Any]:
    """Train, write everything under `out`, a new folder that appears when whole, and return the manifest."""
    import torch

    check_new_folder(out, "--out")
    partial = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    partial.mkdir()
    threads = torch.get_num_threads()
    try:
        manifest = _Run(options, partial, say).all()
        partial.replace(out)
    finally:
        torch.set_num_threads(threads)
        shutil.rmtree(partial, ignore_errors=True)
    return manifest


class _Run:
    def __init__(self, options: Options, folder: Path, say: Say) -> None:
        self._options, self._folder, self._say = options, folder, say
        self._every = _checkpoint_rule(options.checkpoints)
        self._models: dict[str, Any] = {}

    def all(self) -> dict[str, Any]:
        """The splits, the models, the sets, the manifest."""
        import torch
        import transformers

        options = self._options
        documents = self._load(options.corpus)
        parts = splits.split(documents.candidates, self._sizes(), options.seed)
        origins = dict.fromkeys(parts, documents)
        if options.background_corpus:
            other = origins["background"] = self._load(options.background_corpus)
            parts["background"] = splits.split(other.candidates, {"background": options.background}, options.seed)["background"]
        sizes = neox.shape(options.parameters, vocabulary=options.vocabulary, context=options.context)
        # Of the third part only: a tokenizer that has seen members writes them with fewer tokens.
        tokenizer = neox.make_tokenizer((each.text for each in parts["third"]), sizes.vocabulary, options.context)
        sizes = replace(sizes, vocabulary=len(tokenizer))
        self._say(f"{', '.join(f'{len(part):,} {name}' for name, part in parts.items())}; {sizes.parameters:,} parameters")

        seen_texts = [*parts["members"], *parts["background"]]
        copies = [*splits.copies(parts["members"], options.copies, options.seed), *[1] * len(parts["background"])]
        packed = self._trained("model", "target", seen_texts, copies, sizes, tokenizer, checkpoints=True)
        # Reference and placebo may not be one model: the difference from itself says nothing.
        first = slice(0, None, 2) if options.placebo == (THIRD,) else slice(None)
        if options.reference:
            known = parts["third"][first]
            self._trained("reference", "reference", known, [1] * len(known), sizes, tokenizer)
        if options.placebo == (THIRD,):
            known = parts["third"][1::2]
            self._trained("placebo", "placebo", known, [1] * len(known), sizes, tokenizer)
        elif options.placebo == (UNTRAINED,):
            neox.save(self._folder / "placebo", neox.make_model(sizes, self._draw("placebo")), tokenizer)
            self._models["placebo"] = self._facts("placebo", "placebo", trained_on=None)
        elif options.placebo:
            other = self._load(options.placebo)
            texts = splits.split(other.candidates, {"texts": min(len(seen_texts), len(other.candidates))}, options.seed)[
                "texts"
            ]
            self._trained("placebo", "placebo", texts, [1] * len(texts), sizes, tokenizer)
            origins["placebo"] = other

        _mark(seen_texts, copies, packed)
        for each in seen_texts:
            each.label = MEMBER
        for each in (*parts["nonmembers"], *parts["third"]):
            each.label = NONMEMBER
        both = {"candidates": [*parts["members"], *parts["nonmembers"]]}
        made = {name: self._set(name, part, origins.get(name, documents)) for name, part in {**parts, **both}.items() if part}
        with (self._folder / "seen.jsonl").open("w", encoding="utf-8") as file:
            for each, steps in zip(seen_texts, packed.seen, strict=True):
                file.write(json.dumps({"id": each.id, "steps": steps}) + "\n")
        settings = {each.name: getattr(options, each.name) for each in fields(options)}
        inputs = {each["name"]: each for origin in origins.values() for each in origin.sources}
        manifest = provenance.stamp("experiment", version=VERSION, settings=settings, inputs=list(inputs.values()))
        manifest |= {
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "processor": platform.machine(),
            "shape": {**asdict(sizes), "parameters": sizes.parameters},
            "sets": made,
            "models": self._models,
        }
        (self._folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        return manifest

    def _sizes(self) -> dict[str, int | None]:
        options = self._options
        nonmembers = options.members if options.nonmembers is None else options.nonmembers
        own = 0 if options.background_corpus else options.background
        return {"members": options.members, "nonmembers": nonmembers, "third": options.third, "background": own}

    def _load(self, names: Sequence[str]) -> splits.Documents:
        options = self._options
        keys = Keys(domain=options.domain_key, group=options.group_key)
        return splits.load(names, words=options.words, min_words=options.min_words, text_key=options.text_key, keys=keys)

    def _draw(self, *what: str) -> int:
        return draw(self._options.seed, *what) >> 1  # torch takes 63 bits

    def _trained(
        self,
        name: str,
        role: str,
        documents: Sequence[Candidate],
        copies: Sequence[int],
        sizes: neox.Shape,
        tokenizer: Any,
        *,
        checkpoints: bool = False,
    ) -> training.Packed:
        """Train a model on `documents` and save it."""
        import torch

        options = self._options
        tokens = [
            tokenizer(each.text, add_special_tokens=False, truncation=False, verbose=False).input_ids for each in documents
        ]
        packed = training.pack(
            tokens, copies, end=tokenizer.eos_token_id, context=options.context, batch=options.batch, passes=options.epochs,
            seed=self._draw(name, "order"),
        )  # fmt: skip
        model = neox.make_model(sizes, self._draw(name))
        threads = training.faster_threads(model, packed) if options.threads == "probe" else int(options.threads)
        torch.set_num_threads(threads)
        steps = packed.steps_per_pass * options.epochs
        every = self._every(packed.steps_per_pass) if checkpoints else 0
        if every:
            neox.save(self._folder / "checkpoints" / "step-0", model, tokenizer)

        def after_step(done: int, loss: float) -> None:
            if every and done % every == 0 and done < steps:
                neox.save(self._folder / "checkpoints" / f"step-{done}", model, tokenizer)
            if done % 50 == 0 or done == steps:
                self._say(f"{name}: step {done:,} of {steps:,}, loss {loss:.3f}")

        losses = training.train(model, packed, learning_rate=options.learning_rate, after_step=after_step)
        neox.save(self._folder / name, model, tokenizer)
        by_pass = np.array_split(np.array(losses.steps), options.epochs)
        trained_on = {
            "documents": len(documents),
            "tokens_a_pass": sum(len(each) * count for each, count in zip(tokens, copies, strict=True)),
            "distinct_tokens": sum(map(len, tokens)),
            "steps_a_pass": packed.steps_per_pass,
            "steps": steps,
            "checkpoints": [0, *range(every, steps, every)] if every else [],
        }
        self._models[name] = self._facts(
            name, role, trained_on=trained_on, threads=threads, seconds=round(losses.seconds, 1),
            loss_by_epoch=[float(each.mean()) for each in by_pass], loss=losses.steps,
        )  # fmt: skip
        return packed

    def _facts(self, name: str, role: str, **more: Any) -> dict[str, Any]:
        weights = self._folder / name / "model.safetensors"
        return {"role": role, "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(), **more}

    def _set(self, name: str, part: Sequence[Candidate], origin: splits.Documents) -> dict[str, Any]:
        """Write some of the documents of `origin` as a candidate set."""
        path = self._folder / f"{name}.jsonl"
        left_out = {**origin.left_out, "other_part": len(origin.candidates) - len(part)}
        counts = {"used": len(part), "left_out": {reason: count for reason, count in left_out.items() if count}}
        counts["read"] = len(part) + sum(left_out.values())
        settings = {each.name: getattr(self._options, each.name) for each in fields(self._options)}
        with SetFile(path) as file:
            file.add(part)
            step = Step("train", settings, origin.sources, {"texts": counts}, seed=self._options.seed, facts={"part": name})
            file.commit(step)
        return {"texts": len(part), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def _mark(documents: Sequence[Candidate], copies: Sequence[int], packed: training.Packed) -> None:
    """Say of each document that was trained on how often it stood in a pass, and at which steps it was seen."""
    for each, count, steps in zip(documents, copies, packed.seen, strict=True):
        each.extra |= {
            "duplicates": count,
            "times_seen": len(steps),
            "first_step": steps[0],
            "last_step": steps[-1],
        }


def _checkpoint_rule(rule: str) -> Callable[[int], int]:
    """By the steps of a pass, after how many steps a checkpoint is saved; 0: never."""
    kind, _, number = rule.partition(":")
    if rule == "none":
        return lambda _: 0
    if rule == "epochs":
        return lambda steps: steps
    if kind == "steps" and number.isdecimal() and int(number):
        return lambda _: int(number)
    raise UsageError(f"--checkpoints: {rule!r} is not known; none, epochs, or steps:N")


def number(text: str) -> float:
    """``0.25M``, ``250k`` or ``250000``."""
    scale = {"k": 1e3, "m": 1e6}.get(text[-1:].lower(), 1.0)
    return float(text[:-1] if scale > 1 else text) * scale


def arguments(given: Iterable[str] | None = None) -> tuple[Options, Path]:
    """The options of the command line, and where to write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--corpus", nargs="+", required=True, help="names of the shared folder (dated-web, dated-web/rust-blog), or files")
    add("--out", type=Path, required=True, help="a new folder")
    add("--quick", action="store_true", help="a few seconds: tiny, and by heart")
    add("--text-key", help="key of the text")
    add("--domain-key", help="key of the part of the corpus")
    add("--group-key", help="key of what belongs together")
    add("--words", type=int, help="cut documents to their first N words [whole documents]")
    add("--min-words", type=int, help="leave shorter documents out [50]")
    add("--members", type=int, help="documents to train on [a third]")
    add("--nonmembers", type=int, help="documents never seen [as many as members]")
    add("--third", type=int, help="documents for the tokenizer and the reference model [what is left]")
    add("--background", type=int, help="further documents to train on that are no candidates [0]")
    add("--background-corpus", nargs="+", help="take them from here: then members are the outliers")
    add("--parameters", type=number, help="about so many, as 0.25M [0.25M]")
    add("--vocabulary", type=int, help="tokens of the tokenizer [by the number of parameters]")
    add("--context", type=int, help="tokens the model sees [1024]")
    add("--copies", help="how often a member stands in a pass: 3; 1,2,4 (random groups); poisson:2 [1]")
    add("--epochs", type=int, help="passes [1]")
    add("--learning-rate", type=float, help="the highest [1e-3]")
    add("--batch", type=int, help="rows of a step [4]")
    add("--checkpoints", help="none, epochs, or steps:N [none]")
    add("--reference", action="store_true", default=None, help="train a reference model too, on the third part")
    add(
        "--placebo",
        nargs="+",
        help="a model that saw neither side: untrained, third (on every second text of the "
        "third part, the reference on the others), or a corpus to train it on",
    )
    add("--seed", type=int, help="decides everything [0]")
    add("--threads", help="1, 2, or probe: two if they are faster [1]")
    values = vars(parser.parse_args(None if given is None else list(given)))
    out, quick = values.pop("out"), values.pop("quick")
    chosen = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items() if value is not None}
    return Options(**{**(QUICK if quick else {}), **chosen}), out


def main() -> int:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch is imported
    options, out = arguments()
    try:
        manifest = run(options, out, lambda line: print(line, file=sys.stderr, flush=True))
    except NgramscopeError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"out": str(out), "shape": manifest["shape"], "sets": manifest["sets"]}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
