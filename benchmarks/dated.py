"""What does `ngramscope validate` find on real dated corpora: are later documents representative of earlier ones?

Documents before a cutoff are indexed, but for a random quarter; this is compared with the documents after the cutoff (first 200
words of those that have 100, default options).

    python3 benchmarks/dated.py            # the tables of docs/sets/dated.md
"""

from __future__ import annotations

import json

import engine
from lab import HERE, Findings, Lab, Sample, Skip, ngramscope_python, shared_data, timed

CORPORA = [
    ("dated-web/us-gov-blogs", "2018"),
    ("dated-web/rust-blog", "2021"),
    ("dated-specs/peps", "2015"),
    ("dated-specs/eips", "2021"),
    ("dated-specs/rust-rfcs", "2018"),
    ("dated-abstracts/arxiv-cs", "2025-09"),
    ("dated-speeches/us-presidents", "1980"),
]


def results() -> list[Sample]:
    data = shared_data()
    if data is None:
        raise Skip("no shared folder of real texts; NGRAMSCOPE_SHARED says where it is")
    script = [ngramscope_python(), "-P", HERE / "representative.py", "dated", data]
    return [json.loads(timed([*script, name, cutoff])["stdout"]) for name, cutoff in CORPORA]


def measure(lab: Lab) -> Findings:  # noqa: ARG001 - small and the same every time
    found = Findings(versions={"ngramscope": engine.version()})
    for each in results():
        overlaps = each["overlaps"]
        found.rows.append(
            {
                "corpus": each["corpus"].split("/")[1],
                "cutoff": each["cutoff"],
                "held-out": each["texts"][1],
                "later": each["texts"][0],
                **{f"{n}: held-out": overlaps[n]["reference"] for n in overlaps},
                **{f"{n}: later": overlaps[n]["candidates"] for n in overlaps},
                "shift": each["shift"],
                "p": each["p"],
                "verdict": each["verdict"],
            }
        )
    return found


def interval(ends: list[float]) -> str:
    return f"{100 * ends[0]:+.1f} to {100 * ends[1]:+.1f}"


def markdown(found: list[Sample]) -> str:
    """The tables."""
    lines = [
        "| corpus | cutoff | held-out | later | 3-grams | 5-grams | 7-grams | shift, points | p | verdict |",
        "|" + " --- |" * 10,
    ]
    for each in found:
        means = [f"{each['overlaps'][n]['reference']:.3f} → {each['overlaps'][n]['candidates']:.3f}" for n in ("3", "5", "7")]
        verdict = each["verdict"].replace("_", " ")
        shift = "" if each["interval"] is None else f"{100 * each['shift']:+.1f} ({interval(each['interval'])})"
        p = "" if each["p"] is None else f"{each['p']:.4f}"
        name = each["corpus"].split("/")[1]
        cells = [name, each["cutoff"], f"{each['texts'][1]:,}", f"{each['texts'][0]:,}", *means, shift, p, verdict]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "| corpus | AUC of overlap, 3 | 5 | 7 | words: distance (chance) | classifier AUC, p | trend: Spearman, p |",
        "|" + " --- |" * 7,
    ]
    for each in found:
        aucs = [f"{each['overlaps'][n]['auc']:.3f}" for n in ("3", "5", "7")]
        words, classifier, series = each["words"], each["classifier"], each["series"]
        cells = [
            each["corpus"].split("/")[1], *aucs, f"{words['distance']:.3f} ({words['chance']:.3f})",
            "" if classifier["auc"] is None else f"{classifier['auc']:.3f}, {classifier['p']:.3f}",
            f"{series['spearman']:+.2f}, {series['p']:.4f}",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    for each in found:
        lines += ["", f"{each['corpus']}:"]
        for side in ("heldout", "later"):
            lines.append(
                f"- {side}: "
                + ", ".join(f"{period} {mean:.3f} ({count})" for period, (count, mean) in each["series"][side].items())
            )
        common = each["common"]
        rest = common["mean of the rest"]
        p = "" if common["p of the rest"] is None else f", p {common['p of the rest']:.4f}"
        lines.append(f"- without common 7-grams: {rest['heldout']:.3f} → {rest['later']:.3f}{p}")
        lines += [f"  - top sources of {side}: {counts}" for side, counts in common["top sources"].items()]
        for key in ("more in later", "more in heldout"):
            lines += [f"  - {key}: {text!r} {held:.3f} → {later:.3f}" for text, held, later in common[key]]
    return "\n".join(lines)


if __name__ == "__main__":
    print(markdown(results()))
