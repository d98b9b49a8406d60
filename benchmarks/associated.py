"""Do intervals of matched, weighted and doubly robust AUCs hold what they say?

Simulated studies in which scores depend on overlap, of which members have more, and in some on membership, so that the true AUC
against non-members who overlap as members do is known. Raw AUCs stand beside, as what would be believed without adjustment.
"""

from __future__ import annotations

import json

import engine
from lab import HERE, Findings, Lab, ngramscope_python, timed

STUDIES = 1_000
COVERED = (0.93, 0.97)


def measure(lab: Lab) -> Findings:
    studies = 50 if lab.quick else STUDIES
    found = Findings(versions={"ngramscope": engine.version()})
    found.rows = json.loads(timed([ngramscope_python(), "-P", HERE / "studies.py", "associated", studies])["stdout"])
    found.notes.append(f"shares of {studies:,} studies in which the interval of 95 % holds the truth")
    found.notes.append("a share of the excess is counted only where every study has one")
    for row in found.rows if not lab.quick else ():
        for name in ("AUC", "raw - AUC", "share"):
            if name in row:
                what = f"{row['setting']}, {row['by']}: {name}"
                found.goal(f"covers at least: {what}", found=row[name], at_least=COVERED[0])
                found.goal(f"covers at most: {what}", found=row[name], at_most=COVERED[1])
    return found
