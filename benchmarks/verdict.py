"""How often is the verdict of `ngramscope evaluate` wrong?

Semi-synthetic studies (studies.py): real texts, scores of n-gram models that saw neither side, added membership of known
strength, with and without a shift between the texts of both sides. Blind baselines are fitted anew in each. The rule was
declared first and looked at on the first hundred studies; what is reported comes from others.
"""

from __future__ import annotations

import json
import os
import subprocess
from itertools import pairwise

import engine
from lab import HERE, Findings, Lab, Skip, ngramscope_python, shared_data, timed

LOOKED_AT, REPORTED = 100, 210
MOST = 0.05


def measure(lab: Lab) -> Findings:
    data = shared_data()
    if data is None:
        raise Skip("no shared folder of real texts; NGRAMSCOPE_SHARED says where it is")
    folder = lab.folder("verdict")
    script = [ngramscope_python(), "-P", str(HERE / "studies.py")]
    timed([*script, "texts", data, folder / "texts.json"])
    count = 6 if lab.quick else REPORTED
    workers = os.cpu_count() or 1
    bounds = [LOOKED_AT + count * each // workers for each in range(workers + 1)]
    started = []
    for first, last in pairwise(bounds):
        with (folder / f"studies-{first}.jsonl").open("wb") as file:
            command = [*script, "verdicts", str(folder / "texts.json"), str(first), str(last)]
            started.append(subprocess.Popen(command, stdout=file, env={**os.environ, "OMP_NUM_THREADS": "1"}))
    if any([each.wait() for each in started]):  # noqa: C419 - all are waited for
        raise RuntimeError("a process of studies.py failed")
    found = Findings(versions={"ngramscope": engine.version()})
    found.rows = json.loads(timed([*script, "table", *sorted(folder.glob("studies-*.jsonl"))])["stdout"])
    found.notes.append(f"{count} studies a class, each of 200 members and 200 non-members; intervals: Clopper-Pearson, 95 %")
    for row in found.rows if not lab.quick else ():
        if row["truth"] == "none":
            what = f"false claims of membership, texts {row['texts']}, {row['evidence']}"
            found.goal(what, found=row["claimed"], at_most=MOST)
    return found
