"""How long do blind baselines take, and how often do their permutation tests raise a false alarm?

Texts of 200 words, with the default 200 permutations. False alarms are counted over simulated studies in which the null
hypothesis of the test is true: labels that depend on nothing, and attacks that see only what a baseline sees.
"""

from __future__ import annotations

import json

import engine
from lab import HERE, Findings, Lab, ngramscope, ngramscope_python, spread, timed

SIZES = (2_000, 20_000)
MOST_SECONDS = 60
STUDIES = 200
MOST_REJECTED = 0.08


def measure(lab: Lab) -> Findings:
    sizes = (500,) if lab.quick else SIZES
    studies = 20 if lab.quick else STUDIES
    folder = lab.folder("blind")
    python = [ngramscope_python(), "-P", HERE / "blind_studies.py"]
    found = Findings(versions={"ngramscope": engine.version()})
    for size in sizes:
        there = folder / f"{size}.jsonl"
        timed([*python, "make", there, size])
        command = [ngramscope(), "blind", there, "--quiet"]
        taken = lab.sample(f"blind {size}", {"ngramscope blind": lambda command=command: timed(command)})["ngramscope blind"]
        found.rows.append(
            {
                "case": f"ngramscope blind, {size:,} texts",
                "wall s": spread([s["wall"] for s in taken]),
                "CPU s": spread([s["cpu"] for s in taken]),
                "peak MiB": spread([s["rss"] / 2**20 for s in taken]),
                "other load": spread([s["others"] for s in taken]),
            }
        )
        if size == SIZES[0]:
            seconds = spread([s["wall"] for s in taken])["median"]
            found.goal(f"wall seconds, {size:,} texts", found=seconds, at_most=MOST_SECONDS)
    for row in json.loads(timed([*python, "false-alarms", studies])["stdout"]):
        found.rows.append({"case": "false alarms at 5 %", **row})
        if not lab.quick:
            name = f"{row['test']}, {row['documents']} documents, {row['of a group']} a group, slope {row['slope']}"
            name += f", {row['baselines that see nothing']} baselines that see nothing"
            found.goal(f"false alarms: {name}", found=float(row["rejected"]), at_most=MOST_REJECTED)
    return found
