"""Do the intervals of setmi, rdd and audit-groups cover, and do the tests of sets stay silent where there is nothing to find?

Simulated studies with a known truth, made by setlevel_studies.py. Nominal coverage is 95 %, nominal false alarms are 5 %.
"""

from __future__ import annotations

import json

import engine
from lab import HERE, Findings, Lab, ngramscope_python, timed

NAMES = ("setmi", "rdd", "inference", "audit", "contamination")
COVERED = (0.93, 0.97)
MOST_ALARMS = 0.08


def measure(lab: Lab) -> Findings:
    studies = 50 if lab.quick else 1000
    found = Findings(versions={"ngramscope": engine.version()})
    for name in NAMES:
        answer = timed([ngramscope_python(), "-P", HERE / "setlevel_studies.py", name, studies])
        found.rows += json.loads(answer["stdout"])
    for row in () if lab.quick else found.rows:  # of few studies a single one more is too many
        case = ", ".join(f"{name} {value}" for name, value in row.items() if name not in ("covered", "alarms"))
        if "covered" in row:
            defined = row["studies"] - row.get("none", 0)
            found.goal(f"coverage, {case}", found=row["covered"] / defined, at_least=COVERED[0])
            found.goal(f"not wider than need be, {case}", found=row["covered"] / defined, at_most=COVERED[1])
        for name, value in row.items():
            if name.endswith("alarms"):
                found.goal(
                    f"false alarms ({name}), {row['what']}, {row['by']}", found=value / row["studies"], at_most=MOST_ALARMS
                )
    return found
