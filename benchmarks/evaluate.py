"""How fast is `ngramscope evaluate`, against loops over scipy and scikit-learn, and do its intervals hold what they say?

Thirty attacks on 20,000 documents with 1,000 resamples. The loops do the same to one attack and a few resamples of it, with
the same draws, and are scaled up; AUCs and TPRs of these resamples have to agree. Coverage is counted over simulated studies:
normal scores, of which the true AUC and TPRs are known.
"""

from __future__ import annotations

import json

import engine
from lab import HERE, Findings, Lab, ngramscope, ngramscope_python, spread, timed

DOCUMENTS, ATTACKS, RESAMPLES = 20_000, 30, 1_000
SUBSET = 20
STUDIES = 2_000
MOST_SECONDS = 30
COVERED = (0.93, 0.97)


def measure(lab: Lab) -> Findings:
    documents = 2_000 if lab.quick else DOCUMENTS
    studies = 200 if lab.quick else STUDIES
    table = lab.folder("evaluate") / "scores.parquet"
    python = [ngramscope_python(), "-P", HERE / "inference.py"]
    timed([*python, "make", table, documents, ATTACKS])
    command = [ngramscope(), "evaluate", table, "--bootstrap", RESAMPLES, "--quiet", "--out"]

    def loops(kind: str) -> dict[str, float]:
        answer: dict[str, float] = json.loads(timed([*python, kind, table, SUBSET])["stdout"])
        return answer

    samples = lab.sample(
        "evaluate",
        {
            "ngramscope evaluate": lambda: timed([*command, table.with_name("report.json")]),
            "scikit-learn": lambda: loops("sklearn"),
            "scipy": lambda: loops("scipy"),
        },
    )
    found = Findings(versions={"ngramscope": engine.version()})
    whole = samples["ngramscope evaluate"]
    found.rows.append(
        {
            "case": "ngramscope evaluate",
            "computes": "all of a report",
            "wall s": spread([s["wall"] for s in whole]),
            "CPU s": spread([s["cpu"] for s in whole]),
            "peak MiB": spread([s["rss"] / 2**20 for s in whole]),
            "other load": spread([s["others"] for s in whole]),
        }
    )
    for name, what in (("scikit-learn", "AUC, TPRs"), ("scipy", "AUC")):
        taken = samples[name]
        scaled = [s["seconds"] / SUBSET * RESAMPLES * ATTACKS for s in taken]
        times = spread([theirs / ours["wall"] for theirs, ours in zip(scaled, whole, strict=True)])
        found.rows.append({"case": f"loop over {name}", "computes": what, "wall s": spread(scaled), "times as long": times})
        found.versions[name] = str(taken[0]["version"])
        largest = max(s["difference"] for s in taken)
        found.check(f"{name}: largest difference in {SUBSET} resamples", found=largest, holds=largest < 1e-9)
    found.notes.append(f"loops: {SUBSET} resamples of one of the {ATTACKS} attacks, scaled to all; one process, one thread")
    if not lab.quick:
        found.goal(
            f"wall seconds, {ATTACKS} attacks, {documents:,} documents, {RESAMPLES:,} resamples",
            found=spread([s["wall"] for s in whole])["median"],
            at_most=MOST_SECONDS,
        )
    coverage(lab, found, json.loads(timed([*python, "coverage", studies])["stdout"]), studies)
    return found


def coverage(lab: Lab, found: Findings, counted: list[dict[str, object]], studies: int) -> None:
    """How often intervals of 95 % hold the truth."""
    found.rows += [{"case": f"coverage, {studies} studies", **row} for row in counted]
    if lab.quick:
        return
    for row in counted:
        name = f"{row['interval']}, {row['members']}+{row['nonmembers']}, AUC {row['AUC']:.3g}"
        found.goal(f"covers at least: {name}", found=float(str(row["covered"])), at_least=COVERED[0])
        found.goal(f"covers at most: {name}", found=float(str(row["covered"])), at_most=COVERED[1])
