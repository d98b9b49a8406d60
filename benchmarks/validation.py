"""How often does `ngramscope validate` raise a false alarm, and which shifts does it find?

The blog posts and technical proposals of the shared texts are one corpus: half of its documents is indexed, and the overlaps of
the others (first 200 words, 7-grams) are split at random into candidates and a reference, seeded, without any shift but
chance. Shifts are planted by taking the same part of every candidate's overlap away, as if so much of it had been written
anew. Counted are rejections of the declared test at 5 %, verdicts of a shift (which ask for two points, too), and verdicts of
none.
"""

from __future__ import annotations

import json

import engine
from lab import HERE, Findings, Lab, Skip, ngramscope_python, shared_data, timed

SPLITS = 200
MOST = 16


def measure(lab: Lab) -> Findings:
    data = shared_data()
    if data is None:
        raise Skip("no shared folder of real texts; NGRAMSCOPE_SHARED says where it is")
    splits = 20 if lab.quick else SPLITS
    answer = timed([ngramscope_python(), "-P", HERE / "representative.py", "splits", data, splits])
    result = json.loads(answer["stdout"])
    found = Findings(versions={"ngramscope": engine.version()}, rows=result["found"])
    found.notes.append(f"{result['pool']:,} texts, mean overlap {result['mean']:.3f}, standard deviation {result['sd']:.3f}")
    for row in result["found"]:
        if row["shift"] == 0:
            what = f"{row['texts']} and {row['texts']} texts, {splits} splits"
            if not lab.quick:  # of few splits a single one more is too many
                found.goal(f"rejections without a shift, {what}", found=row["rejected"], at_most=MOST)
            found.check(
                f"no more shifts are called than rejected, {what}", found=row["called"], holds=row["called"] <= row["rejected"]
            )
    return found
