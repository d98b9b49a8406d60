"""How long do all attacks take together, against a loop of its own for each?

200 texts of 200 words on a GPT-NeoX of 5 M parameters, float32, the processor: attacks of one pass, ReCaLL with 7 shots,
CAMIA's 6 copies, 5 neighbours; see suite_pass.py. Wall seconds, in slices of the texts that go both ways in turn.
"""

from __future__ import annotations

import json
import shutil

import engine
from lab import HERE, Findings, Lab, Sample, Skip, ngramscope_python, shared_data, spread, timed

TEXTS, SLICES = 200, 4
MOST = 1 / 3


def measure(lab: Lab) -> Findings:
    data = shared_data()
    if data is None:
        raise Skip("no shared folder of real texts; NGRAMSCOPE_SHARED says where it is")
    texts, slices = (16, 2) if lab.quick else (TEXTS, SLICES)

    def run() -> Sample:
        folder = lab.folder("suite")
        shutil.rmtree(folder)
        folder.mkdir()
        script = [ngramscope_python(), HERE / "suite_pass.py", data, texts, slices, folder]
        sample = timed(script, {"HF_HUB_OFFLINE": "1"})
        found: Sample = json.loads(sample["stdout"])
        return found | {"others": sample["others"]}

    (sample,) = lab.sample("suite", {"suite": run}, repeats=1)["suite"]
    rounds = sample["rounds"]
    found = Findings(versions={"ngramscope": engine.version(), **sample["libraries"]})
    for case in ("ngramscope", "loops"):
        found.rows.append({"case": case, "s a slice": spread([each[case] for each in rounds]), "other load": sample["others"]})
    ratio = spread([each["ngramscope"] / each["loops"] for each in rounds])
    found.goal(f"all attacks against their loops, median of {slices} slices", found=ratio["median"], at_most=MOST)
    found.check("losses of the loops, nats", found=sample["difference"], holds=sample["difference"] < 1e-3)
    found.notes.append(f"{len(sample['attacks'])} attacks, each a loop: {', '.join(sample['attacks'])}; {texts} texts")
    found.notes.append(f"{sample['parameters']:,} parameters; to be scored again by copies, neighbours and shots")
    return found
