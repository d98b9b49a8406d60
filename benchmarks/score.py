"""How fast is `score`'s pass, against the bare forward pass of the model and the loop that public toolkits run?

Texts of 200 words on the processor in float32: 200 of them on SmolLM2-135M, 2,000 on a GPT-NeoX of 5 M parameters. Tokens a
second, in slices of the texts that go through every case in turn; see forward_pass.py.
"""

from __future__ import annotations

import json
from typing import Any

import engine
from lab import HERE, Findings, Lab, Sample, Skip, ngramscope_python, shared_data, spread, timed

MODELS = [("smollm2", "SmolLM2-135M", 200, 8, 0.90, 1.2), ("neox", "GPT-NeoX, 5 M", 2000, 10, 0.85, 1.3)]
QUICK = {"smollm2": (8, 2), "neox": (100, 2)}
CASES = ("bare", "score", "loop", "one by one")


def run(kind: str, texts: int, slices: int) -> Sample:
    data = shared_data()
    if data is None:
        raise Skip("no shared folder of real texts; NGRAMSCOPE_SHARED says where it is")
    python = ngramscope_python()
    try:
        timed([python, "-c", "import torch, transformers, gguf"])
    except RuntimeError as error:
        raise Skip(f"{str(error).strip().splitlines()[-1]}; pip install 'ngramscope[attacks,gguf]'") from error
    script = [python, HERE / "forward_pass.py", data, kind, texts, slices]
    sample = timed(script, {"HF_HUB_OFFLINE": "1"})
    found: Sample = json.loads(sample["stdout"])
    return found | {"rss": sample["rss"], "others": sample["others"]}


def measure(lab: Lab) -> Findings:
    found = Findings(versions={"ngramscope": engine.version()})
    for kind, name, texts, slices, of_bare, of_loop in MODELS:
        count, parts = QUICK[kind] if lab.quick else (texts, slices)
        (sample,) = lab.sample("score", {kind: lambda: run(kind, count, parts)}, repeats=1)[kind]  # noqa: B023 - called at once
        rounds = sample["rounds"]
        for case in CASES:
            found.rows.append(row(name, case, sample))
        for other, least in (("bare", of_bare), ("loop", of_loop)):
            ratio = spread([each["score"] / each[other] for each in rounds])
            found.goal(f"{name}: score against {other}, median of {len(rounds)} slices", found=ratio["median"], at_least=least)
        worst = sample["differences"]
        found.check(f"{name}: the model's own loss, text by text", found=worst["loss"], holds=worst["loss"] < 1e-4)
        found.check(f"{name}: log-probabilities of the loop", found=worst["log_prob"], holds=worst["log_prob"] < 1e-3)
        found.check(f"{name}: their means over the vocabulary", found=worst["mu"], holds=worst["mu"] < 1e-3)
        found.check(f"{name}: padding", found=sample["waste"], holds=sample["waste"] < 0.1)
        found.versions.update(sample["libraries"])
        batch, masked = sample["bare"]["batch"], "with" if sample["bare"]["mask"] else "without"
        found.notes.append(
            f"{name}: {sample['parameters']:,} parameters, vocabulary {sample['vocabulary']:,}, {sample['threads']} threads; "
            f"the bare pass is fastest with {batch} texts at once, {masked} a mask"
        )
    return found


def row(name: str, case: str, sample: Sample) -> dict[str, Any]:
    speeds = [each[case] for each in sample["rounds"]]
    against, cpu_against = ([each[case] / each["bare"] for each in sample[kind]] for kind in ("rounds", "cpu_rounds"))
    return {
        "model": name,
        "case": case,
        "tokens/s": spread(speeds),
        "of bare": spread(against)["median"],
        "of bare, CPU": spread(cpu_against)["median"],
        "tokens": sample["tokens"],
        "other load": sample["others"],
    }
